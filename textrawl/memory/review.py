"""The operations of the `review` toolset: they call SQL functions."""

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field
from pydantic_core import to_json

from textrawl.errors import ArgumentInvalid
from textrawl.memory.command_results import (
    DecidedRow,
    Decision,
    FindingRow,
    PlannedRow,
    ProposalRow,
    State,
)
from textrawl.memory.operation import LONGEST, Moment, Name, Proposals, Reason, operation
from textrawl.memory.store import StoreCall
from textrawl.models.embeddings import compose_document
from textrawl.values.anchors import LONGEST_ANCHOR, MOST_ANCHORED
from textrawl.values.text import MOST_PROPOSALS

_Evidence = Annotated[str, Field(max_length=LONGEST_ANCHOR)]
Changes = Annotated[dict[UUID, _Evidence], Field(max_length=MOST_ANCHORED)]


def list_reviewed(call: StoreCall) -> dict[str, Any]:
    """Return the credential, and the only space if the address or a setting names it."""
    principal = call.caller.principal
    space = principal.home if principal.pinned else None
    return {"credential": principal.credential, "space": space}


@operation("review", "read", "propose", "write", anywhere=True)
async def list_proposals(  # noqa: PLR0913, PLR0917 - each argument is an option
    call: StoreCall,
    author: Name | None = None,
    entity: Name | None = None,
    since: Moment | None = None,
    state: State = "pending",
    limit: Annotated[int, Field(ge=1, le=MOST_PROPOSALS)] = 20,
    offset: Annotated[int, Field(ge=0, lt=1 << 31)] = 0,
) -> list[ProposalRow]:
    """Return the proposals that the caller reviews, and the caller's own, oldest first."""
    return await call.store.call(
        "list_proposals",
        ProposalRow,
        author=author,
        entity=entity,
        since=since,
        decision=state,
        max_rows=limit,
        skip=offset,
        **list_reviewed(call),
    )


async def count_waiting(call: StoreCall) -> int:
    """Return how many proposals wait for a decision of the caller."""
    if not any("review" in space.scopes for space in call.caller.principal.readable):
        return 0
    return await call.store.call_one("count_waiting", int, **list_reviewed(call))


@operation("review", "review", anywhere=True)
async def plan_decision(call: StoreCall, ids: Proposals) -> list[PlannedRow]:
    """Return what accepting proposals would store. Raises ArgumentInvalid for an unknown id."""
    return await call.store.call(
        "plan_decision", PlannedRow, "ids", proposals=ids, **list_reviewed(call)
    )


@operation("review", "review", writes=True, anywhere=True)
async def decide(
    call: StoreCall, ids: Proposals, decision: Decision, reason: Reason | None = None
) -> list[DecidedRow]:
    """Accept or reject pending proposals, all or none. Raises ArgumentInvalid."""
    if decision == "reject" and not reason:
        raise ArgumentInvalid("Provide reason: the author reads it", title="Missing reason")
    given = {"proposals": ids, "decision": decision, "reason": reason}
    return await call.write("decide_proposals", DecidedRow, "ids", **given)


@operation("tidy", "write", "propose", writes=True, least_timeout=LONGEST)
async def tidy(
    call: StoreCall, *, dry_run: bool = False, changes: Changes | None = None
) -> list[FindingRow]:
    """Propose what is out of order in the space of the caller, or only list it.

    With `changes`, which says by id what became of the anchors of a fact, only that.
    """
    chosen = {} if changes is None else {"changes": to_json(changes).decode()}
    return await call.write("tidy_memory", FindingRow, dry_run=dry_run, **chosen)


@dataclass(frozen=True)
class AmendedRow:
    """The fact of an accepted proposal with the text of the reviewer."""

    entity_name: str
    observation_id: UUID


async def amend(call: StoreCall, proposal: str, text: str) -> str:
    """Accept a fact, and store the text that is right in its place, both or nothing.

    Return the name of the entity. Raises ArgumentInvalid.
    """
    [planned] = await plan_decision(call, [proposal])
    document = compose_document(planned.entity_name, text)
    model, vectors = await call.store.embed_documents([document])
    row = await call.write_one(
        "amend_proposal",
        AmendedRow,
        "id",
        proposal=proposal,
        successor=text,
        model=model,
        embedding=vectors[0] if vectors else None,
    )
    return row.entity_name
