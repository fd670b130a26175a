"""The results of `Client` and `SyncClient`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from textrawl_client.wire import Answer

Members = Mapping[str, Any]


@dataclass(frozen=True)
class Fact:
    """A fact that answers a question.

    `id` names the fact in `replaces` and `forget`. `type` is the type of the entity. `score` is
    from 0 to 1. A relation is a fact with an arrow, such as `works_at→Acme`. `proposed` is true for
    a proposal of the caller, which nobody has accepted yet.
    """

    id: str
    entity: str
    type: str
    content: str
    score: float
    author: str
    said_at: datetime
    created_at: datetime
    space: str
    proposed: bool = False


@dataclass(frozen=True)
class Facts:
    """The facts that answer a question, the best first.

    `omitted` is the number of facts that `max_tokens` left out. `note` says why only words were
    compared, if the embedding provider is down. Without facts, `missing` has the words of the
    question that no fact has, and `closest` is the fact that came closest, which is no answer.
    """

    facts: tuple[Fact, ...]
    omitted: int = 0
    note: str | None = None
    missing: tuple[str, ...] = ()
    closest: str | None = None

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts)

    def __len__(self) -> int:
        return len(self.facts)


@dataclass(frozen=True)
class Digest:
    """The facts that matter at the start of a conversation, as text in lines.

    A line names an entity and its type. The lines after it begin with `- ` and have its facts. The
    text is empty if the memory has no facts. `ids` has the ids of the facts.
    """

    text: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Similar:
    """The stored fact that disagrees with a new fact, or else the closest one.

    `why` is "other value" or "opposite" if the two disagree, and `on` is then the day (ISO 8601)
    on which the stored fact was said.
    """

    id: str
    content: str
    why: str | None = None
    on: str | None = None


@dataclass(frozen=True)
class Remembered:
    """A stored fact: its id, and the stored name and type of its entity.

    `duplicate` is true if the entity had this fact already. `updated` is true if the call changed
    something else about that fact, such as its source. `proposed` is true if the caller can only
    propose: then `id` is the id of the proposal. `cleaned` texts lost hidden characters.
    """

    id: str
    entity: str
    type: str
    duplicate: bool = False
    updated: bool = False
    similar: Similar | None = None
    proposed: bool = False
    cleaned: int = 0


@dataclass(frozen=True)
class End:
    """One of the two entities of a relation, with its stored name and type."""

    name: str
    type: str


@dataclass(frozen=True)
class Related:
    """A relation that the memory has now, or that the call ended.

    `ended` has the names at the other end of the relations that the call ended. `proposed` is true
    if the caller can only propose: then `id` is the id of the proposal. `cleaned` texts lost hidden
    characters.
    """

    id: str
    from_entity: End
    to_entity: End
    ended: tuple[str, ...] = ()
    proposed: bool = False
    cleaned: int = 0


@dataclass(frozen=True)
class Forgotten:
    """A deletion: the id of the deleted entity, fact or relation.

    A dry run deletes nothing. It has no id, but the numbers of facts and relations that a deletion
    of the entity would delete, and the texts of the newest facts.
    """

    id: str | None = None
    facts: int | None = None
    relations: int | None = None
    sample: tuple[str, ...] = ()


def read_facts(answer: Answer) -> Facts:
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


def read_digest(answer: Answer) -> Digest:
    """Return the digest."""
    return Digest(answer.text, tuple(answer.ids))


def read_remembered(answer: Answer) -> Remembered:
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
        members.get("cleaned", 0),
    )


def read_related(answer: Answer) -> Related:
    """Return the relation that was stored, proposed or ended."""
    members = answer.content
    proposal = members.get("proposalId")
    return Related(
        proposal or members["relationId"],
        _read_end(members["fromEntity"]),
        _read_end(members["toEntity"]),
        tuple(members.get("ended", ())),
        proposal is not None,
        members.get("cleaned", 0),
    )


def read_forgotten(answer: Answer) -> Forgotten:
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
