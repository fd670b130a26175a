"""Edits of TOML that keep comments, order and line ends.

New tables are written at the end of the text, because a header names its table in full there. Where
that is no valid TOML, such as beside an inline table, tomlkit makes the edit.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from textrawl.clients.document_values import is_same, merge
from textrawl.clients.refusals import NotUnderstood

_MARK = "\ufeff"


class TomlFormat:
    """TOML, which Codex reads."""

    def read(self, text: str) -> object:
        """Return the value of a text. Raises NotUnderstood."""
        try:
            return tomllib.loads(text.removeprefix(_MARK))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise NotUnderstood(str(error)) from error

    def add(self, text: str, keys: Sequence[str], value: object, *, append: bool) -> str:
        """Return the text with a value at `keys`, or with a new element in the list there.

        Raises NotUnderstood for a text that is no TOML, or if a value on the way is no table.
        """
        before = self.read(text)
        wrapped: object = [value] if append else value
        for key in reversed(keys):
            wrapped = {key: wrapped}
        block = tomlkit.dumps(cast("dict[str, Any]", wrapped)).strip("\n")
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = text.removeprefix(_MARK)
        gap = "" if not lines else newline if lines.endswith("\n") else newline * 2
        candidate = text + gap + block.replace("\n", newline) + newline
        expected = merge(before, keys, value, append=append)
        if _is_valid(candidate) and is_same(self.read(candidate), expected):
            return candidate
        return self._edit(text, lambda root: _put(root, keys, value, append=append))

    def remove(self, text: str, keys: Sequence[str], element: object = None) -> str:
        """Return the text without the value at `keys`, or without this element of its list.

        Raises NotUnderstood if there is none.
        """
        return self._edit(text, lambda root: _take_out(root, keys, element))

    def _edit(self, text: str, change: Callable[[Any], None]) -> str:
        mark = _MARK if text.startswith(_MARK) else ""
        try:
            document = tomlkit.parse(text.removeprefix(_MARK))
            change(document)
            edited = tomlkit.dumps(document)
        except (TOMLKitError, KeyError, TypeError, ValueError) as error:
            raise NotUnderstood(str(error)) from error
        if "\r\n" in text:
            edited = re.sub(r"(?<!\r)\n", "\r\n", edited)
        return mark + edited


def _is_valid(text: str) -> bool:
    try:
        tomllib.loads(text.removeprefix(_MARK))
    except tomllib.TOMLDecodeError:
        return False
    return True


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
