"""The tools that store facts and relations, and forget_entity, the only one that deletes."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Self, cast
from uuid import UUID

from mcp.server.mcpserver import AcceptedElicitation, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from textrawl.access.principal import WRITES_OR_PROPOSES
from textrawl.errors import ArgumentInvalid, ConfirmationMissing, DeletionDeclined, NothingToDelete
from textrawl.memory.fact_rows import BatchRow, ForgottenRow
from textrawl.memory.facts import Edge, Fact, MemoryOperations
from textrawl.memory.speaker import SPEAKER, find_speaker, name_ends
from textrawl.scheduling import let_later_writes_pass
from textrawl.tools.call import App, Call, Target, find_call, name_session
from textrawl.tools.memory.tools import (
    OF_FACTS,
    OF_RELATIONS,
    Begin,
    Confidence,
    End,
    EntityType,
    FactReference,
    FactText,
    ForgottenReference,
    GivenType,
    PastInstant,
    RelationName,
    Source,
    memory,
)
from textrawl.tools.memory.write_replies import (
    ClosedPart,
    ForgetReply,
    RelateReply,
    RememberReply,
    Why,
    name_target,
)
from textrawl.tools.toolset import DELETES, WRITES, Name
from textrawl.wire.replies import OMIT_EMPTY, SHORT_ID, Key, Part, RefusalReply, SuccessReply


@memory.tool(
    WRITES, RememberReply, required=("entityType",), aliases=OF_FACTS, scopes=WRITES_OR_PROPOSES
)
async def remember_fact(
    call: Call,
    *,
    entityName: Annotated[Name, Field(description="who or what it is about")],
    entityType: GivenType = None,
    observation: Annotated[FactText, Field(description="one atomic fact")],
    source: Source = None,
    validFrom: Annotated[Begin, Field(description="ISO date; default: saidAt")] = None,
    validUntil: End = None,
    saidAt: PastInstant = None,
    confidence: Confidence = None,
    replaces: Annotated[
        FactReference, Field(description="id or text of the fact it corrects")
    ] = "",
) -> CallToolResult:
    """Store one lasting fact about an entity as soon as you learn it.

    Preferences, decisions, people, dates; not secrets or passing remarks. The reply names a close
    or contrary (why) fact as like: to correct it, repeat with replaces. Example:
    {"entityName":"Jeff","entityType":"person","observation":"prefers dark mode"}.
    """
    name, hint = entityName, None
    if name.casefold() in SPEAKER:
        name, hint = await find_speaker(name, call.store, call.caller)
    fact = Fact(
        name,
        entityType,
        observation,
        source,
        confidence,
        validFrom,
        validUntil,
        saidAt,
        replaces or None,
    )
    row = await MemoryOperations(call.store).remember(fact, call.caller)
    return call.reply(RememberReply.build(row, entityType, hint))


_MOST_ITEMS = 50
_SHOWN = 60  # characters of each close fact in the reply to a batch


def _rename(aliases: Mapping[str, str], values: object) -> object:
    """Return the members of an item with the names of the parameters."""
    if not isinstance(values, dict):
        return values
    members = cast("dict[str, object]", values)
    return {
        alias if (name := aliases.get(alias, alias)) in members else name: value
        for alias, value in members.items()
    }


def _require_type(schema: dict[str, Any]) -> None:
    """Ask for the type of each entity, which can be left out for a known entity."""
    schema["required"] = [
        name for name in schema["properties"] if name in ("entityType", *schema["required"])
    ]


class FactItem(BaseModel):
    """A fact of a batch."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_require_type)

    entityName: Name  # noqa: N815 - JSON keys are in camelCase
    entityType: GivenType = None  # noqa: N815
    observation: FactText
    source: Source = None
    validFrom: Begin = None  # noqa: N815
    validUntil: End = None  # noqa: N815
    saidAt: PastInstant = None  # noqa: N815
    confidence: Confidence = None
    replaces: FactReference = ""

    _accept = model_validator(mode="before")(partial(_rename, OF_FACTS))

    def read(self) -> Fact:
        """Return the fact to store."""
        return Fact(
            self.entityName,
            self.entityType,
            self.observation,
            self.source,
            self.confidence,
            self.validFrom,
            self.validUntil,
            self.saidAt,
            self.replaces or None,
        )


class RelationItem(BaseModel):
    """A relation of a batch."""

    model_config = ConfigDict(extra="forbid")

    fromEntity: Name  # noqa: N815
    relation: RelationName
    toEntity: Name  # noqa: N815
    fromEntityType: EntityType | None = None  # noqa: N815
    toEntityType: EntityType | None = None  # noqa: N815
    validFrom: Begin = None  # noqa: N815
    validUntil: End = None  # noqa: N815

    _accept = model_validator(mode="before")(partial(_rename, OF_RELATIONS))

    def read(self) -> Edge:
        """Return the relation to store."""
        return Edge(
            self.fromEntity,
            self.relation,
            self.toEntity,
            self.fromEntityType,
            self.toEntityType,
            self.validFrom,
            self.validUntil,
        )


class FactCounts(Part):
    """The numbers of new and of duplicate facts in a batch."""

    new: Annotated[int, Key("new")]
    dup: Annotated[int, Key("dup")]


def _begin(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1].rstrip()}…"


class CloseFact(Part):
    """The stored fact beside a new fact of a batch, as in SimilarPart, but only its beginning.

    `fact` is the position of the new fact in the batch, counted from 0.
    """

    fact: Annotated[int, Key("at")]
    id: Annotated[str, Key("id", short_id=True)]
    content: Annotated[str, AfterValidator(_begin), Key("c")]
    why: Annotated[Why | None, Key("why")] = None
    on: Annotated[str | None, Key("on")] = None


class BuildReply(SuccessReply):
    """The result of a batch.

    `repeated` lists the positions of the duplicates in the batch, counted from 0. `updated` lists
    the duplicates that gave the stored fact a new source, confidence, end or `saidAt`. `ended`
    lists the facts that have ended already. `periods` has the periods that were read from texts,
    by position.

    If the caller can only propose, nothing was stored, and `proposals` has their ids, facts
    first.
    """

    items = ("closest",)
    spared = (
        ("repeated", "updated", "ended", "periods"),
        ("facts_created", "facts_duplicate", "relations_created", "facts"),
    )

    facts_created: int | None
    facts_duplicate: int | None
    repeated: Annotated[list[int] | None, OMIT_EMPTY] = None
    updated: Annotated[list[int] | None, OMIT_EMPTY] = None
    ended: Annotated[list[int] | None, OMIT_EMPTY] = None
    periods: Annotated[dict[str, str] | None, OMIT_EMPTY] = None
    facts: Annotated[FactCounts | None, Key("facts"), Field(exclude=True)] = None
    relations_created: Annotated[int | None, Key("rel")]
    closest: Annotated[list[CloseFact] | None, OMIT_EMPTY, Key("like"), Field(alias="similar")] = (
        None
    )
    proposals: Annotated[
        list[UUID] | None, OMIT_EMPTY, Key("proposals"), Field(alias="proposalIds")
    ] = None

    same_names: Annotated[
        SkipJsonSchema[list[str] | None], OMIT_EMPTY, Key("sameName"), Field(alias="sameName")
    ] = None
    closed: Annotated[SkipJsonSchema[list[ClosedPart] | None], OMIT_EMPTY, Key("closed")] = None
    copies: Annotated[
        SkipJsonSchema[list[UUID] | None], OMIT_EMPTY, Key("still", short_id=True)
    ] = None

    @classmethod
    def build(cls, row: BatchRow) -> Self:
        """Return the reply for `row`."""
        reply = cls.model_validate(row)
        reply.facts = FactCounts(new=row.facts_created, dup=row.facts_duplicate)
        return reply

    def compact(self) -> Any:
        """Return short keys. `facts` holds the counts, and each list of positions if it has any."""
        short = super().compact()
        if self.proposals:
            return {"ok": True, "proposals": [str(one)[:SHORT_ID] for one in self.proposals]}
        positions = {
            "at": self.repeated,
            "upd": self.updated,
            "ended": self.ended,
            "p": self.periods,
        }
        if "facts" in short:
            short["facts"] |= {key: value for key, value in positions.items() if value}
        return short


@memory.tool(WRITES, BuildReply, scopes=WRITES_OR_PROPOSES)
async def build_knowledge(
    call: Call,
    facts: Annotated[list[FactItem] | None, Field(max_length=_MOST_ITEMS)] = None,
    relations: Annotated[list[RelationItem] | None, Field(max_length=_MOST_ITEMS)] = None,
) -> CallToolResult:
    """Store many facts and relations at once, all or nothing.

    Use it instead of several single calls. Fields as in remember_fact and relate_entities. Example:
    {"facts":[{"entityName":"Ada","entityType":"person","observation":"leads QA"}]}.
    """
    if not facts and not relations:
        raise ArgumentInvalid("Provide facts, relations, or both", title="Missing facts")
    for fact in facts or []:
        if fact.entityName.casefold() in SPEAKER:
            fact.entityName, _ = await find_speaker(fact.entityName, call.store, call.caller)
    row = await MemoryOperations(call.store).build(
        [fact.read() for fact in facts or []],
        [await name_ends(one.read(), call.store, call.caller) for one in relations or []],
        call.caller,
    )
    return call.reply(BuildReply.build(row))


@memory.tool(WRITES, RelateReply, aliases=OF_RELATIONS, scopes=WRITES_OR_PROPOSES)
async def relate_entities(
    call: Call,
    fromEntity: Name,
    relation: Annotated[RelationName, Field(description="a verb")],
    toEntity: Name,
    fromEntityType: Annotated[EntityType | None, Field(description="if new")] = None,
    toEntityType: Annotated[EntityType | None, Field(description="if new")] = None,
    validFrom: Begin = None,
    validUntil: End = None,
    ended: Annotated[bool, Field(description="it is no longer so")] = False,
    replaces: Annotated[bool, Field(description="end the former one")] = False,
) -> CallToolResult:
    """Connect two entities; missing ones are created.

    For what concerns only one use remember_fact. Example:
    {"fromEntity":"Ada","relation":"works_at","toEntity":"Acme Corp"}.
    """
    edge = Edge(fromEntity, relation, toEntity, fromEntityType, toEntityType, validFrom, validUntil)
    edge = await name_ends(edge, call.store, call.caller)
    memory_operations = MemoryOperations(call.store)
    if ended and replaces:
        raise ArgumentInvalid(
            "ended, replaces: give only one; use replaces with the new relation, or ended with the "
            "former relation"
        )
    if ended and validFrom:
        raise ArgumentInvalid("validFrom: with ended give only validUntil, the day of the end")
    if ended:
        row = await memory_operations.end(edge, call.caller)
    else:
        row = await memory_operations.relate(edge, call.caller, replaces=replaces)
    former = bool(validUntil and validUntil <= datetime.now(UTC))
    return call.reply(RelateReply.build(row, relation, ended=ended, former=former))


# From this protocol version on, a server can ask the user without an open channel to the client.
_ASKS_WITHOUT_CHANNEL = "2026-07-28"


class Confirmation(BaseModel):
    """The question to a user before a deletion."""

    # The question goes to the client as a schema with this description.
    model_config = ConfigDict(
        json_schema_extra={"description": "A question to a person before something is deleted."}
    )

    confirm: bool = Field(description="Delete it for good?")


def _can_ask(call: Call) -> bool:
    """Return whether the client can ask its user a question now."""
    context = call.context
    asks = context.client_capabilities and context.client_capabilities.elicitation
    if not asks or (asks.url is not None and asks.form is None):
        return False
    version = context.protocol_version or ""
    return context.session.can_send_request or version >= _ASKS_WITHOUT_CHANNEL


async def _forget(call: Call, name: str, fact: str, *, dry_run: bool) -> ForgottenRow:
    """Delete an entity or one fact, or return the numbers that a deletion would delete.

    Raises FactNotFound, and NothingToDelete with similar names if no entity has this one.
    """
    memory = MemoryOperations(call.store)
    row = await memory.forget(name, call.caller, fact=fact or None, dry_run=dry_run)
    if row is None:
        raise NothingToDelete(name, await memory.suggest_names(name, call.caller))
    return row


def _find_target(row: ForgottenRow, fact: str) -> Target:
    return Target(row.entity_id, row.observation_id or row.relation_id or fact.casefold() or None)


async def _ask(
    ctx: Context[App],
    entityName: str,
    fact: str,
    confirm: bool | None,
    dryRun: bool,
) -> Confirmation | Elicit[Confirmation]:
    """Return the confirmation, or a question to the user if the model's confirmation is not enough.

    Raises ConfirmationMissing, DeletionDeclined, NothingToDelete, FactNotFound.
    """
    call = find_call(ctx)
    if dryRun:
        return Confirmation(confirm=False)
    if not call.caller.principal.readable and not confirm:
        raise ConfirmationMissing  # the caller may not know what is there
    # In protocol 2026-07-28 the client calls again with the answer and a state. The SDK reads the
    # answer only if this function returns the question again. So such a second call gets the
    # question again, even if the refusal expired meanwhile.
    again = ctx.request_state is not None
    session = name_session(ctx)
    if confirm and not again and not call.app.refused_deletions.has_any(session):
        return Confirmation(confirm=True)
    row = await _forget(call, entityName, fact, dry_run=True)
    if confirm is False or (not confirm and not _can_ask(call)):
        raise ConfirmationMissing(name_target(row))
    if (
        confirm
        and not again
        and not call.app.refused_deletions.overlap(session, _find_target(row, fact))
    ):
        return Confirmation(confirm=True)
    if not _can_ask(call):
        raise DeletionDeclined
    let_later_writes_pass()
    return Elicit(f"Forget {name_target(row)}? This cannot be undone.", Confirmation)


@memory.tool(
    DELETES,
    ForgetReply,
    RefusalReply,
    dry_run="dryRun",
    aliases={"observation": "fact", "entity": "entityName", "name": "entityName"},
)
async def forget_entity(
    call: Call,
    entityName: Name,
    answer: Annotated[ElicitationResult[Confirmation], Resolve(_ask)],
    confirm: Annotated[bool | None, Field(description="true once the user agreed")] = None,
    fact: Annotated[
        ForgottenReference, Field(description="id, text or works_at→Acme: only this")
    ] = "",
    dryRun: Annotated[bool, Field(description="only tell what would go")] = False,
) -> CallToolResult:
    """Delete an entity with its facts and relations, or one fact of it, for good.

    Only when the user wants it; to correct a fact use remember_fact with replaces. Example:
    {"entityName":"Jeff","confirm":true}.
    """
    if dryRun:
        row = await _forget(call, entityName, fact, dry_run=True)
        return call.reply(ForgetReply.preview(row))
    await _check_answer(call, answer, entityName, fact)
    return call.reply(ForgetReply.build(await _forget(call, entityName, fact, dry_run=False)))


async def _check_answer(
    call: Call, answer: ElicitationResult[Confirmation], name: str, fact: str
) -> None:
    """Check the user's answer, and record a refusal.

    If the user agreed, drop earlier refusals of the same deletion. Raises NothingToDelete,
    FactNotFound, and DeletionDeclined if the user refused.
    """
    session = name_session(call.context)
    agreed = isinstance(answer, AcceptedElicitation) and answer.data.confirm
    if agreed and not call.app.refused_deletions.has_any(session):
        return
    target = _find_target(await _forget(call, name, fact, dry_run=True), fact)
    if agreed:
        call.app.refused_deletions.remove(session, target)
        return
    call.app.refused_deletions.add(session, target)
    raise DeletionDeclined
