"""The formats of other systems that `textrawl import` reads, a module each.

A module has `FORMAT`. Its `recognises` looks at the names and the first bytes of the files, and
its `read` yields items in bounded memory. `textrawl/archive/detection.py` lists the modules.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from textrawl.archive.bundles import Bundle
from textrawl.archive.items import Item


@dataclass(frozen=True)
class ImportFormat:
    """A format. `name` is the value of --from, and `title` the name of its system for people.

    `read` is None for a file whose lines are imported one by one. `home` finds the folder in which
    the program of the system keeps its files.
    """

    name: str
    title: str
    recognises: Callable[[Bundle], bool]
    read: Callable[[Bundle], Iterator[Item]] | None = None
    home: Callable[[], Path] | None = None
