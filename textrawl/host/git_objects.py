"""Commits of a Git repository, read from its files without Git.

Nothing is read but regular files, and of each only as much as a commit can have. This module uses
only the standard library, because a hook reads it at every prompt.
"""

import mmap
import os
import stat
import struct
import time
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

_LONGEST = 1 << 20  # bytes of a commit, and of a file that lists something
_MOST_FILES = 1000  # packs, and branches
_MOST_DELTAS = 64
_LONGEST_WALK = 0.5  # seconds
_COMMIT, _OFFSET_DELTA, _NAMED_DELTA = 1, 6, 7
_MAGIC = b"\xfftOc\0\0\0\2"


class Damaged(ValueError):
    """A file has another form than Git gives it."""


@contextmanager
def open_regular(path: Path) -> Generator[int]:
    """Open a regular file. Raises OSError for anything else, such as a device or a link."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(f"{path} is no regular file")
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def read_text(path: Path, most: int = _LONGEST) -> str:
    """Return the text of a small regular file, or nothing."""
    try:
        with open_regular(path) as descriptor:
            return os.read(descriptor, most).decode(errors="replace")
    except (OSError, ValueError):
        return ""


_FAULTS = (KeyError, IndexError, OSError, ValueError, OverflowError, struct.error)


class Objects:
    """The commits of a repository, in files of their own and in packs."""

    def __init__(self, common: Path) -> None:
        self._places = [common / "objects"]
        for line in read_text(common / "objects/info/alternates").splitlines()[:8]:
            self._places.append(common / "objects" / line)
        self._packs: list[tuple[Path, mmap.mmap]] | None = None

    def read_commit(self, name: str) -> tuple[str, int]:
        """Return the first parent of a commit, or nothing, and its time.

        Raises Damaged, OSError, KeyError if there is no such commit.
        """
        head = self._read(name).partition(b"\n\n")[0].decode(errors="replace").split("\n")
        parent, when = "", 0
        for line in head:
            if line.startswith("parent ") and not parent:
                parent = line[7:]
            elif line.startswith("committer "):
                when = int(line.rsplit(" ", 2)[1])
        return parent, when

    def close(self) -> None:
        """Close the indexes of the packs."""
        for _, index in self._packs or ():
            index.close()

    def _read(self, name: str) -> bytes:
        for place in self._places:
            with suppress(FileNotFoundError), open_regular(place / name[:2] / name[2:]) as file:
                kind, _, text = _inflate(os.read(file, _LONGEST)).partition(b"\0")
                if not kind.startswith(b"commit "):
                    raise Damaged(name)
                return text
        kind, text = self._read_packed(bytes.fromhex(name), 0)
        if kind != _COMMIT:
            raise Damaged(name)
        return text

    def _read_packed(self, name: bytes, depth: int) -> tuple[int, bytes]:
        for path, index in self._open_packs():
            if (place := _find(index, name)) is not None:
                with open_regular(path) as pack:
                    return self._read_entry(pack, place, depth)
        raise KeyError(name)

    def _open_packs(self) -> list[tuple[Path, mmap.mmap]]:
        if self._packs is None:
            self._packs = []
            for place in self._places:
                for path in islice((place / "pack").glob("*.idx"), _MOST_FILES):
                    with suppress(OSError, ValueError), open_regular(path) as file:
                        index = mmap.mmap(file, 0, access=mmap.ACCESS_READ)
                        self._packs.append((path.with_suffix(".pack"), index))
        return self._packs

    def _read_entry(self, pack: int, place: int, depth: int) -> tuple[int, bytes]:
        """Return the kind and the content of an object of a pack, with its deltas applied."""
        if depth > _MOST_DELTAS:
            raise Damaged("too many deltas")
        data = os.pread(pack, 4096, place)
        kind, at, more = data[0] >> 4 & 7, 1, data[0] & 0x80
        while more:
            more, at = data[at] & 0x80, at + 1
        if kind == _OFFSET_DELTA:
            back, at = _read_offset(data, at)
            if not 0 < back < place:
                raise Damaged("a delta of nothing")
            base_kind, base = self._read_entry(pack, place - back, depth + 1)
        elif kind == _NAMED_DELTA:
            base_kind, base = self._read_packed(data[at : at + 20], depth + 1)
            at += 20
        else:
            return kind, _inflate_at(pack, place, data, at) if kind == _COMMIT else b""
        return base_kind, _apply(base, _inflate_at(pack, place, data, at))


def _inflate(data: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, _LONGEST)
    except zlib.error as error:
        raise Damaged(str(error)) from error


def _inflate_at(pack: int, place: int, data: bytes, at: int) -> bytes:
    reader, text = zlib.decompressobj(), b""
    try:
        text = reader.decompress(data[at:], _LONGEST)
        if not reader.eof:
            text += reader.decompress(os.pread(pack, _LONGEST, place + len(data)), _LONGEST)
    except zlib.error as error:
        raise Damaged(str(error)) from error
    return text


def _find(index: mmap.mmap, name: bytes) -> int | None:
    """Return the place of an object in the pack of an index of version 2, or None."""
    if index[:8] != _MAGIC or len(name) != 20:  # noqa: PLR2004 - bytes of a SHA-1
        return None
    total = struct.unpack_from(">I", index, 8 + 255 * 4)[0]
    low = struct.unpack_from(">I", index, 8 + (name[0] - 1) * 4)[0] if name[0] else 0
    high = struct.unpack_from(">I", index, 8 + name[0] * 4)[0]
    names, offsets = 8 + 1024, 8 + 1024 + total * 24
    while low < high:
        middle = (low + high) // 2
        found = index[names + middle * 20 : names + middle * 20 + 20]
        if found == name:
            place: int = struct.unpack_from(">I", index, offsets + middle * 4)[0]
            if place >> 31:
                far = offsets + total * 4 + (place & 0x7FFFFFFF) * 8
                place = struct.unpack_from(">Q", index, far)[0]
            return place
        low, high = (middle + 1, high) if found < name else (low, middle)
    return None


def _read_offset(data: bytes, at: int) -> tuple[int, int]:
    """Return how far back the base of a delta is, and where its content begins."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = (value + 1 << 7) | (data[at] & 0x7F)
    return value, at + 1


def _read_size(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if not byte & 0x80:
            return value, at


def _apply(base: bytes, delta: bytes) -> bytes:
    """Return the content that a delta makes of its base."""
    _, at = _read_size(delta, 0)
    size, at = _read_size(delta, at)
    made = bytearray()
    while at < len(delta):
        code, at = delta[at], at + 1
        if not code & 0x80:
            made += delta[at : at + code]
            at += code
            continue
        numbers = [0, 0]  # where the copy begins, and its length
        for bit in range(7):
            if code >> bit & 1:
                numbers[bit // 4] |= delta[at] << 8 * (bit % 4)
                at += 1
        start, length = numbers
        made += base[start : start + (length or 0x10000)]
        if len(made) > min(size, _LONGEST):
            raise Damaged("longer than it says")
    return bytes(made)


def find_first_commit(common: Path, most: int) -> tuple[str | None, int]:
    """Return the oldest first commit of all branches, and how many commits were read.

    It is None if it is not known: a shallow clone does not have it, and nobody waits for more than
    `most` commits, or half a second. A damaged repository counts as too long a one. Only first
    parents count, so a history that was merged later changes nothing.
    """
    shallow = set(read_text(common / "shallow").split())
    objects, seen, roots = Objects(common), set[str](), list[tuple[int, str]]()
    latest = time.monotonic() + _LONGEST_WALK
    try:
        for head in _list_heads(common):
            name = head
            while name and name not in seen:
                if name in shallow:
                    return None, len(seen)
                if len(seen) >= most or time.monotonic() > latest:
                    return None, most
                seen.add(name)
                parent, when = objects.read_commit(name)
                if not parent:
                    roots.append((when, name))
                name = parent
    except _FAULTS:
        return None, most
    finally:
        objects.close()
    return min(roots)[1] if roots else None, len(seen)


def has_commit(common: Path, name: str) -> bool:
    """Return whether a repository has a commit."""
    objects = Objects(common)
    try:
        objects.read_commit(name)
    except _FAULTS:
        return False
    finally:
        objects.close()
    return True


def _list_heads(common: Path) -> list[str]:
    """Return the commits of HEAD and of all branches."""
    names = [read_text(common / "HEAD", 200)]
    packed = read_text(common / "packed-refs", 8 * _LONGEST)
    names += [line.split(" ")[0] for line in packed.splitlines() if " refs/heads/" in line]
    for folder, _, files in islice(os.walk(common / "refs/heads"), _MOST_FILES):
        names += [read_text(Path(folder, file), 200) for file in files[:_MOST_FILES]]
    names = [name.strip() for name in names]
    return [one for one in names if len(one) == 40 and not one.strip("0123456789abcdef")]  # noqa: PLR2004
