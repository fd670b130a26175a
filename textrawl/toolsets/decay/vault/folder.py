"""The folder of the vault, and new notes in it. Links inside the folder are not followed.

A note is never written over an existing file. It appears with its whole content, or not at all.
"""

import errno
import os
import re
import secrets
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pathvalidate import sanitize_filename

from textrawl.errors import TextrawlError
from textrawl.toolsets.decay.vault.notes import read_note

PROMOTED = "textrawl"  # subfolder of promoted notes; it has a subfolder for each space
_LONGEST_TITLE = 80
_MOST_NAMES = 100
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LINK_MARKS = re.compile(r"[\[\]#^|]+")  # Obsidian cannot link to a file name with these marks


class VaultUnavailable(TextrawlError):
    """The vault is not set, missing, read-only or full."""

    title = "Vault not available"
    fix = "Set TEXTRAWL_VAULT of the server to a folder for notes; nothing was changed"


@dataclass(frozen=True)
class NotePlace:
    """The place of a note in the vault, and whether the call wrote it."""

    path: str
    written: bool


@contextmanager
def open_vault(vault: Path | None) -> Generator[int]:
    """Yield a descriptor of the vault's folder. Raises VaultUnavailable."""
    if vault is None:
        raise VaultUnavailable
    with _translate_faults(), ExitStack() as stack:
        folder = os.open(vault.resolve(), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, folder)
        yield folder


def check_vault(vault: Path | None) -> None:
    """Raise VaultUnavailable if the folder is missing or read-only."""
    with open_vault(vault) as folder:
        if not os.access(".", os.W_OK, dir_fd=folder):
            raise PermissionError(errno.EACCES, "the folder in TEXTRAWL_VAULT is read-only")


def add_note(vault: Path | None, space: str, title: str, memory_id: str, text: str) -> NotePlace:
    """Write a promoted note of a space, and return its path in the vault.

    If an earlier call wrote the note of this memory but could not finish, the earlier note is kept.
    Raises VaultUnavailable.
    """
    stem = name_note(title, memory_id)
    with open_vault(vault) as root, ExitStack() as stack:
        folder = _enter_path(root, (PROMOTED, space), stack)
        for number in range(1, _MOST_NAMES):
            name = f"{stem}.md" if number == 1 else f"{stem} {number}.md"
            path = f"{PROMOTED}/{space}/{name}"
            if _write(folder, name, text):
                return NotePlace(path, written=True)
            if _read_memory_id(folder, name) == memory_id:
                return NotePlace(path, written=False)
    raise VaultUnavailable(f"Remove notes named {stem!r} from the vault; nothing was changed")


def remove_note(vault: Path | None, place: NotePlace) -> None:
    """Remove a note that the same call wrote, because the memory could not be marked."""
    if not place.written:
        return
    *folders, name = place.path.split("/")
    with open_vault(vault) as root, ExitStack() as stack:
        os.unlink(name, dir_fd=_enter_path(root, folders, stack))


def name_note(title: str, memory_id: str) -> str:
    """Return the name of a note without its suffix. Every file system accepts it."""
    line = _LINK_MARKS.sub(" ", " ".join(title.split()))
    clean = sanitize_filename(line, platform="universal", max_len=_LONGEST_TITLE * 4)
    return f"{clean[:_LONGEST_TITLE].strip(' .')} {memory_id[:8]}".strip()


def _enter_path(root: int, names: Sequence[str], stack: ExitStack) -> int:
    """Open the subfolder at a path, and create its folders. A link in place of one is refused."""
    folder = root
    for name in names:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        folder = os.open(name, _FOLDER_FLAGS, dir_fd=folder)
        stack.callback(os.close, folder)
    return folder


def _write(folder: int, name: str, text: str) -> bool:
    """Write a new file. Return False if the name exists.

    The empty file reserves the name, and the complete draft then takes its place.
    """
    try:
        os.close(os.open(name, _NEW_FLAGS, 0o644, dir_fd=folder))
    except FileExistsError:
        return False
    draft = f".{secrets.token_hex(8)}.new"
    with ExitStack() as undo:
        undo.callback(os.unlink, name, dir_fd=folder)
        descriptor = os.open(draft, _NEW_FLAGS, 0o644, dir_fd=folder)
        undo.callback(os.unlink, draft, dir_fd=folder)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        undo.pop_all()
    os.fsync(folder)
    return True


def _read_memory_id(folder: int, name: str) -> str | None:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
        value = read_note(file.read(1 << 20)).fields.get("memory_id")
    return value if isinstance(value, str) else None


@contextmanager
def _translate_faults() -> Generator[None]:
    try:
        yield
    except OSError as error:
        reasons = {
            errno.ENOENT: "the folder in TEXTRAWL_VAULT is missing: create it",
            errno.ELOOP: f"a link stands in place of a folder or note in {PROMOTED}: remove it",
            errno.ENOTDIR: f"a file or link stands in place of a folder in {PROMOTED}: remove it",
        }
        reason = reasons.get(error.errno or 0, error.strerror or "the folder cannot be used")
        raise VaultUnavailable(f"{reason}; nothing was changed") from error
