"""The toolset `mind`, and the types that the parameters of its tools share."""

import json
from datetime import datetime, time
from functools import partial
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from textrawl.memory.mind import NodePart
from textrawl.tools.toolset import CLEAN_FACT, CLEAN_NAME, Toolset
from textrawl.values.names import check_id
from textrawl.values.text import FACT_LENGTH, NAME_LENGTH, QUERY_LENGTH, clean_text
from textrawl.values.times import read_instant, read_past_instant
from textrawl.wire.replies import Key, SuccessReply

mind = Toolset(
    "mind",
    "A knowledge graph of nodes and edges with confidence, evidence and properties.",
    (
        "graph_node_create",
        "graph_node_get",
        "graph_node_update",
        "graph_node_delete",
        "graph_node_search",
        "graph_node_list",
        "graph_edge_create",
        "graph_edge_get",
        "graph_edge_update",
        "graph_edge_delete",
        "graph_traverse",
        "graph_subgraph",
        "graph_insights",
        "graph_stats",
        "graph_write_transaction",
    ),
)

TYPE_LENGTH = 100
NEVER = "never"
MOST_ITEMS = 200
MOST_PROPERTIES = 20_000  # characters of the JSON of an object of properties


def _read_start(value: object) -> object:
    return value if value is None else read_instant(str(value), time.min)


def _read_past(value: object) -> object:
    return value if value is None else read_past_instant(str(value))


def _read_end(value: object) -> object:
    return value if value is None else read_instant(str(value))


def _read_end_or_never(value: object) -> object:
    return NEVER if str(value).strip().lower() == NEVER else _read_end(value)


def _clean_properties(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the properties without hidden characters. Raises ValueError if they are too large."""
    try:
        clean = _clean_value(properties)
        text = json.dumps(clean, ensure_ascii=False, allow_nan=False)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if len(text) > MOST_PROPERTIES:
        raise ValueError(f"must have at most {MOST_PROPERTIES:,} characters as JSON")
    return clean


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {clean_text(name): _clean_value(member) for name, member in members.items()}
    return (
        [_clean_value(one) for one in cast("list[Any]", value)]
        if isinstance(value, list)
        else value
    )


Query = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=QUERY_LENGTH)]
Label = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=NAME_LENGTH)]
KindName = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=TYPE_LENGTH)]
InstanceId = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=NAME_LENGTH)]
Text = Annotated[str, CLEAN_FACT, Field(min_length=1, max_length=FACT_LENGTH)]
Properties = Annotated[dict[str, Any], AfterValidator(_clean_properties)]
Share = Annotated[
    float,
    Field(ge=0, le=1, allow_inf_nan=False),
    # Postgres stores six digits, and refuses a number that is too small for its type.
    AfterValidator(lambda value: round(value, 6)),
]
_TEXT = WithJsonSchema({"type": "string"})
Moment = Annotated[datetime, BeforeValidator(_read_start), _TEXT]
PastMoment = Annotated[datetime, BeforeValidator(_read_past), _TEXT]
"""`Moment` and `PastMoment` read a date as the beginning of the day, `End` as its end."""
End = Annotated[datetime, BeforeValidator(_read_end), _TEXT]
EndOrNever = Annotated[datetime | Literal["never"], BeforeValidator(_read_end_or_never), _TEXT]
Embedding = Annotated[
    list[float], Field(max_length=10_000, description="ignored: textrawl embeds descriptions")
]
NodeId = Annotated[str, CLEAN_NAME, AfterValidator(partial(check_id, kind="node"))]
EdgeId = Annotated[str, CLEAN_NAME, AfterValidator(partial(check_id, kind="edge"))]


class Item(BaseModel):
    """An item of graph_write_transaction. It is written with the names of the SQL function."""

    model_config = ConfigDict(extra="forbid")

    def write(self) -> dict[str, Any]:
        """Return the values that were given, as the SQL function takes them."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class NodeItem(Item):
    """A node to create."""

    type: KindName
    label: Label
    description: Text | None = None
    properties: Properties | None = None
    confidence: Share | None = None
    memory: Annotated[InstanceId | None, Field(validation_alias="sourceMemoryId")] = None
    first_learned_at: Annotated[PastMoment | None, Field(validation_alias="firstLearnedAt")] = None
    embedding: Annotated[Embedding | None, Field(exclude=True)] = None


class EdgeItem(Item):
    """An edge to create between two nodes, which are given by their labels."""

    source: Annotated[Label, Field(validation_alias="fromLabel", serialization_alias="from")]
    target: Annotated[Label, Field(validation_alias="toLabel", serialization_alias="to")]
    type: KindName
    weight: Annotated[Share | None, Field(serialization_alias="strength")] = None
    evidence: Text | None = None
    properties: Properties | None = None
    occurred_at: Annotated[Moment | None, Field(validation_alias="occurredAt")] = None
    valid_until: Annotated[End | None, Field(validation_alias="validUntil")] = None


class NodeReply(SuccessReply):
    """A node that was found, created or changed."""

    message: Annotated[str | None, Key("msg")] = None
    node: Annotated[NodePart, Key("node")]


class ChangeReply(SuccessReply):
    """A change, for callers that cannot read the space, or a deletion."""

    message: Annotated[str, Key("msg")]
