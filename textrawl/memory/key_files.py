"""Keys of encrypted graphs, and their files on this machine, each wrapped by the owner's key.

A key encrypts with AES-256-GCM. Every ciphertext begins with its nonce. The data that it belongs to
are authenticated with it, so a row that is copied to another place cannot be decrypted there.

No key is ever in Postgres, so a backup of the memory cannot be decrypted without these files.
Methods of KeyFiles block, for milliseconds or until the owner's command has printed the key.
"""

import base64
import fcntl
import os
import shlex
import stat
import subprocess
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from secrets import token_hex
from typing import Literal, Self
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from textrawl.environment import find_user_file
from textrawl.errors import DecryptionFailed, EncryptionKeyUnusable
from textrawl.installation import write_install_command

KEY_BYTES = 32
_NONCE_BYTES = 12
_CONTEXT = b"textrawl 1 "  # with the version of what is authenticated and derived

Part = Literal["head", "content"]


class GraphKey:
    """The secret of a graph, with the keys that are derived from it (HKDF-SHA-256, RFC 5869).

    `id` is derived too, so it tells keys apart without a secret.
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        self.secret = secret
        self.id = UUID(bytes=_derive(secret, b"id")[:16])
        self._cipher = AESGCM(_derive(secret, b"documents"))
        self._digests = _derive(secret, b"digests")

    @classmethod
    def generate(cls) -> Self:
        """Return a new random key."""
        return cls(os.urandom(KEY_BYTES))

    def name_document(self, path: str) -> UUID:
        """Return the id of the document with this path, a keyed digest."""
        return UUID(bytes=self._digest(b"path", path.encode())[:16])

    def digest_file(self, sha256: str) -> bytes:
        """Return the keyed digest of a file with this hash."""
        return self._digest(b"file", sha256.encode())

    def encrypt(self, part: Part, document: UUID, digest: bytes, text: bytes) -> bytes:
        """Return the nonce and the ciphertext of a part of a document."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, text, self._bind(part, document, digest))

    def decrypt(self, part: Part, document: UUID, digest: bytes, ciphertext: bytes) -> bytes:
        """Return the text of a part of a document. Raises DecryptionFailed."""
        try:
            return self._cipher.decrypt(
                ciphertext[:_NONCE_BYTES],
                ciphertext[_NONCE_BYTES:],
                self._bind(part, document, digest),
            )
        except (InvalidTag, ValueError):
            raise DecryptionFailed(str(document)) from None

    def wrap(self, owner: bytes) -> bytes:
        """Return this key encrypted with the key of its owner."""
        nonce = os.urandom(_NONCE_BYTES)
        cipher = AESGCM(_derive(owner, b"wrap"))
        return nonce + cipher.encrypt(nonce, self.secret, _CONTEXT + self.id.bytes)

    @classmethod
    def unwrap(cls, owner: bytes, key: UUID, wrapped: bytes) -> Self | None:
        """Return a key that `wrap` encrypted, or None for another owner or another key."""
        cipher = AESGCM(_derive(owner, b"wrap"))
        try:
            secret = cipher.decrypt(
                wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], _CONTEXT + key.bytes
            )
        except (InvalidTag, ValueError):
            return None
        return cls(secret)

    def _bind(self, part: Part, document: UUID, digest: bytes) -> bytes:
        # The key is that of one graph. The digest ties the head to the content of the same version.
        return _CONTEXT + part.encode() + self.id.bytes + document.bytes + digest

    def _digest(self, purpose: bytes, data: bytes) -> bytes:
        mac = HMAC(self._digests, SHA256())
        mac.update(purpose + b"\0" + data)
        return mac.finalize()


def _derive(secret: bytes, purpose: bytes) -> bytes:
    kdf = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=_CONTEXT + purpose)
    return kdf.derive(secret)


SERVICE, USER = "textrawl", "encryption key"  # the entry of the keyring
_SETTING = "TEXTRAWL_ENCRYPTION_KEY"
_FILE, _FOLDER, _LOCK = "encryption.key", "graph-keys", ".lock"
_PREFIX = "textrawl-graph-key-1:"
_MOST_SECONDS = 120  # for a command that asks a person


class KeyFiles:
    """The keys of graphs that one owner has on this machine.

    `setting` is the value of ENCRYPTION_KEY: `file:PATH`, `keyring`, `command:COMMAND`, or None for
    a file in the folder of the user's configuration. The keys of graphs are beside this file, or
    else in that folder. `asking` is entered while a command or the keyring can ask a person. Raises
    EncryptionKeyUnusable if PATH is not absolute.
    """

    def __init__(
        self, setting: str | None, asking: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        self._asking = asking
        default = find_user_file().with_name(_FILE)
        self._kind, _, place = (setting or f"file:{default}").partition(":")
        self._file = _read_path(place) if self._kind == "file" else None
        self._command = place
        self.folder = (self._file or default).parent / _FOLDER

    @property
    def place(self) -> str:
        """The place of the owner's key, for people."""
        if self._file is not None:
            return str(self._file)
        return "the keyring of the system" if self._kind == "keyring" else f"`{self._command}`"

    def find_file(self, key: UUID) -> Path:
        """Return the path of the file of a key."""
        return self.folder / f"{key}.key"

    def create(self) -> GraphKey:
        """Return a new key, which is on disk already. Raises EncryptionKeyUnusable."""
        key = GraphKey.generate()
        self.add(key)
        return key

    def add(self, key: GraphKey) -> None:
        """Write the file of a key, wrapped by the owner's key, which is made if there is none.

        Raises EncryptionKeyUnusable.
        """
        with _translate(self.folder), self._lock():
            owner = self._claim_owner()
            _write_new(self.find_file(key.id), base64.b64encode(key.wrap(owner)) + b"\n")

    def prepare(self) -> None:
        """Require that keys can be made here. The owner's key is made if there is none.

        Raises EncryptionKeyUnusable.
        """
        with _translate(self.folder), self._lock():
            self._claim_owner()

    def load(self, key: UUID) -> GraphKey:
        """Return the key with this id. Raises EncryptionKeyUnusable."""
        file = self.find_file(key)
        with _translate(file):
            if not file.exists():
                raise EncryptionKeyUnusable(
                    f"{file} is missing. If the graph was made on another machine, run `textrawl "
                    "space key GRAPH --export FILE` there and `--import FILE` here. If the file is "
                    "lost, the documents are lost too"
                )
            owner = self._read_owner(create=False)
            wrapped = _decode(_read_private(file)) or b""
        found = GraphKey.unwrap(owner, key, wrapped)
        if found is None or found.id != key:
            raise EncryptionKeyUnusable(
                f"{file} was wrapped by another key than that of {self.place}, or it is damaged: "
                f"set {_SETTING} to the place of the former key, or restore the file"
            )
        return found

    def destroy(self, key: UUID) -> bool:
        """Delete the file of a key, and return whether there was one."""
        file = self.find_file(key)
        with _translate(file):
            if not file.exists():
                return False
            for draft in self.folder.glob(f".{file.name}.*"):  # of a process that was killed
                draft.unlink()
            file.unlink()
            sync(self.folder)
        return True

    def _claim_owner(self) -> bytes:
        # A new owner's key beside old graph keys would hide that the former one is lost.
        owner = self._read_owner(create=not any(self.folder.glob("*.key")))
        if self._kind == "command" and self._read_owner(create=False) != owner:
            raise EncryptionKeyUnusable(
                f"{self.place} prints another key each time: keep one key, and let the command "
                "print it"
            )
        return owner

    def _read_owner(self, *, create: bool) -> bytes:
        if self._file is not None:
            if not self._file.exists():
                if not create:
                    raise self._miss()
                _write_new(self._file, base64.b64encode(os.urandom(KEY_BYTES)) + b"\n")
            text = _read_private(self._file)
        else:
            with self._asking():
                keyring = self._kind == "keyring"
                text = self._ask_keyring(create=create) if keyring else self._run_command()
        owner = _decode(text)
        if owner is None or len(owner) != KEY_BYTES:
            raise EncryptionKeyUnusable(
                f"{self.place} must give {KEY_BYTES} bytes in base64, such as `openssl rand "
                f"-base64 {KEY_BYTES}` prints"
            )
        return owner

    def _ask_keyring(self, *, create: bool) -> bytes:
        try:
            import keyring.errors  # noqa: PLC0415 - an extra
        except ImportError:
            raise EncryptionKeyUnusable(
                f"the keyring needs an extra package: run `{write_install_command('keyring')}`"
            ) from None
        try:
            found = keyring.get_password(SERVICE, USER)
            if found is None and create:
                text = base64.b64encode(os.urandom(KEY_BYTES)).decode()
                keyring.set_password(SERVICE, USER, text)
                found = keyring.get_password(SERVICE, USER)
                if found != text:
                    raise EncryptionKeyUnusable(
                        f"the keyring of the system does not keep a key: set {_SETTING} to another "
                        "place"
                    )
        except keyring.errors.KeyringError as error:
            raise EncryptionKeyUnusable(
                f"the keyring cannot be used: {error}. Unlock it, or set {_SETTING}"
            ) from None
        if found is None:
            raise self._miss()
        return found.encode()

    def _run_command(self) -> bytes:
        try:
            return subprocess.run(  # noqa: S603 - the user's own setting, without a shell
                shlex.split(self._command),
                stdout=subprocess.PIPE,
                check=True,
                timeout=_MOST_SECONDS,
            ).stdout
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            reason = type(error).__name__
            if isinstance(error, subprocess.CalledProcessError):
                reason = f"exit code {error.returncode}"
            raise EncryptionKeyUnusable(
                f"{self.place} does not print the key ({reason}): run it in a terminal, and mend "
                f"it or {_SETTING}"
            ) from None

    def _miss(self) -> EncryptionKeyUnusable:
        return EncryptionKeyUnusable(
            f"{self.place} has no key, but {self.folder} has keys that it wrapped: bring the "
            f"former key back, or set {_SETTING} to its place"
        )

    @contextmanager
    def _lock(self) -> Generator[None]:
        """Let one process at a time create keys. A process that is killed releases the lock."""
        _make_folder(self.folder)
        descriptor = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def export_key(key: GraphKey, file: Path) -> None:
    """Write a key to a new file, as one line that is not wrapped. Raises EncryptionKeyUnusable."""
    with _translate(file):
        if file.exists():
            raise EncryptionKeyUnusable(f"{file} exists already: name another file")
        _write_new(file, f"{_PREFIX}{base64.b64encode(key.secret).decode()}\n".encode())


def import_key(file: Path) -> GraphKey:
    """Return the key in a file of `export_key`. Raises EncryptionKeyUnusable."""
    with _translate(file):
        text = _read_private(file).decode("utf-8", "replace").strip()
    secret = _decode(text.removeprefix(_PREFIX).encode()) if text.startswith(_PREFIX) else None
    if secret is None or len(secret) != KEY_BYTES:
        raise EncryptionKeyUnusable(
            f"{file} is not a file of `textrawl space key GRAPH --export FILE`"
        )
    return GraphKey(secret)


def _read_path(place: str) -> Path:
    try:
        file = Path(place).expanduser()
    except RuntimeError:  # no such user
        file = Path(place)
    if not file.is_absolute():
        # In another folder, the same words would name another key.
        raise EncryptionKeyUnusable(
            f"file:{place} depends on the folder of the command: write an absolute path, or one "
            f"that begins with ~/, in {_SETTING}"
        )
    return file


def _decode(text: bytes) -> bytes | None:
    try:
        return base64.b64decode(text.strip(), validate=True)
    except ValueError:
        return None


def _read_private(file: Path) -> bytes:
    """Return the content of a file that only its owner can read."""
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        if stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o077:
            raise EncryptionKeyUnusable(f"others can read {file}: run `chmod 600 {file}`")
        return stream.read(1 << 16)


def _write_new(file: Path, content: bytes) -> None:
    """Write a file that only its owner can read. It appears whole and on disk, or not at all."""
    _make_folder(file.parent)
    draft = file.with_name(f".{file.name}.{token_hex(8)}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    sync(file.parent)


def _make_folder(folder: Path) -> None:
    """Create a folder with its parents, each on disk, for its owner alone."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        sync(folder.parent)


def sync(path: Path) -> None:
    """Bring a file or a folder to the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translate(place: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise EncryptionKeyUnusable(
            f"{error.filename or place} cannot be used: {error.strerror}. Make it yours, or set "
            f"{_SETTING} to another place"
        ) from None
