"""The same content in an ordinary memory and in several cells, for tests that compare answers."""

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, make_dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import zip_longest
from typing import Any, LiteralString, cast

import numpy as np
from anyio.from_thread import BlockingPortal

from tests.cluster.settlers import Settlers
from textrawl.access.access_token import hash_token
from textrawl.postgres.database import Database
from textrawl.postgres.sqlstates import DataRefused

WORDS = ["tea", "coffee", "garden", "river", "winter", "piano", "letter", "bridge", "Oslo", "the"]
NAMES = ["Ana", "Ben Lee", "Benjamin Lee", "Carl", "Café Oslo", "Dora", "Bridge", "Tea House"]
TYPES = ["person", "project", "location", "preference"]
RELATIONS = ["knows", "works_at", "likes"]
DAYS = [datetime(2026, 3, day, 12, tzinfo=UTC) for day in range(1, 20)]
PIP = hash_token("pip")

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_HIDDEN = frozenset({"cursor", "bytes", "request"})

Call = Mapping[str, Any]
_Known = tuple[int, str, str]


@dataclass
class _Row:
    """A row of which the columns are not known before."""


@dataclass(repr=False)
class Twins:
    """Two memories with the same content. `moments` are between two writes of both."""

    portal: BlockingPortal
    plain: Database
    cells: Database
    plain_ids: dict[int, int]
    settlers: Settlers
    moments: list[datetime]

    def write(self, function: str, columns: str, **arguments: Any) -> list[Any]:
        """Write to both, and return what the cells answer."""
        answers: list[Any] = []
        for database in (self.plain, self.cells):
            rows: Any = "refused"
            with suppress(DataRefused):
                rows = self.ask(database, function, columns.split(), arguments)
            answers.append(rows)
        assert _is_same(*map(hide, answers)), (function, arguments)
        self.moments.append(datetime.now(UTC))
        return answers

    def compare(self, function: str, columns: str, **arguments: Any) -> None:
        """Ask both, and check that they answer the same.

        Rows of one instant, in the column `at`, have no order.
        """
        plain, cells = [
            cast(
                "list[Any]", hide(_order(self.ask(database, function, columns.split(), arguments)))
            )
            for database in (self.plain, self.cells)
        ]
        if "at" in columns.split() and len(plain) == arguments["max_rows"]:
            plain, cells = plain[:-2], cells[:-2]
        for place, (one, other) in enumerate(zip_longest(plain, cells)):
            row = f"row {place} of {function} {arguments}:\n{other}\n{one}"
            assert _is_same(one, other), row

    def ask(
        self, database: Database, function: str, columns: Sequence[str], arguments: Call
    ) -> list[dict[str, Any]]:
        """Return the rows of one of the two. Spaces of the arguments are those of the cells."""
        given = dict(arguments)
        if database is self.plain:
            for name in ("space", "spaces"):
                if given.get(name) is not None:
                    given[name] = self._translate(given[name])
        row = cast("type[_Row]", make_dataclass(function, columns))
        call = partial(database.call, cast("LiteralString", function), row, **given)
        return [asdict(found) for found in self.portal.call(call)]

    def _translate(self, spaces: Any) -> Any:
        if isinstance(spaces, list):
            return [self.plain_ids[space] for space in cast("list[int]", spaces)]
        return self.plain_ids[spaces]


def fill(twins: Twins, seed: int, writes: int = 90) -> None:
    """Write facts, relations, aliases and proposals, and take some of them back."""
    dice = random.Random(seed)  # noqa: S311 - the same in every run
    model = {"name": "test:model", "dimensions": 3}
    twins.write("register_embedding_model", "register_embedding_model", **model)
    known: list[_Known] = []
    for number in range(writes):
        _write(twins, dice, known, number)
        if number == writes // 2:
            twins.write("refresh_search_statistics", "refresh_search_statistics")


def _write(twins: Twins, dice: random.Random, known: list[_Known], number: int) -> None:
    who = dice.choice(NAMES)
    common: dict[str, Any] = {"credential": twins.settlers.ana, "tool": "test"}
    common["space"] = dice.choice(twins.settlers.spaces[:9])
    kind = dice.random()
    if kind < 0.12:
        other = {"relation": dice.choice(RELATIONS), "to_entity": dice.choice(NAMES)}
        act = "end_relation" if kind < 0.03 else "relate_entities"
        twins.write(act, "created", from_entity=who, **other, **common)
    elif kind < 0.17:
        alias = f"{who} {dice.choice(WORDS)}"
        twins.write("name_entity", "added", entity=who, alias=alias, **common)
    elif kind < 0.22 and known:
        common["space"], whom, text = dice.choice(known)
        twins.write("forget_entity", "facts", entity=whom, fact=text, **common)
    else:
        fact = _make_fact(dice, who, number)
        if kind < 0.3:
            common["credential"] = PIP
        elif kind < 0.4 and known:
            common["space"], fact["entity"], fact["replaces"] = dice.choice(known)
        twins.write("remember_fact", "entity_name duplicate updated", **fact, **common)
        known.append((common["space"], fact["entity"], fact["observation"]))


def _make_fact(dice: random.Random, who: str, number: int) -> dict[str, Any]:
    text = f"{' '.join(dice.sample(WORDS, 3))} {number if dice.random() < 0.9 else ''}".strip()
    fact: dict[str, Any] = {"entity": who, "type": dice.choice(TYPES), "observation": text}
    if dice.random() < 0.7:
        # Changes of one instant have no order.
        fact["said_at"] = dice.choice(DAYS) + timedelta(minutes=number)
    if dice.random() < 0.2:
        fact["valid_until"] = datetime.now(UTC) + timedelta(days=dice.choice([1, 30]))
    if dice.random() < 0.8:
        vector = np.array([dice.random() for _ in range(3)], np.float32)
        fact |= {"model": 1, "embedding": vector}
    return fact


def hide(value: Any) -> Any:
    """Leave out what differs between two memories: ids and moments. Their order stays."""
    if isinstance(value, dict):
        return {
            key: hide(item)
            for key, item in cast("dict[str, Any]", value).items()
            if key not in _HIDDEN and not re.fullmatch(r"(?:.+_)?id", key)
        }
    if isinstance(value, list):
        return [hide(item) for item in cast("list[Any]", value)]
    if isinstance(value, datetime):
        return "a moment"
    if isinstance(value, str):
        return "an id" if _ID.fullmatch(value) else "a moment" if _MOMENT.match(value) else value
    return value


def _order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort rows of one instant by what they say."""
    if not rows or "at" not in rows[0]:
        return rows
    return sorted(
        rows, key=lambda row: (-row["at"].timestamp(), json.dumps(hide(row), default=str))
    )


def _is_same(one: Any, other: Any) -> bool:
    """Compare two answers. Scores that depend on the present time differ by little."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, abs_tol=1e-3)
    if isinstance(one, dict) and isinstance(other, dict):
        pair = cast("tuple[dict[str, Any], dict[str, Any]]", (one, other))
        return pair[0].keys() == pair[1].keys() and all(
            _is_same(value, pair[1][key]) for key, value in pair[0].items()
        )
    if isinstance(one, list) and isinstance(other, list):
        lists = cast("tuple[list[Any], list[Any]]", (one, other))
        return len(lists[0]) == len(lists[1]) and all(map(_is_same, *lists))
    return one == other
