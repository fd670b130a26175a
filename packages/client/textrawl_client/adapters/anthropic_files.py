"""The files of Claude's memory tool, on items.

A file is an item, and its text is the value. A directory is an item too, with an empty object as
its value: what it holds is in the namespace that ends with its name.
"""

import posixpath
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from anthropic.lib.tools import ToolError

from textrawl_client.adapters.pages import plan, read_all
from textrawl_client.errors import ItemChanged, ItemExists
from textrawl_client.items import Item, ItemStore, Put

Path = tuple[str, ...]
"""The names of the directories that hold a file, and its own. () is /memories."""

_ROOT = "memories"
_DEPTH = 2  # levels of a directory that are shown
_UNITS = "BKM"


class Files:
    """The files and directories below a namespace. Raises ToolError, which the model reads."""

    def __init__(self, items: ItemStore, namespace: Sequence[str]) -> None:
        self._items = items
        self._root = tuple(namespace)

    async def get(self, path: Path) -> Item | None:
        """Return a file or directory. /memories itself has no item."""
        return await self._items.get(self._enter(path[:-1]), path[-1]) if path else None

    async def find(self, name: str) -> tuple[Path, Item | None]:
        """Return what a path of a command names."""
        path = read_path(name)
        item = await self.get(path)
        if path and item is None:
            raise ToolError(f"The path {name} does not exist. Please provide a valid path.")
        return path, item

    async def find_file(self, name: str) -> Item:
        """Return the file that a path of a command names."""
        _, item = await self.find(name)
        if item is None or not is_file(item):
            raise ToolError(f"The path {name} is not a file.")
        return item

    async def list(self, path: Path) -> list[tuple[Path, Item]]:
        """Return all that is below a directory, at any depth, with the paths from there."""
        place = self._enter(path)
        items = await read_all(partial(self._items.list, place))
        return [((*item.namespace, item.key)[len(place) :], item) for item in items]

    async def make_directory(self, path: Path) -> None:
        """Make a directory, and those that hold it."""
        if not path:
            return
        item = await self.get(path)
        if item is None:
            await self.make_directory(path[:-1])
            with suppress(ToolError):
                await self.add(path, {}, "Somebody else made it")
        elif is_file(item):
            raise ToolError(f"The path /{_ROOT}/{'/'.join(path)} is a file")

    async def add(self, path: Path, value: Any, taken: str) -> None:
        """Store a new file or directory. `taken` says that something has this path."""
        if not path:
            raise ToolError(taken)
        try:
            await self._items.put_many([self._put(path, value)])
        except ItemExists:
            raise ToolError(taken) from None

    async def replace(self, item: Item, text: str, name: str) -> None:
        """Store another text of the file that was read as `item`."""
        try:
            await self._items.put(item.namespace, item.key, text, version=item.version)
        except ItemChanged:
            raise ToolError(f"The file {name} was changed meanwhile. View it again.") from None

    async def move(self, path: Path, item: Item, new: Path, taken: str) -> None:
        """Move a file or directory, in one step if it has up to 100 files and a megabyte."""
        moved = [((), item), *([] if is_file(item) else await self.list(path))]
        puts = [self._put((*new, *below), one.value) for below, one in moved]
        try:
            for some, gone in plan(puts, [one for _, one in moved]):
                await self._items.put_many(some, delete=gone)
        except ItemExists:
            raise ToolError(taken) from None
        except ItemChanged:
            name = "/".join((_ROOT, *path))
            raise ToolError(f"/{name} was changed meanwhile. View it again.") from None

    async def remove(self, path: Path, item: Item) -> None:
        """Delete a file, or a directory with all that is below it."""
        if not is_file(item):
            await self._items.delete(self._enter(path))
        await self._items.delete(item.namespace, item.key)

    async def clear(self) -> None:
        """Delete all files and directories."""
        await self._items.delete(self._root)

    def _put(self, path: Path, value: Any) -> Put:
        """Return a new file, or a directory, which no search finds."""
        place, index = self._enter(path[:-1]), isinstance(value, str)
        return Put(place, path[-1], value, index=index, version=0)

    def _enter(self, path: Path) -> Path:
        return (*self._root, *path)


def is_file(item: Item) -> bool:
    """Return whether an item is a file, and not a directory."""
    return isinstance(item.value, str)


def read_path(name: str) -> Path:
    """Return the path in a command."""
    if not name.startswith(f"/{_ROOT}"):
        raise ToolError(f"Path must start with /{_ROOT}, got: {name}")
    below = name[len(_ROOT) + 1 :].lstrip("/")
    first, *path = posixpath.normpath(f"{_ROOT}/{below}").split("/")
    if first != _ROOT:
        raise ToolError(f"Path {name} would escape /{_ROOT} directory")
    return tuple(path)


def write_directory(name: str, found: Sequence[tuple[Path, Item]]) -> str:
    """Return the upper levels of a directory: each directory before what is in it."""
    shown = dict[Path, str]()
    for path, item in found:
        for level in range(1, min(len(path), _DEPTH) + 1):
            whole = level == len(path) and is_file(item)
            shown[path[:level]] = f"{_write_size(item.value)}\t" if whole else "4K\t/"
    lines = [
        f"{size.removesuffix('/')}{name}/{'/'.join(path)}{'/' if size.endswith('/') else ''}"
        for path, size in sorted(shown.items())
        if not any(label.startswith(".") for label in path)
    ]
    header = f"Here're the files and directories up to {_DEPTH} levels deep in {name}, "
    return "\n".join([f"{header}excluding hidden items:", f"4K\t{name}", *lines])


def _write_size(text: str) -> str:
    size = len(text.encode())
    power = max(size.bit_length() - 1, 0) // 10
    number = size / 1024**power
    return f"{number:.0f}{_UNITS[power]}" if number.is_integer() else f"{number:.1f}{_UNITS[power]}"
