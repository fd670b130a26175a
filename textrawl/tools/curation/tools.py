"""The tools of the toolset `curation`."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field, WithJsonSchema

from textrawl.errors import ArgumentInvalid
from textrawl.memory import curation as operations
from textrawl.memory.command_results import PinProposedRow, SharedRow
from textrawl.memory.operation import Reason, Space
from textrawl.tools.call import Call
from textrawl.tools.toolset import CLEAN_FACT, CLEAN_NAME, WRITES, Name, Toolset
from textrawl.values.text import FACT_LENGTH
from textrawl.wire.replies import Key, SuccessReply, write_id

curation = Toolset(
    "curation", "Put wrong facts right and say why, and share facts with other spaces."
)

Reference = Annotated[
    str,
    CLEAN_NAME,
    Field(min_length=1, max_length=FACT_LENGTH),
    WithJsonSchema({"type": "string"}),  # without the length limits, because they would cost tokens
]
OptionalSpace = Annotated[str, CLEAN_NAME, Field(max_length=63)]
OptionalFact = Annotated[str, CLEAN_FACT, Field(max_length=FACT_LENGTH)]


class RevisedReply(SuccessReply):
    """The wrong fact and its successor, or the fact to pin and the proposal.

    `duplicate`: the successor was known before, or the fact is pinned or was proposed before.
    """

    spared = (("message",), ("entity_name",))

    duplicate: Annotated[bool | None, Key("dup")] = None
    message: str | None
    entity_name: str | None
    observation_id: Annotated[str | None, Key("wrong", short_id=True)] = None
    successor_id: Annotated[str | None, Key("obs", short_id=True)] = None
    proposal_id: Annotated[str | None, Key("proposal", short_id=True)] = None

    @classmethod
    def build_pin(cls, row: PinProposedRow) -> Self:
        """Return the reply for a pin that only a person sets."""
        verb = "Known" if row.duplicate else "Proposed"
        return cls(
            message=f"{verb}: to pin a fact about {row.entity_name}. A person decides",
            duplicate=row.duplicate or None,
            entity_name=row.entity_name,
            proposal_id=write_id(row.proposal_id),
        )


@curation.tool(WRITES, RevisedReply, scopes=("write", "propose"))
async def revise_fact(
    call: Call,
    entityName: Name,
    fact: Annotated[Reference, Field(description="id or text of the fact")],
    reason: Annotated[Reason, Field(description="why it was wrong, or is to be pinned")],
    instead: Annotated[OptionalFact, Field(description="what is right, if known")] = "",
    pin: Annotated[bool, Field(description="the fact is right: propose to pin it")] = False,
) -> CallToolResult:
    """Mark a fact as wrong from the beginning, say why, and store what is right.

    For a fact that was right and is no longer so, use remember_fact with replaces. With pin, the
    user is asked whether every session may begin with the fact. Example:
    {"entityName":"Jeff","fact":"lives in Oslo","reason":"he said Bergen","instead":"lives in
    Bergen"}.
    """
    if pin:
        if instead:
            raise ArgumentInvalid("Give either pin or instead", title="What is right stays")
        proposed = await operations.propose_pin(call, entityName, fact, reason)
        return call.reply(RevisedReply.build_pin(proposed))
    row = await operations.revise(call, entityName, fact, reason, instead or None)
    verb = "Already revised" if row.repeated else "Revised"
    reply = RevisedReply(
        message=f"{verb} a fact about {row.entity_name}",
        duplicate=row.duplicate or None,
        entity_name=row.entity_name,
        observation_id=str(row.observation_id),
        successor_id=write_id(row.successor_id),
    )
    return call.reply(reply)


class SharedReply(SuccessReply):
    """The counts of a copy or a move, or the preview of a dry run."""

    spared = (("message", "sample"), ("entity_id",))

    message: str | None
    dry_run: Annotated[bool | None, Key("dry")] = None
    entity_id: Annotated[str | None, Key("entity", short_id=True)] = None
    facts: Annotated[int, Key("facts")]
    duplicates: Annotated[int | None, Key("dup")] = None
    relations: Annotated[int, Key("rel")]
    moved: Annotated[int | None, Key("moved")] = None
    sample: Annotated[list[str] | None, Key("sample")] = None

    @classmethod
    def build(cls, row: SharedRow, target: str, *, move: bool, dry_run: bool) -> Self:
        """Return the reply for `row`. `moved` counts facts and relations that left the source."""
        verb = "Would share" if dry_run else "Shared"
        return cls(
            message=f"{verb} {row.entity_name} with {target}",
            dry_run=dry_run or None,
            entity_id=write_id(row.entity_id),
            facts=row.shared_facts,
            duplicates=row.duplicate_facts or None,
            relations=row.relations,
            moved=row.moved_facts + row.moved_relations if move else None,
            sample=row.sample if dry_run else None,
        )


@curation.tool(WRITES, SharedReply, dry_run="dryRun", anywhere=True)
async def share_memories(
    call: Call,
    entityName: Name,
    toSpace: Space,
    facts: Annotated[
        list[Reference] | None,
        Field(max_length=50, description="ids or texts; else the entity with its relations"),
    ] = None,
    fromSpace: OptionalSpace = "",
    move: Annotated[bool, Field(description="also take them away here")] = False,
    includeEnded: bool = False,
    dryRun: bool = False,
) -> CallToolResult:
    """Copy or move facts of an entity to another space, such as from your own to the team's.

    Only when the user wants it. Authors and dates stay. Example:
    {"entityName":"Jeff","toSpace":"team","facts":["lives in Bergen"],"dryRun":true}.
    """
    row = await operations.share(
        call, entityName, toSpace, fromSpace or None, facts, move, includeEnded, dry_run=dryRun
    )
    return call.reply(SharedReply.build(row, toSpace, move=move, dry_run=dryRun))
