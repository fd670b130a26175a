"""The files of an ingest: which files of a folder are taken, and the path of each source."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from textrawl.documents.kinds import DOCUMENTS, find_ending
from textrawl.values.text import clean_name

LONGEST_PATH, LONGEST_LABEL = 295, 200
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True)
class FoundFile:
    """A file to ingest. `name` is its path for people. It begins with the folder that was given."""

    file: Path
    name: str

    @property
    def path(self) -> str:
        """The path of the source. It is the key of the source in its graph."""
        return f"file/{_shorten(self.name, LONGEST_PATH)}"

    @property
    def label(self) -> str:
        """The name of the source for people."""
        return _shorten(self.name, LONGEST_LABEL)


@dataclass(frozen=True)
class Findings:
    """The files of an ingest. `left_out` counts files of other kinds in folders."""

    files: list[FoundFile]
    left_out: int


def find_files(named: Iterable[Path]) -> Findings:
    """Return the named files, and the documents of the named folders with their subfolders.

    Hidden files and folders are left out, and so are links. Raises FileNotFoundError, or ValueError
    if two files would become the same source.
    """
    files, left_out = dict[str, FoundFile](), 0
    for path in named:
        if not path.exists():
            raise FileNotFoundError(path)
        for found, wanted in _walk(path):
            left_out += not wanted
            other = files.setdefault(found.path, found) if wanted else found
            if other.file.resolve() != found.file.resolve():
                raise ValueError(f"{other.file} and {found.file} would both become {found.name}")
    return Findings(list(files.values()), left_out)


def _walk(path: Path) -> Iterator[tuple[FoundFile, bool]]:
    """Yield each file of a path, with True if its kind can be ingested."""
    name = _name(path)
    if not path.is_dir():
        yield FoundFile(path, name), True
        return
    for folder, below, files in os.walk(path):
        below[:] = sorted(one for one in below if one[0] != "." and one not in _LEFT_OUT)
        for one in sorted(files):
            file = Path(folder) / one
            if one[0] == "." or file.is_symlink() or not file.is_file():
                continue
            inner = _clean(f"{name}/{file.relative_to(path).as_posix()}")
            yield FoundFile(file, inner), find_ending(one) in DOCUMENTS


def _name(path: Path) -> str:
    """Return a path as it was given, or only its last part if it leads out of this folder."""
    if path.is_absolute() or ".." in path.parts or not path.parts:
        path = Path(path.resolve().name)
    return _clean(path.as_posix())


def _clean(name: str) -> str:
    """Return a name that can be stored, also of a file whose name is not UTF-8."""
    return clean_name(os.fsencode(name).decode("utf-8", "replace"))


def _shorten(name: str, most: int) -> str:
    """Return a name that is longer than `most` as its hash and its end, in `most` characters."""
    if len(name) <= most:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    return f"{digest}…{name[len(digest) + 1 - most :]}"
