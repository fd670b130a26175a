"""Nodes and edges in replies, and the reply of a call that failed."""

from datetime import datetime
from typing import Annotated, Any, Self

from textrawl.toolsets.mind.rows import EdgeRow, NodeRow
from textrawl.wire.replies import Key, Part, Reply

DIGITS = 4  # of confidences, weights and scores


class NodePart(Part):
    """A node. If the caller cannot read the space, it has only an id, a type and a label."""

    id: Annotated[str, Key("id")]
    type: Annotated[str, Key("t")]
    label: Annotated[str, Key("n")]
    description: Annotated[str | None, Key("d")] = None
    properties: Annotated[dict[str, Any] | None, Key("p")] = None
    confidence: Annotated[float | None, Key("conf")] = None
    source_instance: str | None = None
    source_memory_id: Annotated[str | None, Key("mem")] = None
    first_learned_at: datetime | None = None
    last_confirmed_at: datetime | None = None
    version: Annotated[int | None, Key("v")] = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    deleted: Annotated[bool | None, Key("del")] = None

    @classmethod
    def build(cls, row: NodeRow) -> Self:
        """Return the part for `row`."""
        return cls(
            id=str(row.node_id),
            type=row.node_type,
            label=row.label,
            description=row.description,
            properties=row.properties or None,
            confidence=round(row.confidence, DIGITS),
            source_instance=row.instance,
            source_memory_id=row.memory,
            first_learned_at=row.first_learned_at,
            last_confirmed_at=row.last_confirmed_at,
            version=row.version,
            created_at=row.created_at,
            updated_at=row.updated_at,
            deleted=row.deleted_at is not None or None,
        )


class EdgePart(Part):
    """An edge. If the caller cannot read the space, it has only an id and a type."""

    id: Annotated[str, Key("id")]
    from_id: Annotated[str | None, Key("from")] = None
    to_id: Annotated[str | None, Key("to")] = None
    type: Annotated[str, Key("rel")]
    weight: Annotated[float | None, Key("w")] = None
    evidence: Annotated[str | None, Key("ev")] = None
    properties: Annotated[dict[str, Any] | None, Key("p")] = None
    source_instance: str | None = None
    occurred_at: Annotated[datetime | None, Key("at")] = None
    valid_until: Annotated[datetime | None, Key("until")] = None
    last_confirmed_at: datetime | None = None
    version: Annotated[int | None, Key("v")] = None
    created_at: datetime | None = None
    deleted: Annotated[bool | None, Key("del")] = None

    @classmethod
    def build(cls, row: EdgeRow) -> Self:
        """Return the part for `row`."""
        return cls(
            id=str(row.edge_id),
            from_id=str(row.from_id),
            to_id=str(row.to_id),
            type=row.edge_type,
            weight=round(row.weight, DIGITS),
            evidence=row.evidence,
            properties=row.properties or None,
            source_instance=row.instance,
            occurred_at=row.occurred_at,
            valid_until=row.valid_until,
            last_confirmed_at=row.last_confirmed_at,
            version=row.version,
            created_at=row.created_at,
            deleted=row.deleted_at is not None or None,
        )


class NodeReply(Reply):
    """A node that was found, created or changed."""

    success: Annotated[bool, Key("ok")] = True
    message: Annotated[str | None, Key("msg")] = None
    node: Annotated[NodePart, Key("node")]


class DoneReply(Reply):
    """A change, for callers that cannot read the space, or a deletion."""

    success: Annotated[bool, Key("ok")] = True
    message: Annotated[str, Key("msg")]
