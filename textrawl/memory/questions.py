"""Questions: the text of a search, the times that it is about, and the documents it covers."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Literal, Self

from textrawl.access.principal import Principal
from textrawl.memory.fact_rows import EVER
from textrawl.postgres.database import Database
from textrawl.postgres.sql_files import read_folder
from textrawl.settings import Settings
from textrawl.values.times import find_tense, regularise

_NUMBER_OR_IDEOGRAPH = re.compile(r"\d|[年月週日]")
_KINDS = re.compile(r"[mwsuf]|d-?\d|now")


@dataclass(frozen=True)
class NamedTime:
    """The period that a question names, and the question with a comma instead of its words.

    `ends` is the first instant after the period. Without a period, both are None. A fact has no
    words of a `relative` time, such as yesterday, but it can have Monday or 2023.
    """

    starts: datetime | None
    ends: datetime | None
    rest: str
    relative: bool | None = None


async def read_time(
    database: Database, query: str, as_of: datetime | Literal["ever"] | None
) -> tuple[str, dict[str, object]]:
    """Return the query without a relative time, and its time as values of SQL parameters.

    A period such as "last week" counts from `as_of`, or from now. If the caller names a time with
    `as_of`, the tense of the query does not count.
    """
    now = as_of if isinstance(as_of, datetime) else datetime.now(UTC)
    query = regularise(query)
    named = NamedTime(None, None, query)
    # To look for a number, an ideograph or a word of a time takes microseconds, and the call more.
    words = re.findall(r"\w+", query.lower())
    if _NUMBER_OR_IDEOGRAPH.search(query) or not _load_time_words().isdisjoint(words):
        [named] = await database.call("question_time", NamedTime, question=query, asked_at=now)
    searched = named.rest if named.relative else query
    return searched, describe_time(named, query, now, as_of)


def describe_time(
    named: NamedTime, query: str, now: datetime, as_of: datetime | Literal["ever"] | None = None
) -> dict[str, object]:
    """Return the time of a regular query, asked at `now`, as values of SQL parameters."""
    found = dict[str, object]()
    tense = find_tense(named.rest)
    if named.starts and named.ends:
        found["around"] = f"[{named.starts.isoformat()},{named.ends.isoformat()})"
        if not named.starts <= now < named.ends:
            found |= {"during": found["around"]} if as_of is None else {}
        elif named.ends - named.starts == timedelta(days=1):
            tense = find_tense(query)  # "today" can mean the present
    if as_of is None and tense:
        found |= {"tense": tense.name, **({"clause": tense.clause} if tense.clause else {})}
    return found


@cache
def _load_time_words() -> frozenset[str]:
    """Return the words of period_words() that name a time: of several words the longest."""
    [_, words, _] = read_folder("periods")["period_words"].split("$$")
    return frozenset(
        max(re.findall(r"\w+", phrase), key=len)
        for kinds in json.loads(words).values()
        for kind, phrases in kinds.items()
        if _KINDS.fullmatch(kind)
        for phrase in re.split("[;|]", phrases)
    )


@dataclass(frozen=True)
class Times:
    """The times that a query asks for. Only a look-up has `known_at`: what the memory knew then.

    `as_of` finds facts that were valid at that time, or with EVER facts of all times. `since` and
    `until` find facts that were said between these two times.
    """

    as_of: datetime | Literal["ever"] | None = None
    since: datetime | None = None
    until: datetime | None = None
    known_at: datetime | None = None

    def arguments(self) -> dict[str, object]:
        """Return the times that are not None, by the names of SQL parameters."""
        given: dict[str, object] = {}
        if self.as_of:
            given["as_of"] = "infinity" if self.as_of == EVER else self.as_of
        for name in ("since", "until", "known_at"):
            if time := getattr(self, name):
                given[name] = time
        return given


ANY_TIME = Times()


@dataclass(frozen=True)
class Sources:
    """The documents that a search covers, beside facts or alone.

    `graphs` has the names of the only graphs to search, or is None. `ceiling` is the maximum number
    of tokens of documents in the answer. If `whole` is true, it has whole chunks, or else passages.
    """

    graphs: Sequence[str] | None
    ceiling: int
    facts: bool = True
    whole: bool = False

    @classmethod
    def find_all(cls, principal: Principal, settings: Settings) -> Self | None:
        """Return all that a principal can read. None: it can read no documents here."""
        readable, allowed = principal.readable_graphs, settings.graphs
        graphs = readable if allowed is None else sorted({*readable} & {*allowed})
        if not graphs:
            return None
        return cls(graphs, settings.max_recall_tokens, facts=bool(principal.readable))

    def arguments(self) -> dict[str, object]:
        """Return the values of SQL parameters by their names."""
        return {
            "sources": ["documents"],
            "graphs": None if self.graphs is None else list(self.graphs),
            "ceiling": self.ceiling,
            "quoting": not self.whole,
        }


@dataclass(frozen=True)
class Question:
    """A search. If `semantic` is true, only vectors are compared.

    Facts with a score below `least_score` are left out. If it is None, search_memory() chooses it.
    If `about` is not None, only facts of the entity with this name are found. `sources` is None if
    the search covers only facts. If `entries` is false, no part of a journal entry is found.
    """

    query: str
    entity_types: list[str] | None = None
    times: Times = ANY_TIME
    limit: int = 10
    semantic: bool = False
    least_score: float | None = None
    sources: Sources | None = None
    about: str | None = None
    entries: bool = True

    def find_names(self, words: Sequence[str]) -> list[str]:
        """Return those of its words that are names: the first word of a sentence is none."""
        within = r"[^.!?:\s]\s+\W?"
        capitals = (word for word in words if word[:1].isupper())
        return [word for word in capitals if re.search(within + re.escape(word), self.query)]

    @property
    def covers_present_facts(self) -> bool:
        """True if the search covers all facts as they are now, and not only documents."""
        present = self.times.as_of is None and self.about is None
        return present and (self.sources is None or self.sources.facts)

    @property
    def covers_every_fact(self) -> bool:
        """True if it covers all facts as they are now, whatever their type, day or score."""
        filtered = self.entity_types or self.times != ANY_TIME or self.least_score is not None
        return self.covers_present_facts and not filtered
