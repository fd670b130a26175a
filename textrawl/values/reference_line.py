"""A line of the reference memory server's file, read by our rules for names and texts.

It is an object whose `type` is entity (name, entityType, observations) or relation (from, to,
relationType).
"""

from typing import Any, cast

from pydantic_core import from_json

from textrawl.values.long_text import LONG_LENGTH
from textrawl.values.text import NAME_LENGTH, clean_fact, clean_name


class LineRefused(Exception):
    """A line of a file cannot be used; the text says why."""


def parse_line(raw: bytes | None) -> dict[str, Any]:
    """A line whose type is entity or relation. Raises LineRefused."""
    if raw is None:
        raise LineRefused("too long")
    try:
        given = from_json(raw)
    except ValueError:
        raise LineRefused("is no JSON") from None
    if not isinstance(given, dict):
        raise LineRefused("is no JSON object")
    known = cast("dict[str, Any]", given)
    if known.get("type") not in ("entity", "relation"):
        raise LineRefused("type is neither entity nor relation")
    return known


def read_name(
    given: dict[str, Any], key: str, *, empty: str = "", longest: int = NAME_LENGTH
) -> str:
    """A name or type of a line, as it is stored. Raises LineRefused."""
    value = given.get(key, empty)
    if not isinstance(value, str) or not (name := clean_name(value) or empty):
        raise LineRefused(f"{key} must be text")
    if len(name) > longest:
        raise LineRefused(f"{key} is longer than {longest} characters")
    return name


def read_text(text: object) -> str:
    """An observation as it is stored. Raises ValueError."""
    if not isinstance(text, str) or not (fact := clean_fact(text)):
        raise ValueError("must be text")
    if len(fact) > LONG_LENGTH:
        raise ValueError(f"is longer than {LONG_LENGTH} characters")
    return fact
