"""The toolset `sync`, and the types that the parameters of its tools share."""

from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from textrawl.toolsets.cleaning import CLEAN_NAME
from textrawl.toolsets.identity.declaration import Category, Content, Filename, PromptLabel
from textrawl.toolsets.journal.declaration import (
    ChatIds,
    EntryDate,
    Granularity,
    InstanceId,
    InstanceIds,
    Slug,
)
from textrawl.toolsets.journal.declaration import Content as EntryText
from textrawl.toolsets.memory.declaration import PastInstant
from textrawl.toolsets.toolset import Toolset

sync = Toolset(
    "sync",
    "Programs exchange the identity files and the journal of a space, and see conflicts.",
    ("sync_pull", "sync_push", "sync_status"),
)

MOST_CHANGES = 200


InstanceType = Literal["psycheros", "sby", "sillytavern", "openwebui", "claude-code", "other"]
Version = Annotated[int, Field(ge=0, le=2**63 - 1)]
Title = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=200)]
Release = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=100)]


class Instance(BaseModel):
    """The instance that pushes."""

    model_config = ConfigDict(extra="forbid")

    id: InstanceId
    type: InstanceType = "other"
    name: Title | None = None
    version: Release | None = None


class _Change(BaseModel):
    model_config = ConfigDict(extra="forbid")

    deleted: bool = False
    lastModified: PastInstant = None  # noqa: N815 - JSON keys are in camelCase

    @model_validator(mode="before")
    @classmethod
    def _require_content(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        change = cast("dict[str, object]", value)
        if (change.get("content") is None) != (change.get("deleted") is True):
            raise ValueError("needs either content or deleted: true")
        return change


class IdentityChange(_Change):
    """A change of an identity file: either its new content, or `deleted`."""

    category: Category
    filename: Filename
    content: Content | None = None
    promptLabel: PromptLabel | None = None  # noqa: N815

    def read(self) -> dict[str, object]:
        """Return the change for `push_changes`."""
        return {
            "category": self.category,
            "filename": self.filename,
            "content": self.content,
            "label": self.promptLabel,
            "modified_at": self.lastModified and self.lastModified.isoformat(),
        }


class MemoryChange(_Change):
    """A change of a journal entry: either its new content, or `deleted`."""

    granularity: Granularity
    date: EntryDate
    content: EntryText | None = None
    slug: Slug | None = None
    sourceInstance: InstanceId | None = None  # noqa: N815
    chatIds: ChatIds | None = None  # noqa: N815
    participatingInstances: InstanceIds | None = None  # noqa: N815

    def read(self, instance: str) -> dict[str, object]:
        """Return the change for `push_changes`. `instance` is the instance that pushes."""
        change: dict[str, object] = {
            "granularity": self.granularity,
            "date": self.date,
            "slug": self.slug,
            "instance": self.sourceInstance or instance,
            "content": self.content,
            "modified_at": self.lastModified and self.lastModified.isoformat(),
        }
        if self.chatIds is not None:
            change["chat_ids"] = self.chatIds
        if self.participatingInstances is not None:
            change["participants"] = self.participatingInstances
        return change


IdentityChanges = Annotated[list[IdentityChange], Field(max_length=MOST_CHANGES)]
MemoryChanges = Annotated[list[MemoryChange], Field(max_length=MOST_CHANGES)]
