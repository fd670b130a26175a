"""The background work of a server that needs an LLM: consolidation and extraction."""

import logging

import anyio

from textrawl.access.principal import Caller, Directory, Principal
from textrawl.errors import TextrawlError
from textrawl.memory.journal import (
    GRANULARITIES,
    PeriodOperations,
)
from textrawl.memory.journal_extraction import ExtractionOperations
from textrawl.memory.store import Store
from textrawl.tools.memory.extraction import propose_facts

logger = logging.getLogger("textrawl")

_EXTRACTION_PAUSE = 5.0  # seconds
_CONSOLIDATION_PAUSE = 3600.0  # seconds: a period that is over waits for at most this time


class ExtractionUpkeep:
    """Reads the journal entries that wait for the LLM, in all spaces.

    All servers of a memory share this work.
    """

    def __init__(self, memory: Store) -> None:
        self._operations = ExtractionOperations(memory)

    async def run(self) -> None:
        """Do rounds until cancelled. If a round fails, the next round repeats its work."""
        while True:
            try:
                await self.do_round()
            except TextrawlError as error:
                logger.info("Extraction waits: %s", error)
            await anyio.sleep(_EXTRACTION_PAUSE)

    async def do_round(self) -> None:
        """Extract from every entry that is due. Raises DatabaseUnavailable."""
        while await self._operations.extract_next(propose_facts):
            pass


class JournalUpkeep:
    """Consolidates the journals of the spaces in which the server itself can read and write.

    All servers of a memory share this work.
    """

    def __init__(self, memory: Store, directory: Directory, space: str | None = None) -> None:
        self._memory = memory
        self._directory = directory
        self._space = space

    async def run(self) -> None:
        """Do rounds until cancelled. If a round fails, the next round repeats its work."""
        while True:
            try:
                await self.do_round()
            except TextrawlError as error:
                logger.info("The journal will be consolidated later: %s", error)
            await anyio.sleep(_CONSOLIDATION_PAUSE)

    async def do_round(self) -> None:
        """Consolidate every period that is due. Raises DatabaseUnavailable."""
        principal = await self._directory.find(self._memory.credential)
        if principal is None:
            logger.warning(
                "The journal is not consolidated: the server needs an access token of its own in "
                "TEXTRAWL_ACCESS_TOKEN"
            )
            return
        if self._space is not None:
            principal = principal.pin(self._space)
        for space in principal.spaces:
            if space.tier is None and {"read", "write"} <= space.scopes:
                await self._consolidate(principal.pin(space.name))

    async def _consolidate(self, principal: Principal) -> None:
        operations = PeriodOperations(self._memory, Caller(principal, None, "memory_consolidate"))
        for granularity in GRANULARITIES:
            outcomes = await operations.consolidate(granularity, every=True)
            for outcome in outcomes:
                if outcome.error is not None:
                    name = outcome.period.name
                    logger.warning("%s is consolidated later: %s", name, outcome.error)
