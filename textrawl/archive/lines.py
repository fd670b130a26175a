"""Lines of an export, checked by the same rules as the arguments of tools."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import from_json

from textrawl.archive.exports import VERSION
from textrawl.toolsets.memory.declaration import EntityType, Name, RelationName, Source
from textrawl.values.instant import read_instant
from textrawl.values.reference_line import LineRefused
from textrawl.values.text import FACT_LENGTH, clean_fact, clean_name, clean_part


def _read_moment(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError("must be an ISO 8601 instant")  # noqa: TRY004 - pydantic reads ValueError
    return read_instant(value)


def _clean(value: object) -> object:
    return clean_name(value) if isinstance(value, str) else value


def _clean_text(value: object) -> object:
    return clean_fact(value) if isinstance(value, str) else value


Id = Annotated[
    str,
    Field(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"),
    BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value),
]
Moment = Annotated[datetime, BeforeValidator(_read_moment)]
SpaceName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
Label = Annotated[str, BeforeValidator(_clean), Field(min_length=1, max_length=200)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]


class Line(BaseModel):
    """Settings that all kinds of lines share."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SpaceLine(Line):
    """A space."""

    kind: Literal["space"]
    name: SpaceName
    created_at: Moment
    archived_at: Moment | None = None


class EntityLine(Line):
    """An entity."""

    kind: Literal["entity"]
    space: SpaceName
    id: Id
    name: Name
    entity_type: EntityType
    type_guessed: bool | None = None
    description: Annotated[str, BeforeValidator(_clean_text), Field(max_length=10_000)] | None = (
        None
    )
    metadata: dict[str, Any] = {}
    created_at: Moment
    updated_at: Moment


class _Statement(Line):
    space: SpaceName
    id: Id
    valid_from: Moment
    valid_until: Moment | None = None
    author: Label
    client: Label | None = None
    tool: Label
    request: Label | None = None
    created_at: Moment


class FactLine(_Statement):
    """A fact; `vector` is base64 of the model of the first line."""

    kind: Literal["fact"]
    entity: Id
    whole: Id | None = None
    part: Annotated[int, Field(ge=1, le=32_767, strict=True)] | None = None
    text: Annotated[str, Field(min_length=1, max_length=FACT_LENGTH)]
    source: Source
    confidence: Share
    replaced_by: Id | None = None
    vector: str | None = None

    @field_validator("text", mode="before")
    @classmethod
    def _clean_text(cls, value: object, info: ValidationInfo) -> object:
        """Keep white space at the ends of a part, so that the joined parts equal the text."""
        clean = clean_part if info.data.get("whole") else clean_fact
        return clean(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_part(self) -> Self:
        if (self.whole is None) != (self.part is None):
            raise ValueError("whole and part belong together")
        return self


class RelationLine(_Statement):
    """A relation."""

    kind: Literal["relation"]
    from_entity: Id
    relation: RelationName
    label: Annotated[Label, Field(max_length=100)] | None = None
    to_entity: Id
    strength: Share


class ReflectionLine(Line):
    """A reflection, on an entity, a relation (`edge`), or neither."""

    kind: Literal["reflection"]
    space: SpaceName
    id: Id
    target_type: Literal["entity", "session", "relation", "global"]
    entity: Id | None = None
    edge: Id | None = None
    text: Annotated[str, BeforeValidator(_clean_text), Field(min_length=1, max_length=10_000)]
    voice: Label
    mood: Annotated[Label, Field(max_length=100)] | None = None
    author: Label
    client: Label | None = None
    tool: Label
    request: Label | None = None
    created_at: Moment


class Model(Line):
    """The model that made the vectors."""

    name: Annotated[str, BeforeValidator(_clean), Field(min_length=1, max_length=300)]
    dimensions: Annotated[int, Field(ge=1, le=4000, strict=True)]
    cosine_floor: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
    cosine_ceiling: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
    trust: Share


class Header(Line):
    """The first line."""

    textrawl: Literal["export"]
    version: Literal[1]
    model: Model | None = None


class Footer(Line):
    """The last line, with the number of lines of each kind."""

    textrawl: Literal["end"]
    space: int
    entity: int
    fact: int
    relation: int
    reflection: int = 0


L = TypeVar("L", bound=Line)
Content = SpaceLine | EntityLine | FactLine | RelationLine | ReflectionLine
KINDS: dict[object, type[Content]] = {
    "space": SpaceLine,
    "entity": EntityLine,
    "fact": FactLine,
    "relation": RelationLine,
    "reflection": ReflectionLine,
}


def read_header(raw: bytes) -> Header:
    """Read the first line of a file. Raises LineRefused with the reason if it is no export."""
    value = _read_object(raw.removeprefix(b"\xef\xbb\xbf"))
    if value.get("textrawl") != "export":
        raise LineRefused("this is no export of textrawl")
    if value.get("version") != VERSION:
        raise LineRefused(
            f"the export has the format {value.get('version')!r:.20} and this textrawl reads "
            f"{VERSION}: upgrade textrawl"
        )
    return _validate(Header, value)


def read_line(raw: bytes) -> Content | Footer:
    """Read a line after the first. Raises LineRefused."""
    value = _read_object(raw)
    if "textrawl" in value:
        return _validate(Footer, value)
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise LineRefused(f"kind must be one of {', '.join(map(str, KINDS))}")
    return _validate(KINDS[kind], value)


def _read_object(raw: bytes) -> dict[str, Any]:
    try:
        value: Any = from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        # The message has the reason and the position, never the text.
        raise LineRefused(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise LineRefused("not a JSON object")
    return value  # pyright: ignore[reportUnknownVariableType]


def _validate(model: type[L], value: dict[str, Any]) -> L:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        raise LineRefused("; ".join(_explain(fault) for fault in faults[:5])) from None


def _explain(fault: Any) -> str:
    place = ".".join("".join(c for c in str(part)[:40] if c.isprintable()) for part in fault["loc"])
    message: str = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
    match fault["type"]:
        case "missing":
            return f"{place} is missing"
        case "extra_forbidden":
            return f"{place} is unknown"
        case "too_long" | "string_too_long":
            return f"{place} has more than {fault['ctx']['max_length']} characters"
        case "too_short" | "string_too_short":
            return f"{place} is empty"
        case "string_pattern_mismatch":
            return f"{place} has a wrong form"
        case _:
            return f"{place} {message[:1].lower()}{message[1:]}"
