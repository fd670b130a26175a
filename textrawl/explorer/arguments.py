"""Arguments in addresses and forms, checked like the arguments of the tools."""

from collections.abc import Mapping
from datetime import datetime
from typing import get_args
from uuid import UUID

from textrawl.access.principal import Scope
from textrawl.errors import ArgumentInvalid
from textrawl.memory.connector import read_item_id
from textrawl.values.names import read_wanted_type
from textrawl.values.text import (
    FACT_LENGTH,
    NAME_LENGTH,
    PROMPT_LENGTH,
    REASON_LENGTH,
    clean_fact,
    clean_name,
    clean_query,
)
from textrawl.values.times import read_as_of, read_past_instant

SCOPES: tuple[Scope, ...] = get_args(Scope)
_MOST_DIGITS = 9


def read_query(text: str) -> str:
    """Return a clean question, which can be empty. Raises ArgumentInvalid if it is too long."""
    return _limit("The question", clean_query(text), PROMPT_LENGTH)


def read_name(text: str) -> str:
    """Return the clean name of an entity. Raises ArgumentInvalid if it is empty or too long."""
    return _require_name(text, "Give the name of an entity")


def read_actor(text: str) -> str:
    """Return the clean name of an actor. Raises ArgumentInvalid if it is empty or too long."""
    return _require_name(text, "Give the name of a person or an agent")


def read_scopes(form: Mapping[str, str]) -> list[Scope]:
    """Return the scopes whose boxes are checked. Raises ArgumentInvalid if there are none."""
    chosen: list[Scope] = [scope for scope in SCOPES if form.get(f"scope-{scope}")]
    if not chosen:
        raise ArgumentInvalid("Go back, and choose at least one scope", title="No scope is chosen")
    return chosen


def read_fact(text: str) -> str:
    """Return the text of a fact as it is stored. Raises ArgumentInvalid."""
    fact = _limit("The fact", clean_fact(text), FACT_LENGTH)
    if not fact:
        raise ArgumentInvalid("Write what is right", title="The fact is empty")
    return fact


def read_reason(text: str, fix: str) -> str:
    """Return the reason of a change. Raises ArgumentInvalid with `fix` if it is missing."""
    reason = _limit("The reason", clean_name(text), REASON_LENGTH)
    if not reason:
        raise ArgumentInvalid(fix, title="The reason is missing")
    return reason


def read_types(*texts: str) -> list[str] | None:
    """Return the types of a filter in a list, or None for all types."""
    return [read_wanted_type(clean_name(text)) for text in texts if text] or None


def read_moment(text: str) -> datetime | None:
    """Return a time, or None for now. A date means the end of this day. Raises ArgumentInvalid."""
    try:
        return read_as_of(text) if text.strip() else None
    except ValueError as error:
        raise ArgumentInvalid(f"The date {error}", title="The date cannot be read") from None


def read_start(text: str) -> datetime | None:
    """Return a time that has passed, or None if there is none. A date means its beginning.

    Raises ArgumentInvalid.
    """
    try:
        return read_past_instant(text) if text.strip() else None
    except ValueError as error:
        raise ArgumentInvalid(f"The time {error}", title="The time cannot be read") from None


def read_id(text: str) -> UUID | None:
    """Return an id, or None if there is none. Raises ItemNotFound for another text."""
    return read_item_id(f"fact:{text}").id if text else None


def read_number(text: str, *, least: int, most: int, default: int) -> int:
    """Return a whole number between two bounds. Any other text means the default."""
    if not text.isascii() or not text.isdecimal() or len(text) > _MOST_DIGITS:
        return default
    return min(max(int(text), least), most)


def _require_name(text: str, fix: str) -> str:
    name = _limit("The name", clean_name(text), NAME_LENGTH)
    if not name:
        raise ArgumentInvalid(fix, title="The name is missing")
    return name


def _limit(what: str, text: str, most: int) -> str:
    if len(text) > most:
        raise ArgumentInvalid(f"Use at most {most:,} characters", title=f"{what} is too long")
    return text
