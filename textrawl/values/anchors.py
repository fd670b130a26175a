"""Anchors of facts: what a fact speaks of, and whether that has changed since.

An anchor is `src/parse.py:40-52 HASH` (lines of a file), `src/parse.py HASH` (a whole file), a URL,
which nobody fetches, or the version of a document, which the database compares. A path is relative
to the folder of a repository. A process reads its files only for a session that works in this
folder, and only regular files below it: no path through a symbolic link, no device and no large
file. What cannot be read in this way says nothing.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache, partial
from hashlib import sha256
from stat import S_ISREG
from typing import NamedTuple
from zlib import crc32

MOST_ANCHORS = 4  # of a fact
LONGEST_ANCHOR = 500  # characters
MOST_ANCHORED = 10_000  # facts that are compared at once
CHANGED, GONE = "source changed", "file gone"

checkout: ContextVar[str | None] = ContextVar("checkout", default=None)
"""The folder of the repository of this task's session, or None if nobody may read it here."""

_MOST_BYTES = 1 << 17  # of a file: less than a millisecond
_MOST_KEPT = 32  # files of a call, so that the file of several facts is read once
_MOST_TRIED = 20  # places in a file with the first line of an anchor, such as a blank line
_MOST_MENTIONS = 20  # paths of a text that are looked up
_END = b"\n"
_MARKS = b" \t-*+>0123456789.)"  # of an item of a list
_ANCHOR = re.compile(r"([^\0]+?)(?::([0-9]{1,7})-([0-9]{1,7}))? ([0-9a-f]{16})")
_OF_DOCUMENT = re.compile(rf"(\S+): {CHANGED} ?([0-9]*)")  # the database has compared it
_PLACE = re.compile(r"(.+?)(?::([0-9]{1,7})(?:-([0-9]{1,7}))?)?")
# What these have could be guessed from the hash of a line. Some disks do not know case.
_SECRET = re.compile(
    r"\.git|\.env.*|\.npmrc|\.pgpass|\.netrc|id_(rsa|dsa|ecdsa|ed25519).*|.*\.(pem|key)",
    re.I | re.S,
)
_MENTION = re.compile(
    r"(?<![\w./\\:@~+-])([\w.@+-]+(?:/[\w.@+-]+)*)(?:(?::|#L)([0-9]{1,7})(?:-L?([0-9]{1,7}))?)?(?![\w/])"
)


Read = Callable[[str], list[bytes] | None]
"""Reads a file: see _read_lines()."""


class SourceChange(NamedTuple):
    """The place of an anchor, what became of it, and a hash of the file or the version now."""

    place: str
    state: str
    now: str

    @property
    def line(self) -> str:
        """The place and what became of it."""
        return f"{self.place}: {self.state}"

    @property
    def evidence(self) -> str:
        """The reason of a finding, which is another one if the file changes again."""
        return f"{self.line} {self.now}".rstrip()[:LONGEST_ANCHOR]


def write_anchor(folder: str, place: str) -> str | None:
    """Return the anchor of `src/parse.py`, `src/parse.py:40` or `src/parse.py:40-52`.

    It is None for what is no readable file below `folder`, and for lines that the file lacks.
    """
    found = _PLACE.fullmatch(place)
    return _write(partial(_read_lines, folder), *found.groups()) if found else None


def find_anchors(folder: str, texts: Iterable[str]) -> list[list[str] | None]:
    """Return for each text the anchors of its relative paths that are files below `folder`."""
    read = _open_folder(folder)
    return [_find_mentions(read, text) for text in texts]


def _find_mentions(read: Read, text: str) -> list[str] | None:
    found = dict[str, None]()
    plain = [(path.removeprefix("./").rstrip("."), *at) for path, *at in _MENTION.findall(text)]
    paths = [named for named in plain if "/" in named[0] or "." in named[0]]
    for path, first, last in paths[:_MOST_MENTIONS]:
        anchor = _write(read, path, first, last) or _write(read, path)
        found |= {anchor: None} if anchor else {}
    return list(found)[:MOST_ANCHORS] or None


def find_source(folder: str, path: str, text: str) -> str | None:
    """Return the anchor of the longest line of a file that is in a text, without its mark."""
    with suppress(FileNotFoundError):
        told = text.encode()
        found = [line.strip(_MARKS) for line in _read_lines(folder, path) or ()]
        sizes = [len(line) if line in told else 0 for line in found]
        if size := max(sizes, default=0):
            return write_anchor(folder, f"{path}:{sizes.index(size) + 1}")
    return None


def read_changes(told: Sequence[Sequence[str] | None]) -> list[str | None]:
    """Return for each fact, by its anchors, `source changed`, `file gone` or None.

    They are compared with the files of the session's folder, if it has one.
    """
    return [change and change.state for change in find_changes(checkout.get() or "", told)]


def find_changes(folder: str, told: Iterable[Sequence[str] | None]) -> list[SourceChange | None]:
    """Return for each fact its first anchor that is not as it was, or None.

    The same lines in another place of the file are as they were.
    """
    read = _open_folder(folder)
    return [
        next(filter(None, (_compare(read, one) for one in anchors or ())), None) for anchors in told
    ]


def _open_folder(folder: str) -> Read:
    """Return a function that reads files below `folder`, and keeps the last ones."""
    return lru_cache(_MOST_KEPT)(partial(_read_lines, folder))


def _write(read: Read, path: str, first: str | None = None, last: str | None = None) -> str | None:
    try:
        lines = read(path)
    except FileNotFoundError:
        return None
    if lines is None or len(path) > LONGEST_ANCHOR // 2:
        return None
    if not first:
        return f"{path} {_hash(lines)}"
    start, end = int(first), int(last or first)
    if not 0 < start <= end <= len(lines):
        return None
    return f"{path}:{start}-{end} {_hash(lines[start - 1 : end])}"


def _compare(read: Read, anchor: str) -> SourceChange | None:
    found = _ANCHOR.fullmatch(anchor)
    if found is None:
        judged = _OF_DOCUMENT.fullmatch(anchor)
        return SourceChange(judged[1], CHANGED, judged[2]) if judged else None
    path, first, last, known = found.groups()
    place = anchor.rpartition(" ")[0]
    try:
        lines = read(path)
    except FileNotFoundError:
        return SourceChange(place, GONE, "")
    if lines is None:
        return None
    start, end = (int(first) - 1, int(last)) if first else (0, len(lines))
    if _hash(lines[max(start, 0) : end]) == known:
        return None
    if first and _is_elsewhere(lines, end - start, known):
        return None
    return SourceChange(place, CHANGED, _hash(lines)[8:])


def _is_elsewhere(lines: Sequence[bytes], count: int, known: str) -> bool:
    """Return whether the file has `count` lines with this hash anywhere."""
    sums, place = list(map(crc32, lines)), -1
    for _ in range(_MOST_TRIED):
        try:
            place = sums.index(int(known[:8], 16), place + 1)
        except ValueError:
            return False
        if _hash(lines[place : place + count]) == known:
            return True
    return False


def _hash(lines: Sequence[bytes]) -> str:
    """Return the sum of the first line, by which it is found elsewhere, and a hash of all lines."""
    return f"{crc32(b''.join(lines[:1])):08x}{sha256(_END.join(lines)).hexdigest()[:8]}"


def _read_lines(folder: str, path: str) -> list[bytes] | None:
    """Return the lines of a regular file below `folder`, or None if it cannot be read safely.

    Raises FileNotFoundError if the folder is there and the file is not.
    """
    parts = path.split("/")
    if any(part in ("", ".", "..") or _SECRET.fullmatch(part) for part in parts):
        return None
    try:
        place = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY)
    except (OSError, ValueError):
        return None
    try:
        for part in parts[:-1]:
            below = _open(part, place, os.O_DIRECTORY)
            os.close(place)
            place = below
        if not S_ISREG(os.stat(parts[-1], dir_fd=place, follow_symlinks=False).st_mode):
            return None
        with open(_open(parts[-1], place), "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        raise
    except (OSError, ValueError):
        return None
    finally:
        os.close(place)
    return data.replace(b"\r\n", _END).split(_END) if len(data) <= _MOST_BYTES else None


def _open(name: str, folder: int, kind: int = 0) -> int:
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    return os.open(name, flags | kind, dir_fd=folder)
