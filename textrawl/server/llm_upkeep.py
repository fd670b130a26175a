"""The background work of a server that needs an LLM: consolidation, extraction, summaries."""

import logging
from datetime import UTC, datetime, timedelta

from textrawl.access.principal import Caller, Directory, Principal
from textrawl.memory.journal import (
    GRANULARITIES,
    PeriodOperations,
)
from textrawl.memory.journal_extraction import ExtractionOperations
from textrawl.memory.store import Store, StoreCall
from textrawl.memory.summaries import SummaryOperations
from textrawl.scheduling import Rounds
from textrawl.tools.memory.extraction import propose_facts

logger = logging.getLogger("textrawl")

_LONGEST_WRITE = timedelta(minutes=10)  # for which a change can become visible after its time
_WHOLE_LOOK = timedelta(days=1)  # after which facts are found that have ended by themselves


class ExtractionUpkeep(Rounds):
    """Reads the journal entries that wait for the LLM, in all spaces.

    All servers of a memory share this work.
    """

    pause, delay = 5.0, "Extraction waits"

    def __init__(self, memory: Store) -> None:
        self._operations = ExtractionOperations(memory)

    async def do_round(self) -> None:
        """Extract from every entry that is due. Raises DatabaseUnavailable."""
        while await self._operations.extract_next(propose_facts):
            pass


class OwnRounds(Rounds):
    """Work in the spaces in which the server itself can read and write.

    All servers of a memory share this work.
    """

    def __init__(self, memory: Store, directory: Directory, space: str | None = None) -> None:
        self._memory = memory
        self._directory = directory
        self._space = space

    async def find_own(self, *, warn: bool = True) -> list[Principal]:
        """Return the server's principal, once for each space in which it can read and write."""
        principal = await self._directory.find(self._memory.credential)
        if principal is None:
            if warn:
                logger.warning(
                    "No journal is consolidated and no summary is made: the server needs an access "
                    "token of its own in TEXTRAWL_ACCESS_TOKEN"
                )
            return []
        if self._space is not None:
            principal = principal.pin(self._space)
        return [
            principal.pin(one.name)
            for one in principal.spaces
            if one.tier is None and {"read", "write"} <= one.scopes
        ]


class JournalUpkeep(OwnRounds):
    """Consolidates the journals. A period that is over waits for at most an hour."""

    pause, delay = 3600.0, "The journal will be consolidated later"

    async def do_round(self) -> None:
        """Consolidate every period that is due. Raises DatabaseUnavailable."""
        for principal in await self.find_own():
            await self._consolidate(principal)

    async def _consolidate(self, principal: Principal) -> None:
        caller = Caller(principal, None, "memory_consolidate")
        operations = PeriodOperations(StoreCall(self._memory, caller))
        for granularity in GRANULARITIES:
            outcomes = await operations.consolidate(granularity, every=True)
            for outcome in outcomes:
                if outcome.error is not None:
                    name = outcome.period.name
                    logger.warning("%s is consolidated later: %s", name, outcome.error)


class SummaryUpkeep(OwnRounds):
    """Makes the summaries."""

    pause, delay = 60.0, "Summaries wait"

    def __init__(self, memory: Store, directory: Directory, space: str | None = None) -> None:
        super().__init__(memory, directory, space)
        self._looked: datetime | None = None
        self._looked_at_all = datetime.min.replace(tzinfo=UTC)

    async def do_round(self) -> None:
        """Make every summary that is due. Raises DatabaseUnavailable, LlmFailed."""
        now = datetime.now(UTC)
        whole = self._looked is None or now - self._looked_at_all > _WHOLE_LOOK
        since = None if whole or self._looked is None else self._looked - _LONGEST_WRITE
        own = [
            SummaryOperations(StoreCall(self._memory, Caller(principal, None, "summarize")))
            for principal in await self.find_own(warn=self._looked is None)
        ]
        for operations in own:
            await operations.queue(since)
        self._looked, self._looked_at_all = now, now if whole else self._looked_at_all
        for operations in own:
            while await operations.make_next():
                pass
