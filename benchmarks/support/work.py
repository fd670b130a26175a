"""Calls of every tool, made from a seed."""

import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any

TOLD, RELATED = 10, 5  # facts and relations of a measured build_knowledge
QUESTION = 6  # words of a question that is made from a text

FIRST = ["Ada", "Bela", "Chidi", "Dana", "Emre", "Fatima", "Goran", "Hana", "Ines", "Juan"]
LAST = ["Abe", "Berg", "Cohen", "Diaz", "Egger", "Fischer", "Garcia", "Huang", "Ito", "Jansen"]
PEOPLE: Sequence[str] = [f"{first} {last}" for first in FIRST for last in LAST]
PLACES = ["Lisbon", "Oslo", "Kyoto", "Quito", "Tallinn", "Lagos", "Hobart", "Graz", "Porto", "Riga"]
THINGS = ["Postgres", "climbing", "jazz", "chess", "orchids", "sailing", "Rust", "opera", "pottery"]
SENTENCES = [
    "prefers {thing} to {other} since meeting {number}",
    "moved to {place} in {year} because of job offer {number}",
    "spent {number} hours of {year} learning {thing} with a friend from {place}",
    "leads project {number}, which replaces {thing} with {other} by {year}",
    "said that {thing} is the best thing that happened to team {number} since {year}",
]


Call = tuple[str, dict[str, Any]]
"""A tool and its arguments."""


class Work:
    """Calls of every kind. Each call is different from the calls before it.

    Facts are about a hundred people, and questions name these people. With `names`, facts are about
    these entities, and questions are six words of one of `texts`.
    """

    def __init__(
        self, names: Sequence[str] = PEOPLE, texts: Sequence[str] = (), start: int = 0
    ) -> None:
        # The facts depend only on `start`.
        self._dice = random.Random(7 + start)  # noqa: S311
        self._names, self._texts = names, texts
        self._numbers = itertools.count(1_000 + start)
        self.kinds: dict[str, Callable[[], Call]] = {
            "query_memory search": self._search,
            "query_memory entity": self._look_up,
            "query_memory list": lambda: ("query_memory", {"mode": "list"}),
            "remember_fact": lambda: ("remember_fact", self.make_fact()),
            f"build_knowledge, {TOLD} facts and {RELATED} relations": self._build,
            "relate_entities": lambda: ("relate_entities", self._make_relation()),
            "forget_entity, one fact": self._forget,
        }
        self.forgettable: list[dict[str, Any]] = []

    def make_fact(self) -> dict[str, Any]:
        """Return a new fact about one of a hundred people."""
        thing, other = self._dice.sample(THINGS, 2)
        sentence = self._dice.choice(SENTENCES).format(
            thing=thing,
            other=other,
            place=self._dice.choice(PLACES),
            year=self._dice.randint(1990, 2026),
            number=next(self._numbers),
        )
        person = self._dice.choice(self._names)
        return {"entityName": person, "entityType": "person", "observation": sentence}

    def make_batch(self, size: int) -> Call:
        """Return a call with many facts."""
        return "build_knowledge", {"facts": [self.make_fact() for _ in range(size)]}

    def _search(self) -> Call:
        if self._texts:
            words = sorted(set(self._dice.choice(self._texts).split()))
            question = " ".join(self._dice.sample(words, min(len(words), QUESTION)))
            return "query_memory", {"mode": "search", "query": question}
        thing, other = self._dice.sample(THINGS, 2)
        person, place = self._dice.choice(self._names), self._dice.choice(PLACES)
        question = f"What does {person} think of {thing} or {other} in {place}?"
        return "query_memory", {"mode": "search", "query": question}

    def _look_up(self) -> Call:
        return "query_memory", {"mode": "entity", "entityName": self._dice.choice(self._names)}

    def _make_relation(self) -> dict[str, Any]:
        one, other = self._dice.sample(self._names, 2)
        verb = f"met_in_{self._dice.randint(1, 10_000)}"
        return {"fromEntity": one, "relation": verb, "toEntity": other}

    def _build(self) -> Call:
        tool, batch = self.make_batch(TOLD)
        return tool, {**batch, "relations": [self._make_relation() for _ in range(RELATED)]}

    def _forget(self) -> Call:
        fact = self.forgettable.pop()
        known = {"entityName": fact["entityName"], "fact": fact["observation"]}
        return "forget_entity", {**known, "confirm": True}
