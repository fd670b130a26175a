"""The operations of the `curation` toolset: they embed texts and call SQL functions."""

from collections.abc import Sequence
from uuid import UUID

from textrawl.memory.anchors import find_named
from textrawl.memory.command_results import (
    PinnedRow,
    PinProposedRow,
    PinRow,
    RevisedRow,
    SharedRow,
)
from textrawl.memory.operation import (
    LONGEST,
    FactText,
    Name,
    Reason,
    Reference,
    References,
    Space,
    operation,
)
from textrawl.memory.store import StoreCall
from textrawl.models.embeddings import compose_document


@operation("revise", "write", writes=True)
async def revise(
    call: StoreCall, name: Name, fact: Reference, reason: Reason, instead: FactText | None = None
) -> RevisedRow:
    """Mark a fact as wrong, and store its successor.

    Raises FactNotFound, EntityNotFound, and ArgumentInvalid if the fact was revised in another way
    or the successor has the same text.
    """
    texts = [compose_document(name, instead)] if instead else []
    [anchors] = await find_named([instead or ""])
    model, vectors = await call.store.embed_documents(texts)
    return await call.write_one(
        "revise_fact",
        RevisedRow,
        "fact",
        entity=name,
        fact=fact,
        reason=reason,
        successor=instead,
        model=model,
        embedding=vectors[0] if vectors else None,
        anchors=anchors,
    )


@operation("pin", "write", writes=True)
async def pin(call: StoreCall, name: Name, fact: Reference, pinned: bool = True) -> PinnedRow:
    """Pin a fact, so that every digest begins with it, or take the pin away.

    Raises FactNotFound, EntityNotFound, and ArgumentInvalid if the fact is over or too long, or
    no more can be pinned.
    """
    return await call.write_one(
        "pin_fact", PinnedRow, "fact", entity=name, fact=fact, pinned=pinned
    )


async def propose_pin(call: StoreCall, name: str, fact: str, reason: str) -> PinProposedRow:
    """Propose to pin a fact, which only a person does. Raises what `pin` raises."""
    return await call.write_one(
        "propose_pin", PinProposedRow, "fact", entity=name, fact=fact, reason=reason
    )


@operation("pin", "read")
async def list_pins(call: StoreCall) -> list[PinRow]:
    """Return the pinned facts, the first pinned first."""
    return await call.store.call("list_pins", PinRow, **call.caller.reading)


async def dismiss(call: StoreCall, kind: str, ids: Sequence[UUID]) -> int:
    """Decide that candidates are none: see dismiss_candidates. Return the number of new ones.

    Raises ArgumentInvalid if an entity or a fact is gone.
    """
    return await call.write_one("dismiss_candidates", int, "ids", kind=kind, ids=list(ids))


@operation("share", writes=True, anywhere=True, placed=False, least_timeout=LONGEST)
async def share(  # noqa: PLR0913, PLR0917 - each argument is an option
    call: StoreCall,
    name: Name,
    target: Space,
    source: Space | None = None,
    facts: References | None = None,
    move: bool = False,
    ended: bool = False,
    *,
    dry_run: bool = True,
) -> SharedRow:
    """Copy or move facts to another space. With `ended`, also facts that are no longer valid.

    `facts` is None for the whole entity, and `source` for the home space. Raises SpaceNotFound,
    FactNotFound, EntityNotFound, ScopeMissing, and ArgumentInvalid if both spaces are the same.
    """
    caller, principal = call.caller, call.caller.principal
    return await call.store.call_one(
        "share_memories",
        SharedRow,
        "facts",
        entity=name,
        target=principal.pin(target).home,
        facts=facts,
        move=move,
        ended=ended,
        dry_run=dry_run,
        space=principal.pin(source).home if source else caller.writing["space"],
        **caller.signing,
    )
