"""Edits of a client's file, JSON or TOML: one addition, and its removal.

An edit remembers the text that it wrote. Taking it back removes exactly this text, so a file that
nobody else changed has the same bytes as before. If the text is no longer there, because a program
wrote the file anew, the value is removed by its keys. Either way the result has to hold the same
values as before, apart from the addition. Otherwise the file is left alone.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from textrawl.connect.clients import Addition, FileFormat
from textrawl.connect.json_edits import MARK, JsonFormat, NotUnderstood, wrap

Table = dict[str, Any]


class Missing:
    """The type of MISSING."""


MISSING: Final = Missing()
"""Stands for a value that is not there. `None` is a value of JSON."""


def find(document: object, keys: Sequence[str]) -> object:
    """Return the value at `keys`, or MISSING."""
    for key in keys:
        if not isinstance(document, dict) or key not in document:
            return MISSING
        document = cast("Table", document)[key]
    return document


def has(document: object, keys: Sequence[str], value: object, *, append: bool) -> bool:
    """Return whether `value` is at `keys`, or is an element of the list there."""
    found = find(document, keys)
    if append:
        return isinstance(found, list) and any(
            is_same(element, value) for element in cast("list[object]", found)
        )
    return is_same(found, value)


def is_same(one: object, other: object) -> bool:
    """Return whether two values are the same as JSON. For Python, 1 and true are equal."""
    if isinstance(one, Missing) or isinstance(other, Missing):
        return one is other
    return _write(one) == _write(other)


def _write(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def count_missing(document: object, keys: Sequence[str], *, append: bool) -> int:
    """Return how many containers an addition at `keys` creates."""
    levels = len(keys) if append else len(keys) - 1
    return sum(find(document, keys[: depth + 1]) is MISSING for depth in range(levels))


def merge(document: object, keys: Sequence[str], value: object, *, append: bool) -> object:
    """Return the document with `value` at `keys`, or as a new element of the list there.

    Raises NotUnderstood if a value on the way is not an object, or the last one is not a list.
    """
    if not keys:
        if not append:
            return value
        if not isinstance(document, list | Missing):
            raise NotUnderstood("the value is not a list")
        return [*(cast("list[object]", document) if isinstance(document, list) else ()), value]
    if not isinstance(document, dict | Missing):
        raise NotUnderstood(f"the value around {keys[0]} is not an object")
    table: Table = dict(cast("Table", document)) if isinstance(document, dict) else {}
    table[keys[0]] = merge(table.get(keys[0], MISSING), keys[1:], value, append=append)
    return table


def take_out(document: object, keys: Sequence[str], *, created: int, element: object) -> object:
    """Return the document without the value at `keys`, or without this element of its list.

    The `created` innermost containers are removed as well if they become empty. If `element` is
    MISSING, the value itself is removed.
    """
    if not keys:
        elements = list(cast("list[object]", document)) if isinstance(document, list) else []
        place = next((i for i, each in enumerate(elements) if is_same(each, element)), None)
        return elements if place is None else elements[:place] + elements[place + 1 :]
    if not isinstance(document, dict) or keys[0] not in document:
        return cast("object", document)
    table: Table = dict(cast("Table", document))
    if len(keys) == 1 and element is MISSING:
        del table[keys[0]]
        return table
    inner = take_out(table[keys[0]], keys[1:], created=created, element=element)
    containers = len(keys) - (element is MISSING)  # of this level and below
    if inner in ({}, []) and created >= containers and inner != table[keys[0]]:
        del table[keys[0]]
    else:
        table[keys[0]] = inner
    return table


class TomlFormat:
    """TOML, which Codex reads."""

    def read(self, text: str) -> object:
        """Return the value of a text. Raises NotUnderstood."""
        try:
            return tomllib.loads(text.removeprefix(MARK))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise NotUnderstood(str(error)) from error

    def add(self, text: str, keys: Sequence[str], value: object, *, append: bool) -> str:
        """Return the text with a value at `keys`, or with a new element in the list there.

        Raises NotUnderstood for a text that is no TOML, or if a value on the way is no table.
        """
        before = self.read(text)
        wrapped = cast("dict[str, Any]", wrap(keys, value, append=append))
        block = tomlkit.dumps(wrapped).strip("\n")
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = text.removeprefix(MARK)
        gap = "" if not lines else newline if lines.endswith("\n") else newline * 2
        candidate = text + gap + block.replace("\n", newline) + newline
        expected = merge(before, keys, value, append=append)
        with suppress(NotUnderstood):
            if is_same(self.read(candidate), expected):
                return candidate
        return self._edit(text, lambda root: _put(root, keys, value, append=append))

    def remove(self, text: str, keys: Sequence[str], element: object = None) -> str:
        """Return the text without the value at `keys`, or without this element of its list.

        Raises NotUnderstood if there is none.
        """
        return self._edit(text, lambda root: _take_out(root, keys, element))

    def _edit(self, text: str, change: Callable[[Any], None]) -> str:
        mark = MARK if text.startswith(MARK) else ""
        try:
            document = tomlkit.parse(text.removeprefix(MARK))
            change(document)
            edited = tomlkit.dumps(document)
        except (TOMLKitError, KeyError, TypeError, ValueError) as error:
            raise NotUnderstood(str(error)) from error
        if "\r\n" in text:
            edited = re.sub(r"(?<!\r)\n", "\r\n", edited)
        return mark + edited


def _put(root: Any, keys: Sequence[str], value: object, *, append: bool) -> None:
    """Set a value in a document of tomlkit."""
    holder = root
    for key in keys[:-1]:
        if key not in holder:
            holder[key] = tomlkit.table()
        holder = holder[key]
    if not append:
        holder[keys[-1]] = value
    elif keys[-1] in holder:
        holder[keys[-1]].append(value)
    else:
        holder[keys[-1]] = [value]


def _take_out(root: Any, keys: Sequence[str], element: object) -> None:
    """Remove a value from a document of tomlkit."""
    holder = root
    for key in keys if element is not None else keys[:-1]:
        holder = holder[key]
    if element is None:
        del holder[keys[-1]]
    else:
        del holder[[item.unwrap() for item in holder].index(element)]


_MOST_PLACES = 20  # a text as long as an entry seldom occurs twice


Format = JsonFormat | TomlFormat

FORMATS: Mapping[FileFormat, Format] = {
    "json": JsonFormat(strict=True),
    "jsonc": JsonFormat(strict=False),
    "toml": TomlFormat(),
}


@dataclass(frozen=True)
class Edit:
    """An addition that was made.

    `created` counts the new containers. `previous` is the replaced value, or MISSING. At the
    character `place` of the text, `inserted` replaced `removed`.
    """

    addition: Addition
    created: int
    previous: object
    place: int
    removed: str
    inserted: str


def is_made(text: str, addition: Addition) -> bool:
    """Return whether the text has the addition already. Raises NotUnderstood."""
    document = FORMATS[addition.format].read(text)
    return has(document, addition.keys, addition.value, append=addition.append)


def make(text: str, addition: Addition) -> tuple[str, Edit]:
    """Return the text with the addition, and the edit that takes it back. Raises NotUnderstood."""
    format_, keys, append = FORMATS[addition.format], addition.keys, addition.append
    document = format_.read(text)
    edited = format_.add(text, keys, addition.value, append=append)
    _check(format_, edited, merge(document, keys, addition.value, append=append))
    previous = MISSING if append else find(document, keys)
    start, end = measure_difference(text, edited)
    edit = Edit(
        addition,
        count_missing(document, keys, append=append),
        previous,
        start,
        text[start : len(text) - end],
        edited[start : len(edited) - end],
    )
    return edited, edit


def take_back(text: str, edit: Edit) -> str:
    """Return the text without the addition. A value that it replaced is there again.

    Raises NotUnderstood for a text that is not of its format, or that cannot be edited.
    """
    addition = edit.addition
    format_ = FORMATS[addition.format]
    document = format_.read(text)
    expected = _describe_before(document, edit)
    if is_same(expected, document):
        return text
    for candidate in _remove_text(text, edit):
        try:
            if is_same(format_.read(candidate), expected):
                return candidate
        except NotUnderstood:
            continue
    return _remove_value(format_, text, edit, expected)


def guess_edit(addition: Addition) -> Edit:
    """Return an edit that takes back a value whose origin is not known."""
    return Edit(addition, 0, MISSING, 0, "", "")


def _describe_before(document: object, edit: Edit) -> object:
    addition = edit.addition
    if edit.previous is not MISSING and find(document, addition.keys) is not MISSING:
        return merge(document, addition.keys, edit.previous, append=False)
    element = addition.value if addition.append else MISSING
    return take_out(document, addition.keys, created=edit.created, element=element)


def _remove_text(text: str, edit: Edit) -> Iterator[str]:
    """Yield texts without the inserted text, beginning with the one nearest to `edit.place`."""
    if not edit.inserted:
        return
    found = [match.start() for match in re.finditer(re.escape(edit.inserted), text)]
    for start in sorted(found, key=lambda start: abs(start - edit.place))[:_MOST_PLACES]:
        yield text[:start] + edit.removed + text[start + len(edit.inserted) :]


def _remove_value(format_: Format, text: str, edit: Edit, expected: object) -> str:
    keys, append = edit.addition.keys, edit.addition.append
    if edit.previous is not MISSING:
        edited = format_.add(text, keys, edit.previous, append=False)
    else:
        element = edit.addition.value if append else None
        edited = format_.remove(text, keys, element)
        depth = len(keys) - (not append)
        while depth and not is_same(format_.read(edited), expected):
            edited, depth = format_.remove(edited, keys[:depth]), depth - 1
    _check(format_, edited, expected)
    return edited


def _check(format_: Format, edited: str, expected: object) -> None:
    if not is_same(format_.read(edited), expected):
        raise NotUnderstood("the edit would change other values")


def measure_difference(one: str, other: str) -> tuple[int, int]:
    """Return how many characters two texts have in common at their beginning, and at their end."""
    start = _count_common(one, other)
    most = min(len(one), len(other)) - start
    end = _count_common(one[::-1][:most], other[::-1][:most])
    return start, end


def _count_common(one: str, other: str) -> int:
    """Return the length of the common beginning, by halving: texts can have megabytes."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
