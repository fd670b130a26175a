"""The operations of the `identity` toolset, and the sections of its files.

They read and write only the caller's home space.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from io import StringIO
from typing import Annotated

from markdown_it import MarkdownIt
from pydantic import BeforeValidator, Field

from textrawl.errors import ArgumentInvalid
from textrawl.memory.store import StoreCall
from textrawl.postgres.sqlstates import FILE_CHANGED, DataRefused
from textrawl.scheduling import run_apart, run_aside
from textrawl.wire.replies import Key, Part


class FilePart(Part):
    """An identity file of read_identity. `content` is empty if the texts were not asked for."""

    category: Annotated[str, Field(exclude=True)]
    filename: Annotated[str, Key("f")]
    content: Annotated[str, Key("c"), BeforeValidator(lambda text: text or "")]
    prompt_label: Annotated[str, Key("l")]
    labelled: Annotated[bool, Field(exclude=True)]
    version: Annotated[int, Field(exclude=True)]
    modified_at: Annotated[datetime | None, Field(exclude=True)]

    @property
    def path(self) -> str:
        """The name of the file with its category."""
        return f"{self.category}/{self.filename}"


@dataclass(frozen=True)
class WrittenFileRow:
    """The version that write_identity stored. `snapshot_id` is None if no text was replaced."""

    version: int
    created: bool
    snapshot_id: str | None


@dataclass(frozen=True)
class DeletedFileRow:
    """The outcome of delete_identity. `deleted` is false if there is no such file."""

    deleted: bool
    snapshot_id: str | None


@dataclass(frozen=True)
class RestoredRow:
    """The path of a restored file, and the id of the snapshot of the replaced text.

    `path` is None if there is no such snapshot.
    """

    path: str | None
    snapshot_id: str | None


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
    places = [
        place
        for place, one in enumerate(headings)
        if one.level in title.levels and one.name == title.name
    ]
    if not places:
        return _add_section(text, headings, title, content)
    place = places[0]
    found, later = headings[place], headings[place + 1 :]
    stop = next((one.line for one in later if one.level <= found.level), len(lines))
    parts = (lines[: found.end], lines[found.end : stop], lines[stop:])
    head, body, rest = map("".join, parts)
    head = head if head.endswith(("\n", "\r")) else head + _find_line_end(text)
    begun = head + _compose(body, content, ends=not rest, line_end=_find_line_end(text), keep=keep)
    outside = [one for one in headings if one.line >= stop]
    _check(begun, rest, [*headings[: place + 1], *outside], stop)
    return begun + rest


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


_ATTEMPTS = 20  # to change a section, while others change the same file
_LONG = 50_000  # characters: finding the headings of a longer text can take a second

Edit = Callable[[str, str, str], str]
"""A function of a text, the name of a section and a content. It returns the changed text."""


@dataclass(frozen=True)
class File:
    """The name of an identity file, and the instance that changes it."""

    category: str
    filename: str
    instance: str | None = None

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments of SQL functions."""
        return asdict(self)

    @property
    def path(self) -> str:
        """The name of the file with its category."""
        return f"{self.category}/{self.filename}"


async def change_section(
    call: StoreCall, file: File, section: tuple[str, str], edit: Edit, *, snapshot: bool
) -> WrittenFileRow | None:
    """Apply `edit` to a file. `section` is the name of the section and the content for it.

    If somebody else changed the file after it was read, read and edit it again. Return None if
    there is no such file. Raises ArgumentInvalid.
    """
    refused: DataRefused | None = None
    for _ in range(_ATTEMPTS):
        rows = await call.read(
            "read_identity", FilePart, only_category=file.category, only_filename=file.filename
        )
        if not rows:
            return None
        text = await _edit(edit, rows[0].content, section)
        arguments = file.arguments | {"known": rows[0].version, "snapshot": snapshot}
        try:
            return await call.store.database.value(
                "write_identity", WrittenFileRow, content=text, **arguments, **call.caller.writing
            )
        except DataRefused as refusal:
            refused = refusal
            if refusal.code != FILE_CHANGED:
                break
    assert refused is not None  # noqa: S101 - the loop ended by a refusal
    raise refused.explain("content")


async def _edit(edit: Edit, text: str, section: tuple[str, str]) -> str:
    """Return the edited text. Raises ArgumentInvalid."""
    run = run_apart if len(text) > _LONG or len(section[1]) > _LONG else run_aside
    try:
        return await run(edit, text, *section)
    except SectionRefused as refusal:
        raise ArgumentInvalid(f"{refusal}; nothing was changed", title="Open block") from refusal
