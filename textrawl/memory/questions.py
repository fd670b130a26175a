"""Questions: the text of a search, the times that it is about, and the documents it covers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, Self

from anyio import to_thread

from textrawl.access.principal import Principal
from textrawl.memory.fact_rows import EVER
from textrawl.settings import Settings
from textrawl.values.times import NamedPeriod, find_tense, names_time, regularise
from textrawl.values.times import read_time as read_question_time

# People speak of an event some days after it, or plan it the day before. Therefore the period of a
# question is made longer. On the turns of LoCoMo this adds one point to the recall of questions
# that name a time.
_EARLIER, _LATER = timedelta(days=1), timedelta(days=3)


async def read_time(query: str, as_of: datetime | Literal["ever"] | None) -> dict[str, object]:
    """Return the time that the query is about, as values of SQL parameters by their names.

    A period such as "last week" counts from `as_of`, or from now. If the caller names a time with
    `as_of`, the tense of the query does not count.
    """
    now = as_of if isinstance(as_of, datetime) else datetime.now(UTC)
    query = regularise(query)
    if names_time(query):
        # Use a thread, because the first call loads the words of a language, which takes a second.
        period, tense = await to_thread.run_sync(read_question_time, query, now)
    else:
        period, tense = None, find_tense(query)
    found = dict[str, object]()
    if period:
        found["around"] = _write_range(period.widen(_EARLIER, _LATER))
    if as_of is None and period and not period.start <= now < period.end:
        found["during"] = _write_range(period)
    if as_of is None and tense:
        found |= {"tense": tense.name, **({"clause": tense.clause} if tense.clause else {})}
    return found


def _write_range(period: NamedPeriod) -> str:
    return f"[{period.start.isoformat()},{period.end.isoformat()})"


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
    `least_score` is that of passages if it differs from that of facts.
    """

    graphs: Sequence[str] | None
    ceiling: int
    facts: bool = True
    whole: bool = False
    least_score: float | None = None

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
            **({} if self.least_score is None else {"least_score": self.least_score}),
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
