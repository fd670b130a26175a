r"""Stored text in lines for models. No text can look like a line of ours, or like a part of one.

A name or a fact can come from anybody who may write. `write_line` is the only function that puts
such a text into a line, and `read_line` is its reverse. Three rules apply to every text:

- It stays on its line: a line break becomes \n, a tab \t, and a backslash \\.
- A backslash stands before a beginning that looks like ours, such as a relation or an author.
- A backslash stands before the parenthesis of an end that looks like ours, such as (project).

A fullwidth character counts like its ASCII twin, and any dash like the hyphen, because models read
them alike. Hooks have to be fast and use this module, so it imports only the standard library.
"""

import re

from textrawl.values.entity_type import ENTITY_TYPES

HEADER_MARKS = "0123456789→←@-{"
"""The first characters of lines that are not headers. They are marks for a name in a header."""

PROPOSED = " (proposed)"  # the end of a line with a proposal of the caller

_SEPARATORS = "\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"  # other characters that end a line somewhere
_FLAT = str.maketrans(
    {"\\": "\\\\", "\n": "\\n", "\t": "\\t"} | {one: f"\\u{ord(one):04x}" for one in _SEPARATORS}
)
_TWINS = (
    {0xFF01 + number: 0x21 + number for number in range(94)}
    | dict.fromkeys((0xA0, 0x3000, *range(0x2000, 0x200B)), ord(" "))
    | dict.fromkeys((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63), ord("-"))
    | {ord(one): ord(twin) for one, twin in zip("﹙﹚﹕﹫￫￩", "():@→←", strict=True)}
)
_HEAD = 1000  # characters of a text that can look like a beginning: an author has up to 200
_RESERVED = r"(?:aka|cut|more|note|not found|nothing found|wrong)\b"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ID = "[0-9a-f]{8}"
_CHUNK = rf"{_ID}-[0-9a-f-]{{27}}:[0-9]+"
_ORIGIN = (
    r"(?:(?:[0-9]{1,3}|-|@\S+) )*"
    rf"(?:{_ID} {_DAY} |{_DAY}(?: by .+)?: |by .+: |line [0-9]+: |{_CHUNK} )"
)
_RELATION = r"[^\s→\\]+→"
_BEGINNING = re.compile(f"(?:{_RESERVED}|{_ORIGIN}|{_RELATION})")
_END = re.compile(
    rf" (?=\((?:{'|'.join((*ENTITY_TYPES, 'document', 'proposed'))})\)(?: @\S+)?\s*$)"
)
_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|.)")
_ESCAPED = {"n": "\n", "t": "\t"}
_PLAIN_TYPE = str.maketrans("→\\", "__")
_END_OF_AUTHOR = re.compile(r":(?=\s|$)")
_STATEMENT = re.compile(rf"\\*{_RELATION}")


def write_line(text: str, marks: str = "") -> str:
    """Return a stored text as a line, or as a part of one that is not followed by more text.

    `marks` are first characters that have a meaning in this place, and so get a backslash.
    """
    flat = _escape_end(text.translate(_FLAT))
    return f"\\{flat}" if _begins_like_ours(flat, marks) else flat


def write_relation(relation: str, name: str) -> str:
    """Return a relation as an arrow on one line."""
    return _escape_end(write_arrow(relation, name).translate(_FLAT))


def write_arrow(relation: str, name: str) -> str:
    r"""Return a relation as an arrow for a JSON string. The first arrow is ours.

    In the type of the relation, → and \ become _, so that the arrow looks like no fact.
    """
    return f"{write_type(relation)}→{name}"


def write_type(relation: str) -> str:
    """Return the type of a relation without the characters of arrows."""
    return relation.translate(_PLAIN_TYPE)


def write_list(texts: list[str]) -> str:
    """Return short texts on one line. The commas with a space between them are ours."""
    return ", ".join(write_line(text).replace(", ", "\\, ") for text in texts)


def write_author(name: str) -> str:
    """Return the name of an author for a place that ends with a colon and a space."""
    return _END_OF_AUTHOR.sub(r"\\:", name.translate(_FLAT))


def read_line(line: str) -> str:
    """Return the text of which `write_line` or `write_author` made the line."""
    # A stored text never begins with white space, so the line never begins with its escape.
    if line.startswith("\\") and not line.startswith("\\\\"):
        line = line[1:]
    return _ESCAPE.sub(_unescape, line)


def read_marked(line: str, mark: str) -> tuple[str, bool]:
    """Return the text of a line that may end with `mark`, and whether it does."""
    return read_line(line.removesuffix(mark)), line.endswith(mark)


def write_statement(text: str) -> str:
    r"""Return a fact for a JSON string that can also be a relation. It then begins with \."""
    return f"\\{text}" if _STATEMENT.match(text) else text


def read_statement(text: str) -> str:
    """Return the fact of which `write_statement` made the text. A relation stays as it is."""
    return text[1:] if text.startswith("\\") and _STATEMENT.match(text) else text


def _begins_like_ours(flat: str, marks: str) -> bool:
    head = flat[:_HEAD]
    plain = head if head.isascii() else head.translate(_TWINS)
    return plain[:1] in tuple(marks) or _BEGINNING.match(plain) is not None


def _escape_end(flat: str) -> str:
    plain = flat if flat.isascii() else flat.translate(_TWINS)
    found = _END.search(plain) if ")" in plain else None
    return flat if found is None else f"{flat[: found.end()]}\\{flat[found.end() :]}"


def _unescape(escape: re.Match[str]) -> str:
    name = escape[1]
    return chr(int(name[1:], 16)) if len(name) > 1 else _ESCAPED.get(name, name)
