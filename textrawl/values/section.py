"""Sections of a Markdown text: a heading of level 2 or 3, and the text up to the next heading.

A section ends at the next heading of the same or a higher level. Headings inside code blocks,
quotations and lists do not count. A change of a section keeps every byte outside the section.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO

from markdown_it import MarkdownIt

SECTION_LENGTH = 200  # characters of a heading

_LEVELS = (2, 3)
_BLANK = " \t\r\n"
# The blocks of a text show its headings. The text inside the blocks is not parsed.
_PARSER = MarkdownIt("commonmark")
_PARSER.core.ruler.enableOnly(["normalize", "block"])


class SectionRefused(ValueError):
    """The change would also change the text outside the section. The message says why."""


@dataclass(frozen=True)
class _Heading:
    """A heading, the lines from `line` to before `end`."""

    line: int
    end: int
    level: int
    name: str


@dataclass(frozen=True)
class _Title:
    """The name of a section, and the levels that its heading can have."""

    name: str
    levels: tuple[int, ...]


def add_to_section(text: str, section: str, addition: str) -> str:
    """Return the text with an addition at the end of a section. Raises SectionRefused.

    If there is no such section, it is added at the end of the text.
    """
    return _change(text, section, addition, keep=True)


def rewrite_section(text: str, section: str, content: str) -> str:
    """Return the text with another content of a section. Raises SectionRefused.

    If there is no such section, it is added at the end of the text.
    """
    return _change(text, section, content, keep=False)


def _change(text: str, section: str, content: str, *, keep: bool) -> str:
    title = _read_title(section)
    lines, headings = _split_lines(text), _find_headings(text)
    content = _strip_title(content, title)
    place = next(
        (at for at, one in enumerate(headings) if (one.name, one.level) in _list_keys(title)), None
    )
    if place is None:
        return _add_section(text, headings, title, content)
    found, later = headings[place], headings[place + 1 :]
    stop = next((one.line for one in later if one.level <= found.level), len(lines))
    head, body, rest = ("".join(part) for part in _divide(lines, found.end, stop))
    head = head if head.endswith(("\n", "\r")) else head + _find_line_end(text)
    begun = head + _compose(body, content, ends=not rest, line_end=_find_line_end(text), keep=keep)
    outside = [one for one in headings if one.line >= stop]
    _check(begun, rest, [*headings[: place + 1], *outside], stop)
    return begun + rest


def _list_keys(title: _Title) -> list[tuple[str, int]]:
    return [(title.name, level) for level in title.levels]


def _divide(lines: Sequence[str], *ends: int) -> list[Sequence[str]]:
    first, second = ends
    return [lines[:first], lines[first:second], lines[second:]]


def _compose(body: str, content: str, *, ends: bool, line_end: str, keep: bool) -> str:
    """Return the new body of a section. `ends` is true if nothing follows it."""
    core = body.rstrip(_BLANK)
    blank_lines = core[: len(core) - len(core.lstrip("\r\n"))]
    after = body[len(core) :]
    if not ends and len(_split_lines(after)) < len(_LEVELS):
        after = line_end * 2  # a line that stands directly below a paragraph can belong to it
    elif ends and not core:
        after = line_end if body else ""
    if not keep:
        return blank_lines + content + after
    return core + line_end * 2 + content + after if core else content + after


def _add_section(text: str, headings: list[_Heading], title: _Title, content: str) -> str:
    line_end, last = _find_line_end(text), _split_lines(text)[-1:]
    gap = "" if not text or not last[0].strip(_BLANK) else line_end
    if last and not last[0].endswith(("\n", "\r")):
        gap = line_end * 2
    level = title.levels[0]
    begun = f"{text}{gap}{'#' * level} {title.name}{line_end}"
    line = len(_split_lines(begun)) - 1
    _check(begun, "", [*headings, _Heading(line, line + 1, level, title.name)], line + 1)
    return begun + content + (line_end if not text or text.endswith(("\n", "\r")) else "")


def _check(begun: str, rest: str, expected: list[_Heading], stop: int) -> None:
    """Raise SectionRefused unless the headings outside the section are the expected ones.

    `stop` is the line at which `rest` began before the change.
    """
    begin = len(_split_lines(begun))
    moved = [
        replace(one, line=one.line + begin - stop, end=one.end + begin - stop)
        if one.line >= stop
        else one
        for one in expected
    ]
    first = max((one.line for one in moved if one.line < begin), default=-1)
    found = [one for one in _find_headings(begun + rest) if one.line <= first or one.line >= begin]
    if found != moved:
        raise SectionRefused(
            "a code block or an HTML block is open there, so the headings after it would no "
            "longer be headings: close the block first"
        )


def _read_title(section: str) -> _Title:
    """Return the title for a section that the caller named, with or without the signs `##`."""
    for level in _LEVELS:
        prefix = "#" * level + " "
        if section.startswith(prefix):
            return _Title(section.removeprefix(prefix).strip(), (level,))
    return _Title(section, _LEVELS)


def _strip_title(content: str, title: _Title) -> str:
    """Return a content without its blank lines at both ends, and without a copy of the heading."""
    lines = _split_lines(content)
    first = next((at for at, line in enumerate(lines) if line.strip(_BLANK)), len(lines))
    headings = _find_headings(content)
    if headings and (headings[0].line, headings[0].name) == (first, title.name):
        return _strip_title("".join(lines[headings[0].end :]), _Title("", ()))
    return "".join(lines[first:]).rstrip(_BLANK)


def _find_headings(text: str) -> list[_Heading]:
    tokens = _PARSER.parse(text)
    return [
        _Heading(token.map[0], token.map[1], int(token.tag[1:]), tokens[at + 1].content)
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def _split_lines(text: str) -> list[str]:
    """Return the lines of a text as Markdown counts them, each with its end."""
    return list(StringIO(text, newline=""))


def _find_line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
