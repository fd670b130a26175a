"""The values of documents: a value at keys, and what a document holds with or without it.

These functions change nothing: they return new values. They say what an edit of the text must give.
"""

import json
from collections.abc import Sequence
from typing import Any, Final, cast

from textrawl.clients.refusals import NotUnderstood

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

    The `created` innermost containers are removed as well, if nothing else is in them. `element`
    is MISSING if the value itself goes.
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
