"""Lines of the reference memory server's file, checked by textrawl's rules for names and texts.

A line is an object whose `type` is entity (name, entityType, observations) or relation (from, to,
relationType).
"""

from typing import Any, cast

from pydantic_core import from_json

from textrawl.values.text import LONG_LENGTH, NAME_LENGTH, clean_fact, clean_name


class LineRefused(Exception):
    """The reason why a line of a file cannot be used."""


class LineBroken(LineRefused):
    """A line is not a JSON object, so it may have been cut off."""


def parse_line(raw: bytes | None) -> dict[str, Any]:
    """Parse a line whose type is entity or relation. Raises LineRefused."""
    if raw is None:
        raise LineRefused("too long")
    try:
        value = from_json(raw)
    except ValueError:
        raise LineBroken("is not JSON") from None
    if not isinstance(value, dict):
        raise LineBroken("is not a JSON object")
    line = cast("dict[str, Any]", value)
    if line.get("type") not in ("entity", "relation"):
        raise LineRefused("type is neither entity nor relation")
    return line


def read_name(
    line: dict[str, Any], key: str, *, empty: str = "", longest: int = NAME_LENGTH
) -> str:
    """Return a name or type of a line in the form in which it is stored. Raises LineRefused."""
    value = line.get(key, empty)
    if not isinstance(value, str) or not (name := clean_name(value) or empty):
        raise LineRefused(f"{key} must be text")
    if len(name) > longest:
        raise LineRefused(f"{key} is longer than {longest} characters")
    return name


def read_text(text: object) -> str:
    """Return an observation in the form in which it is stored. Raises ValueError."""
    if not isinstance(text, str) or not (fact := clean_fact(text)):
        raise ValueError("must be text")
    if len(fact) > LONG_LENGTH:
        raise ValueError(f"is longer than {LONG_LENGTH} characters")
    return fact
