"""The answers of tools, and the results that `Client` makes of their structured content."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

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
from textrawl.wire.program import Program

Members = Mapping[str, Any]


class ToolAnswer(NamedTuple):
    """The answer of a tool: lines with their tokens, structured content, and the ids of its facts.

    The facts of a search or digest have their order in `ids`. A fact without a place in it was left
    out.
    """

    text: str
    content: Members
    ids: Sequence[str] = ()
    tokens: int = 0


class Tools(Protocol):
    """The tools of a memory, here or on a server, for programs of textrawl."""

    async def call(self, name: str, arguments: Members, program: Program) -> ToolAnswer:
        """Return the answer of a tool. The digest is one of them. Raises TextrawlError."""
        ...


def read_facts(answer: ToolAnswer) -> Facts:
    """Return the facts of a search."""
    found = {
        memory["id"]: _read_fact(entity, memory)
        for entity in answer.content.get("entities", ())
        for memory in entity["memories"]
    }
    content = answer.content
    return Facts(
        tuple(found[one] for one in answer.ids),
        content.get("dropped", 0),
        content.get("note"),
        tuple(content.get("missing") or ()),
        content.get("closest"),
    )


def read_digest(answer: ToolAnswer) -> Digest:
    """Return the digest."""
    return Digest(answer.text, tuple(answer.ids))


def read_remembered(answer: ToolAnswer) -> Remembered:
    """Return the stored or proposed fact."""
    members = answer.content
    similar, proposal = members.get("similar"), members.get("proposalId")
    return Remembered(
        proposal or members["observationId"],
        members["entityName"],
        members["entityType"],
        "duplicate" in members,
        "updated" in members,
        Similar(similar["id"], similar["content"], similar.get("why"), similar.get("on"))
        if similar
        else None,
        proposal is not None,
    )


def read_related(answer: ToolAnswer, relation: str) -> Related:
    """Return the relation that was stored, proposed or ended."""
    members = answer.content
    proposal = members.get("proposalId")
    return Related(
        proposal or members["relationId"],
        _read_end(members["fromEntity"]),
        relation,
        _read_end(members["toEntity"]),
        tuple(members.get("ended", ())),
        proposal is not None,
    )


def read_forgotten(answer: ToolAnswer) -> Forgotten:
    """Return what was deleted, or would be."""
    members = answer.content
    keys = ("deletedEntityId", "deletedObservationId", "deletedRelationId")
    return Forgotten(
        next((members[key] for key in keys if key in members), None),
        members.get("facts"),
        members.get("relations"),
        tuple(members.get("sample", ())),
    )


def _read_fact(entity: Members, memory: Members) -> Fact:
    created = datetime.fromisoformat(memory["createdAt"])
    said = memory.get("saidAt")
    return Fact(
        memory["id"],
        entity["entityName"],
        entity["entityType"],
        memory["content"],
        memory["score"],
        memory["author"],
        datetime.fromisoformat(said) if said else created,
        created,
        entity["space"],
        memory.get("proposed", False),
    )


def _read_end(end: Members) -> End:
    return End(end["name"], end["type"])
