"""Lines of an export. The same rules apply to them as to arguments of tools."""

from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import from_json

from textrawl.archive.document_lines import DocumentLine, InstanceLine, SnapshotLine, VersionLine
from textrawl.archive.exports import VERSION
from textrawl.archive.graph_lines import EdgeLine, NodeLine
from textrawl.archive.line_fields import (
    Count,
    Id,
    Label,
    Line,
    Moment,
    Share,
    SignedLine,
    SpaceName,
    clean,
    clean_text,
)
from textrawl.toolsets.memory.declaration import EntityType, Name, RelationName, Source
from textrawl.values.limits import FACT_LENGTH, REASON_LENGTH
from textrawl.values.reference_line import LineRefused
from textrawl.values.text import clean_fact, clean_part


class SpaceLine(Line):
    """A space. With a tier, it is a graph, which holds sources instead of facts."""

    kind: Literal["space"]
    name: SpaceName
    language: Annotated[Label, Field(max_length=200)] | None = None
    created_at: Moment
    archived_at: Moment | None = None
    tier: Literal["public", "personal", "sensitive"] | None = None
    recall_tokens: Annotated[int, Field(ge=0, le=100_000, strict=True)] | None = None

    @model_validator(mode="after")
    def _check_tier(self) -> Self:
        if self.recall_tokens is not None and self.tier is None:
            raise ValueError("recall_tokens is only for a graph, which has a tier")
        return self


class EntityLine(Line):
    """An entity."""

    kind: Literal["entity"]
    space: SpaceName
    id: Id
    name: Name
    entity_type: EntityType
    type_guessed: bool | None = None
    description: Annotated[str, BeforeValidator(clean_text), Field(max_length=10_000)] | None = None
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])
    created_at: Moment
    updated_at: Moment


class AliasLine(SignedLine):
    """Another name of an entity."""

    kind: Literal["alias"]
    space: SpaceName
    id: Id
    entity: Id
    name: Name
    created_at: Moment


class RevisionLine(SignedLine):
    """The reason why a fact was wrong. `id` is that of the fact."""

    kind: Literal["revision"]
    space: SpaceName
    id: Id
    reason: Annotated[
        str, BeforeValidator(clean_text), Field(min_length=1, max_length=REASON_LENGTH)
    ]
    revised_at: Moment


class _Statement(SignedLine):
    space: SpaceName
    id: Id
    valid_from: Moment
    valid_until: Moment | None = None
    closed_at: Moment | None = None
    created_at: Moment


class FactLine(_Statement):
    """A fact. `vector` is the base64 of a vector, made by the model that the first line names.

    `said_at` is None if the author did not give the time at which the fact was said.
    """

    kind: Literal["fact"]
    entity: Id
    whole: Id | None = None
    part: Annotated[int, Field(ge=1, le=32_767, strict=True)] | None = None
    text: Annotated[str, Field(min_length=1, max_length=FACT_LENGTH)]
    source: Source
    confidence: Share
    replaced_by: Id | None = None
    said_at: Moment | None = None
    vector: str | None = None

    @field_validator("text", mode="before")
    @classmethod
    def _clean_text(cls, value: object, info: ValidationInfo) -> object:
        """Keep white space at the ends of a part, because the joined parts must equal the text."""
        clean = clean_part if info.data.get("whole") else clean_fact
        return clean(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_part(self) -> Self:
        if (self.whole is None) != (self.part is None):
            raise ValueError("whole and part must be given together")
        return self


class RelationLine(_Statement):
    """A relation."""

    kind: Literal["relation"]
    from_entity: Id
    relation: RelationName
    label: Annotated[Label, Field(max_length=100)] | None = None
    to_entity: Id
    strength: Share


class ReflectionLine(SignedLine):
    """A reflection on an entity, on a relation (`edge`), on a session, or on everything."""

    kind: Literal["reflection"]
    space: SpaceName
    id: Id
    target_type: Literal["entity", "session", "relation", "global"]
    entity: Id | None = None
    edge: Id | None = None
    text: Annotated[str, BeforeValidator(clean_text), Field(min_length=1, max_length=10_000)]
    voice: Label
    mood: Annotated[Label, Field(max_length=100)] | None = None
    created_at: Moment


class MemoryLine(Line):
    """Tags, uses and status of a memory. Its `id` is the id of the fact with its text."""

    kind: Literal["memory"]
    space: SpaceName
    id: Id
    saved: bool
    tags: Annotated[list[Label], Field(max_length=1000)] = Field(default_factory=list[Label])
    entities: Annotated[list[Label], Field(max_length=10_000)] = Field(default_factory=list[Label])
    source: Annotated[str, BeforeValidator(clean_text), Field(max_length=500)] | None = None
    context: Annotated[str, BeforeValidator(clean_text), Field(max_length=1000)] | None = None
    extra: dict[str, Any] = Field(default_factory=dict[str, Any])
    strength: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)]
    use_count: Count
    last_used: Moment
    status: Literal["active", "promoted", "archived", "removed"]
    ended_at: Moment | None = None
    promoted_at: Moment | None = None
    promoted_to: Annotated[str, BeforeValidator(clean_text), Field(max_length=1000)] | None = None
    last_review_at: Moment | None = None
    review_count: Count = 0
    cross_domain_count: Count = 0


class LinkLine(Line):
    """A link between two memories."""

    kind: Literal["link"]
    space: SpaceName
    id: Id
    from_memory: Id
    to_memory: Id
    relation: Literal[
        "related", "causes", "supports", "contradicts", "has_decision", "consolidated_from"
    ]
    strength: Share
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])
    created_at: Moment


class Model(Line):
    """The model that made the vectors."""

    name: Annotated[str, BeforeValidator(clean), Field(min_length=1, max_length=300)]
    dimensions: Annotated[int, Field(ge=1, le=4000, strict=True)]
    cosine_floor: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
    cosine_ceiling: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
    trust: Share


class Header(Line):
    """The first line of an export."""

    textrawl: Literal["export"]
    version: Literal[1]
    model: Model | None = None


class Footer(Line):
    """The last line of an export, with the number of lines of each kind."""

    textrawl: Literal["end"]
    space: int
    entity: int
    fact: int
    relation: int
    alias: int = 0
    revision: int = 0
    reflection: int = 0
    memory: int = 0
    link: int = 0
    instance: int = 0
    document: int = 0
    version: int = 0
    snapshot: int = 0
    node: int = 0
    edge: int = 0


L = TypeVar("L", bound=Line)
Content = (
    SpaceLine
    | EntityLine
    | AliasLine
    | FactLine
    | RevisionLine
    | RelationLine
    | ReflectionLine
    | MemoryLine
    | LinkLine
    | InstanceLine
    | DocumentLine
    | VersionLine
    | SnapshotLine
    | NodeLine
    | EdgeLine
)
OF_ANOTHER_LINE = (RevisionLine, MemoryLine, NodeLine, EdgeLine)
"""Kinds of lines whose id is that of a fact, an entity or a relation, which an earlier line has."""
OF_GRAPHS = (EntityLine, DocumentLine, VersionLine)
"""Kinds of lines that a graph can have."""
KINDS: dict[object, type[Content]] = {
    "space": SpaceLine,
    "entity": EntityLine,
    "alias": AliasLine,
    "fact": FactLine,
    "revision": RevisionLine,
    "relation": RelationLine,
    "reflection": ReflectionLine,
    "memory": MemoryLine,
    "link": LinkLine,
    "instance": InstanceLine,
    "document": DocumentLine,
    "version": VersionLine,
    "snapshot": SnapshotLine,
    "node": NodeLine,
    "edge": EdgeLine,
}


def read_header(raw: bytes) -> Header:
    """Read the first line of a file. Raises LineRefused if the file is not an export."""
    value = _read_object(raw.removeprefix(b"\xef\xbb\xbf"))
    if value.get("textrawl") != "export":
        raise LineRefused("the file is not an export of textrawl")
    if value.get("version") != VERSION:
        raise LineRefused(
            f"the export has the format {value.get('version')!r:.20}, but this textrawl reads only "
            f"the format {VERSION}: upgrade textrawl"
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
        # The message of the error contains the reason and the position, but never the text.
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
