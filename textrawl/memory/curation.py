"""The operations of the `curation` toolset: they embed texts and call SQL functions."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from uuid import UUID

from textrawl.memory.command_results import RevisedRow, SharedRow
from textrawl.memory.store import StoreCall
from textrawl.models.embeddings import compose_document


@dataclass(frozen=True)
class Revision:
    """A wrong fact of an entity, the reason, and the text that is right or None."""

    entity: str
    fact: str
    reason: str
    successor: str | None = None


@dataclass(frozen=True)
class Share:
    """A copy or a `move` of an entity, or of some of its facts, from `source` to `target`.

    `facts` is None for the whole entity. The space `source` is None for the home space. With
    `ended`, facts that are no longer valid go too.
    """

    entity: str
    target: str
    source: str | None = None
    facts: Sequence[str] | None = None
    move: bool = False
    ended: bool = False


class CurationOperations:
    """The facts of one memory, as somebody who tidies it changes them."""

    def __init__(self, call: StoreCall) -> None:
        self._call = call

    async def revise(self, revision: Revision) -> RevisedRow:
        """Mark a fact as wrong, and store its successor.

        Raises FactNotFound, EntityNotFound, and ArgumentInvalid if the fact was revised in another
        way or the successor has the same text.
        """
        new = revision.successor
        texts = [compose_document(revision.entity, new)] if new else []
        model, vectors = await self._call.store.embed_documents(texts)
        vector = vectors[0] if vectors else None
        return await self._call.write_one(
            "revise_fact", RevisedRow, "fact", **asdict(revision), model=model, embedding=vector
        )

    async def dismiss(self, kind: str, ids: Sequence[UUID]) -> int:
        """Decide that candidates are none: see dismiss_candidates. Return the number of new ones.

        Raises ArgumentInvalid if an entity or a fact is gone.
        """
        given = {"kind": kind, "ids": list(ids)}
        return await self._call.write_one("dismiss_candidates", int, "ids", **given)

    async def share(self, share: Share, *, dry_run: bool) -> SharedRow:
        """Copy or move facts to another space.

        Raises SpaceNotFound, FactNotFound, EntityNotFound, ScopeMissing, and ArgumentInvalid if
        both spaces are the same.
        """
        caller, principal = self._call.caller, self._call.caller.principal
        source = principal.pin(share.source).home if share.source else caller.writing["space"]
        return await self._call.store.call_one(
            "share_memories",
            SharedRow,
            "facts",
            entity=share.entity,
            target=principal.pin(share.target).home,
            facts=None if share.facts is None else list(share.facts),
            move=share.move,
            ended=share.ended,
            dry_run=dry_run,
            space=source,
            **caller.signing,
        )
