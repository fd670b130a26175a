"""The log of recalls: noted in memory at once, in the database when there is time.

A call neither waits for the note nor fails with it. Where the database is away for long, the
oldest notes are lost.
"""

import hashlib
import json
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from textrawl import errors
from textrawl.postgres.database import Database
from textrawl.settings import Format, Kept
from textrawl.wire.replies import Reply

logger = logging.getLogger("textrawl")

_MOST_KEPT = 1000
_HASH = 16  # hexadecimal digits


@dataclass(frozen=True)
class Finding:
    """What was asked and the facts that were found, best first, as pairs of space and id.

    The scores, in [0, 1], are the best of any fact: score, and what each arm makes of it.
    """

    asked: str | None = None
    facts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    score: float | None = None
    cosine: float | None = None
    coverage: float | None = None


NOTHING = Finding()


@dataclass(frozen=True)
class Recall:
    """One answer, by the home of who asked: what was found in how long, and its tokens."""

    credential: bytes | None
    space: int | None
    client: str | None
    mode: str
    format: Format
    structured: bool
    tokens: int
    budget: int
    items: int
    dropped: int
    finding: Finding = NOTHING
    milliseconds: float | None = None
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True)
class _Recorded:
    record_recalls: int


class Recalls:
    """Recalls that the database does not know yet, the newest thousand of them.

    `kept` says what becomes of questions. `price` counts what a reply costs as verbose text: that
    is done for one of a batch, the last that nothing was left out of.
    """

    def __init__(self, kept: Kept = "hash", *, price: Callable[[Reply], int] | None = None) -> None:
        self._kept = deque[Recall](maxlen=_MOST_KEPT)
        self._texts = kept == "text"
        self._price = price
        self._sample: tuple[Recall, Reply] | None = None

    def add(self, recall: Recall, reply: Reply | None = None) -> None:
        """Notes `recall`, which `reply` answered."""
        self._kept.append(recall)
        if reply is not None and not recall.dropped:
            self._sample = recall, reply

    async def flush(self, database: Database) -> None:
        """Records what was noted; what cannot be recorded now stays for the next time."""
        batch = list(self._kept)
        if not batch:
            return
        self._kept.clear()
        sample, self._sample = self._sample, None
        priced = self._price(sample[1]) if sample and self._price else None
        given = json.dumps(
            [
                _describe(recall, texts=self._texts)
                | ({"verbose_tokens": priced} if sample and recall is sample[0] else {})
                for recall in batch
            ],
            default=datetime.isoformat,
        )
        away = True
        try:
            await database.call("record_recalls", _Recorded, recalls=given)
            away = False
        except (errors.DatabaseUnavailable, errors.ServerBusy) as error:
            logger.info("%d recalls wait to be recorded: %s", len(batch), error)
        except errors.TextrawlError as error:
            # They would fail again and keep all others from being recorded.
            away = False
            logger.warning("%d recalls are lost: %s", len(batch), error)
        finally:
            if away:
                self._kept = deque([*batch, *self._kept], maxlen=_MOST_KEPT)


def _describe(recall: Recall, *, texts: bool) -> dict[str, Any]:
    """The recall as record_recalls takes it; the question itself only where `texts` are kept."""
    finding = recall.finding
    told = {key: value for key, value in vars(recall).items() if key != "finding"}
    found: dict[str, list[str]] = {}
    for space, fact in finding.facts[: recall.items]:
        found.setdefault(space, []).append(fact)
    return told | {
        "credential": recall.credential.hex() if recall.credential else None,
        "query": finding.asked if texts else None,
        "query_hash": _hash(finding.asked) if finding.asked else None,
        "hits": len(finding.facts), "score": finding.score, "cosine": finding.cosine,
        "coverage": finding.coverage, "found": found,
    }  # fmt: skip


def _hash(asked: str) -> str:
    """Equal for questions that differ only in case and white space."""
    folded = " ".join(asked.casefold().split())
    return hashlib.sha256(folded.encode()).hexdigest()[:_HASH]
