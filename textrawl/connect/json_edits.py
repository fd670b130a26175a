"""Edits of JSON and JSONC that keep comments, order, indentation and line ends."""

import json
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

from textrawl.errors import StartRefused


class NotUnderstood(ValueError):
    """A text is not of its format, or has another shape than expected. The message has the line."""


class EditRefused(StartRefused):
    """A file stays as it is. The message says why, and what to do."""


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
class JsonToken:
    """A piece of the text, from `start` to before `end`."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True)
class JsonNode:
    """A value. `members` has the values of an object, `elements` those of a list.

    `key_start` is where the key of a member begins, or -1.
    """

    start: int
    end: int
    value: object
    members: Mapping[str, "JsonNode"] | None = None
    elements: tuple["JsonNode", ...] | None = None
    key_start: int = -1

    @property
    def first(self) -> int:
        """Where the member or element begins, with its key."""
        return self.start if self.key_start < 0 else self.key_start

    @property
    def children(self) -> list["JsonNode"]:
        """The values of an object or list, in order."""
        return [*(self.members or {}).values(), *(self.elements or ())]


@dataclass(frozen=True)
class Tree:
    """A document. `root` is None if the text has no value, only white space and comments."""

    text: str
    tokens: tuple[JsonToken, ...]
    root: JsonNode | None


def parse_json(text: str, *, strict: bool) -> Tree:
    """Return the tree of `text`. Strict JSON has neither comments nor trailing commas.

    Raises NotUnderstood with the line of the mistake. A key that occurs twice in one object is a
    mistake, because programs disagree on which one counts.
    """
    tokens = _cut(text, strict=strict)
    reader = _ValueReader(
        text, [token for token in tokens if token.kind in ("mark", "scalar", "end")]
    )
    root = None if reader.next.kind == "end" else reader.read_value(strict=strict, depth=0)
    if reader.next.kind != "end":
        refuse(text, reader.next.start, "nothing may follow the value")
    return Tree(text, tuple(tokens), root)


def refuse(text: str, offset: int, reason: str) -> NoReturn:
    """Raise NotUnderstood with the number of the line."""
    raise NotUnderstood(f"line {text.count(chr(10), 0, offset) + 1}: {reason}")


def _cut(text: str, *, strict: bool) -> list[JsonToken]:
    tokens, offset = list[JsonToken](), len(MARK) if text.startswith(MARK) else 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            refuse(text, offset, f"unexpected {text[offset]!r}")
        kind: Kind = match.lastgroup  # pyright: ignore[reportAssignmentType] - a group always matches
        if kind == "comment" and strict:
            refuse(text, offset, "this program reads JSON without comments")
        tokens.append(JsonToken(kind, offset, match.end()))
        offset = match.end()
    return [*tokens, JsonToken("end", len(text), len(text))]


class _ValueReader:
    """Reads values from the tokens that are neither white space nor comments."""

    def __init__(self, text: str, tokens: list[JsonToken]) -> None:
        self._text = text
        self._tokens = tokens
        self._index = 0

    @property
    def next(self) -> JsonToken:
        """The token that is read next."""
        return self._tokens[self._index]

    def read_value(self, *, strict: bool, depth: int, key_start: int = -1) -> JsonNode:
        """Return the value that begins at the next token."""
        token = self.next
        if depth > _DEEPEST:
            refuse(self._text, token.start, f"more than {_DEEPEST} levels")
        if token.kind == "scalar":
            self._index += 1
            return JsonNode(token.start, token.end, self._read_scalar(token), key_start=key_start)
        if self._show(token) == "{":
            return self._read_object(key_start, strict=strict, depth=depth)
        if self._show(token) == "[":
            return self._read_list(key_start, strict=strict, depth=depth)
        refuse(self._text, token.start, f"a value is missing before {self._name()}")

    def _read_object(self, key_start: int, *, strict: bool, depth: int) -> JsonNode:
        start, members = self._take("{").start, dict[str, JsonNode]()
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
        return JsonNode(start, end, value, members=members, key_start=key_start)

    def _read_list(self, key_start: int, *, strict: bool, depth: int) -> JsonNode:
        start, elements = self._take("[").start, list[JsonNode]()
        while self._show(self.next) != "]":
            elements.append(self.read_value(strict=strict, depth=depth + 1))
            self._separate("]", strict=strict)
        end = self._take("]").end
        value = [node.value for node in elements]
        return JsonNode(start, end, value, elements=tuple(elements), key_start=key_start)

    def _separate(self, closing: str, *, strict: bool) -> None:
        """Read the comma after a value. Only JSONC allows one before the closing bracket."""
        if self._show(self.next) == closing:
            return
        comma = self._take(",")
        if strict and self._show(self.next) == closing:
            refuse(self._text, comma.start, "this program reads JSON without trailing commas")

    def _take(self, mark: str) -> JsonToken:
        token = self.next
        if self._show(token) != mark:
            refuse(self._text, token.start, f"{mark!r} is missing before {self._name()}")
        self._index += 1
        return token

    def _read_scalar(self, token: JsonToken) -> object:
        try:
            return _DECODER.decode(self._show(token))
        except ValueError:
            refuse(self._text, token.start, f"{self._show(token)[:40]!r} is not JSON")

    def _show(self, token: JsonToken) -> str:
        return self._text[token.start : token.end]

    def _name(self) -> str:
        return "the end" if self.next.kind == "end" else repr(self._show(self.next)[:40])


def refuse_constant(name: str) -> NoReturn:
    """Raise ValueError for a word that the library `json` would read."""
    raise ValueError(name)  # NaN and Infinity are not JSON


_DECODER = json.JSONDecoder(parse_constant=refuse_constant)  # `loads` would make one for each call


@dataclass(frozen=True)
class _Splice:
    """Text that replaces the range from `start` to before `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class JsonFormat:
    """JSON, which is `strict`, or JSONC."""

    strict: bool

    def read(self, text: str) -> object:
        """Return the value of a text, or an empty object if it has none. Raises NotUnderstood."""
        try:
            # Ten times as fast as the tree. Claude Code keeps megabytes of history in its file.
            return json.loads(text.removeprefix(MARK), parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            root = parse_json(text, strict=self.strict).root
            return {} if root is None else root.value

    def add(self, text: str, keys: Sequence[str], value: object, *, append: bool) -> str:
        """Return the text with a value at `keys`, or with a new element in the list there.

        Raises NotUnderstood for a text that is no JSON, or if a value on the way is no object.
        """
        tree = parse_json(text, strict=self.strict)
        style = _Style.read(text)
        if tree.root is None:
            return _fill(text, wrap(keys, value, append=append), style)
        node, depth = _descend(tree.root, keys)
        if depth == len(keys) and not append:
            written = style.write(value, _indentation(text, node.start))
            return _splice(text, [_Splice(node.start, node.end, written)])
        added = wrap(keys[depth + 1 :], value, append=append) if depth < len(keys) else value
        key = keys[depth] if depth < len(keys) else None
        if (node.members if key is not None else node.elements) is None:
            kind = "an object" if key is not None else "a list"
            refuse(
                text, node.start, f"the value of {'.'.join(keys[:depth]) or 'all'} is not {kind}"
            )
        return _splice(text, _insert(tree, node, key, added, style))

    def remove(self, text: str, keys: Sequence[str], element: object = None) -> str:
        """Return the text without the value at `keys`, or without this element of its list.

        Raises NotUnderstood if there is none.
        """
        tree = parse_json(text, strict=self.strict)
        if tree.root is None:
            raise NotUnderstood(f"nothing is at {'.'.join(keys)}")
        parent, depth = _descend(tree.root, keys if element is not None else keys[:-1])
        if element is not None:
            found = [node for node in parent.elements or () if node.value == element]
        else:
            found = [node for name, node in (parent.members or {}).items() if name == keys[-1]]
        if not found or depth < len(keys) - (element is None):
            raise NotUnderstood(f"nothing is at {'.'.join(keys)}")
        return _splice(text, _take_out(tree, parent, found[0]))


@dataclass(frozen=True)
class _Style:
    """How a document is written: the indentation of a level, and the end of a line."""

    unit: str
    newline: str

    @classmethod
    def read(cls, text: str) -> "_Style":
        """Return the style of a text. Two spaces and a line feed are the defaults."""
        first = re.search(r"\n([ \t]+)[\"\]}\[{\w]", text)
        line = re.search(r"\r?\n", text)
        return cls(first[1] if first else "  ", line[0] if line else "\n")

    def write(self, value: object, indentation: str) -> str:
        """Return a value in several lines. All lines but the first get the indentation."""
        lines = json.dumps(value, indent=self.unit, ensure_ascii=False).split("\n")
        return f"{self.newline}{indentation}".join(lines)


def wrap(keys: Sequence[str], value: object, *, append: bool) -> object:
    """Return a document that has only a value at `keys`, or only a list with it there."""
    wrapped = [value] if append else value
    for key in reversed(keys):
        wrapped = {key: wrapped}
    return wrapped


def _descend(root: JsonNode, keys: Sequence[str]) -> tuple[JsonNode, int]:
    """Return the deepest node that exists along `keys`, and how many keys lead to it."""
    node, depth = root, 0
    for key in keys:
        if node.members is None or key not in node.members:
            break
        node, depth = node.members[key], depth + 1
    return node, depth


def _fill(text: str, value: object, style: _Style) -> str:
    """Return a text without a value, with the value after its white space and comments."""
    start = text and not text.endswith(("\n", MARK))
    return text + (style.newline if start else "") + style.write(value, "") + style.newline


def _insert(
    tree: Tree, parent: JsonNode, key: str | None, value: object, style: _Style
) -> list[_Splice]:
    """Return the splices that add a value at the end of an object or list."""
    text, name = tree.text, "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    children = parent.children
    if children and not re.search(r"[\r\n]", text[parent.start : parent.end]):
        after = _find_comma(tree, children[-1].end)
        offset = after or children[-1].end
        written = name + json.dumps(value, ensure_ascii=False)
        return [_Splice(offset, offset, f" {written}," if after else f", {written}")]
    if not children and parent is not tree.root and not re.search(r"[\r\n]", text.strip()):
        offset = _skip_comments(tree, parent.start + 1, parent.end - 1)
        return [_Splice(offset, offset, name + json.dumps(value, ensure_ascii=False))]
    base = _indentation(text, parent.start)
    indentation = _find_indentation(text, children) or base + style.unit
    line = f"{style.newline}{indentation}{name}{style.write(value, indentation)}"
    if not children:
        offset = _skip_comments(tree, parent.start + 1, parent.end - 1)
        ends = "\n" in text[offset : parent.end]
        return [_Splice(offset, offset, line if ends else f"{line}{style.newline}{base}")]
    comma = _find_comma(tree, children[-1].end)
    offset = _skip_line(tree, comma or children[-1].end)
    if comma:
        return [_Splice(offset, offset, f"{line},")]
    last = children[-1].end
    return [_Splice(last, offset, f",{text[last:offset]}{line}")]


def _take_out(tree: Tree, parent: JsonNode, node: JsonNode) -> list[_Splice]:
    """Return the splices that remove a member or element with its comma and its line."""
    text, children = tree.text, parent.children
    comma = _find_comma(tree, node.end)
    start, end = node.first, comma or node.end
    head = re.search(r"(\r?\n)?[ \t]*$", text[parent.start : start])
    tail = re.match(r"[ \t]*(?=[\r\n])", text[end:])
    if head and tail:
        start, end = start - len(head[0]), end + len(tail[0])
    splices = [_Splice(start, end, "")]
    before = [child for child in children if child.end < node.first]
    if before and comma is None and (left := _find_comma(tree, before[-1].end)):
        splices.append(_Splice(left - 1, left, ""))
    return splices


def _find_comma(tree: Tree, offset: int) -> int | None:
    """Return the end of the comma that follows a value which ends at `offset`, or None."""
    for token in _walk(tree, offset):
        if token.kind in ("mark", "scalar", "end"):
            return token.end if tree.text[token.start : token.end] == "," else None
    return None


def _skip_line(tree: Tree, offset: int) -> int:
    """Return where the comments that follow on the same line end."""
    for token in _walk(tree, offset):
        if token.kind == "comment":
            offset = token.end
        elif token.kind != "space" or "\n" in tree.text[token.start : token.end]:
            break
    return offset


def _skip_comments(tree: Tree, offset: int, end: int) -> int:
    """Return where the last comment before `end` ends, or `offset`."""
    for token in _walk(tree, offset):
        if token.start >= end:
            break
        if token.kind == "comment":
            offset = token.end
    return offset


def _walk(tree: Tree, offset: int) -> Sequence[JsonToken]:
    """Return the tokens from `offset` on."""
    return tree.tokens[bisect_left(tree.tokens, offset, key=lambda token: token.start) :]


def _indentation(text: str, offset: int) -> str:
    """Return the white space at the beginning of the line of `offset`."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset].removeprefix(MARK)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _find_indentation(text: str, children: Sequence[JsonNode]) -> str | None:
    """Return the indentation of the last child that begins its line."""
    for child in reversed(children):
        line = text[text.rfind("\n", 0, child.first) + 1 : child.first]
        if not line.strip(" \t") and child.first != len(line):
            return line
    return None


def _splice(text: str, splices: Sequence[_Splice]) -> str:
    for splice in sorted(splices, key=lambda splice: splice.start, reverse=True):
        text = text[: splice.start] + splice.text + text[splice.end :]
    return text
