"""The toolset, and the types that its parameters share."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from textrawl.instants import read_future_instant, read_instant
from textrawl.texts import FACT_LENGTH, NAME_LENGTH, clean_fact, clean_name, clean_relation
from textrawl.toolsets import Toolset

memory = Toolset(
    "memory",
    "Remember facts about entities, relate, recall and forget them.",
    ("query_memory", "remember_fact", "build_knowledge", "relate_entities", "forget_entity"),
)

_Type = Literal["person", "concept", "project", "preference", "fact", "location", "organization"]
ENTITY_TYPES: tuple[str, ...] = get_args(_Type)
_SYNONYMS: dict[str, str] = {
    "people": "person", "human": "person", "individual": "person", "user": "person",
    "company": "organization", "companies": "organization", "organisation": "organization",
    "org": "organization", "corporation": "organization", "business": "organization",
    "institution": "organization", "university": "organization",
    "place": "location", "city": "location", "country": "location", "region": "location",
    "idea": "concept", "topic": "concept",
    "repository": "project", "repo": "project", "codebase": "project",
}  # fmt: skip
"""What models call entities of a type, where there is no doubt about which is meant."""


def _name_type(value: object) -> object:
    word = str(value).strip().lower()
    for name in (word, word.removesuffix("s")):
        if (name := _SYNONYMS.get(name, name)) in ENTITY_TYPES:
            return name
    return value


EntityType = Annotated[_Type, BeforeValidator(_name_type)]
Source = Literal["conversation", "note", "document", "manual"]


def _read(read: Callable[[str], Any]) -> BeforeValidator:
    """Reads text; what is none is left for the type to refuse."""
    return BeforeValidator(lambda value: read(value) if isinstance(value, str) else value)


def _read_time(read: Callable[[str], datetime]) -> BeforeValidator:
    """Reads whatever is there: pydantic would take a number for seconds since 1970."""
    return BeforeValidator(lambda value: None if value is None else read(str(value)))


Name = Annotated[str, _read(clean_name), Field(min_length=1, max_length=NAME_LENGTH)]
OptionalName = Annotated[str, _read(clean_name), Field(max_length=NAME_LENGTH)]
RelationName = Annotated[str, _read(clean_relation), Field(min_length=1, max_length=100)]
FactText = Annotated[str, _read(clean_fact), Field(min_length=1, max_length=FACT_LENGTH)]
Query = Annotated[str, _read(clean_name), Field(max_length=1000)]
FactReference = Annotated[
    str,
    _read(clean_name),
    Field(max_length=FACT_LENGTH),
    WithJsonSchema({"type": "string"}),  # nobody sends a longer one, and the limit costs tokens
]
# Postgres stores six digits, and takes a number that is too small for them for an error.
Confidence = Annotated[
    float, Field(ge=0, le=1, allow_inf_nan=False), AfterValidator(lambda value: round(value, 6))
]
_TEXT = WithJsonSchema({"type": "string"})
Instant = Annotated[datetime | None, _read_time(read_instant), _TEXT]
FutureInstant = Annotated[datetime | None, _read_time(read_future_instant), _TEXT]
