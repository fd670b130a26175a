"""JSON and JSONC as a tree whose nodes know their place in the text.

Edits replace ranges of the text, so everything else keeps its bytes. No library for Python does
this and is kept up (November 2026): json-five rests since June 2024, jsonc-edit starts a JavaScript
runtime, and the grammar of tree-sitter-json knows no trailing commas. The library `json` reads
every string and number here.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NoReturn

from textrawl.clients.refusals import NotUnderstood

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    |(?P<comment>//[^\r\n]*|/\*.*?\*/)
    |(?P<mark>[{}\[\],:])
    |(?P<scalar>"(?:[^"\\\x00-\x1f]|\\.)*"|[-+.\w]+)""",
    re.VERBOSE | re.DOTALL,
)
_DEEPEST = 200  # levels: Python's own limit is about 1,000 calls
MARK = "\ufeff"

Kind = Literal["space", "comment", "mark", "scalar", "end"]


@dataclass(frozen=True)
class Token:
    """A piece of the text, from `start` to before `end`."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True)
class Node:
    """A value. `members` has the values of an object, `elements` those of a list.

    `key_start` is where the key of a member begins, or -1.
    """

    start: int
    end: int
    value: object
    members: Mapping[str, "Node"] | None = None
    elements: tuple["Node", ...] | None = None
    key_start: int = -1

    @property
    def first(self) -> int:
        """Where the member or element begins, with its key."""
        return self.start if self.key_start < 0 else self.key_start

    @property
    def children(self) -> list["Node"]:
        """The values of an object or list, in order."""
        return [*(self.members or {}).values(), *(self.elements or ())]


@dataclass(frozen=True)
class Tree:
    """A document. `root` is None if the text has no value, only white space and comments."""

    text: str
    tokens: tuple[Token, ...]
    root: Node | None


def parse_json(text: str, *, strict: bool) -> Tree:
    """Return the tree of `text`. Strict JSON has neither comments nor trailing commas.

    Raises NotUnderstood with the line of the mistake. A key that occurs twice in one object is a
    mistake, because programs disagree on which one counts.
    """
    tokens = _cut(text, strict=strict)
    reader = _Reader(text, [token for token in tokens if token.kind in ("mark", "scalar", "end")])
    root = None if reader.next.kind == "end" else reader.read_value(strict=strict, depth=0)
    if reader.next.kind != "end":
        refuse(text, reader.next.start, "nothing may follow the value")
    return Tree(text, tuple(tokens), root)


def refuse(text: str, place: int, reason: str) -> NoReturn:
    """Raise NotUnderstood with the number of the line."""
    raise NotUnderstood(f"line {text.count(chr(10), 0, place) + 1}: {reason}")


def _cut(text: str, *, strict: bool) -> list[Token]:
    tokens, place = list[Token](), len(MARK) if text.startswith(MARK) else 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            refuse(text, place, f"unexpected {text[place]!r}")
        kind: Kind = match.lastgroup  # pyright: ignore[reportAssignmentType] - a group always matches
        if kind == "comment" and strict:
            refuse(text, place, "this program reads JSON without comments")
        tokens.append(Token(kind, place, match.end()))
        place = match.end()
    return [*tokens, Token("end", len(text), len(text))]


class _Reader:
    """Reads values from the tokens that are neither white space nor comments."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._index = 0

    @property
    def next(self) -> Token:
        """The token that is read next."""
        return self._tokens[self._index]

    def read_value(self, *, strict: bool, depth: int, key_start: int = -1) -> Node:
        """Return the value that begins at the next token."""
        token = self.next
        if depth > _DEEPEST:
            refuse(self._text, token.start, f"more than {_DEEPEST} levels")
        if token.kind == "scalar":
            self._index += 1
            return Node(token.start, token.end, self._read_scalar(token), key_start=key_start)
        if self._show(token) == "{":
            return self._read_object(key_start, strict=strict, depth=depth)
        if self._show(token) == "[":
            return self._read_list(key_start, strict=strict, depth=depth)
        refuse(self._text, token.start, f"a value is missing before {self._name()}")

    def _read_object(self, key_start: int, *, strict: bool, depth: int) -> Node:
        start, members = self._take("{").start, dict[str, Node]()
        while self._show(self.next) != "}":
            key = self.next
            name = self._read_scalar(key) if key.kind == "scalar" else None
            if not isinstance(name, str):
                refuse(self._text, key.start, f"a key in quotes is missing before {self._name()}")
            if name in members:
                refuse(self._text, key.start, f"the key {name!r} occurs twice")
            self._index += 1
            self._take(":")
            members[name] = self.read_value(strict=strict, depth=depth + 1, key_start=key.start)
            self._separate("}", strict=strict)
        end = self._take("}").end
        value = {name: node.value for name, node in members.items()}
        return Node(start, end, value, members=members, key_start=key_start)

    def _read_list(self, key_start: int, *, strict: bool, depth: int) -> Node:
        start, elements = self._take("[").start, list[Node]()
        while self._show(self.next) != "]":
            elements.append(self.read_value(strict=strict, depth=depth + 1))
            self._separate("]", strict=strict)
        end = self._take("]").end
        value = [node.value for node in elements]
        return Node(start, end, value, elements=tuple(elements), key_start=key_start)

    def _separate(self, closing: str, *, strict: bool) -> None:
        """Read the comma after a value. Only JSONC allows one before the closing bracket."""
        if self._show(self.next) == closing:
            return
        comma = self._take(",")
        if strict and self._show(self.next) == closing:
            refuse(self._text, comma.start, "this program reads JSON without trailing commas")

    def _take(self, mark: str) -> Token:
        token = self.next
        if self._show(token) != mark:
            refuse(self._text, token.start, f"{mark!r} is missing before {self._name()}")
        self._index += 1
        return token

    def _read_scalar(self, token: Token) -> object:
        try:
            return _DECODER.decode(self._show(token))
        except ValueError:
            refuse(self._text, token.start, f"{self._show(token)[:40]!r} is not JSON")

    def _show(self, token: Token) -> str:
        return self._text[token.start : token.end]

    def _name(self) -> str:
        return "the end" if self.next.kind == "end" else repr(self._show(self.next)[:40])


def refuse_constant(name: str) -> NoReturn:
    """Raise ValueError for a word that the library `json` would read."""
    raise ValueError(name)  # NaN and Infinity are not JSON


_DECODER = json.JSONDecoder(parse_constant=refuse_constant)  # `loads` would make one for each call
