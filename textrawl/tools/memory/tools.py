"""The toolset `memory`, and the types that the parameters of its tools share."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from textrawl.memory.fact_rows import EVER
from textrawl.tools.toolset import CLEAN_FACT, CLEAN_NAME, Share, Toolset, read_time
from textrawl.values.names import ENTITY_TYPES, read_type, read_wanted_type
from textrawl.values.text import (
    FACT_LENGTH,
    NAME_LENGTH,
    PROMPT_LENGTH,
    RELATION_LENGTH,
    clean_name,
    clean_query,
    clean_relation,
)
from textrawl.values.times import read_as_of, read_begin, read_instant, read_past_instant
from textrawl.wire.arguments import apply

memory = Toolset(
    "memory",
    "Remember facts about entities, relate, recall and forget them.",
    ("query_memory", "remember_fact", "build_knowledge", "relate_entities", "forget_entity"),
    extras=("extract_memories",),
)

OF_FACTS = {"fact": "observation", "text": "observation", "content": "observation",
            "entity": "entityName", "name": "entityName", "type": "entityType"}  # fmt: skip
OF_RELATIONS = {"from": "fromEntity", "to": "toEntity", "relationType": "relation",
                "fromType": "fromEntityType", "toType": "toEntityType"}  # fmt: skip
"""Words of other tools and servers for parameters. They are accepted, and no schema shows them."""

_NONE = "none"  # models send this word for a parameter that they believe to be required

_TYPE = (
    Field(min_length=1, max_length=NAME_LENGTH),
    # The schema guides models to the seven types. The tools take every word.
    WithJsonSchema({"enum": list(ENTITY_TYPES), "type": "string"}),
)
EntityType = Annotated[str, apply(lambda word: read_type(clean_name(word))), *_TYPE]
GivenType = Annotated[EntityType | None, _TYPE[1]]
"""A type that a caller can leave out for a known entity. The schema asks for it."""
WantedType = Annotated[str, apply(lambda word: read_wanted_type(clean_name(word))), *_TYPE]
"""The type of a filter."""
Source = Annotated[
    Literal["conversation", "note", "document", "manual"] | None,
    Field(json_schema_extra={"default": "conversation"}),
]
"""None if the caller gave no source. A duplicate fact then keeps its source."""
SearchSource = Literal["facts", "documents"]


def _read_as_of(text: str) -> datetime | str:
    return EVER if text.strip().lower() == EVER else read_as_of(text)


def _read_reference(text: str) -> str:
    name = clean_name(text)
    return "" if name.lower() == _NONE else name


RelationName = Annotated[
    str, apply(clean_relation), Field(min_length=1, max_length=RELATION_LENGTH)
]
FactText = Annotated[str, CLEAN_FACT, Field(min_length=1, max_length=FACT_LENGTH)]
Query = Annotated[str, apply(clean_query), Field(max_length=PROMPT_LENGTH)]
_REFERENCE = (
    Field(max_length=FACT_LENGTH),
    WithJsonSchema({"type": "string"}),  # without the length limit, because it would cost tokens
)
FactReference = Annotated[str, apply(_read_reference), *_REFERENCE]
# Here "none" is ordinary text. If it meant "no fact", the call would delete the whole entity.
ForgottenReference = Annotated[str, CLEAN_NAME, *_REFERENCE]
Confidence = Annotated[Share | None, Field(json_schema_extra={"default": 1})]
LeastScore = Annotated[Share | None, WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
_TEXT = WithJsonSchema({"type": "string"})
Instant = Annotated[datetime | None, read_time(read_instant, _NONE), _TEXT]
PastInstant = Annotated[datetime | None, read_time(read_past_instant, _NONE), _TEXT]
"""`PastInstant` and `Begin` read a date as the beginning of the day, the others as its end."""
Begin = Annotated[datetime | None, read_time(read_begin, _NONE), _TEXT]
End = Annotated[datetime | None, read_time(read_instant, _NONE, "never"), _TEXT]
AsOf = Annotated[datetime | Literal["ever"] | None, read_time(_read_as_of, _NONE), _TEXT]
