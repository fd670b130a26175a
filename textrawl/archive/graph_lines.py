"""Lines of an export with the nodes and edges of the mind tools."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from textrawl.archive.line_fields import (
    Count,
    Id,
    Label,
    Line,
    Moment,
    Share,
    SpaceName,
    clean_text,
)
from textrawl.values.limits import FACT_LENGTH


class NodeLine(Line):
    """The values of a node. Its id is the id of its entity."""

    kind: Literal["node"]
    space: SpaceName
    id: Id
    label: Label | None = None
    described_by: Id | None = None
    confidence: Share | None = None
    properties: dict[str, Any] | None = None
    instance: Label | None = None
    memory: Label | None = None
    first_learned_at: Moment | None = None
    last_confirmed_at: Moment | None = None
    version: Annotated[Count, Field(ge=1)]
    deleted_at: Moment | None = None


class EdgeLine(Line):
    """The values of an edge. Its id is the id of its relation."""

    kind: Literal["edge"]
    space: SpaceName
    id: Id
    evidence: (
        Annotated[str, BeforeValidator(clean_text), Field(min_length=1, max_length=FACT_LENGTH)]
        | None
    ) = None
    properties: dict[str, Any] | None = None
    instance: Label | None = None
    occurred_at: Moment | None = None
    last_confirmed_at: Moment | None = None
    version: Annotated[Count, Field(ge=1)]
    deleted_at: Moment | None = None
