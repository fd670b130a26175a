"""Arguments of the tools that programs of textrawl call.

Each class checks the arguments of one tool in the same way as the tool. `Client` gives them with
its own names, such as `least_score`, and a request has the names of the tool, such as `minScore`.
Errors have the names of `Client`.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel

from textrawl.errors import ArgumentInvalid, EntityNameMissing, QueryMissing
from textrawl.memory.fact_rows import EVER
from textrawl.memory.facts import Edge, Fact
from textrawl.memory.journal import EntryKey
from textrawl.memory.questions import Question, Times
from textrawl.values.names import read_type, read_wanted_type
from textrawl.values.text import (
    FACT_LENGTH,
    LEAST_TOKENS,
    MOST_FACTS,
    MOST_TOKENS,
    NAME_LENGTH,
    PROMPT_LENGTH,
    RELATION_LENGTH,
    clean_fact,
    clean_name,
    clean_query,
    clean_relation,
)
from textrawl.values.times import read_as_of, read_begin, read_instant, read_past_instant
from textrawl.wire.arguments import apply, explain, slim

Moment = datetime | str
"""A time. A text is an ISO 8601 date or instant. A time without an offset is in UTC."""


def _read(read: Callable[[str], object]) -> BeforeValidator:
    def run(value: object) -> object:
        text = value.isoformat() if isinstance(value, datetime) else value
        return read(text) if isinstance(text, str) else text

    return BeforeValidator(run)


def _read_as_of(text: str) -> datetime | Literal["ever"]:
    return EVER if text == EVER else read_as_of(text)


def _require_query(query: str) -> str:
    if not query:
        raise QueryMissing
    return query


def _require_name(name: str) -> str:
    if not name:
        raise EntityNameMissing
    return name


_TEXT = apply(clean_name)
_Name = Annotated[str, _TEXT, Field(max_length=NAME_LENGTH), AfterValidator(_require_name)]
_LONG = Field(max_length=PROMPT_LENGTH)
_Query = Annotated[str, apply(clean_query), _LONG, AfterValidator(_require_query)]
# An empty text is refused. It would mean "no fact", and delete a whole entity.
_Reference = Annotated[str, _TEXT, Field(min_length=1, max_length=FACT_LENGTH)]
_WORD = Field(min_length=1, max_length=NAME_LENGTH)
_Type = Annotated[str, apply(lambda word: read_type(clean_name(word))), _WORD]
_WantedType = Annotated[str, apply(lambda word: read_wanted_type(clean_name(word))), _WORD]
_Tokens = Annotated[int, Field(ge=LEAST_TOKENS, le=MOST_TOKENS)]
_Instant = Annotated[datetime | None, _read(read_instant)]
_ONE_TEXT = WithJsonSchema({"type": "string"})
_PastInstant = Annotated[datetime | None, _read(read_past_instant)]


class Arguments(BaseModel):
    """Arguments of a tool."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        loc_by_alias=False,
        extra="forbid",
        strict=True,
    )

    def write(self) -> dict[str, Any]:
        """Return the arguments of a request."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


Checked = TypeVar("Checked", bound=Arguments)


def check(model: type[Checked], members: Mapping[str, Any]) -> Checked:
    """Return the arguments. Raises ArgumentInvalid with the names of the wrong ones."""
    try:
        return model.model_validate(members)
    except ValidationError as error:
        raise explain(error, slim(model.model_json_schema(by_alias=False))) from None


class SearchArguments(Arguments):
    """Arguments of query_memory."""

    mode: Literal["search"] = "search"
    question: Annotated[_Query, Field(alias="query")]
    limit: Annotated[int, Field(ge=1, le=MOST_FACTS)] = 10
    max_tokens: _Tokens | None = None
    least_score: Annotated[float | None, Field(alias="minScore", ge=0, le=1)] = None
    entity_types: list[_WantedType] | None = None
    as_of: Annotated[datetime | Literal["ever"] | None, _read(_read_as_of), _ONE_TEXT] = None
    since: _PastInstant = None
    until: _Instant = None
    include_ids: bool = False

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        if self.since and self.until and self.until < self.since:
            raise ArgumentInvalid("until must not be before since", title="Empty period")
        return self

    def read(self) -> Question:
        """Return the question."""
        times = Times(self.as_of, self.since, self.until)
        types = self.entity_types or None
        return Question(self.question, types, times, self.limit, least_score=self.least_score)


class DigestArguments(Arguments):
    """Arguments of the digest, which servers offer as a prompt."""

    project: Annotated[str, _TEXT, Field(max_length=NAME_LENGTH)] | None = None
    max_tokens: _Tokens | None = None


class FactArguments(Arguments):
    """Arguments of remember_fact."""

    entity: Annotated[_Name, Field(alias="entityName")]
    type: Annotated[_Type | None, Field(alias="entityType")] = None
    fact: Annotated[
        str,
        apply(clean_fact),
        Field(alias="observation", min_length=1, max_length=FACT_LENGTH),
    ]
    source: Literal["manual"] | None = None
    replaces: _Reference | None = None
    said_at: _PastInstant = None
    valid_from: Annotated[datetime | None, _read(read_begin)] = None
    valid_until: _Instant = None

    def read(self) -> Fact:
        """Return the fact."""
        return Fact(
            self.entity,
            self.type,
            self.fact,
            self.source,
            valid_from=self.valid_from,
            valid_until=self.valid_until,
            said_at=self.said_at,
            replaces=self.replaces,
        )


class EdgeArguments(Arguments):
    """Arguments of relate_entities."""

    from_entity: _Name
    relation: Annotated[str, apply(clean_relation), Field(min_length=1, max_length=RELATION_LENGTH)]
    to_entity: _Name
    from_type: Annotated[_Type | None, Field(alias="fromEntityType")] = None
    to_type: Annotated[_Type | None, Field(alias="toEntityType")] = None
    replaces: bool = False
    ended: bool = False

    @model_validator(mode="after")
    def _check_choice(self) -> Self:
        if self.ended and self.replaces:
            raise ArgumentInvalid("ended, replaces: give only one")
        return self

    def read(self) -> Edge:
        """Return the relation."""
        return Edge(self.from_entity, self.relation, self.to_entity, self.from_type, self.to_type)


class DeletionArguments(Arguments):
    """Arguments of forget_entity. A program asks its user itself."""

    entity: Annotated[_Name, Field(alias="entityName")]
    fact: _Reference | None = None
    dry_run: bool = False
    confirm: bool = True


class EntryArguments(Arguments):
    """Arguments of memory_create: texts of a session of a client such as codex, for one day."""

    granularity: Literal["daily"] = "daily"
    date: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    content: Annotated[str, apply(clean_fact), Field(min_length=1, max_length=200_000)]
    instance_id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,99}$")]
    chat_ids: list[Annotated[str, _TEXT, Field(min_length=1, max_length=200)]]

    def read(self) -> EntryKey:
        """Return the key of the entry."""
        return EntryKey(self.granularity, self.date, self.instance_id)
