"""The memory that the settings name, opened in this process like a command opens it."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from textrawl import __version__
from textrawl.access.principal import WRITES_OR_PROPOSES, Caller, Directory, Scope
from textrawl.client.results import (
    Digest,
    End,
    Fact,
    Facts,
    Forgotten,
    Related,
    Remembered,
    Similar,
)
from textrawl.errors import MemoryNotEnabled, NothingToDelete, ReadOnly
from textrawl.memory import facts
from textrawl.memory.fact_rows import DigestRow, FactRow, HitRow, ProposedHitRow, RelationRow
from textrawl.memory.facts import Edge, MemoryOperations, Question
from textrawl.memory.opening import open_memory
from textrawl.memory.store import Store
from textrawl.settings import Settings
from textrawl.tools.memory.search_replies import (
    DigestReply,
    FactLayout,
    SearchReply,
    find_space_labels,
)
from textrawl.wire.replies import Renderer
from textrawl.wire.token_counter import choose_counter

_CLIENT = f"textrawl-python {__version__}"
_KNOWN_FOR = 60.0  # seconds for which the principal is cached; the database checks each call anyway


@asynccontextmanager
async def open_local(settings: Settings) -> AsyncGenerator["LocalMemory"]:
    """Open the memory of `settings`. The embedded Postgres is created if it does not exist.

    Raises StartRefused, MemoryNotEnabled, NotAuthenticated, SpaceNotFound, DatabaseUnavailable.
    """
    if not settings.enable_memory:
        raise MemoryNotEnabled
    async with open_memory(settings) as store:
        memory = LocalMemory(store, settings)
        await memory.identify("query_memory", "read")
        yield memory


class LocalMemory:
    """An open memory of this process. It calls the operations that the tools call too."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._operations = MemoryOperations(store)
        self._directory = Directory(store.database, lifetime=_KNOWN_FOR)

    async def identify(self, tool: str, scope: Scope, *also: Scope) -> Caller:
        """Return the caller of `tool`. Raises ReadOnly, ScopeMissing, NotAuthenticated."""
        if scope != "read" and self._settings.read_only:
            raise ReadOnly
        principal = await self._directory.find_own(self._store.credential, self._settings.space)
        principal.require(scope, *also)
        return Caller(principal, _CLIENT, tool)

    async def recall(self, question: Question, max_tokens: int | None) -> Facts:
        """Return facts, the best first. `max_tokens` counts the tokens of lines."""
        caller = await self.identify("query_memory", "read")
        rows, missing = await self._operations.search(question, caller)
        kept = len(rows) if max_tokens is None else _count_fitting(rows, max_tokens)
        reason = missing if self._store.models.has_vectors else None
        note = f"keyword only: {reason}" if reason else None
        return Facts(tuple(map(read_found, rows[:kept])), len(rows) - kept, note)

    async def digest(self, project: str | None, max_tokens: int | None) -> Digest:
        """Return the facts that matter at the start of a conversation."""
        caller = await self.identify("digest", "read")
        authors = self._settings.digest_authors
        rows = await self._operations.digest(project, caller, authors=authors)
        reply = DigestReply.build(rows, find_space_labels(caller.principal))
        kept = reply.choose(
            _build_renderer().write(reply, max_tokens or self._settings.digest_tokens).items
        )
        return Digest("\n".join(kept.lines()), tuple(kept.ids))

    async def remember(self, fact: facts.Fact) -> Remembered:
        """Store a fact. Raises FactNotFound."""
        caller = await self.identify("remember_fact", *WRITES_OR_PROPOSES)
        row = await self._operations.remember(fact, caller)
        return read_stored(row)

    async def relate(self, edge: Edge, *, replaces: bool) -> Related:
        """Connect two entities."""
        caller = await self.identify("relate_entities", *WRITES_OR_PROPOSES)
        row = await self._operations.relate(edge, caller, replaces=replaces)
        return _read_relation(row, edge.relation)

    async def end(self, edge: Edge) -> Related:
        """End a relation. Raises ArgumentInvalid if there is none."""
        caller = await self.identify("relate_entities", "write")
        return _read_relation(await self._operations.end(edge, caller), edge.relation)

    async def forget(self, entity: str, fact: str | None, *, dry_run: bool) -> Forgotten:
        """Delete an entity or one fact of it. Raises NothingToDelete, FactNotFound."""
        caller = await self.identify("forget_entity", "read" if dry_run else "forget")
        row = await self._operations.forget(entity, caller, fact=fact, dry_run=dry_run)
        if row is None:
            raise NothingToDelete(entity)
        if not dry_run:
            return Forgotten(str(row.observation_id or row.relation_id or row.entity_id))
        return Forgotten(None, row.facts, row.relations, tuple(row.sample or ()))


def _count_fitting(rows: Sequence[HitRow], max_tokens: int) -> int:
    """Return how many of the best facts fit into an answer in lines of at most `max_tokens`."""
    reply = SearchReply.build(list(rows), None, "", FactLayout(with_ids=True))
    return _build_renderer().write(reply, max_tokens).items


def _build_renderer() -> Renderer:
    return Renderer("lines", structured=False, counter=choose_counter(), budget=0)


def read_found(row: HitRow | DigestRow) -> Fact:
    """Return the fact that a search found, or that a digest has."""
    return Fact(
        str(row.observation_id),
        row.entity_name,
        row.entity_type,
        row.text if isinstance(row, HitRow) else row.content,
        round(row.score, 2),
        row.author,
        row.said_at,
        row.created_at,
        row.space,
        proposed=isinstance(row, ProposedHitRow),
    )


def read_stored(row: FactRow) -> Remembered:
    """Return the fact that remember_fact stored, found or proposed."""
    return Remembered(
        str(row.id),
        row.entity_name,
        row.entity_type,
        row.duplicate,
        row.updated,
        Similar(**row.closest) if row.closest else None,
        row.proposal_id is not None,
    )


def _read_relation(row: RelationRow, relation: str) -> Related:
    return Related(
        str(row.id),
        End(row.from_name, row.from_stored_type),
        relation,
        End(row.to_name, row.to_stored_type),
        tuple(row.ended or ()),
        row.proposal_id is not None,
    )
