"""Files that are encrypted with age, for people with a key or a passphrase.

https://age-encryption.org/v1 describes the format. Content goes through a pipe, so neither the disk
nor the memory holds the whole of it in the clear. Only files for a passphrase are in memory.
"""

import os
from base64 import b64decode
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from threading import Event
from typing import Any, BinaryIO

import pyrage  # pyright: ignore[reportMissingTypeStubs]

from textrawl.errors import StartRefused

Ask = Callable[[], str]
"""A function that asks a person for a passphrase."""
Opener = Callable[[], AbstractContextManager[BinaryIO]]
"""A function that opens the content of a file in the clear."""

MOST_IN_MEMORY = 256 << 20  # bytes; age has no stream for a passphrase
_OVERHEAD = 1 << 20  # bytes that age adds to as many
_age: Any = pyrage  # without types
_BINARY = b"age-encryption.org/"
_ARMOR = b"-----BEGIN AGE ENCRYPTED FILE-----"
_PIECE = 1 << 18  # bytes
_HEAD = 300  # bytes that say whether a passphrase is needed
_MOST_KEYS = 1 << 20  # bytes of a file of keys
_OPENSSH = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_PRIVATE = "AGE-SECRET-KEY-"
_WORD = "passphrase"


def is_encrypted(head: bytes) -> bool:
    """Return whether a file that begins with `head` is encrypted with age."""
    return head.startswith((_BINARY, _ARMOR))


def is_encrypted_file(path: Path) -> bool:
    """Return whether a path is a file that is encrypted with age, and not a folder or a FIFO."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return is_encrypted(file.read(_HEAD))
    except OSError:
        return False


def _needs_passphrase(head: bytes) -> bool:
    if head.startswith(_ARMOR):
        with suppress(ValueError):  # a damaged file, which no key opens
            head = b64decode(b"".join(head.splitlines()[1:3])[: 4 * 24])
    return b"\n-> scrypt " in head


@dataclass(frozen=True)
class Identities:
    """Private keys, and a way to get a passphrase, that decrypt files."""

    keys: Sequence[Any]
    ask: Ask

    def find_opener(self, file: Path) -> Opener:
        """Return a function that opens the content of a file, encrypted or not.

        Raises StartRefused if the file needs a key or a passphrase that is not there.
        """
        with _open(file) as opened:
            head = opened.read(_HEAD)
        if not is_encrypted(head):
            return partial(file.open, "rb")
        if _needs_passphrase(head):
            content = self.decrypt_whole(file)
            return partial(_pipe, file, lambda target: target.write(content))
        if not self.keys:
            raise StartRefused(f"{file} is encrypted: name the file of your key with --identity")
        return partial(_pipe, file, partial(self._decrypt, file))

    def ask_first(self, file: Path) -> "Identities":
        """Return identities that have asked for the passphrase of a file, if it needs one."""
        if not is_encrypted_file(file) or not _needs_passphrase(_read(file)[:_HEAD]):
            return self
        passphrase = self.ask()
        return Identities(self.keys, lambda: passphrase)

    def decrypt_whole(self, file: Path) -> bytes:
        """Return the content of a file that needs a passphrase. Raises StartRefused."""
        if file.stat().st_size > MOST_IN_MEMORY + _OVERHEAD:
            raise StartRefused(f"{file} is too large for a passphrase: decrypt it with age")
        try:
            return _age.passphrase.decrypt(file.read_bytes(), self.ask())
        except _age.DecryptError as error:
            raise StartRefused(
                f"{file} cannot be decrypted: the passphrase is wrong, or the file was changed "
                "or cut"
            ) from error

    def _decrypt(self, file: Path, target: BinaryIO) -> None:
        with file.open("rb") as sealed:
            _age.decrypt_io(sealed, target, self.keys)

    def verify(self, file: Path) -> Opener:
        """Read a file to its end, and return a function that opens its content.

        Raises StartRefused if the file cannot be decrypted, or was changed or cut.
        """
        opener = self.find_opener(file)
        with opener() as content:
            while content.read(_PIECE):
                pass
        return opener


@contextmanager
def _pipe(file: Path, write: Callable[[BinaryIO], object]) -> Generator[BinaryIO]:
    """Yield a pipe to which a thread writes the content of an encrypted file.

    Raises StartRefused after the block if the file is bad. The end of its content is missing then,
    so a block keeps nothing of a file that was not read to its end before.
    """
    source, target = os.pipe()

    def work() -> None:
        with os.fdopen(target, "wb") as plain:
            write(plain)

    with os.fdopen(source, "rb") as content, ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        try:
            yield content
            is_read = not content.read(1)
        finally:
            content.close()  # ends the thread if the block did not read to the end
        if (error := done.exception()) and is_read:
            raise _explain(file, error)


def _explain(file: Path, error: BaseException) -> StartRefused:
    if "No matching keys" in str(error):
        return StartRefused(
            f"{file} is not encrypted for this key: name another with --identity, or use another "
            "copy if the file was changed"
        )
    return StartRefused(f"{file} was changed or cut after it was encrypted. Use another copy")


@dataclass(frozen=True)
class Recipients:
    """The people who can decrypt a file: those with one of some keys, or with a passphrase."""

    keys: Sequence[Any] = ()
    passphrase: str | None = None

    def add_witness(self) -> tuple["Recipients", Identities]:
        """Return the recipients and a key of this process, with which it reads a file back."""
        if (passphrase := self.passphrase) is not None:
            return self, Identities([], lambda: passphrase)
        witness = _age.x25519.Identity.generate()
        return Recipients([*self.keys, witness.to_public()]), Identities([witness], str)

    @contextmanager
    def encrypt(self, out: BinaryIO) -> Generator[BinaryIO]:
        """Yield a file that encrypts everything written to it, and writes it to `out`.

        If the block raises an error, `out` lacks its last chunk, which shows that it is cut. Raises
        OSError if `out` cannot be written, and StartRefused if a passphrase cannot be used.
        """
        source, target = os.pipe()
        sink, whole, broken = _Sink(out), Event(), None

        def work() -> None:
            with os.fdopen(source, "rb") as opened:
                self._seal(_Content(opened, whole), sink)

        with ThreadPoolExecutor(1) as pool:
            done, content = pool.submit(work), os.fdopen(target, "wb")
            try:
                yield content
                content.flush()
                whole.set()
            except BrokenPipeError as error:  # the thread ended: its error says why
                broken = error
            finally:
                with suppress(BrokenPipeError):
                    content.close()
            failure = done.exception()  # waits for the last write, whose error age does not raise
            if error := sink.error or failure or broken:
                raise error

    def _seal(self, source: "_Content", sink: "_Sink") -> None:
        if self.passphrase is None:
            _age.encrypt_io(source, sink, self.keys)
            return
        content = BytesIO()
        while piece := source.read(_PIECE):
            content.write(piece)
            if content.tell() > MOST_IN_MEMORY:
                raise StartRefused(
                    f"More than {MOST_IN_MEMORY >> 20} MB cannot be encrypted with a passphrase: "
                    "make a key with age-keygen, and name its public key"
                )
        sink.write(_age.passphrase.encrypt(content.getvalue(), self.passphrase))


@dataclass(frozen=True)
class _Content:
    """The content for age. Without its end, reading the end is an error."""

    file: BinaryIO
    whole: Event

    def read(self, size: int) -> bytes:
        piece = self.file.read(size)
        if not piece and not self.whole.is_set():
            raise OSError("The content is not whole")
        return piece


@dataclass
class _Sink:
    """A file that age writes. It keeps the error of a write, because age reports only its text."""

    file: BinaryIO
    error: OSError | None = None

    def write(self, piece: bytes) -> int:
        try:
            return self.file.write(piece)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        """Do nothing: the owner of the file flushes it."""


def read_recipients(texts: Sequence[str], ask: Ask) -> Recipients | None:
    """Return the recipients that --encrypt names, or None without any. Raises StartRefused."""
    if not texts:
        return None
    _refuse_empty(texts, "--encrypt")
    if any(_is_passphrase(text) for text in texts):
        if len(texts) > 1:
            raise StartRefused("age takes either a passphrase or public keys: name one of them")
        return Recipients(passphrase=_read_passphrase(texts[0], ask))
    keys = list[Any]()
    for text in texts:
        if text.startswith(("age1", "ssh-", _PRIVATE)):
            keys.append(_read_recipient(text, "--encrypt"))
        else:
            if not (lines := _split_lines(_read(Path(text)))):
                raise StartRefused(f"{text} has no public key")
            keys += [_read_recipient(line, text) for line in lines]
    return Recipients(keys)


def _read_recipient(text: str, place: str) -> Any:
    if _PRIVATE in text:
        raise StartRefused(
            f"{place} has a private key: use the public key, which age-keygen -y shows"
        )
    kind = _age.ssh if text.startswith("ssh-") else _age.x25519
    try:
        return kind.Recipient.from_str(text)
    except _age.RecipientError as error:
        raise StartRefused(
            f"{place} has {text[:40]!r}, which is no public key of age (age1…, not of a plugin) "
            "or SSH (ssh-ed25519, ssh-rsa)"
        ) from error


def read_identities(texts: Sequence[str], ask: Ask) -> Identities:
    """Return the keys and the passphrase that --identity names. Raises StartRefused."""
    _refuse_empty(texts, "--identity")
    named = next((text for text in texts if _is_passphrase(text)), _WORD)
    files = [Path(text) for text in texts if not _is_passphrase(text)]
    keys = [key for file in files for key in _read_identity(file, ask)]
    return Identities(keys, lambda: _read_passphrase(named, ask))


def _read_identity(file: Path, ask: Ask) -> list[Any]:
    content = _read(file)
    if is_encrypted(content):
        content = Identities([], ask).decrypt_whole(file)
    try:
        if content.lstrip().startswith(_OPENSSH) or b"PRIVATE KEY-----" in content:
            return [_age.ssh.Identity.from_buffer(content)]
        lines = _split_lines(content)
        if lines and all(line.startswith(_PRIVATE) for line in lines):
            return [_age.x25519.Identity.from_str(line) for line in lines]
    except _age.IdentityError:
        pass
    raise StartRefused(
        f"{file} has no private key that can be read. If it is a key of SSH with a passphrase, "
        "decrypt the file with the program age"
    )


def _refuse_empty(texts: Sequence[str], option: str) -> None:
    if not all(text.strip() for text in texts):
        raise StartRefused(f"{option} is empty: name a key, its file or `{_WORD}`")


def _is_passphrase(text: str) -> bool:
    return text == _WORD or text.startswith(f"{_WORD}:")


def _read_passphrase(text: str, ask: Ask) -> str:
    _, _, file = text.partition(":")
    passphrase = _read(Path(file)).decode("utf-8", "replace") if file else ask()
    first = passphrase.splitlines()[0] if passphrase else ""
    if not first:
        raise StartRefused("The passphrase is empty: write it into the first line of its file")
    return first


def _split_lines(content: bytes) -> list[str]:
    lines = [line.strip() for line in content.decode("utf-8", "replace").splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def _read(file: Path) -> bytes:
    with _open(file) as opened:
        return opened.read(_MOST_KEYS)


@contextmanager
def _open(file: Path) -> Generator[BinaryIO]:
    try:
        with file.open("rb") as opened:
            yield opened
    except OSError as error:
        raise StartRefused(f"{file} cannot be read: {error.strerror}") from error
