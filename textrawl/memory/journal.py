"""The operations of the `journal` toolset: they call SQL functions and embed what is new.

They read and write only the caller's home space.
"""

import logging
import re
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Annotated, LiteralString
from uuid import UUID

import anyio
from pydantic import Field

from textrawl.errors import LlmBadOutput, LlmFailed, LlmNotConfigured
from textrawl.memory.backlog import embed_document, find_document_model
from textrawl.memory.llm_calls import LlmCalls
from textrawl.memory.store import StoreCall
from textrawl.models.llm import Material, Prompt
from textrawl.values.grounding import Grounding
from textrawl.values.text import clean_name, split_text
from textrawl.wire.replies import Key, Part, Score


@dataclass(frozen=True)
class WrittenEntryRow:
    """An entry that was stored. `changed` is false if it had the text already."""

    document_id: UUID
    space_id: int
    path: str
    number: int
    created: bool
    merged: bool
    changed: bool

    @property
    def memory_id(self) -> str:
        """The id of the entry."""
        return name_entry(self.path)

    @property
    def message(self) -> str:
        """A sentence that says what was stored."""
        if not self.changed:
            return f"{self.path} has this already; nothing was changed"
        if self.created:
            return f"Created {self.path}"
        return f"{'Merged into' if self.merged else 'Replaced the text of'} {self.path}"


@dataclass(frozen=True)
class DeletedEntryRow:
    """The path of a key, and whether delete_entry deleted its entry."""

    path: str
    deleted: bool


@dataclass(frozen=True)
class ListedEntryRow:
    """An entry of list_entries. An empty page has one row with only the `total`."""

    path: str | None
    granularity: str
    date: str
    slug: str | None
    instance: str
    preview: str
    length: int
    total: int

    @property
    def excerpt(self) -> str:
        """The beginning of the text, with a sign for what follows."""
        return self.preview + ("…" if self.length > len(self.preview) else "")


class HitPart(Part):
    """An entry that a search found. `tier` and `granularity` are the same."""

    score: Annotated[Score, Key("s")]
    tier: Annotated[str, Key("g"), Field(validation_alias="granularity")]
    age_days: Annotated[int, Key("age")]
    vector_score: Annotated[Score | None, Key("sim")]
    method: str
    granularity: str
    date: Annotated[str, Key("d")]
    slug: Annotated[str | None, Key("slug")]
    excerpt: Annotated[str, Key("c")]
    source_instance: Annotated[str, Key("src")]
    short_excerpt: Annotated[str, Field(exclude=True)]


@dataclass(frozen=True)
class EntryKey:
    """The key of an entry. Without `instance` and `slug`, several entries can match it."""

    granularity: str
    date: str
    instance: str | None = None
    slug: str | None = None


@dataclass(frozen=True)
class JournalSearch:
    """A search. If the client made a vector of the query, `embedding` has its numbers."""

    query: str
    instance: str | None
    embedding: Sequence[float] | None
    min_score: float
    limit: int


async def store_entry(
    call: StoreCall, function: LiteralString, key: EntryKey, content: str, **values: object
) -> WrittenEntryRow:
    """Store an entry with a SQL function, and embed what is new.

    `write_entry` merges a daily text with the text that its instance has for the day, and
    `update_entry` replaces the text.
    """
    model = await find_document_model(call.store, split_text(content))
    row = await call.write_one(
        function,
        WrittenEntryRow,
        **asdict(key),
        content=content,
        extracting=bool(call.store.extracts),
        **values,
    )
    if row.changed:
        await embed_document(call.store, model, row.space_id, row.document_id)
    return row


async def search_journal(call: StoreCall, search: JournalSearch) -> tuple[list[HitPart], bool]:
    """Return entries, best first, and whether the search used vectors.

    Raises ArgumentInvalid for an embedding of another size than the vectors of the memory.
    """

    async def attempt() -> tuple[list[HitPart], bool]:
        model, vector, _ = await (
            call.store.embed_query(search.query)
            if search.embedding is None
            else call.store.check_query_vector(search.embedding, "queryEmbedding")
        )
        rows = await call.store.database.call(
            "search_journal",
            HitPart,
            query=search.query,
            instance=search.instance,
            min_score=search.min_score,
            max_rows=search.limit,
            model=model,
            vector=vector,
            **call.caller.reading_home,
        )
        return rows, vector is not None

    return await call.store.search(attempt)


def name_entry(path: str) -> str:
    """Return the id of the entry at `path`: its granularity and date."""
    return "-".join(path.split("/")[:2])


_MOST_CHARACTERS = 60_000  # of the texts in a prompt: small models have a context of 32,000 tokens
_MOST_IDENTITY = 20_000
_MOST_BULLETS = 100
_LONGEST_ANSWER = 20_000  # characters of all bullets: less than a prompt, so that the steps end
_ANSWER_TOKENS = 3_000

_TASK = (
    "You are the agent that the identity files describe. You write your journal. Combine the "
    "{sources} entries of {period} into one {granularity} entry. Write in the first person and in "
    "the language of the entries. Keep what matters later: decisions, events, feelings, people, "
    "dates, promises. Leave out repetitions. Invent nothing. Answer only with bullets. Each bullet "
    'is one line that begins with "- ". Keep tags such as [via:laptop].'
)
_CHAT_TAG = re.compile(r"(?<!\s)\s*+\[chat:[^\[\]]*+\]")  # in linear time
_BULLET = re.compile(r"^\s{0,3}[-*] +(\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Text:
    """A text of the memory: a journal entry, an identity file, or notes of the LLM."""

    path: str
    content: str


@dataclass(frozen=True)
class Period:
    """The period of a consolidation, such as `weekly` and `2026-W19`."""

    granularity: str
    name: str

    @property
    def sources(self) -> str:
        """The granularity of the entries to combine."""
        return {"weekly": "daily", "monthly": "weekly", "yearly": "monthly"}[self.granularity]

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments of SQL functions."""
        return {"granularity": self.granularity, "period": self.name}


def build_prompt(period: Period, identity: Sequence[Text], sources: Sequence[Text]) -> Prompt:
    """Return the prompt for the entry of `period`."""
    material = Material()
    task = _TASK.format(sources=period.sources, period=period.name, granularity=period.granularity)
    files = [material.enclose("identity", text.path, text.content) for text in identity]
    entries = [material.enclose("entry", text.path, text.content) for text in sources]
    system = "\n\n".join([task, material.care, *files])
    return Prompt(system, "\n\n".join(entries), _ANSWER_TOKENS)


def limit_identity(files: Sequence[Text]) -> list[Text]:
    """Return the first identity files that fit into a prompt together."""
    kept, length = list[Text](), 0
    for file in files:
        length += len(file.content)
        if length > _MOST_IDENTITY:
            break
        kept.append(file)
    return kept


def pack(texts: Sequence[Text]) -> list[list[Text]]:
    """Return groups of texts, in order. Each group fits into a prompt. Long texts are split."""
    groups, length = [list[Text]()], 0
    for text in (piece for whole in texts for piece in _split(whole)):
        if groups[-1] and length + len(text.content) > _MOST_CHARACTERS:
            groups.append([])
            length = 0
        groups[-1].append(text)
        length += len(text.content)
    return groups


def _split(text: Text) -> list[Text]:
    starts = range(0, max(len(text.content), 1), _MOST_CHARACTERS)
    return [Text(text.path, text.content[start : start + _MOST_CHARACTERS]) for start in starts]


def read_bullets(answer: str) -> list[str]:
    """Return the bullets of an answer, without chat tags, hidden characters and repetitions."""
    found = (clean_name(_CHAT_TAG.sub("", bullet)) for bullet in _BULLET.findall(answer))
    kept, length = dict[str, None](), 0
    for bullet in found:
        length += len(bullet)
        if bullet and length <= _LONGEST_ANSWER and len(kept) < _MOST_BULLETS:
            kept[bullet] = None
    return list(kept)


def write_entry(period: Period, bullets: Sequence[str]) -> str:
    """Return the text of the entry of `period`."""
    lines = [f"- {bullet}" for bullet in bullets]
    return "\n".join([f"# {period.granularity.capitalize()} Memory - {period.name}", "", *lines])


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


class _ClaimLost(Exception):
    """Another session has claimed the period meanwhile."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one period. `error` is None if the entry of the period was stored."""

    period: Period
    error: str | None


class PeriodOperations:
    """Consolidates the journal of the caller's home space."""

    def __init__(self, call: StoreCall) -> None:
        self._call = call
        home = call.caller.reading_home
        self._llm = LlmCalls(call.store, "record_llm_use", purpose="consolidate", **home)

    async def plan(
        self, granularity: str, target: str | None = None, *, every: bool = False
    ) -> list[PeriodRow]:
        """Return the period of `target`. If `every` is true, return all periods that are due.

        If neither is given, return the last period that is over. Raises ArgumentInvalid.
        """
        return await self._call.read(
            "due_periods", PeriodRow, granularity=granularity, target=target, every=every
        )

    async def consolidate(
        self, granularity: str, target: str | None = None, *, every: bool = False
    ) -> list[Outcome]:
        """Consolidate the periods of `plan`, and return the outcome of each."""
        rows = await self.plan(granularity, target, every=every)
        return [await self._consolidate(Period(granularity, row.period)) for row in rows]

    async def _consolidate(self, period: Period) -> Outcome:
        if self._call.store.llm is None:
            return Outcome(period, str(LlmNotConfigured()))
        async with self._claim(period) as (claim, claimant):
            if claim.state != "claimed":
                return Outcome(period, _FAULTS[claim.state].format(period.sources))
            try:
                content = await self._write(period, claimant, claim)
            except LlmFailed as failure:
                return Outcome(period, str(failure))
            except _ClaimLost:
                return Outcome(period, _FAULTS["busy"])
            rows = await self._end(period, claimant, content, claim.participants)
        stored = bool(rows) and rows[0].changed
        return Outcome(period, None if stored else _FAULTS["done"])

    async def _write(self, period: Period, claimant: uuid.UUID, claim: ClaimRow) -> str:
        """Return the text of the entry. If the sources are long, combine them in several steps."""
        files = limit_identity([Text(**row) for row in claim.identity or ()])
        groups = pack([Text(**row) for row in claim.sources or ()])
        while len(groups) > 1:
            notes = [await self._summarise(period, claimant, files, group) for group in groups]
            groups = pack(
                [
                    Text(f"part {number}", write_entry(period, bullets))
                    for number, bullets in enumerate(notes, 1)
                ]
            )
        last = await self._summarise(period, claimant, files, groups[0])
        return write_entry(period, last)

    async def _summarise(
        self, period: Period, claimant: uuid.UUID, files: Sequence[Text], sources: Sequence[Text]
    ) -> list[str]:
        """Return the bullets about the sources. Extend the claim first. Raises _ClaimLost."""
        claim = {"claimant": claimant, "lease": self._lease}
        if not await self._call.write_one("renew_claim", bool, **period.arguments, **claim):
            raise _ClaimLost
        prompt = build_prompt(period, files, sources)
        grounding = Grounding("\n".join(text.content for text in (*files, *sources)))
        found = read_bullets(await self._llm.complete_text(prompt))
        bullets = list(dict.fromkeys(filter(None, map(grounding.cite_line, found))))
        if found and not bullets:
            raise LlmBadOutput(
                "Each line of the LLM has a name or a number that the journal does not have: "
                "retry, or set TEXTRAWL_LLM_MODEL to a larger model"
            )
        if not bullets:
            raise LlmBadOutput(
                "The LLM sent an answer without bullets: retry, or set TEXTRAWL_LLM_MODEL to a "
                "larger model"
            )
        return bullets

    @property
    def _lease(self) -> float:
        """The seconds of a claim: longer than one request to the LLM can take."""
        llm = self._call.store.llm
        timeout = llm.timeout if llm is not None else 0.0
        return 2 * timeout + 60

    @asynccontextmanager
    async def _claim(self, period: Period) -> AsyncGenerator[tuple[ClaimRow, uuid.UUID]]:
        """Claim a period. If the block does not store its entry, end the claim."""
        claimant = uuid.uuid4()
        arguments = period.arguments | {"claimant": claimant, "lease": self._lease}
        claim = await self._call.write_one("claim_period", ClaimRow, **arguments)
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
    ) -> list[WrittenEntryRow]:
        return await self._call.write(
            "store_period",
            WrittenEntryRow,
            claimant=claimant,
            content=content,
            participants=None if participants is None else list(participants),
            **period.arguments,
        )
