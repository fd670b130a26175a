"""The toolset, and the types that its parameters share."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from textrawl.toolsets.toolset import Toolset
from textrawl.values.entity_type import EntityKind, name_type
from textrawl.values.instant import read_future_instant, read_instant
from textrawl.values.text import FACT_LENGTH, NAME_LENGTH, clean_fact, clean_name, clean_relation

memory = Toolset(
    "memory",
    "Remember facts about entities, relate, recall and forget them.",
    ("query_memory", "remember_fact", "build_knowledge", "relate_entities", "forget_entity"),
)

_NONE = "none"  # models send this word for a parameter that they believe to be required

EntityType = Annotated[EntityKind, BeforeValidator(name_type)]
Source = Annotated[
    Literal["conversation", "note", "document", "manual"] | None,
    Field(json_schema_extra={"default": "conversation"}),
]
"""None if the caller gave no source. A duplicate fact then keeps its source."""


def _read(read: Callable[[str], Any]) -> BeforeValidator:
    """Return a validator that reads text. The type refuses any other value."""
    return BeforeValidator(lambda value: read(value) if isinstance(value, str) else value)


def _read_time(read: Callable[[str], datetime], *fillers: str) -> BeforeValidator:
    """Return a validator that reads any value as text. The `fillers` are words for no time.

    Pydantic would read a number as seconds since 1970.
    """

    def read_time(value: object) -> datetime | None:
        absent = value is None or str(value).strip().lower() in fillers
        return None if absent else read(str(value))

    return BeforeValidator(read_time)


def _read_reference(text: str) -> str:
    name = clean_name(text)
    return "" if name.lower() == _NONE else name


Name = Annotated[str, _read(clean_name), Field(min_length=1, max_length=NAME_LENGTH)]
OptionalName = Annotated[str, _read(clean_name), Field(max_length=NAME_LENGTH)]
RelationName = Annotated[str, _read(clean_relation), Field(min_length=1, max_length=100)]
FactText = Annotated[str, _read(clean_fact), Field(min_length=1, max_length=FACT_LENGTH)]
Query = Annotated[str, _read(clean_name), Field(max_length=1000)]
_REFERENCE = (
    Field(max_length=FACT_LENGTH),
    WithJsonSchema({"type": "string"}),  # without the limit, which would cost tokens
)
FactReference = Annotated[str, _read(_read_reference), *_REFERENCE]
# "none" is a text like any other here: read as no fact, it would delete the whole entity.
ForgottenReference = Annotated[str, _read(clean_name), *_REFERENCE]
_Share = Annotated[
    float,
    Field(ge=0, le=1, allow_inf_nan=False),
    # Postgres stores six digits, and refuses a number that is too small for its type.
    AfterValidator(lambda value: round(value, 6)),
]
Confidence = Annotated[_Share | None, Field(json_schema_extra={"default": 1})]
_TEXT = WithJsonSchema({"type": "string"})
Instant = Annotated[datetime | None, _read_time(read_instant, _NONE), _TEXT]
FutureInstant = Annotated[datetime | None, _read_time(read_future_instant, _NONE, "never"), _TEXT]
