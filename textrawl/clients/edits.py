"""One addition to a text, and taking it back.

An edit remembers the text that it wrote. Taking it back removes exactly this text, so a file that
nobody else changed has the same bytes as before. If the text is no longer there, because a program
wrote the file anew, the value is removed by its keys. Either way the result has to hold the same
values as before, apart from the addition. Otherwise the file is left alone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from textrawl.clients.addition import Addition, FileFormat
from textrawl.clients.document_values import (
    MISSING,
    count_missing,
    find,
    has,
    is_same,
    merge,
    take_out,
)
from textrawl.clients.json_edits import JsonFormat
from textrawl.clients.refusals import NotUnderstood
from textrawl.clients.toml_edits import TomlFormat

_MOST_PLACES = 20  # a text as long as an entry seldom occurs twice


class Format(Protocol):
    """How the texts of a format are read and edited. All raise NotUnderstood."""

    def read(self, text: str) -> object:
        """Return the value of a text."""
        ...

    def add(self, text: str, keys: Sequence[str], value: object, *, append: bool) -> str:
        """Return the text with a value at `keys`, or with a new element in the list there."""
        ...

    def remove(self, text: str, keys: Sequence[str], element: object = None) -> str:
        """Return the text without the value at `keys`, or without this element of its list."""
        ...


FORMATS: Mapping[FileFormat, Format] = {
    "json": JsonFormat(strict=True),
    "jsonc": JsonFormat(strict=False),
    "toml": TomlFormat(),
}


@dataclass(frozen=True)
class Edit:
    """An addition as it was made.

    `created` counts the containers that did not exist before. `previous` is the value that was
    replaced, or MISSING. At `place` of the text, `inserted` took the place of `removed`.
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


def forget(addition: Addition) -> Edit:
    """Return an edit that takes back a value whose origin is not known."""
    return Edit(addition, 0, MISSING, 0, "", "")


def _describe_before(document: object, edit: Edit) -> object:
    addition = edit.addition
    if edit.previous is not MISSING and find(document, addition.keys) is not MISSING:
        return merge(document, addition.keys, edit.previous, append=False)
    element = addition.value if addition.append else MISSING
    return take_out(document, addition.keys, created=edit.created, element=element)


def _remove_text(text: str, edit: Edit) -> Iterator[str]:
    """Yield the texts without what was inserted, beginning with the place nearest to the edit."""
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
    rest = min(len(one), len(other)) - start
    end = _count_common(one[::-1][:rest], other[::-1][:rest])
    return start, end


def _count_common(one: str, other: str) -> int:
    """Return the length of the common beginning, by halving: texts can have megabytes."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
