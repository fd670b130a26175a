"""Arguments in addresses and forms, checked like the arguments of the tools."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import get_args
from uuid import UUID

from textrawl.access.principal import Scope
from textrawl.errors import ArgumentInvalid
from textrawl.memory.connector import read_item_id
from textrawl.values import remotes
from textrawl.values.names import read_type, read_wanted_type
from textrawl.values.text import (
    FACT_LENGTH,
    NAME_LENGTH,
    PROMPT_LENGTH,
    REASON_LENGTH,
    RELATION_LENGTH,
    clean_fact,
    clean_name,
    clean_query,
    clean_relation,
)
from textrawl.values.times import read_as_of, read_begin, read_instant, read_past_instant

SCOPES: tuple[Scope, ...] = get_args(Scope)
ROLES: dict[str, tuple[Scope, ...]] = {
    "reader": ("read",),
    "writer": ("read", "write", "forget"),
    "reviewer": ("read", "write", "forget", "review"),
    "admin": ("read", "write", "forget", "review", "admin"),
}
"""The scopes of people, by what they do in a space."""
_MOST_DIGITS = 18


class FieldInvalid(ArgumentInvalid):
    """A text of a form that cannot be accepted. The page says so beside its field."""

    def __init__(self, field: str, title: str, fix: str) -> None:
        self.field = field
        super().__init__(fix, title=title)


class NameUnknown(FieldInvalid):
    """A name that no entity has. The form asks for one of the similar names, or calls it new."""

    def __init__(self, field: str, name: str, similar: Sequence[str]) -> None:
        self.name, self.similar = name, similar
        fix = "Choose the entity that you mean, or say that this one is new"
        super().__init__(field, "No entity has this name yet", fix)


def read_query(text: str) -> str:
    """Return a clean question, which can be empty. Raises FieldInvalid if it is too long."""
    return _limit("q", "The question", clean_query(text), PROMPT_LENGTH)


def read_repository(text: str) -> str | None:
    """Return the keys of a repository, or None without one. Raises FieldInvalid."""
    keys = remotes.read_repository(text)
    if text.strip() and keys is None:
        fix = "Give its address, such as github.com/acme/api"
        raise FieldInvalid("repository", "No repository has this address", fix)
    return keys


def read_name(text: str, field: str = "name", owner: str = "an entity") -> str:
    """Return the clean name of an entity. Raises FieldInvalid if it is empty or too long."""
    return _require(field, "The name", clean_name(text), NAME_LENGTH, f"Give the name of {owner}")


def require_typed(text: str, name: str) -> None:
    """Raise FieldInvalid unless somebody has typed a name to confirm what nobody takes back."""
    if clean_name(text).casefold() != name.casefold():
        raise FieldInvalid("typed", "This is another name", f"Write {name} to confirm")


def read_actor(text: str) -> str:
    """Return the clean name of an actor. Raises FieldInvalid if it is empty or too long."""
    return read_name(text, "actor", "a person or an agent")


def read_scopes(form: Mapping[str, str]) -> list[Scope]:
    """Return the scopes of the role, or those of the boxes. Raises FieldInvalid without any."""
    chosen: list[Scope] = [*ROLES.get(form.get("role", ""), ())]
    chosen = chosen or [scope for scope in SCOPES if form.get(f"scope-{scope}")]
    if not chosen:
        raise FieldInvalid("scopes", "No scope is chosen", "Choose at least one scope")
    return chosen


def read_fact(text: str) -> str:
    """Return the text of a fact as it is stored. Raises FieldInvalid."""
    return _require("text", "The fact", clean_fact(text), FACT_LENGTH, "Write what is right")


def read_relation(text: str) -> str:
    """Return the type of a relation. Raises FieldInvalid if it is empty or too long."""
    fix = "Say how the two are connected"
    return _require("relation", "The relation", clean_relation(text), RELATION_LENGTH, fix)


def read_new_type(text: str) -> str | None:
    """Return the type of an entity, or None if there is none. Raises FieldInvalid."""
    kind = _limit("type", "The type", clean_name(text), NAME_LENGTH)
    return read_type(kind) if kind else None


def read_reason(text: str, fix: str) -> str:
    """Return the reason of a change. Raises FieldInvalid with `fix` if it is missing."""
    return _require("reason", "The reason", clean_name(text), REASON_LENGTH, fix)


def read_types(*texts: str) -> list[str] | None:
    """Return the types of a filter in a list, or None for all types."""
    return [read_wanted_type(clean_name(text)) for text in texts if text] or None


def read_moment(text: str, field: str = "as_of") -> datetime | None:
    """Return a time, or None for now. A date means the end of this day. Raises FieldInvalid."""
    return _read_time(field, text, read_as_of, "date")


def read_start(text: str) -> datetime | None:
    """Return a time that has passed, or None if there is none. A date means its beginning.

    Raises FieldInvalid.
    """
    return _read_time("since", text, read_past_instant)


def read_period(form: Mapping[str, str]) -> tuple[datetime | None, datetime | None]:
    """Return when something begins and ends to be so, each a time or None. Raises FieldInvalid.

    A date means its beginning for the begin, and its end for the end.
    """
    begin, end = form.get("valid_from", ""), form.get("valid_until", "")
    return (
        _read_time("valid_from", begin, read_begin),
        _read_time("valid_until", end, read_instant),
    )


def _read_time(
    field: str, text: str, read: Callable[[str], datetime], word: str = "time"
) -> datetime | None:
    try:
        return read(text) if text.strip() else None
    except ValueError as error:
        raise FieldInvalid(field, f"The {word} cannot be read", f"The {word} {error}") from None


def read_id(text: str) -> UUID | None:
    """Return an id, or None if there is none. Raises ItemNotFound for another text."""
    return read_item_id(f"fact:{text}").id if text else None


def read_number(text: str, *, least: int, most: int, default: int) -> int:
    """Return a whole number between two bounds. Any other text means the default."""
    if not text.isascii() or not text.isdecimal() or len(text) > _MOST_DIGITS:
        return default
    return min(max(int(text), least), most)


def _require(field: str, what: str, text: str, most: int, fix: str) -> str:
    if not text:
        raise FieldInvalid(field, f"{what} is missing", fix)
    return _limit(field, what, text, most)


def _limit(field: str, what: str, text: str, most: int) -> str:
    if len(text) > most:
        fix = f"It has {len(text):,} characters: use at most {most:,}"
        raise FieldInvalid(field, f"{what} is too long", fix)
    return text
