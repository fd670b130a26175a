"""The operations of commands. A terminal runs them on an open memory, or asks a server to.

Those of three toolsets are in `curation`, `entities` and `review`.
"""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, TypeAdapter

from textrawl import __version__
from textrawl.errors import ArgumentInvalid, EntityNameMissing
from textrawl.memory import curation, entities, review
from textrawl.memory.command_results import (
    Access,
    Described,
    EntityPage,
    ErasedRow,
    ErasurePlanRow,
    EventFilter,
    EventRow,
    Explained,
    Found,
    Here,
    ImportRow,
    Keep,
    LanguageRow,
    OwnRow,
    PlanRow,
    PurgedRow,
    Report,
    RepositoryFact,
    RevertedRow,
    UndoRow,
    WaitingProposal,
)
from textrawl.memory.connector import FetchedFact
from textrawl.memory.erasure import Erasure, Person
from textrawl.memory.fact_rows import ForgottenRow, ReportRow, StatisticsRow
from textrawl.memory.facts import MemoryOperations
from textrawl.memory.operation import (
    LONGEST,
    OPERATIONS,
    Limit,
    Moment,
    Name,
    Operation,
    Query,
    Reference,
    Score,
    Types,
    UndoNumber,
    ValidAt,
    find_operation,
    operation,
)
from textrawl.memory.questions import Question, Sources, Times, read_time
from textrawl.memory.store import StoreCall, list_graphs
from textrawl.memory.trail import Trail
from textrawl.models.language_offer import write_offer
from textrawl.postgres.database import Database
from textrawl.scheduling import repository
from textrawl.settings import Settings
from textrawl.values.anchors import MOST_ANCHORED
from textrawl.values.choice import join_choices
from textrawl.values.condensation import condense
from textrawl.values.text import NAME_LENGTH

_FEW_PROPOSALS = 3  # that `here` shows

__all__ = ["OPERATIONS", "Operation", "Session", "curation", "find_operation", "review"]


@dataclass(frozen=True)
class Session(StoreCall):
    """An open memory with the caller of one command, and the settings of its process."""

    settings: Settings

    @property
    def memory(self) -> MemoryOperations:
        """The operations that the tools of the toolset `memory` call too."""
        return MemoryOperations(self.store)

    @property
    def graphs(self) -> list[str] | None:
        """The names of the only graphs that the caller can reach, or None for all graphs."""
        return self.caller.principal.find_graphs(self.settings.graphs)

    @property
    def several_spaces(self) -> bool:
        """True if answers can come from more than one space."""
        return len(self.caller.principal.readable) > 1

    @property
    def trail(self) -> Trail:
        """The trail of the space that the caller named, or of all administered spaces."""
        return Trail(*self._administered)

    @property
    def erasure(self) -> Erasure:
        """Erasures in the space that the caller named, or in all administered spaces."""
        return Erasure(*self._administered)

    @property
    def _administered(self) -> tuple[Database, bytes | None, int | None, str | None]:
        principal = self.caller.principal
        place = principal.home if principal.pinned else None
        return self.store.database, principal.credential, place, self.caller.client


@operation("doctor")
async def identify(session: Session) -> Access:
    """Return what the caller can do. Every valid token may ask that."""
    principal = session.caller.principal
    home = principal.home_space
    if home is not None and not home.scopes - {"metrics"}:
        home = None  # this scope must not reveal names
    return Access(
        __version__,
        principal.actor,
        [space.name for space in principal.readable],
        home.name if home else None,
        sorted(home.scopes) if home else [],
    )


@operation("search", "read")
async def search(  # noqa: PLR0913 - each argument is an option
    session: Session,
    query: Query,
    *,
    types: Types | None = None,
    limit: Limit = 10,
    as_of: ValidAt | None = None,
    documents: bool = False,
    everywhere: bool = False,
) -> Found:
    """Return facts and passages that match, or only chunks of documents, the best first.

    With `everywhere`, facts of other repositories are among them.
    """
    if everywhere:
        repository.set(None)  # until the end of the call: see keep_caller()
    settings = session.settings
    sources = Sources.find_all(session.caller.principal, settings)
    if documents:
        sources = Sources(session.graphs, settings.max_recall_tokens, facts=False, whole=True)
    question = Question(query, types, Times(as_of), limit, sources=sources)
    rows, missing = await session.memory.search(question, session.caller)
    absence = None if rows else await session.memory.explain_absence(question, session.caller)
    missing = missing if session.store.models.has_vectors else None
    return Found(rows, missing, session.several_spaces, absence)


@operation("here", "read")
async def list_here(session: Session, limit: Limit = 20, *, everywhere: bool = False) -> Here:
    """Return the newest facts and the undecided proposals of this repository, or of all.

    Raises ArgumentInvalid if the session has none.
    """
    keys = repository.get()
    if keys is None and not everywhere:
        fix = "go to a folder of a Git repository, or add --everywhere"
        raise ArgumentInvalid(fix, title="This folder is in no repository")
    rows = await session.store.call(
        "list_repository_facts",
        RepositoryFact,
        everywhere=everywhere,
        max_rows=limit,
        **session.caller.reading,
    )
    waiting = await session.store.call(
        "list_proposals",
        WaitingProposal,
        local=not everywhere,
        max_rows=_FEW_PROPOSALS,
        **review.list_reviewed(session),
    )
    return Here(keys.split()[0] if keys else None, rows, waiting)


@operation("check-anchors", "read")
async def list_anchored(session: Session) -> list[RepositoryFact]:
    """Return the newest facts with anchors of this repository and of entries, in the home space."""
    return await session.store.call(
        "list_repository_facts",
        RepositoryFact,
        anchored=True,
        max_rows=MOST_ANCHORED,
        spaces=[session.caller.principal.home],
        credential=session.caller.principal.credential,
    )


@operation("explain", "read")
async def explain(  # noqa: PLR0913 - each argument is an option
    session: Session,
    query: Query,
    *,
    types: Types | None = None,
    limit: Limit = 10,
    more: Annotated[int, Field(ge=0, le=50)] = 5,
    least_score: Score | None = None,
    as_of: ValidAt | None = None,
) -> Explained:
    """Return the facts that match, and some that do not, with the reasons."""
    question = Question(query, types, Times(as_of), limit, least_score=least_score)
    rows, missing = await session.memory.explain(question, session.caller, more=more)
    _, time = await read_time(session.store.database, condense(query), as_of)
    return Explained(rows, missing if session.store.models.has_vectors else None, time)


@operation("show", "read")
async def describe(
    session: Session,
    name: Name,
    *,
    limit: Annotated[int, Field(ge=1, le=100_000)] = 20,
    as_of: ValidAt | None = None,
    known_at: Moment | None = None,
    everywhere: bool = False,
) -> Described:
    """Return an entity with its newest facts. Raises ArgumentInvalid if it does not exist.

    With `everywhere`, facts of other repositories are among them.
    """
    if everywhere:
        repository.set(None)  # until the end of the call: see keep_caller()
    times = Times(as_of, known_at=known_at)
    row = await session.memory.describe(
        name, session.caller, max_observations=limit, with_relations=True, times=times
    )
    if row is None:
        raise await describe_missing_entity(session, name)
    return Described(row, session.several_spaces)


@operation("client", "read")
async def get_fact(session: Session, fact: UUID) -> FetchedFact | None:
    """Return the fact with this whole id, or None."""
    rows = await session.store.call("fetch_fact", FetchedFact, fact=fact, **session.caller.reading)
    return rows[0] if rows else None


@operation("client", "read")
async def list_entities(
    session: Session,
    prefix: Annotated[str, Field(max_length=NAME_LENGTH)] | None = None,
    types: Types | None = None,
    limit: Annotated[int, Field(ge=1, le=1000)] = 100,
    offset: Annotated[int, Field(ge=0, le=1_000_000)] = 0,
) -> EntityPage:
    """Return a page of the entities whose names begin with `prefix`."""
    page = await session.memory.list_entities(
        types, session.caller, limit=limit, offset=offset, prefix=prefix
    )
    return TypeAdapter(EntityPage).validate_python(asdict(page))


@operation("forget", "read", "forget", writes=True)
async def forget(
    session: Session, name: Name, fact: Reference | None = None, *, dry_run: bool = True
) -> ForgottenRow:
    """Delete an entity or one fact of it. Raises ArgumentInvalid, FactNotFound, ScopeMissing."""
    session.caller.principal.require("read" if dry_run else "forget")
    row = await session.memory.forget(name, session.caller, fact=fact, dry_run=dry_run)
    if row is None:
        raise await describe_missing_entity(session, name)
    return row


async def describe_missing_entity(session: Session, name: str) -> ArgumentInvalid:
    """Return the error for a name that no entity has. It suggests similar names."""
    if not name:
        return EntityNameMissing("give the name of an entity")
    similar = await session.memory.suggest_names(name, session.caller)
    fix = f"did you mean {join_choices(similar)}?" if similar else "try `textrawl search`"
    return ArgumentInvalid(fix, title=f"There is no entity {name}")


@operation("me", "read", writes=True, anywhere=True)
async def set_own(session: Session, name: Name) -> list[OwnRow]:
    """Let the caller be an entity in each space that has it. Raises ArgumentInvalid."""
    rows = await entities.set_own_entity(session, name)
    if not rows:
        raise await describe_missing_entity(session, name)
    return rows


@operation("stats", "read", least_timeout=60)
async def report(session: Session, days: Annotated[int, Field(ge=1, le=3660)] = 90) -> Report:
    """Return what the memory holds, and what happened in the last days."""
    reading = session.caller.reading
    holdings = await session.store.call_one("memory_statistics", StatisticsRow, **reading)
    recent = await session.store.call_one("memory_report", ReportRow, days=days, **reading)
    credential = session.caller.principal.credential
    graphs = await list_graphs(session.store.database, credential, session.graphs)
    documents, chunks = (sum(getattr(g, name) for g in graphs) for name in ("sources", "chunks"))
    return Report(holdings, recent, days, documents, chunks)


@operation("log", "admin", anywhere=True, placed=False, least_timeout=LONGEST)
async def list_events(
    session: Session,
    author: Name | None = None,
    entity: Name | None = None,
    action: Name | None = None,
    since: Moment | None = None,
    limit: Annotated[int, Field(ge=1, le=10_000)] = 50,
) -> list[EventRow]:
    """Return the newest events, newest first."""
    return await session.trail.list_events(EventFilter(author, entity, action, since), limit)


@operation("log", "admin", anywhere=True, placed=False, least_timeout=LONGEST)
async def find_cursor(session: Session) -> str:
    """Return the cursor of the newest event."""
    return await session.trail.find_end()


@operation("log", "admin", anywhere=True, placed=False, least_timeout=LONGEST)
async def read_events(
    session: Session, after: Annotated[str, Field(max_length=100_000)]
) -> list[EventRow]:
    """Return a page of the events after a cursor. Raises ArgumentInvalid."""
    return await session.trail.read(after)


@operation("embed", "read")
async def offer_model(session: Session, since: Moment | None = None) -> list[str]:
    """Return a line that offers a model for the languages of the memory, or nothing.

    It is nothing if the texts before `since` were in these languages already.
    """
    given = {"credential": session.caller.principal.credential}
    database = session.store.database
    [now] = await database.call("english_share", LanguageRow, **given)
    former = None
    if since is not None:
        [before] = await database.call("english_share", LanguageRow, before=since, **given)
        former = before.share
    return [*filter(None, [write_offer(now.model, now.share, former)])]


@operation("undo", "admin", anywhere=True, placed=False, least_timeout=LONGEST)
async def list_imports(session: Session) -> list[ImportRow]:
    """Return the imports of other systems, newest first."""
    return await session.trail.list_imports()


@operation("undo", "admin", anywhere=True, placed=False, least_timeout=LONGEST)
async def plan_undo(
    session: Session, author: Name, since: Moment, run: UUID | None = None
) -> list[PlanRow]:
    """Return the steps that an undo would take."""
    return await session.trail.plan(author, since, run)


@operation("undo", "admin", writes=True, anywhere=True, placed=False, least_timeout=LONGEST)
async def undo(
    session: Session, author: Name, since: Moment, run: UUID | None = None
) -> list[UndoRow]:
    """Undo what an author wrote, or only one import."""
    return await session.trail.undo(author, since, run)


@operation("undo", "write", "propose", "admin", writes=True, least_timeout=LONGEST)
async def undo_event(session: Session, event: UndoNumber) -> list[UndoRow]:
    """Undo one event, as its author or as an administrator."""
    return [await session.trail.undo_event(event)]


@operation("undo", "admin", writes=True, anywhere=True, placed=False, least_timeout=LONGEST)
async def revert(session: Session, number: UndoNumber) -> list[RevertedRow]:
    """Revert an undo."""
    return await session.trail.revert(number)


@operation("undo", "admin", writes=True, anywhere=True, placed=False, least_timeout=LONGEST)
async def purge(session: Session, older_than: timedelta | None = None) -> list[PurgedRow]:
    """Delete what undos keep. With `older_than`, only what older undos keep."""
    return await session.trail.purge(older_than)


Names = Annotated[list[Name], Field(max_length=50)]


@operation("erase", "admin", anywhere=True, placed=False, least_timeout=LONGEST)
async def plan_erasure(
    session: Session, person: Name, also: Names | None = None, keep: Keep | None = None
) -> list[ErasurePlanRow]:
    """Return what an erasure of a person would delete and redact, and what stays."""
    return await session.erasure.plan(Person(person, also or (), keep))


@operation("erase", "admin", writes=True, anywhere=True, placed=False, least_timeout=LONGEST)
async def erase(
    session: Session,
    person: Name,
    also: Names | None = None,
    keep: Keep | None = None,
    planned: dict[int, str] | None = None,
) -> list[ErasedRow]:
    """Erase what is about or by a person, as planned, and return a receipt for each space."""
    return await session.erasure.erase(Person(person, also or (), keep), planned)


@operation("erase", "admin", anywhere=True, placed=False, least_timeout=LONGEST)
async def verify_receipt(
    session: Session, receipt: Annotated[dict[str, Any], Field(min_length=1)]
) -> str:
    """Return whether this memory signed a receipt, and whether its erasure is done here."""
    return await session.erasure.verify(receipt)
