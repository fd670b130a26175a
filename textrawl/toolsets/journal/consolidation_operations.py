"""Consolidation of the journal: days into weeks, weeks into months, months into years."""

import logging
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from textrawl.access.principal import Caller
from textrawl.errors import LlmBadOutput, LlmFailed, LlmNotConfigured
from textrawl.postgres.sqlstates import DataRefused
from textrawl.store.llm_calls import LlmCalls, build_record
from textrawl.store.store import Store
from textrawl.toolsets.journal.rows import WrittenRow
from textrawl.toolsets.journal.summaries import (
    Period,
    Text,
    build_prompt,
    limit_identity,
    pack,
    read_bullets,
    write_entry,
)

logger = logging.getLogger("textrawl")

GRANULARITIES = ("weekly", "monthly", "yearly")
"""The granularities of consolidated entries. Each one needs the entries of the one before it."""

_FAULTS = {
    "done": "Already consolidated",
    "unfinished": "The period is not over yet: consolidate it later",
    "empty": "There are no {} entries in this period",
    "busy": "Another call consolidates this period now: look for its entry in a minute",
}
_CLEANUP = 5.0  # time limit in seconds for the end of a claim


@dataclass(frozen=True)
class PeriodRow:
    """A period to consolidate, and whether that is possible now."""

    period: str
    state: str
    sources: int


@dataclass(frozen=True)
class ClaimRow:
    """A claimed period with its texts. If it was not claimed, only `state` has a value."""

    state: str
    identity: list[dict[str, str]] | None
    sources: list[dict[str, str]] | None
    participants: list[str] | None


@dataclass(frozen=True)
class Texts:
    """The texts for one request: the identity files, and the sources to summarise."""

    identity: Sequence[Text]
    sources: Sequence[Text]


@dataclass(frozen=True)
class _Renewed:
    renew_claim: bool


class _ClaimLost(Exception):
    """Another session has claimed the period meanwhile."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one period. `error` is None if the entry of the period was stored."""

    period: Period
    error: str | None


class ConsolidationOperations:
    """Consolidates the journal of the caller's home space."""

    def __init__(self, store: Store, caller: Caller) -> None:
        self._store = store
        self._caller = caller
        self._call = store.database.call
        record = build_record(
            store.database,
            "consolidate",
            credential=caller.principal.credential,
            space=caller.principal.home,
        )
        self._llm = LlmCalls(store.llm, record)

    async def plan(
        self, granularity: str, target: str | None = None, *, every: bool = False
    ) -> list[PeriodRow]:
        """Return the period of `target`. If `every` is true, return all periods that are due.

        If neither is given, return the last period that is over. Raises ArgumentInvalid.
        """
        try:
            return await self._call(
                "due_periods",
                PeriodRow,
                granularity=granularity,
                target=target,
                every=every,
                **self._caller.reading_home,
            )
        except DataRefused as refusal:
            raise refusal.explain() from refusal

    async def consolidate(
        self, granularity: str, target: str | None = None, *, every: bool = False
    ) -> list[Outcome]:
        """Consolidate the periods of `plan`, and return the outcome of each."""
        rows = await self.plan(granularity, target, every=every)
        return [await self._consolidate(Period(granularity, row.period)) for row in rows]

    async def _consolidate(self, period: Period) -> Outcome:
        if self._store.llm is None:
            return Outcome(period, str(LlmNotConfigured()))
        async with self._claim(period) as (claim, claimant):
            if claim.state != "claimed":
                return Outcome(period, _FAULTS[claim.state].format(period.sources))
            try:
                material = Texts(_read(claim.identity or []), _read(claim.sources or []))
                content = await self._write(period, claimant, material)
            except LlmFailed as failure:
                return Outcome(period, str(failure))
            except _ClaimLost:
                return Outcome(period, _FAULTS["busy"])
            rows = await self._end(period, claimant, content, claim.participants)
        stored = bool(rows) and rows[0].changed
        return Outcome(period, None if stored else _FAULTS["done"])

    async def _write(self, period: Period, claimant: uuid.UUID, material: Texts) -> str:
        """Return the text of the entry. If the sources are long, combine them in several steps."""
        files = limit_identity(material.identity)
        groups = pack(material.sources)
        while len(groups) > 1:
            notes = [
                await self._summarise(period, claimant, Texts(files, group)) for group in groups
            ]
            groups = pack(
                [
                    Text(f"part {number}", write_entry(period, bullets))
                    for number, bullets in enumerate(notes, 1)
                ]
            )
        last = await self._summarise(period, claimant, Texts(files, groups[0]))
        return write_entry(period, last)

    async def _summarise(self, period: Period, claimant: uuid.UUID, material: Texts) -> list[str]:
        await self._renew(period, claimant)
        prompt = build_prompt(period, material.identity, material.sources)
        bullets = read_bullets(await self._llm.complete_text(prompt))
        if not bullets:
            raise LlmBadOutput(
                "The LLM sent an answer without bullets: retry, or set TEXTRAWL_LLM_MODEL to a "
                "larger model"
            )
        return bullets

    @property
    def _lease(self) -> float:
        """The seconds of a claim: longer than one request to the LLM can take."""
        timeout = self._store.llm.timeout if self._store.llm is not None else 0.0
        return 2 * timeout + 60

    async def _renew(self, period: Period, claimant: uuid.UUID) -> None:
        """Extend the claim before a request. Raises _ClaimLost."""
        [row] = await self._call(
            "renew_claim",
            _Renewed,
            granularity=period.granularity,
            period=period.name,
            claimant=claimant,
            lease=self._lease,
            **self._caller.writing,
        )
        if not row.renew_claim:
            raise _ClaimLost

    @asynccontextmanager
    async def _claim(self, period: Period) -> AsyncGenerator[tuple[ClaimRow, uuid.UUID]]:
        """Claim a period. If the block does not store its entry, end the claim."""
        claimant = uuid.uuid4()
        [claim] = await self._call(
            "claim_period",
            ClaimRow,
            granularity=period.granularity,
            period=period.name,
            claimant=claimant,
            lease=self._lease,
            **self._caller.writing,
        )
        try:
            yield claim, claimant
        finally:
            if claim.state == "claimed":
                with anyio.move_on_after(_CLEANUP, shield=True):
                    await self._end(period, claimant)

    async def _end(
        self,
        period: Period,
        claimant: uuid.UUID,
        content: str | None = None,
        participants: Sequence[str] | None = None,
    ) -> list[WrittenRow]:
        return await self._call(
            "store_period",
            WrittenRow,
            granularity=period.granularity,
            period=period.name,
            claimant=claimant,
            content=content,
            participants=None if participants is None else list(participants),
            **self._caller.writing,
        )


def _read(rows: Sequence[Mapping[str, str]]) -> list[Text]:
    return [Text(row["path"], row["content"]) for row in rows]
