"""What recalls cost: noted in memory at once, in the database when there is time.

A call neither waits for the note nor fails with it. Where the database is away for long, the
oldest notes are lost.
"""

import json
import logging
from collections import deque
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from textrawl import errors
from textrawl.database import Database
from textrawl.settings import Format

logger = logging.getLogger("textrawl")

_MOST_KEPT = 1000


@dataclass(frozen=True)
class Recall:
    """What one answer cost in tokens, by the home of who asked: no question and no answer."""

    space: int | None
    client: str | None
    mode: str
    format: Format
    structured: bool
    tokens: int
    budget: int
    items: int
    dropped: int
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True)
class _Recorded:
    record_recalls: int


class Recalls:
    """Recalls that the database does not know yet, the newest thousand of them."""

    def __init__(self) -> None:
        self._kept = deque[Recall](maxlen=_MOST_KEPT)

    def add(self, recall: Recall) -> None:
        """Notes `recall`."""
        self._kept.append(recall)

    async def flush(self, database: Database) -> None:
        """Records what was noted; what cannot be recorded now stays for the next time."""
        batch = list(self._kept)
        if not batch:
            return
        self._kept.clear()
        given = json.dumps([asdict(recall) for recall in batch], default=datetime.isoformat)
        away = True
        try:
            await database.call("record_recalls", _Recorded, recalls=given)
            away = False
        except (errors.DatabaseUnavailable, errors.ServerBusy) as error:
            logger.info("Costs of %d recalls wait: %s", len(batch), error)
        except errors.TextrawlError as error:
            # They would fail again and keep all others from being recorded.
            away = False
            logger.warning("Costs of %d recalls are lost: %s", len(batch), error)
        finally:
            if away:
                self._kept = deque([*batch, *self._kept], maxlen=_MOST_KEPT)
