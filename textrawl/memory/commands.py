"""The operations of commands. A terminal runs them on an open memory, or asks a server to.

An operation is a function of a session and of plain arguments, which a server checks as it checks
the arguments of tools. `OPERATIONS` has all of them by name.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Annotated, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, get_type_hints
from uuid import UUID

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
)

from textrawl import __version__
from textrawl.access.principal import Principal, Scope
from textrawl.errors import ArgumentInvalid, EntityNameMissing
from textrawl.memory.command_results import (
    Access,
    AliasRow,
    DecidedRow,
    Decision,
    Described,
    DescribedRow,
    EntityPage,
    ErasedRow,
    ErasurePlanRow,
    EventFilter,
    EventRow,
    Explained,
    FindingRow,
    Found,
    ImportRow,
    Keep,
    MergeRow,
    NamedRow,
    OwnRow,
    PlannedRow,
    PlanRow,
    ProposalRow,
    PurgedRow,
    Report,
    RevertedRow,
    RevisedRow,
    SamePair,
    SharedRow,
    SplitRow,
    State,
    UndoRow,
    UnnamedRow,
)
from textrawl.memory.connector import FetchedFact
from textrawl.memory.curation import CurationOperations, Revision, Share
from textrawl.memory.entities import EntityOperations
from textrawl.memory.erasure import Erasure, Person
from textrawl.memory.fact_rows import ForgottenRow, ReportRow, StatisticsRow
from textrawl.memory.facts import MemoryOperations
from textrawl.memory.questions import Question, Sources, Times
from textrawl.memory.review import Filter as ProposalFilter
from textrawl.memory.review import ReviewOperations
from textrawl.memory.store import StoreCall, list_graphs
from textrawl.memory.trail import Trail
from textrawl.postgres.database import Database
from textrawl.settings import Settings
from textrawl.values.choice import join_choices
from textrawl.values.names import read_wanted_type
from textrawl.values.text import (
    FACT_LENGTH,
    MOST_FACTS,
    MOST_PROPOSALS,
    NAME_LENGTH,
    PROMPT_LENGTH,
    REASON_LENGTH,
    clean_fact,
    clean_name,
    clean_query,
)
from textrawl.values.times import read_instant
from textrawl.wire.arguments import apply

Given = ParamSpec("Given")
Result = TypeVar("Result")

_MOST_FAULTS = 5  # that an error names


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


@dataclass(frozen=True)
class Operation(Generic[Given, Result]):
    """A function that a command runs.

    `command` stands in the trail in place of a tool. The caller needs one of `scopes`, in the home
    space or `anywhere`. `writes` is false if it changes nothing. The setting SPACE restricts it if
    `placed` is true. A call to Postgres may take `least_timeout` seconds in a terminal. If that is
    above 0, the operation needs no embedding model.
    """

    run: Callable[Concatenate[Session, Given], Awaitable[Result]]
    command: str
    scopes: tuple[Scope, ...]
    writes: bool
    anywhere: bool
    placed: bool
    least_timeout: float

    @property
    def name(self) -> str:
        """The name by which a server knows the operation."""
        return self.run.__name__

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The model that checks the arguments of a request."""
        hints = get_type_hints(self.run, include_extras=True)
        given = list(inspect.signature(self.run).parameters.values())[1:]
        fields: dict[str, Any] = {
            one.name: (hints[one.name], ... if one.default is one.empty else one.default)
            for one in given
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    @cached_property
    def result(self) -> TypeAdapter[Result]:
        """The adapter that writes the result as JSON and reads it again."""
        return TypeAdapter(get_type_hints(self.run)["return"])

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked arguments of a request. Raises ArgumentInvalid."""
        try:
            return dict(self.arguments.model_validate(given))
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False)[:_MOST_FAULTS]
        raise ArgumentInvalid(
            "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)
        )

    def require(self, principal: Principal) -> None:
        """Raise ScopeMissing or ArgumentInvalid unless the caller may run the operation.

        The database checks the same again.
        """
        if self.scopes:
            principal.require(*self.scopes, anywhere=self.anywhere)
        if self.writes and not self.anywhere:
            principal.require_home()


OPERATIONS: dict[str, Operation[..., Any]] = {}
"""The operations by name."""


def find_operation(name: str) -> Operation[..., Any]:
    """Return an operation. Raises ArgumentInvalid for a name that none has."""
    if name not in OPERATIONS:
        raise ArgumentInvalid("Use tools/call, ping or an operation", title="Unknown method")
    return OPERATIONS[name]


_LONGEST = 600.0  # seconds that a large undo or a large share can take


def operation(
    command: str,
    *scopes: Scope,
    writes: bool = False,
    anywhere: bool = False,
    placed: bool = True,
    least_timeout: float = 0,
) -> Callable[[Callable[Concatenate[Session, Given], Awaitable[Result]]], Operation[Given, Result]]:
    """Make a function an operation, and add it to OPERATIONS."""

    def add(
        run: Callable[Concatenate[Session, Given], Awaitable[Result]],
    ) -> Operation[Given, Result]:
        made = Operation(
            run, f"textrawl {command}", scopes, writes, anywhere, placed, least_timeout
        )
        OPERATIONS[made.name] = made
        return made

    return add


Name = Annotated[str, apply(clean_name), Field(min_length=1, max_length=NAME_LENGTH)]
Space = Annotated[str, apply(clean_name), Field(min_length=1, max_length=63)]
Query = Annotated[str, apply(clean_query), Field(min_length=1, max_length=PROMPT_LENGTH)]
FactText = Annotated[str, apply(clean_fact), Field(min_length=1, max_length=FACT_LENGTH)]
Reference = Annotated[str, apply(clean_name), Field(min_length=1, max_length=FACT_LENGTH)]
References = Annotated[list[Reference], Field(min_length=1, max_length=1000)]
Reason = Annotated[str, apply(clean_name), Field(min_length=1, max_length=REASON_LENGTH)]
WantedType = Annotated[
    str,
    apply(lambda word: read_wanted_type(clean_name(word))),
    Field(min_length=1, max_length=NAME_LENGTH),
]
Types = Annotated[list[WantedType], Field(max_length=100)]
Moment = Annotated[datetime, apply(read_instant)]
ValidAt = Literal["ever"] | Moment
Limit = Annotated[int, Field(ge=1, le=MOST_FACTS)]
Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Proposals = Annotated[
    list[Annotated[str, apply(clean_name), Field(min_length=1, max_length=36)]],
    Field(min_length=1, max_length=MOST_PROPOSALS),
]
UndoNumber = Annotated[int, Field(ge=0, lt=1 << 63)]


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
async def search(
    session: Session,
    query: Query,
    *,
    types: Types | None = None,
    limit: Limit = 10,
    as_of: ValidAt | None = None,
    documents: bool = False,
) -> Found:
    """Return facts and passages that match, or only chunks of documents, the best first."""
    settings = session.settings
    sources = Sources.find_all(session.caller.principal, settings)
    if documents:
        sources = Sources(session.graphs, settings.max_recall_tokens, facts=False, whole=True)
    question = Question(query, types, Times(as_of), limit, sources=sources)
    rows, missing = await session.memory.search(question, session.caller)
    absence = None if rows else await session.memory.explain_absence(question, session.caller)
    missing = missing if session.store.models.has_vectors else None
    return Found(rows, missing, session.several_spaces, absence)


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
    return Explained(rows, missing if session.store.models.has_vectors else None)


@operation("show", "read")
async def describe(
    session: Session,
    name: Name,
    *,
    limit: Annotated[int, Field(ge=1, le=100_000)] = 20,
    as_of: ValidAt | None = None,
    known_at: Moment | None = None,
) -> Described:
    """Return an entity with its newest facts. Raises ArgumentInvalid if it does not exist."""
    times = Times(as_of, known_at=known_at)
    row = await session.memory.describe(
        name, session.caller, max_observations=limit, with_relations=True, times=times
    )
    if row is None:
        raise await describe_missing_entity(session, name)
    return Described(row, session.several_spaces)


@operation("client", "read")
async def get_fact(session: Session, fact: UUID) -> FetchedFact | None:
    """Return the fact with this whole id, or None. Only clients call it, and not a command."""
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


@operation("revise", "write", writes=True)
async def revise(
    session: Session, name: Name, fact: Reference, reason: Reason, instead: FactText | None = None
) -> RevisedRow:
    """Mark a fact as wrong, and store its successor."""
    revision = Revision(name, fact, reason, instead)
    return await CurationOperations(session).revise(revision)


@operation("share", writes=True, anywhere=True, placed=False, least_timeout=_LONGEST)
async def share(  # noqa: PLR0913, PLR0917 - each argument is an option
    session: Session,
    name: Name,
    target: Space,
    source: Space | None = None,
    facts: References | None = None,
    move: bool = False,
    ended: bool = False,
    *,
    dry_run: bool = True,
) -> SharedRow:
    """Copy or move facts to another space, or only count them."""
    wanted = Share(name, target, source, facts, move, ended)
    return await CurationOperations(session).share(wanted, dry_run=dry_run)


@operation("review", "read", "propose", "write", anywhere=True)
async def list_proposals(  # noqa: PLR0913, PLR0917 - each argument is an option
    session: Session,
    author: Name | None = None,
    entity: Name | None = None,
    since: Moment | None = None,
    state: State = "pending",
    limit: Annotated[int, Field(ge=1, le=MOST_PROPOSALS)] = 20,
    offset: Annotated[int, Field(ge=0, lt=1 << 31)] = 0,
) -> list[ProposalRow]:
    """Return proposals, oldest first."""
    chosen = ProposalFilter(author, entity, since, state, limit, offset)
    return await ReviewOperations(session).find(chosen)


@operation("review", "review", anywhere=True)
async def plan_decision(session: Session, ids: Proposals) -> list[PlannedRow]:
    """Return what accepting proposals would store."""
    return await ReviewOperations(session).plan(ids)


@operation("review", "review", writes=True, anywhere=True)
async def decide(
    session: Session, ids: Proposals, decision: Decision, reason: Reason | None = None
) -> list[DecidedRow]:
    """Accept or reject proposals, all or none. Raises ArgumentInvalid."""
    if decision == "reject" and not reason:
        raise ArgumentInvalid("Provide reason: the author reads it", title="Missing reason")
    return await ReviewOperations(session).decide(ids, decision, reason)


@operation("tidy", "write", "propose", writes=True, least_timeout=_LONGEST)
async def tidy(session: Session, *, dry_run: bool = False) -> list[FindingRow]:
    """Propose what is out of order in a space."""
    return await ReviewOperations(session).tidy(dry_run=dry_run)


@operation("entity merge", "write", writes=True)
async def merge(session: Session, name: Name, other: Name, *, dry_run: bool = False) -> MergeRow:
    """Merge the entity `other` into the entity `name`."""
    return await EntityOperations(session).merge(name, other, dry_run=dry_run)


@operation("entity split", "write", writes=True)
async def split(session: Session, name: Name, *, dry_run: bool = False) -> SplitRow:
    """Take a merge back."""
    return await EntityOperations(session).split(name, dry_run=dry_run)


@operation("entity same", "read")
async def find_same(
    session: Session,
    name: Name | None = None,
    *,
    least_score: Score = 0.5,
    limit: Annotated[int, Field(ge=1, le=1000)] = 20,
) -> list[SamePair]:
    """Return entities that may be one entity under two names."""
    return await EntityOperations(session).find_same(
        entity=name, least_score=least_score, limit=limit
    )


@operation("entity describe", "write", writes=True)
async def set_description(session: Session, name: Name, text: FactText) -> DescribedRow:
    """Set the description of an entity."""
    return await EntityOperations(session).edit(name, description=text)


@operation("entity alias add", "write", writes=True)
async def add_alias(session: Session, name: Name, other: Name) -> NamedRow:
    """Give an entity another name."""
    return await EntityOperations(session).add_alias(name, other)


@operation("entity alias remove", "write", writes=True)
async def remove_alias(session: Session, other: Name) -> UnnamedRow:
    """Remove a wrong alias."""
    return await EntityOperations(session).remove_alias(other)


@operation("entity alias list", "read")
async def list_aliases(session: Session, name: Name | None = None) -> list[AliasRow]:
    """Return the aliases of an entity, or of all entities."""
    return await EntityOperations(session).list_aliases(name)


@operation("me", "read", anywhere=True)
async def list_own(session: Session) -> list[OwnRow]:
    """Return the entities that the caller is."""
    return await EntityOperations(session).list_own()


@operation("me", "read", writes=True, anywhere=True)
async def set_own(session: Session, name: Name) -> list[OwnRow]:
    """Let the caller be an entity in each space that has it. Raises ArgumentInvalid."""
    rows = await EntityOperations(session).set_own(name)
    if not rows:
        raise await describe_missing_entity(session, name)
    return rows


@operation("me", "read", writes=True, anywhere=True)
async def clear_own(session: Session) -> list[OwnRow]:
    """Let the caller be no entity, and return those that the caller was."""
    return await EntityOperations(session).set_own(None)


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


@operation("log", "admin", anywhere=True, placed=False, least_timeout=_LONGEST)
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


@operation("log", "admin", anywhere=True, placed=False, least_timeout=_LONGEST)
async def find_cursor(session: Session) -> str:
    """Return the cursor of the newest event."""
    return await session.trail.find_end()


@operation("log", "admin", anywhere=True, placed=False, least_timeout=_LONGEST)
async def read_events(
    session: Session, after: Annotated[str, Field(max_length=100_000)]
) -> list[EventRow]:
    """Return a page of the events after a cursor. Raises ArgumentInvalid."""
    return await session.trail.read(after)


@operation("undo", "admin", anywhere=True, placed=False, least_timeout=_LONGEST)
async def list_imports(session: Session) -> list[ImportRow]:
    """Return the imports of other systems, newest first."""
    return await session.trail.list_imports()


@operation("undo", "admin", anywhere=True, placed=False, least_timeout=_LONGEST)
async def plan_undo(
    session: Session, author: Name, since: Moment, run: UUID | None = None
) -> list[PlanRow]:
    """Return the steps that an undo would take."""
    return await session.trail.plan(author, since, run)


@operation("undo", "admin", writes=True, anywhere=True, placed=False, least_timeout=_LONGEST)
async def undo(
    session: Session, author: Name, since: Moment, run: UUID | None = None
) -> list[UndoRow]:
    """Undo what an author wrote, or only one import."""
    return await session.trail.undo(author, since, run)


@operation("undo", "write", "propose", "admin", writes=True, least_timeout=_LONGEST)
async def undo_event(session: Session, event: UndoNumber) -> list[UndoRow]:
    """Undo one event, as its author or as an administrator."""
    return [await session.trail.undo_event(event)]


@operation("undo", "admin", writes=True, anywhere=True, placed=False, least_timeout=_LONGEST)
async def revert(session: Session, number: UndoNumber) -> list[RevertedRow]:
    """Revert an undo."""
    return await session.trail.revert(number)


@operation("undo", "admin", writes=True, anywhere=True, placed=False, least_timeout=_LONGEST)
async def purge(session: Session, older_than: timedelta | None = None) -> list[PurgedRow]:
    """Delete what undos keep. With `older_than`, only what older undos keep."""
    return await session.trail.purge(older_than)


Names = Annotated[list[Name], Field(max_length=50)]


@operation("erase", "admin", anywhere=True, placed=False, least_timeout=_LONGEST)
async def plan_erasure(
    session: Session, person: Name, also: Names | None = None, keep: Keep | None = None
) -> list[ErasurePlanRow]:
    """Return what an erasure of a person would delete and redact, and what stays."""
    return await session.erasure.plan(Person(person, also or (), keep))


@operation("erase", "admin", writes=True, anywhere=True, placed=False, least_timeout=_LONGEST)
async def erase(
    session: Session,
    person: Name,
    also: Names | None = None,
    keep: Keep | None = None,
    planned: dict[int, str] | None = None,
) -> list[ErasedRow]:
    """Erase what is about or by a person, as planned, and return a receipt for each space."""
    return await session.erasure.erase(Person(person, also or (), keep), planned)


@operation("erase", "admin", anywhere=True, placed=False, least_timeout=_LONGEST)
async def verify_receipt(
    session: Session, receipt: Annotated[dict[str, Any], Field(min_length=1)]
) -> str:
    """Return whether this memory signed a receipt, and whether its erasure is done here."""
    return await session.erasure.verify(receipt)
