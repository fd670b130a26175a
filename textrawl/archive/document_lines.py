"""Lines of an export with documents: their keys, their texts and their snapshots."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from textrawl.archive.line_fields import Id, Label, Line, Moment, SignedLine, SpaceName
from textrawl.toolsets.identity.declaration import CATEGORIES, CONTENT_LENGTH, check_filename
from textrawl.values.text import check_document

SOURCE_LENGTH = 5_000_000
_SOURCE_PATH = re.compile("(file|clip)/.")


class InstanceLine(Line):
    """An instance, which is a program that shares documents."""

    kind: Literal["instance"]
    space: SpaceName
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$")]
    instance_type: Literal["psycheros", "sby", "sillytavern", "openwebui", "claude-code", "other"]
    name: Label | None = None
    version: Annotated[Label, Field(max_length=100)] | None = None
    created_at: Moment
    last_sync: Moment | None = None


class DocumentLine(Line):
    """An identity file, a journal entry with its key, or a source. Its texts are in other lines."""

    kind: Literal["document"]
    space: SpaceName
    id: Id
    type: Literal["identity", "journal", "source"]
    path: Annotated[Label, Field(max_length=300)]
    entity: Id | None = None
    created_at: Moment
    granularity: Literal["daily", "weekly", "monthly", "yearly", "significant"] | None = None
    date: Annotated[str, Field(max_length=10)] | None = None
    instance: Label | None = None
    slug: Annotated[Label, Field(max_length=100)] | None = None
    source_kind: Literal["clip", "ai-conversation", "file"] | None = None
    label: Label | None = None

    @model_validator(mode="after")
    def _check_path(self) -> Self:
        if self.type == "identity":
            category, _, filename = self.path.partition("/")
            if category not in CATEGORIES:
                raise ValueError("path does not begin with a category of identity files")
            check_filename(filename)
        if self.type == "source":
            if not _SOURCE_PATH.match(self.path):
                raise ValueError("path of a source does not begin with file/ or clip/")
            if self.source_kind is None or self.label is None:
                raise ValueError("source_kind and label must be given for a source")
        return self


class VersionLine(SignedLine):
    """A text of a document. Without `text`, the version deletes the document.

    The `id` follows from the text and `created_at`. For a source, `attributes` has its chunks.
    """

    kind: Literal["version"]
    space: SpaceName
    id: Id
    document: Id
    number: Annotated[int, Field(ge=1, le=2_000_000_000, strict=True)]
    text: Annotated[str, Field(max_length=SOURCE_LENGTH), AfterValidator(check_document)] | None = (
        None
    )
    attributes: dict[str, Any] = Field(default_factory=dict[str, Any])
    lost: bool = False
    current: bool
    modified_at: Moment
    modified_by: Label | None = None
    created_at: Moment

    @model_validator(mode="after")
    def _check_length(self) -> Self:
        # Only the versions of sources have chunks.
        if "chunks" not in self.attributes and len(self.text or "") > CONTENT_LENGTH:
            raise ValueError(f"text has more than {CONTENT_LENGTH} characters")
        return self


class SnapshotLine(Line):
    """A snapshot of an identity file. `version` is the id of the version that it keeps."""

    kind: Literal["snapshot"]
    space: SpaceName
    id: Annotated[str, Field(pattern=r"^[a-z]{1,20}/[A-Za-z0-9_-]{1,200}$")]
    document: Id
    version: Id
    reason: Literal["manual", "scheduled", "pre-replace"]
    source: Label | None = None
    pinned: bool
    created_at: Moment
