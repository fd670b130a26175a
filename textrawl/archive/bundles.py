"""A file, a folder or a zip of another system, read in bounded memory.

Nothing of a zip is written to the disk. A zip is refused if it is encrypted or cut, if a name leads
out of it, or if its content is out of proportion to its size.
"""

import gzip
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

import ijson  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
from pydantic_core import from_json

from textrawl.archive.items import ImportFolder
from textrawl.errors import StartRefused

HEAD = 1 << 16  # bytes that tell what a file is
MOST_ITEM = 32 << 20  # bytes of one item, and of a file that is read as a whole
MOST_LINE = 16 << 20
_MOST_FILES = 200_000
_MOST_RATIO = 200  # of the sizes of a large file in a zip before and after it is packed
_DEEPEST = 5_000  # brackets that are open
_PIECE = 1 << 20  # the parser reads a long text again with each piece of it
_STEPS = np.zeros(256, np.int8)
_STEPS[[*b"[{"]] = 1
_STEPS[[*b"]}"]] = -1
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:")
_ZIP = b"PK\x03\x04"


class BundleRefused(StartRefused):
    """An import that is not possible. Nothing was imported."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Nothing was imported: {reason}")
        self.reason = reason


class _Guarded:
    """A file for a parser. It counts bytes, and refuses an item that is too long or too deep."""

    def __init__(self, file: BinaryIO, count: Callable[[int], object], name: str) -> None:
        self._file, self._count, self._name = file, count, name
        self._size = self._depth = 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes. Raises BundleRefused."""
        piece = self._file.read(_PIECE if size < 0 else size)
        self._count(len(piece))
        self._size += len(piece)
        if self._size > MOST_ITEM:
            raise BundleRefused(f"{self._name} has an item of more than {MOST_ITEM >> 20} MB")
        # The time of the parser grows with the square of the depth. Texts have brackets, too, but
        # close most of them.
        steps = _STEPS[np.frombuffer(piece, np.uint8)].cumsum(dtype=np.int64)
        if self._depth + steps.max(initial=0) > _DEEPEST:
            raise BundleRefused(f"{self._name} is nested too deeply")
        self._depth += int(steps[-1]) if len(steps) else 0
        return piece

    def restart(self) -> None:
        """Begin the next item."""
        self._size = self._depth = 0


class Bundle:
    """The files at a path, by their names. `done` is the number of bytes read so far.

    `only` has the names of files, or of the folders of a folder, that are read. None reads all of
    them. With `content`, the bundle is one file that is not on the disk. `seen` has the names of
    the files that were opened. `cleaned` counts the texts whose hidden characters a reader removed.
    `folder` gives the ids of notes.
    """

    def __init__(
        self, path: Path, only: Collection[str] | None = None, content: bytes | None = None
    ) -> None:
        self.path, self.done, self._only, self._content = path, 0, only, content
        self.seen, self.cleaned, self.folder = set[str](), 0, ImportFolder()
        self._zip: zipfile.ZipFile | None = None
        if content is not None:
            return
        if not path.exists():
            raise BundleRefused(f"{path} cannot be read: there is no such file or folder")
        # Opening a FIFO waits for its writer, and a device may never end.
        if not path.is_dir() and not path.is_file():
            raise BundleRefused(
                f"{path} is not a regular file: name a file, or save its content in one"
            )
        if path.is_file() and _read_magic(path) == _ZIP:
            self._zip = _open_zip(path)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The size of each file by its name. Links are left out."""
        if self._content is not None:
            return {self.path.name: len(self._content)}
        if self._zip:
            files = [one for one in self._zip.infolist() if not one.is_dir()]
            found = {one.filename: one.file_size for one in files}
        elif self.path.is_file():
            found = {self.path.name: self.path.stat().st_size}
        else:
            found = dict(_list_folder(self.path))
        only = self._only
        if only is None:
            return found
        kept = (name for name in found if name in only or name.split("/", 1)[0] in only)
        return {name: found[name] for name in kept}

    @property
    def root(self) -> Path:
        """The folder in which the names of files are paths. A zip is one too."""
        path = self.path.resolve()
        return path if self._zip or path.is_dir() else path.parent

    def find(self, name: str) -> str | None:
        """Return the name of the first file that has this last part, such as conversations.json."""
        found = (one for one in self.sizes if PurePosixPath(one).name == name)
        return min(found, key=len, default=None)

    def locate(self, name: str) -> Path | None:
        """Return the path of a file on the disk, or None for a file in a zip."""
        if self._zip:
            return None
        self.seen.add(name)
        return self._find_path(name)

    def _find_path(self, name: str) -> Path:
        return self.path if self.path.is_file() else self.path / name

    @contextmanager
    def open(self, name: str) -> Generator[BinaryIO]:
        """Open a file. Raises BundleRefused, also for what is read within the block."""
        self.seen.add(name)
        try:
            with self._open(name) as file:
                yield file
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise BundleRefused(f"{name} cannot be read: {error}") from error

    def _open(self, name: str) -> BinaryIO:
        if self._zip:
            return cast("BinaryIO", self._zip.open(name))
        if self._content is not None:
            return BytesIO(self._content)
        return os.fdopen(os.open(self._find_path(name), os.O_RDONLY | os.O_NONBLOCK), "rb")

    def count(self, number: int) -> None:
        """Add to the bytes that were read."""
        self.done += number

    def count_cleaned(self, number: int) -> None:
        """Add to the texts whose hidden characters a reader removed."""
        self.cleaned += number

    def restart(self) -> None:
        """Count anew, before a reader reads the files again."""
        self.done = self.cleaned = 0

    def read_head(self, name: str) -> bytes:
        """Return the first bytes of a file."""
        with self.open(name) as file:
            return file.read(HEAD)

    def read_first_head(self) -> bytes:
        """Return the first bytes of the first file, or nothing if there is no file."""
        return next(map(self.read_head, self.sizes), b"")

    def read_first(self, name: str, most: int = 20) -> list[dict[str, Any]]:
        """Return the objects of the first lines of a file of JSON Lines, without other lines."""
        lines = self.read_head(name).split(b"\n")[:most]
        return [value for line in lines if (value := read_object(line)) is not None]

    def read_json(self, name: str) -> Any:
        """Return the content of a JSON file. Raises BundleRefused."""
        with self.open(name) as file:
            content = file.read(MOST_ITEM + 1)
        self.count(len(content))
        if len(content) > MOST_ITEM:
            raise BundleRefused(f"{name} has more than {MOST_ITEM >> 20} MB")
        try:
            return from_json(content.removeprefix(b"\xef\xbb\xbf"))
        except ValueError as error:
            raise BundleRefused(f"{name} is not JSON, or it is cut: {error}") from None

    def read_array(self, name: str, prefix: str = "item") -> Iterator[Any]:
        """Yield the items of a JSON array one by one. Raises BundleRefused."""
        with self.open(name) as file:
            guarded = _Guarded(file, self.count, name)
            try:
                for item in ijson.items(guarded, prefix, use_float=True, buf_size=_PIECE):
                    yield item
                    guarded.restart()
            except (ijson.JSONError, UnicodeDecodeError) as error:
                reason = str(error).split("\n", 1)[0]
                raise BundleRefused(f"{name} is not JSON, or it is cut: {reason}") from None

    def read_lines(self, name: str) -> Iterator[tuple[int, bytes | None]]:
        """Yield each line with its number, or None for a line longer than MOST_LINE."""
        with self.open(name) as packed:
            file = gzip.GzipFile(fileobj=packed) if name.endswith(".gz") else packed
            number = 0
            while line := file.readline(MOST_LINE):
                number += 1
                self.count(len(line))
                rest = line
                while not rest.endswith(b"\n") and (rest := file.readline(MOST_LINE)):
                    self.count(len(rest))
                    line = b""
                yield number, line or None


def read_object(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line, or None if the line is something else."""
    try:
        value: object = from_json(line, allow_inf_nan=False)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _read_magic(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(len(_ZIP))
    except OSError as error:
        raise BundleRefused(f"{path} cannot be read: {error.strerror}") from error


def _list_folder(folder: Path) -> Iterator[tuple[str, int]]:
    for place, below, files in os.walk(folder):
        below.sort()
        for one in sorted(files):
            path = Path(place) / one
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(folder).as_posix(), path.stat().st_size


def _open_zip(path: Path) -> zipfile.ZipFile:
    try:
        opened = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise BundleRefused(f"{path} is not a whole zip: {error}") from None
    entries = opened.infolist()
    if len(entries) > _MOST_FILES:
        raise BundleRefused(f"{path} has more than {_MOST_FILES:,} files")
    for one in entries:
        parts = PurePosixPath(one.filename.replace("\\", "/")).parts
        if ".." in parts or _ABSOLUTE.match(one.filename):
            raise BundleRefused(f"{path} has a file that leads out of it: {one.filename!r:.100}")
        if one.flag_bits & 1:
            raise BundleRefused(f"{path} is encrypted: unpack it, and name the folder")
        if one.file_size > MOST_ITEM and one.file_size > _MOST_RATIO * max(1, one.compress_size):
            raise BundleRefused(
                f"{path} would unpack {one.filename!r:.100} to {one.file_size >> 20:,} MB from "
                f"{one.compress_size:,} bytes, like a zip bomb"
            )
    return opened
