"""The formats of other systems that `textrawl import` reads, a module for each kind of system.

A module has `FORMATS`. `recognises` of a format looks at the names and the first bytes of the
files, and its `read` yields items in bounded memory.

All of them read records: the objects of a JSON array, the lines of JSON Lines, and notes. Nobody
promises the types in a record, so each value is asked for by its type.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from textrawl.archive.bundles import Bundle, read_object
from textrawl.archive.items import Entity, Fault, Item, write_line_id


@dataclass(frozen=True)
class ImportFormat:
    """A format. `name` is the value of --from, and `title` the name of its system for people.

    `read` is None for an export of textrawl. `home` finds the folder in which the program of the
    system keeps its files. An import of a format that is `listed` can be taken back by its id.
    `untyped` is the type of an entity without a type. Ids of a `local` format are paths of files.
    """

    name: str
    title: str
    recognises: Callable[[Bundle], bool]
    read: Callable[[Bundle], Iterator[Item]] | None = None
    home: Callable[[], Path] | None = None
    listed: bool = True
    untyped: str = "concept"
    local: bool = False


_MARK = re.compile(r"\A\s*(?:[-*+]|#{1,6})\s+")
_MOST_NOTE = 5_000_000  # bytes
_MILLISECONDS = 1e11  # a larger number of seconds lies after the year 5000


class Record(dict[str, Any]):
    """An object in JSON. A value of another type than the asked one is as if it were missing."""

    @classmethod
    def of(cls, value: object) -> "Record":
        """Return a JSON value as a record, which is empty if the value is no object."""
        return cls(cast("dict[str, Any]", value)) if isinstance(value, dict) else cls()

    def text(self, *keys: str) -> str:
        """Return the first text that is not empty among the values of these keys."""
        return next(filter(None, (as_text(self.get(key)) for key in keys)), "")

    def time(self, *keys: str) -> datetime | None:
        """Return the first time among the values of these keys."""
        return next(filter(None, (read_time(self.get(key)) for key in keys)), None)

    def part(self, key: str) -> "Record":
        """Return the object of a key."""
        return self.of(self.get(key))

    def parts(self, *keys: str) -> list["Record"]:
        """Return the objects in the arrays of these keys."""
        return [self.of(one) for key in keys for one in as_list(self.get(key))]

    def texts(self, key: str) -> list[str]:
        """Return the texts in the array of a key, without empty ones."""
        return [text for one in as_list(self.get(key)) if (text := as_text(one)).strip()]


def as_list(value: object) -> list[Any]:
    """Return a JSON array. Any other value is an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return a text. Any other value is an empty one."""
    return value if isinstance(value, str) else ""


def read_rows(
    bundle: Bundle, name: str, *, growing: bool = False
) -> Iterator[tuple[int, Record | Fault]]:
    """Yield the record of each line of a file with its number, or the fault of the line.

    The last line of a file that is `growing` may be in the making, and is then no fault.
    """
    for number, line in bundle.read_lines(name):
        if (value := read_object(line or b"")) is not None:
            yield number, Record(value)
        elif line is None:
            yield number, Fault(f"{name}, line {number}", "it is too long")
        elif line.strip() and (line.endswith(b"\n") or not growing):
            yield number, Fault(f"{name}, line {number}", "it is not a JSON object")


def read_parts(
    bundle: Bundle, name: str, word: str, prefix: str = "item"
) -> Iterator[tuple[str, Record]]:
    """Yield the records of a JSON array with their places, each of which is named by `word`."""
    for number, value in enumerate(bundle.read_array(name, prefix), 1):
        yield f"{name}, {word} {number}", Record.of(value)


def read_text(bundle: Bundle, name: str) -> str | Fault:
    """Return the text of a note, or the reason why it cannot be read."""
    if bundle.sizes[name] > _MOST_NOTE:
        return Fault(name, f"it has more than {_MOST_NOTE // 1_000_000} MB")
    with bundle.open(name) as file:
        content = file.read(_MOST_NOTE + 1)
    bundle.count(len(content))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Fault(name, "it is not UTF-8")


def name_once(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items, each entity only once."""
    seen = set[tuple[str, str | None]]()
    for item in items:
        own = (item.name.casefold(), item.key) if isinstance(item, Entity) else None
        if own not in seen:
            yield item
        seen |= {own} if own else set()


def read_time(value: object) -> datetime | None:
    """Return an ISO 8601 instant, or a number of seconds or milliseconds since 1970, in UTC.

    A time without a zone is in UTC, and a year or month is its first day. Any other value is no
    time, and neither is the year 1, which programs write for an unknown day.
    """
    try:
        if isinstance(value, str):
            text = value.strip()
            moment = datetime.fromisoformat(text + {4: "-01-01", 7: "-01"}.get(len(text), ""))
            moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            seconds = value / 1000 if value > _MILLISECONDS else value
            moment = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
    except (OverflowError, ValueError, OSError):
        return None
    return moment if moment.year > 1 else None


def drop_mark(line: str) -> str:
    """Return a line without white space at its ends, and the mark of a list or heading before it.

    A number stays, because a line can begin with a date: 3. May.
    """
    return _MARK.sub("", line).strip()


@dataclass
class LineIds:
    """Ids for lines that have none. Lines of one id are told apart by their whole texts."""

    _written: set[str] = field(default_factory=set[str])

    def write(self, group: str, text: str, former: str) -> str:
        """Return the id of a line. `former` is its text as earlier versions cut it.

        They stored it under the id of that text, so an import now replaces what they stored.
        """
        key = write_line_id(group, former)
        key = write_line_id(group, text) if key in self._written else key
        self._written.add(key)
        return key


def read_texts(content: object) -> Iterator[str]:
    """Yield the texts of a message: of a text, or of the parts with texts in a list."""
    if isinstance(content, str):
        yield content
    for part in as_list(content):
        if isinstance(part, str):
            yield part
        elif Record.of(part).get("type", "text") == "text":
            yield Record.of(part).text("text")


def walk(nodes: Mapping[str, Record], leaf: str, parent: str) -> list[Record]:
    """Return the nodes from the root to a leaf. `parent` names the field with the node before."""
    key, path = leaf, dict[str, Record]()
    while key not in path and (node := nodes.get(key)):
        path[key] = node
        key = node.text(parent)
    return list(path.values())[::-1]
