"""Arguments of commands, checked like the arguments of tools."""

import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from textrawl.errors import ArgumentInvalid
from textrawl.memory.fact_rows import EVER
from textrawl.values import names
from textrawl.values.text import (
    FACT_LENGTH,
    LEAST_TOKENS,
    MOST_FACTS,
    MOST_TOKENS,
    NAME_LENGTH,
    PROMPT_LENGTH,
    REASON_LENGTH,
    clean_fact,
    clean_name,
    clean_query,
)
from textrawl.values.times import find_period, read_as_of, read_instant

Value = TypeVar("Value")

_SPAN = re.compile(r"([0-9]{1,5})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LONGEST = timedelta(days=36500)


def read_span(text: str) -> timedelta:
    """Read a length of time above zero, such as 90d, 12h or 30m. Raises ArgumentInvalid."""
    found = _SPAN.fullmatch(text.strip().lower())
    span = timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else timedelta()
    if not timedelta() < span <= _LONGEST:
        raise ArgumentInvalid(
            "give a number and s, m, h, d or w, such as 30m, 12h or 90d; 100 years at most",
            title=f"Not a length of time: {text}",
        )
    return span


def read_name(text: str) -> str:
    """Return a clean name. Raises BadParameter if it is empty or too long."""
    return _limit(clean_name(text), NAME_LENGTH)


def read_path(text: str) -> Path:
    """Return a path. Raises BadParameter if it is empty, which would be the working folder."""
    if not text:
        raise typer.BadParameter("the name is empty")
    return Path(text)


def read_one_of(offered: Collection[str]) -> Callable[[str], str]:
    """Return a function that returns one of these words, and raises BadParameter for another."""

    def read(text: str) -> str:
        if text not in offered:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(offered)}")
        return text

    return read


def read_query(text: str, argument: str = "QUERY") -> str:
    """Return a question, and a long text as it is. Raises BadParameter: it is empty or too long."""
    try:
        return _limit(clean_query(text), PROMPT_LENGTH)
    except typer.BadParameter as error:  # typer adds the name only while it parses arguments
        raise typer.BadParameter(error.message, param_hint=argument) from None


def read_fact(text: str) -> str:
    """Return the fact as it is stored. Raises BadParameter if it is empty or too long."""
    return _limit(clean_fact(text), FACT_LENGTH)


def read_reference(text: str) -> str:
    """Return a clean id, start of an id, or text of a fact. Raises BadParameter."""
    return _limit(clean_name(text), FACT_LENGTH)


def read_reason(text: str) -> str:
    """Return a clean reason. Raises BadParameter if it is empty or too long."""
    return _limit(clean_name(text), REASON_LENGTH)


def read_moment(text: str) -> datetime:
    """Return an instant. A date or words such as "yesterday" stand for the end of that day in UTC.

    Raises BadParameter.
    """
    named = find_period(text, datetime.now(UTC)) if text.strip()[:1].isalpha() else None
    return named.end - timedelta(microseconds=1) if named else _refuse(read_as_of, text)


def read_valid_at(text: str) -> datetime | Literal["ever"]:
    """Return an instant, or "ever" for all times. Raises BadParameter."""
    return EVER if text.strip().lower() == EVER else read_moment(text)


def read_end(text: str) -> datetime:
    """Return an instant. A date stands for the end of that day in UTC. Raises BadParameter."""
    return _refuse(read_instant, text)


def read_type(text: str) -> str:
    """Return the type of an entity. Raises BadParameter if it is empty or too long."""
    return names.read_type(read_name(text))


def read_wanted_type(text: str) -> str:
    """Return the type of a filter. Raises BadParameter if it is empty or too long."""
    return names.read_wanted_type(read_name(text))


def _limit(text: str, most: int) -> str:
    if not text:
        raise typer.BadParameter("the text is empty")
    if len(text) > most:
        raise typer.BadParameter(f"use at most {most:,} characters; these are {len(text):,}")
    return text


def _refuse(read: Callable[[str], Value], text: str) -> Value:
    try:
        return read(text)
    except ValueError as error:
        raise typer.BadParameter(f"it {error}") from None


EntityName = Annotated[
    str, typer.Argument(metavar="NAME", parser=read_name, help="Name of the entity.")
]
SpaceName = Annotated[
    str | None,
    typer.Option(
        "--space", metavar="SPACE", parser=clean_name, help="Only this space. [TEXTRAWL_SPACE]"
    ),
]
WrittenSpace = Annotated[
    str | None,
    typer.Option(
        "--space",
        metavar="SPACE",
        parser=clean_name,
        help="Write to this space; default: the home space of the token. [TEXTRAWL_SPACE]",
    ),
]
AsOf = Annotated[
    Any,  # datetime, "ever" or None; typer knows no type of several kinds
    typer.Option(
        "--as-of",
        metavar="TIME",
        parser=read_valid_at,
        help="Show what was valid at TIME: yesterday, 2026-08-01, 2026-08-01T12:00Z, or ever.",
    ),
]
KnownAt = Annotated[
    datetime | None,
    typer.Option(
        "--known-at",
        metavar="TIME",
        parser=read_moment,
        help="Show what the memory knew at TIME: 2026-08-01 or 2026-08-01T12:00Z.",
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        min=LEAST_TOKENS,
        max=MOST_TOKENS,
        help="Maximum number of tokens of the text.",
    ),
]
AdministeredSpace = Annotated[
    str | None,
    typer.Option(
        metavar="SPACE",
        parser=clean_name,
        help="Only this space; default: every space you administer.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would happen, and change nothing.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
LongYes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Scopes = Annotated[
    list[str],
    typer.Option(
        metavar="SCOPES",
        help="Any of read, propose, write, forget, review, admin and metrics, separated by commas.",
    ),
]
NamedSpace = Annotated[
    str, typer.Argument(metavar="SPACE", parser=clean_name, help="Name of the space.")
]
Query = Annotated[
    list[str],
    typer.Argument(metavar="QUERY...", help="A question or keywords."),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        parser=read_wanted_type,
        help="Only entities of this type, such as person; can be repeated.",
    ),
]
FactLimit = Annotated[
    int, typer.Option("--limit", "-n", min=1, max=MOST_FACTS, help="Maximum number of facts.")
]
