"""Lines of an export. The same rules apply to them as to arguments of tools."""

import re
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
from textrawl.tools.identity.tools import CATEGORIES, CONTENT_LENGTH, check_filename
from textrawl.tools.memory.tools import RelationName, Source
from textrawl.tools.toolset import Name
from textrawl.values.anchors import MOST_ANCHORS
from textrawl.values.names import EntityKind, read_wanted_type
from textrawl.values.reference_file import LineRefused
from textrawl.values.remotes import LONGEST_REPOSITORY
from textrawl.values.text import (
    FACT_LENGTH,
    REASON_LENGTH,
    clean_document,
    clean_fact,
    clean_name,
    clean_text,
    count_cleaned,
)
from textrawl.values.times import read_instant
from textrawl.wire.arguments import apply
from textrawl.wire.program import Anchor


def _read_moment(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError("must be an ISO 8601 instant")  # noqa: TRY004 - pydantic reads ValueError
    return read_instant(value)


def _read_kind(value: object) -> object:
    return read_wanted_type(value) if isinstance(value, str) else value


def clean(value: object) -> object:
    """Return a text in the form of a name. Return other values unchanged."""
    return clean_name(value) if isinstance(value, str) else value


Id = Annotated[
    str,
    Field(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"),
    apply(str.lower),
]
Moment = Annotated[datetime, BeforeValidator(_read_moment)]
SpaceName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
Label = Annotated[str, BeforeValidator(clean), Field(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=0, le=2_000_000_000, strict=True)]
Number = Annotated[int, Field(ge=1, le=2_000_000_000, strict=True)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]


class Line(BaseModel):
    """Settings that all kinds of lines share."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PlacedLine(Line):
    """A line of something in a space."""

    kind: str
    space: SpaceName
    id: str


class RowLine(PlacedLine):
    """A line of a row with a UUID."""

    id: Id


class SignedLine(RowLine):
    """A line that says who wrote it, and with which client, tool and request."""

    author: Label
    client: Label | None = None
    tool: Label
    request: Label | None = None


SOURCE_LENGTH = 5_000_000
_SOURCE_PATH = re.compile("(file|clip|import)/.")


class InstanceLine(PlacedLine):
    """An instance, which is a program that shares documents."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$")]
    instance_type: Literal["psycheros", "sby", "sillytavern", "openwebui", "claude-code", "other"]
    name: Label | None = None
    version: Annotated[Label, Field(max_length=100)] | None = None
    created_at: Moment
    last_sync: Moment | None = None


ITEMS = ("item", "log")
ItemLabel = Annotated[str, Field(min_length=1, max_length=500, pattern="^[^\0]*$")]


class DocumentLine(RowLine):
    """An identity file, a journal entry, a source, or an item. Its texts are in other lines."""

    type: Literal["identity", "journal", "source", "item", "log"]
    path: Annotated[str, Field(max_length=300)]
    entity: Id | None = None
    created_at: Moment
    granularity: Literal["daily", "weekly", "monthly", "yearly", "significant"] | None = None
    date: Annotated[str, Field(max_length=10)] | None = None
    instance: Label | None = None
    slug: Annotated[Label, Field(max_length=100)] | None = None
    source_kind: Literal["clip", "ai-conversation", "file"] | None = None
    label: Label | None = None
    namespace: Annotated[list[ItemLabel], Field(min_length=1, max_length=100)] | None = None
    key: ItemLabel | None = None
    position: Annotated[int, Field(ge=1, strict=True)] | None = None
    expires_at: Moment | None = None

    @field_validator("path")
    @classmethod
    def _clean_path(cls, path: str, info: ValidationInfo) -> str:
        return path if info.data.get("type") in ITEMS else clean_name(path)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.type in ITEMS) != (self.namespace is not None):
            raise ValueError("namespace must be given for an item and for nothing else")
        if (self.type == "item") != (self.key is not None):
            raise ValueError("key must be given for an item and for nothing else")
        if self.type == "identity":
            category, _, filename = self.path.partition("/")
            if category not in CATEGORIES:
                raise ValueError("path does not begin with a category of identity files")
            check_filename(filename)
        if self.type == "source":
            if not _SOURCE_PATH.match(self.path):
                raise ValueError("path of a source does not begin with file/, clip/ or import/")
            if self.source_kind is None or self.label is None:
                raise ValueError("source_kind and label must be given for a source")
        return self


class VersionLine(SignedLine):
    """A text of a document. Without `text`, the version deletes the document.

    The `id` follows from the text and `created_at`. For a source, `attributes` has its chunks. If
    it is `exact`, the text is the JSON of an item.
    """

    document: Id
    number: Number
    exact: bool = False
    text: Annotated[str, Field(max_length=SOURCE_LENGTH)] | None = None
    attributes: dict[str, Any] = Field(default_factory=dict[str, Any])
    lost: bool = False
    current: bool
    modified_at: Moment
    modified_by: Label | None = None
    created_at: Moment

    @field_validator("text")
    @classmethod
    def _clean_text(cls, text: str | None, info: ValidationInfo) -> str | None:
        return text if text is None or info.data.get("exact") else clean_document(text)

    @model_validator(mode="after")
    def _check_length(self) -> Self:
        # Only the versions of sources have chunks.
        if "chunks" not in self.attributes and len(self.text or "") > CONTENT_LENGTH:
            raise ValueError(f"text has more than {CONTENT_LENGTH} characters")
        return self


class SnapshotLine(PlacedLine):
    """A snapshot of an identity file. `version` is the id of the version that it keeps."""

    id: Annotated[str, Field(pattern=r"^[a-z]{1,20}/[A-Za-z0-9_-]{1,200}$")]
    document: Id
    version: Id
    reason: Literal["manual", "scheduled", "pre-replace"]
    source: Label | None = None
    pinned: bool
    created_at: Moment


class _MindLine(RowLine):
    properties: dict[str, Any] | None = None
    instance: Label | None = None
    last_confirmed_at: Moment | None = None
    version: Annotated[Count, Field(ge=1)]
    deleted_at: Moment | None = None


class NodeLine(_MindLine):
    """The values of a node. Its id is the id of its entity."""

    label: Label | None = None
    described_by: Id | None = None
    confidence: Share | None = None
    memory: Label | None = None
    first_learned_at: Moment | None = None


class EdgeLine(_MindLine):
    """The values of an edge. Its id is the id of its relation."""

    evidence: (
        Annotated[str, apply(clean_fact), Field(min_length=1, max_length=FACT_LENGTH)] | None
    ) = None
    occurred_at: Moment | None = None


Base64 = Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]+={0,2}$")]


class CiphertextLine(RowLine):
    """An encrypted document of a sensitive graph. `key` is the id of the key of the graph."""

    key: Id
    version: Number
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    head: Base64
    content: Base64
    created_at: Moment
    stored_at: Moment


class SpaceLine(Line):
    """A space. With a tier, it is a graph, which holds sources instead of facts."""

    kind: str
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


class EntityLine(RowLine):
    """An entity."""

    name: Name
    entity_type: Annotated[EntityKind, BeforeValidator(_read_kind)]
    type_guessed: bool | None = None
    description: Annotated[str, apply(clean_fact), Field(max_length=10_000)] | None = None
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])
    created_at: Moment
    updated_at: Moment


class AliasLine(SignedLine):
    """Another name of an entity."""

    entity: Id
    name: Name
    created_at: Moment


class RevisionLine(SignedLine):
    """The reason why a fact was wrong. `id` is that of the fact."""

    reason: Annotated[str, apply(clean_fact), Field(min_length=1, max_length=REASON_LENGTH)]
    revised_at: Moment


class DismissalLine(SignedLine):
    """A candidate that somebody dismissed: two entities, two facts, or one fact as both."""

    candidate: Literal["same", "close", "stale"]
    one: Id
    other: Id
    created_at: Moment


class PinLine(RowLine):
    """A pin, and who pinned the fact. `id` is that of the fact."""

    author: Label
    pinned_at: Moment


class _Statement(SignedLine):
    valid_from: Moment
    valid_until: Moment | None = None
    closed_at: Moment | None = None
    created_at: Moment
    origin: Literal["said", "inferred", "external"] | None = None


class FactLine(_Statement):
    """A fact. `vector` is the base64 of a vector, made by the model that the first line names.

    `said_at` is None if the author did not give the time at which the fact was said.
    """

    entity: Id
    whole: Id | None = None
    part: Annotated[int, Field(ge=1, le=32_767, strict=True)] | None = None
    text: Annotated[str, Field(min_length=1, max_length=FACT_LENGTH)]
    source: Source
    confidence: Share
    replaced_by: Id | None = None
    said_at: Moment | None = None
    confirmed_at: Moment | None = None
    evidence: Annotated[str, Field(min_length=1, max_length=FACT_LENGTH)] | None = None
    evidence_start: Annotated[int, Field(ge=0, strict=True)] | None = None
    repository: Annotated[str, Field(min_length=1, max_length=LONGEST_REPOSITORY)] | None = None
    anchors: Annotated[list[Anchor], Field(min_length=1, max_length=MOST_ANCHORS)] | None = None
    vector: str | None = None

    @field_validator("text", mode="before")
    @classmethod
    def _clean_text(cls, value: object, info: ValidationInfo) -> object:
        """Keep white space at the ends of a part, because the joined parts must equal the text."""
        clean = clean_text if info.data.get("whole") else clean_fact
        return clean(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_part(self) -> Self:
        if (self.whole is None) != (self.part is None):
            raise ValueError("whole and part must be given together")
        return self


class RelationLine(_Statement):
    """A relation."""

    from_entity: Id
    relation: RelationName
    label: Annotated[Label, Field(max_length=100)] | None = None
    to_entity: Id
    strength: Share


class ReflectionLine(SignedLine):
    """A reflection on an entity, on a relation (`edge`), on a session, or on everything."""

    target_type: Literal["entity", "session", "relation", "global"]
    entity: Id | None = None
    edge: Id | None = None
    text: Annotated[str, apply(clean_fact), Field(min_length=1, max_length=10_000)]
    voice: Label
    mood: Annotated[Label, Field(max_length=100)] | None = None
    created_at: Moment


class MemoryLine(RowLine):
    """Tags, uses and status of a memory. Its `id` is the id of the fact with its text."""

    saved: bool
    tags: Annotated[list[Label], Field(max_length=1000)] = Field(default_factory=list[Label])
    entities: Annotated[list[Label], Field(max_length=10_000)] = Field(default_factory=list[Label])
    source: Annotated[str, apply(clean_fact), Field(max_length=500)] | None = None
    context: Annotated[str, apply(clean_fact), Field(max_length=1000)] | None = None
    extra: dict[str, Any] = Field(default_factory=dict[str, Any])
    strength: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)]
    use_count: Count
    last_used: Moment
    status: Literal["active", "promoted", "archived", "removed"]
    ended_at: Moment | None = None
    promoted_at: Moment | None = None
    promoted_to: Annotated[str, apply(clean_fact), Field(max_length=1000)] | None = None
    last_review_at: Moment | None = None
    review_count: Count = 0
    cross_domain_count: Count = 0


class LinkLine(RowLine):
    """A link between two memories."""

    from_memory: Id
    to_memory: Id
    relation: Literal[
        "related", "causes", "supports", "contradicts", "has_decision", "consolidated_from"
    ]
    strength: Share
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])
    created_at: Moment


class ExportedModel(Line):
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
    model: ExportedModel | None = None


class Footer(BaseModel):
    """The last line of an export, with the number of lines of each kind."""

    model_config = ConfigDict(extra="allow", frozen=True)

    textrawl: Literal["end"]

    def count(self) -> int:
        """Return the number of all lines."""
        return sum(one for one in (self.model_extra or {}).values() if isinstance(one, int))


L = TypeVar("L", bound=BaseModel)
Content = SpaceLine | PlacedLine
OF_ANOTHER_LINE = (RevisionLine, MemoryLine, NodeLine, EdgeLine)
"""Kinds of lines whose id names the fact, the entity or the relation of an earlier line."""
OF_GRAPHS = (EntityLine, DocumentLine, VersionLine)
"""Kinds of lines that a graph can have."""
KINDS: dict[str, type[Content]] = {
    "space": SpaceLine,
    "entity": EntityLine,
    "alias": AliasLine,
    "fact": FactLine,
    "revision": RevisionLine,
    "relation": RelationLine,
    "reflection": ReflectionLine,
    "dismissal": DismissalLine,
    "pin": PinLine,
    "memory": MemoryLine,
    "link": LinkLine,
    "instance": InstanceLine,
    "document": DocumentLine,
    "version": VersionLine,
    "snapshot": SnapshotLine,
    "ciphertext": CiphertextLine,
    "node": NodeLine,
    "edge": EdgeLine,
}
"""Every kind of line after the first, by the value of its field `kind`."""


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


def read_line(raw: bytes) -> tuple[Content | Footer, int]:
    """Read a line after the first, and count its texts that are cleaned. Raises LineRefused."""
    value = _read_object(raw)
    if "textrawl" in value:
        return _validate(Footer, value), 0
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise LineRefused(f"kind must be one of {', '.join(KINDS)}")
    # A document keeps the ends of its lines, and an item everything.
    kept = kind == "version" or value.get("type") in ITEMS
    changed = 0 if kept else count_cleaned(value)
    return _validate(KINDS[kind], value), changed


def check_line(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a line, without its kind, space and id. Raises LineRefused."""
    own = {"kind": kind, "space": "default", "id": "00000000-0000-0000-0000-000000000000"}
    line = _validate(KINDS[kind], fields | own)
    return line.model_dump(mode="json", exclude={*own})


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
