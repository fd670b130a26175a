"""The answers that clients got, and their times."""

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import anyio

BATCH = 5  # facts that a build_knowledge stores, all or none of them
_WORDS = """
amber anchor apple arrow autumn badge bamboo basket beacon bicycle blanket bottle branch bread
bridge bronze butter cabin camera candle canyon carpet castle cedar cellar chalk cherry circle
clock cloud copper coral cotton crystal curtain desert diamond dinner dragon eagle engine falcon
feather fiddle flute forest fossil garden ginger glacier granite guitar hammer harbor hazel helmet
honey horizon island ivory jacket jungle kettle kitten ladder lantern lemon library lizard magnet
maple marble meadow mirror monkey mountain needle nickel ocean olive orchid oxygen paddle palace
pepper pigeon planet pocket potato prairie pumpkin puzzle rabbit river rocket saddle salmon scarf
shadow silver spider spruce stadium sugar summit temple thunder ticket timber tomato tunnel turtle
valley velvet violin walnut whistle window winter
"""


@dataclass
class Ledger:
    """The acknowledged texts with their ids, the acknowledged batches, and errors by title.

    `kept` has the other acknowledged writes: by their kind, the text of each key, as in `keep`.
    """

    acknowledged: dict[str, str | None] = field(default_factory=dict[str, str | None])
    batches: list[list[str]] = field(default_factory=list[list[str]])
    errors: Counter[str] = field(default_factory=Counter[str])
    repeated: int = 0
    mistaken: list[str] = field(default_factory=list[str])
    kept: dict[str, dict[str, str | None]] = field(default_factory=dict[str, dict[str, str | None]])
    _latest: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def count(self) -> int:
        """The number of acknowledged writes of all kinds."""
        return len(self.acknowledged) + sum(map(len, self.kept.values()))

    def keep(self, kind: str, key: str, text: str | None) -> None:
        """Record what was acknowledged to be stored under a key: a text, or nothing."""
        self.kept.setdefault(kind, {})[key] = text

    def note(self, way: str, began: float) -> None:
        """Record that a call over `way` that began at `began` has succeeded."""
        self._latest[way] = max(began, self._latest.get(way, 0.0))

    async def wait_for_success(self, ways: set[str], since: float) -> float:
        """Wait until a call that began after `since` has succeeded over each way.

        Return the seconds since `since`.
        """
        with anyio.fail_after(300):
            while any(self._latest.get(way, 0.0) < since for way in ways):  # noqa: ASYNC110 - many
                await anyio.sleep(0.01)
        return time.monotonic() - since


@dataclass
class Author:
    """Makes calls. Each call has new texts."""

    name: str
    number: int = 0

    def __post_init__(self) -> None:
        self._dice = random.Random(self.name)  # noqa: S311 - the same texts in every run

    def write_text(self) -> str:
        """Return a text with words unlike all other texts, so no two texts are duplicates."""
        self.number += 1
        return f"{' '.join(self._dice.sample(_WORDS.split(), 9))}, {self.name} {self.number}"

    def write_call(self) -> tuple[str, dict[str, Any], list[str]]:
        """Return a tool, its arguments and the texts in them. Every tenth call is a batch."""
        size = BATCH if self._dice.random() < 0.1 else 1
        subject = f"{self.name} {self.number // 40}"
        texts = [self.write_text() for _ in range(size)]
        facts = [
            {"entityName": subject, "entityType": "concept", "observation": text} for text in texts
        ]
        if size == 1:
            return "remember_fact", facts[0], texts
        return "build_knowledge", {"facts": facts}, texts
