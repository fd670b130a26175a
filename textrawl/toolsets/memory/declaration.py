"""The toolset, and the types that its parameters share."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from textrawl.instants import read_future_instant, read_instant
from textrawl.texts import FACT_LENGTH, NAME_LENGTH, clean_fact, clean_name
from textrawl.toolsets import Toolset

memory = Toolset(
    "memory",
    "Remember facts about entities, relate, recall and forget them.",
    ("query_memory", "remember_fact", "build_knowledge", "relate_entities", "forget_entity"),
)

EntityType = Literal[
    "person", "concept", "project", "preference", "fact", "location", "organization"
]
Source = Literal["conversation", "note", "document", "manual"]


def _clean(clean: Any) -> Any:
    """The same cleaning for anything that a model may send where text belongs."""
    return lambda value: clean(value) if isinstance(value, str) else value


def _read(read: Any) -> Any:
    def parse(value: object) -> object:
        if value is None or isinstance(value, datetime):
            return value
        return read(str(value))

    return parse


Name = Annotated[
    str, BeforeValidator(_clean(clean_name)), Field(min_length=1, max_length=NAME_LENGTH)
]
OptionalName = Annotated[str, BeforeValidator(_clean(clean_name)), Field(max_length=NAME_LENGTH)]
RelationName = Annotated[
    str, BeforeValidator(_clean(clean_name)), Field(min_length=1, max_length=100)
]
FactText = Annotated[
    str, BeforeValidator(_clean(clean_fact)), Field(min_length=1, max_length=FACT_LENGTH)
]
Query = Annotated[str, BeforeValidator(_clean(clean_name)), Field(max_length=1000)]
FactReference = Annotated[str, BeforeValidator(_clean(clean_name)), Field(max_length=FACT_LENGTH)]
Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
FutureInstant = Annotated[
    datetime | None, BeforeValidator(_read(read_future_instant)), WithJsonSchema({"type": "string"})
]
Instant = Annotated[
    datetime | None, BeforeValidator(_read(read_instant)), WithJsonSchema({"type": "string"})
]

