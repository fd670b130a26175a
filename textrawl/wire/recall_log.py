"""The recall log. Recalls are kept in this process first, and written to the database later.

A call does not wait for this write, and does not fail if the write fails. If the database is
unavailable for long, the oldest recalls are lost.
"""

import hashlib
import json
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from textrawl import errors
from textrawl.postgres.database import Database
from textrawl.settings import Format, RecallContent, Settings
from textrawl.wire.replies import Renderer, Reply
from textrawl.wire.token_counter import choose_counter

logger = logging.getLogger("textrawl")

_MOST_KEPT = 1000
_HASH = 16  # hexadecimal digits


@dataclass(frozen=True)
class Finding:
    """The query and the facts found, best first, as pairs of space and id.

    `score`, `cosine` and `coverage` are the highest values among these facts.
    """

    query: str | None = None
    facts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    score: float | None = None
    cosine: float | None = None
    coverage: float | None = None


NOTHING = Finding()


@dataclass(frozen=True)
class Recall:
    """One recall: its space, the facts found, the time that it took, and its tokens."""

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


class RecallLog:
    """Recalls that are not in the database yet, at most the newest thousand.

    `content` says how queries are stored. `count_verbose` counts the tokens that a reply has as
    verbose text. It is called for only one recall of a batch: the last one with a complete reply.
    """

    def __init__(
        self,
        content: RecallContent = "hash",
        *,
        count_verbose: Callable[[Reply], int] | None = None,
    ) -> None:
        self._recalls = deque[Recall](maxlen=_MOST_KEPT)
        self._keep_text = content == "text"
        self._count_verbose = count_verbose
        self._sample: tuple[Recall, Reply] | None = None

    def add(self, recall: Recall, reply: Reply | None = None) -> None:
        """Add `recall`. If `reply` is complete, use it for `count_verbose`."""
        self._recalls.append(recall)
        if reply is not None and not recall.dropped:
            self._sample = recall, reply

    async def flush(self, database: Database) -> None:
        """Write all recalls to the database. If it is unavailable, keep them for the next flush."""
        batch = list(self._recalls)
        if not batch:
            return
        self._recalls.clear()
        rows = self._take_rows(batch)
        keep = True
        try:
            await database.call("record_recalls", int, recalls=rows)
            keep = False
        except (errors.DatabaseUnavailable, errors.ServerBusy) as error:
            logger.info("%d recalls wait to be recorded: %s", len(batch), error)
        except errors.TextrawlError as error:
            # Drop these recalls. They would fail again and block all later recalls.
            keep = False
            logger.warning("%d recalls are lost: %s", len(batch), error)
        finally:
            if keep:
                self._recalls = deque([*batch, *self._recalls], maxlen=_MOST_KEPT)

    def _take_rows(self, batch: list[Recall]) -> str:
        """Return the recalls as JSON for `record_recalls`, and forget the stored reply."""
        sample, self._sample = self._sample, None
        tokens = self._count_verbose(sample[1]) if sample and self._count_verbose else None
        rows = [
            _describe(recall, keep_text=self._keep_text)
            | ({"verbose_tokens": tokens} if sample and recall is sample[0] else {})
            for recall in batch
        ]
        return json.dumps(rows, default=datetime.isoformat)


def _describe(recall: Recall, *, keep_text: bool) -> dict[str, Any]:
    """Return the recall as an object for `record_recalls`, with its query if `keep_text` is set."""
    finding = recall.finding
    members = {key: value for key, value in vars(recall).items() if key != "finding"}
    found: dict[str, list[str]] = {}
    for space, fact in finding.facts[: recall.items]:
        found.setdefault(space, []).append(fact)
    return members | {
        "credential": recall.credential.hex() if recall.credential else None,
        "query": finding.query if keep_text else None,
        "query_hash": _hash(finding.query) if finding.query else None,
        "hits": len(finding.facts),
        "score": finding.score,
        "cosine": finding.cosine,
        "coverage": finding.coverage,
        "found": found,
    }


def _hash(query: str) -> str:
    """Return a hash of the query. It does not depend on case and white space."""
    folded = " ".join(query.casefold().split())
    return hashlib.sha256(folded.encode()).hexdigest()[:_HASH]


_NO_BUDGET = 1_000_000


def build_renderer(settings: Settings) -> Renderer:
    """Return the renderer that `settings` describe."""
    return Renderer(
        format=settings.compact_responses,
        structured=settings.structured_content == "full",
        counter=choose_counter(),
        budget=settings.max_response_tokens,
        graph_budget=settings.max_graph_tokens,
    )


def build_recall_log(settings: Settings) -> RecallLog | None:
    """Return the recall log, or None if `settings` turn it off."""
    if settings.record_recalls == "off" or settings.read_only:
        return None
    verbose = replace(
        build_renderer(settings), format="verbose", budget=_NO_BUDGET, graph_budget=_NO_BUDGET
    )
    return RecallLog(
        settings.record_recalls, count_verbose=lambda reply: verbose.write(reply).tokens
    )
