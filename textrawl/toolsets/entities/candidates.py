"""find_same_entities: the tool that finds one entity under two names."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.entities.declaration import entities
from textrawl.toolsets.entities.operations import EntityOperations
from textrawl.toolsets.entities.rows import SamePair
from textrawl.toolsets.memory.declaration import OptionalName
from textrawl.toolsets.memory.search_replies import Answer
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import Key, Part

_LEAST_SCORE = 0.5


class Candidate(Part):
    """Two entities that can be one. `entity_name` is the one to keep."""

    entity_name: Annotated[str, Key("entity")]
    other_name: Annotated[str, Key("other")]
    score: Annotated[float, Key("s")]
    shared_facts: Annotated[int | None, Key("facts")] = None
    shared_relations: Annotated[int | None, Key("rel")] = None
    space: Annotated[str | None, Key("sp")] = None

    @classmethod
    def build(cls, pair: SamePair, *, several: bool) -> Self:
        """Return the candidate for `pair`. `several` says that the answer has several spaces."""
        return cls(
            entity_name=pair.entity_name,
            other_name=pair.other_name,
            score=round(pair.score, 2),
            shared_facts=pair.shared_facts or None,
            shared_relations=pair.shared_relations or None,
            space=pair.space if several else None,
        )


class CandidatesReply(Answer):
    """The candidates, the likeliest first."""

    success: Annotated[bool, Key("ok")] = True
    candidates: Annotated[list[Candidate], Key("same")]

    def size(self) -> int:
        """Return the number of candidates."""
        return len(self.candidates)

    def choose(self, count: int) -> Self:
        """Return a copy with the likeliest `count` candidates."""
        kept = self.candidates[:count]
        return self.cut(len(self.candidates) - len(kept), candidates=kept)


@entities.tool(READS, CandidatesReply)
async def find_same_entities(
    call: Call,
    entityName: Annotated[OptionalName, Field(description="only pairs with this entity")] = "",
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> CallToolResult:
    """Find entities that may be one under two names, such as Jeff Miller and jmiller.

    Nothing is merged: show the pairs to the user, and merge with merge_entities.
    """
    pairs = await EntityOperations(call.store).find_same(
        call.caller, entity=entityName or None, least_score=_LEAST_SCORE, limit=limit
    )
    several = len({pair.space for pair in pairs}) > 1
    return call.reply(
        CandidatesReply(candidates=[Candidate.build(pair, several=several) for pair in pairs])
    )
