"""The formats of other systems that `textrawl import` reads, a module for each kind of system.

A module has `FORMATS`, or one `FORMAT`. `recognises` of a format looks at the names and the first
bytes of the files, and its `read` yields items in bounded memory.

The functions here read values of foreign JSON, whose types nobody promises, and conversations that
are trees in it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from textrawl.archive.bundles import Bundle
from textrawl.archive.items import Item, write_line_id


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


_MARK = re.compile(r"\A\s*(?:[-*+]|#{1,6})\s+")
_MILLISECONDS = 1e11  # a larger number of seconds lies after the year 5000


def as_object(value: object) -> dict[str, Any]:
    """Return a JSON object. Any other value is an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a JSON array. Any other value is an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return a text. Any other value is an empty one."""
    return value if isinstance(value, str) else ""


def read_time(value: object) -> datetime | None:
    """Return an ISO 8601 instant, or a number of seconds or milliseconds since 1970, in UTC.

    A time without a zone is in UTC. Any other value is no time.
    """
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            seconds = value / 1000 if value > _MILLISECONDS else value
            moment = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
    except (OverflowError, ValueError, OSError):
        return None
    return moment


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


def read_texts(content: object, kinds: tuple[str, ...] = ("text",)) -> Iterator[str]:
    """Yield the texts of a message: of a text, or of the parts of these types in a list."""
    if isinstance(content, str):
        yield content
    for part in as_list(content):
        if isinstance(part, str):
            yield part
        elif as_object(part).get("type", "text") in kinds:
            yield as_text(as_object(part).get("text"))


def walk(nodes: Mapping[str, Any], leaf: str, parent: str) -> list[dict[str, Any]]:
    """Return the nodes from the root to a leaf. `parent` names the field with the node before."""
    key, path = leaf, dict[str, dict[str, Any]]()
    while key not in path and (node := as_object(nodes.get(key))):
        path[key] = node
        key = as_text(node.get(parent))
    return list(path.values())[::-1]
