"""Arguments of `Client` and `SyncClient`, checked like the arguments of tools."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from textrawl.errors import ArgumentInvalid, EntityNameMissing, EntityTypeInvalid, QueryMissing
from textrawl.memory.facts import Edge, Fact, Question, Times
from textrawl.values.names import ENTITY_TYPES, name_type
from textrawl.values.text import (
    FACT_LENGTH,
    LEAST_TOKENS,
    MOST_FACTS,
    MOST_TOKENS,
    NAME_LENGTH,
    QUERY_LENGTH,
    RELATION_LENGTH,
    clean_fact,
    clean_name,
    clean_relation,
)
from textrawl.values.times import read_future_instant, read_instant, read_past_instant

Moment = datetime | str
"""A time. A text is an ISO 8601 date or instant. A time without an offset is in UTC."""

Value = TypeVar("Value")


def read_question(
    question: str,
    entity_types: Sequence[str] | None,
    limit: int,
    least_score: float | None,
    times: tuple[Moment | None, Moment | None, Moment | None],
) -> Question:
    """Return a checked question. `times` has as_of, since and until. Raises ArgumentInvalid."""
    query = _limit("question", clean_name(question), QUERY_LENGTH)
    if not query:
        raise QueryMissing
    _check_range("limit", limit, 1, MOST_FACTS)
    if least_score is not None:
        _check_range("least_score", least_score, 0, 1)
    names = [entity_types] if isinstance(entity_types, str) else entity_types or ()
    types = [_name_type("entity_types", name) for name in names]
    return Question(query, types or None, _read_times(*times), limit, least_score=least_score)


def _read_times(as_of: Moment | None, since: Moment | None, until: Moment | None) -> Times:
    times = Times(
        _read_time("as_of", as_of, read_instant),
        _read_time("since", since, read_past_instant),
        _read_time("until", until, read_instant),
    )
    if times.since and times.until and times.until < times.since:
        raise ArgumentInvalid("until must not be before since", title="Empty period")
    return times


def read_fact(entity: str, fact: str, kind: str, replaces: str | None) -> Fact:
    """Return a checked fact without times. Raises ArgumentInvalid."""
    return Fact(
        read_name("entity", entity),
        _name_type("type", kind),
        _require("fact", _refuse("fact", clean_fact, fact), FACT_LENGTH),
        replaces=read_reference("replaces", replaces),
    )


def read_lifetime(
    said_at: Moment | None, valid_until: Moment | None
) -> tuple[datetime | None, datetime | None]:
    """Return both times of a fact. Raises ArgumentInvalid."""
    return (
        _read_time("said_at", said_at, read_past_instant),
        _read_time("valid_until", valid_until, read_future_instant),
    )


def read_edge(from_entity: str, relation: str, to_entity: str) -> Edge:
    """Return a checked relation. Raises ArgumentInvalid."""
    return Edge(
        read_name("from_entity", from_entity),
        _require("relation", clean_relation(relation), RELATION_LENGTH),
        read_name("to_entity", to_entity),
    )


def read_name(argument: str, name: str) -> str:
    """Return the stored form of the name of an entity. Raises ArgumentInvalid."""
    clean = _limit(argument, clean_name(name), NAME_LENGTH)
    if not clean:
        raise EntityNameMissing(f"{argument}: give the name of an entity")
    return clean


def read_reference(argument: str, reference: str | None) -> str | None:
    """Return an id, the first 8 characters of an id, or the text of a fact. Raises ArgumentInvalid.

    An empty text is refused. It would mean "no fact", and delete a whole entity.
    """
    if reference is None:
        return None
    return _require(argument, clean_name(reference), FACT_LENGTH)


def check_budget(max_tokens: int | None) -> None:
    """Raise ArgumentInvalid for a budget that no answer can have."""
    if max_tokens is not None:
        _check_range("max_tokens", max_tokens, LEAST_TOKENS, MOST_TOKENS)


def read_type(argument: str, kind: str | None) -> str | None:
    """Return the type that a word names, or None. Raises EntityTypeInvalid."""
    return None if kind is None else _name_type(argument, kind)


def _name_type(argument: str, kind: str) -> str:
    name = str(name_type(kind))
    if name not in ENTITY_TYPES:
        raise EntityTypeInvalid(f"{argument} (given {kind!r}): use {', '.join(ENTITY_TYPES)}")
    return name


def _read_time(
    argument: str, moment: Moment | None, read: Callable[[str], datetime]
) -> datetime | None:
    if moment is None:
        return None
    text = moment.isoformat() if isinstance(moment, datetime) else moment
    return _refuse(argument, read, text)


def _refuse(argument: str, read: Callable[[str], Value], text: str) -> Value:
    try:
        return read(text)
    except ValueError as error:
        raise ArgumentInvalid(f"{argument}: {error}") from None


def _require(argument: str, text: str, most: int) -> str:
    if not text:
        raise ArgumentInvalid(f"{argument}: must not be empty")
    return _limit(argument, text, most)


def _limit(argument: str, text: str, most: int) -> str:
    if len(text) > most:
        raise ArgumentInvalid(f"{argument}: must be text of at most {most} characters")
    return text


def _check_range(argument: str, number: float, least: int, most: int) -> None:
    if not least <= number <= most:
        raise ArgumentInvalid(f"{argument}: must be from {least} to {most}")
