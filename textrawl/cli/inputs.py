"""Arguments of commands, checked like the arguments of tools."""

import re
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
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
from textrawl.values.times import name_day, read_as_of, read_instant

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


def _limit(text: str, most: int) -> str:
    if not text:
        raise typer.BadParameter("the text is empty")
    if len(text) > most:
        raise typer.BadParameter(f"use at most {most:,} characters; these are {len(text):,}")
    return text


def _read_text(clean: Callable[[str], str], most: int) -> Callable[[str], str]:
    return lambda text: _limit(clean(text), most)


read_name = _read_text(clean_name, NAME_LENGTH)
read_fact = _read_text(clean_fact, FACT_LENGTH)
read_reference = _read_text(clean_name, FACT_LENGTH)  # an id, its start, or the text of a fact
read_reason = _read_text(clean_name, REASON_LENGTH)
"""They return the text as it is stored. They raise BadParameter if it is empty or too long."""


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


def read_moment(text: str) -> datetime:
    """Return an instant. A date, "today" or "yesterday" stand for the end of that day in UTC.

    Raises BadParameter.
    """
    return _refuse(read_as_of, name_day(text))


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


def _refuse(read: Callable[[str], Value], text: str) -> Value:
    try:
        return read(text)
    except ValueError as error:
        raise typer.BadParameter(f"it {error}") from None


def argument(form: str, text: str, parser: Callable[[str], Any] | None = None) -> Any:
    """Return an argument, with the `form` and the `text` of its help."""
    return typer.Argument(metavar=form, help=text, parser=parser)


def option(
    form: str,
    text: str,
    parser: Callable[[str], Any] | None = None,
    *,
    min: float | None = None,
    max: float | None = None,
) -> Any:
    """Return an option, with the `form` of its help, such as "--limit -n N", and the `text`.

    Without a name in its form, it has the name of its parameter.
    """
    words = form.split()
    names = [word for word in words if word.startswith("-")]
    metavar = " ".join(words[len(names) :]) or None
    return typer.Option(*names, metavar=metavar, help=text, parser=parser, min=min, max=max)


EntityName = Annotated[str, argument("NAME", "Name of the entity.", read_name)]
SpaceName = Annotated[
    str | None, option("--space SPACE", "Only this space. [TEXTRAWL_SPACE]", clean_name)
]
WrittenSpace = Annotated[
    str | None,
    option(
        "--space SPACE",
        "Write to this space; default: the home space of the token. [TEXTRAWL_SPACE]",
        clean_name,
    ),
]
AsOf = Annotated[
    Any,  # datetime, "ever" or None; typer knows no type of several kinds
    option(
        "--as-of TIME",
        "Show what was valid at TIME: yesterday, 2026-08-01, 2026-08-01T12:00Z, or ever.",
        read_valid_at,
    ),
]
KnownAt = Annotated[
    datetime | None,
    option(
        "--known-at TIME",
        "Show what the memory knew at TIME: 2026-08-01 or 2026-08-01T12:00Z.",
        read_moment,
    ),
]
MaxTokens = Annotated[
    int | None,
    option(
        "--max-tokens", "Maximum number of tokens of the text.", min=LEAST_TOKENS, max=MOST_TOKENS
    ),
]
AdministeredSpace = Annotated[
    str | None, option("SPACE", "Only this space; default: every space you administer.", clean_name)
]
Everywhere = Annotated[bool, option("--everywhere", "Look into all repositories.")]
AsJson = Annotated[bool, option("--json", "Write JSON.")]
DryRun = Annotated[bool, option("--dry-run", "Show what would happen, and change nothing.")]
Yes = Annotated[bool, option("--yes -y", "Do not ask.")]
LongYes = Annotated[bool, option("--yes", "Do not ask.")]
Scopes = Annotated[
    list[str],
    option(
        "SCOPES",
        "Any of read, propose, write, forget, review, admin and metrics, separated by commas.",
    ),
]
NamedSpace = Annotated[str, argument("SPACE", "Name of the space.", clean_name)]
Query = Annotated[list[str], argument("QUERY...", "A question or keywords.")]
Types = Annotated[
    list[str] | None,
    option(
        "--type TYPE",
        "Only entities of this type, such as person; can be repeated.",
        read_wanted_type,
    ),
]
FactLimit = Annotated[int, option("--limit -n", "Maximum number of facts.", min=1, max=MOST_FACTS)]
