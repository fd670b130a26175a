"""The tools of the toolset `sync`."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from mcp.types import CallToolResult
from pydantic import BaseModel, ConfigDict, Field, model_validator

from textrawl.errors import ArgumentInvalid
from textrawl.memory.journal import name_entry
from textrawl.tools.call import Call
from textrawl.tools.identity.tools import Category, Content, Filename, PromptLabel
from textrawl.tools.journal.tools import (
    ChatIds,
    EntryDate,
    Granularity,
    InstanceId,
    InstanceIds,
    Slug,
)
from textrawl.tools.journal.tools import Content as EntryText
from textrawl.tools.memory.tools import PastInstant
from textrawl.tools.toolset import CLEAN_NAME, READS, WRITES, Toolset
from textrawl.wire.replies import OMIT_EMPTY, Key, Part, Reply, SuccessReply

sync = Toolset(
    "sync", "Programs exchange the identity files and the journal of a space, and see conflicts."
)

MOST_CHANGES = 200
_PAGE = 200  # documents that a pull reads


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


class TokenPart(Part):
    """The version that the instance knows now. Its next call gives it as lastSyncVersion."""

    server_version: Annotated[int, Key("v")]
    timestamp: datetime
    hash: str

    @classmethod
    def build(cls, space: int | None, version: int) -> Self:
        """Return the part for a version of the documents of `space`."""
        digest = hashlib.sha256(f"{space}:{version}".encode()).hexdigest()[:16]
        return cls(server_version=version, timestamp=datetime.now(UTC), hash=digest)


@dataclass(frozen=True)
class ChangedRow:
    """A document of changed_documents. `content` is None if the document was deleted."""

    kind: str
    path: str
    changed: int
    granularity: str | None
    date: str | None
    slug: str | None
    instance: str | None
    content: str | None
    label: str | None
    chat_ids: list[str]
    participants: list[str]
    number: int | None
    created_at: datetime | None
    modified_at: datetime | None
    modified_by: str | None
    remaining: int

    @property
    def id(self) -> str:
        """The id of a journal entry."""
        return name_entry(self.path)

    @property
    def category(self) -> str:
        """The category of an identity file."""
        return self.path.split("/")[0]

    @property
    def filename(self) -> str:
        """The name of an identity file."""
        return self.path.split("/", 1)[1]

    @property
    def deleted(self) -> bool | None:
        """True if the document was deleted, otherwise None."""
        return self.content is None or None


class FilePart(Part):
    """An identity file. A file without content was deleted."""

    category: Annotated[str, Key("in")]
    filename: Annotated[str, Key("f")]
    content: Annotated[str | None, Key("c")]
    deleted: Annotated[bool | None, Key("del")]
    label: Annotated[str | None, Key("l"), Field(alias="promptLabel")]
    number: Annotated[int | None, Field(alias="version")]
    modified_at: Annotated[datetime | None, Field(alias="lastModified")]
    modified_by: Annotated[str | None, Key("by")]


class EntryPart(Part):
    """A journal entry. An entry without content was deleted."""

    id: str
    granularity: Annotated[str, Key("g")]
    date: Annotated[str, Key("d")]
    slug: Annotated[str | None, Key("slug")]
    content: Annotated[str | None, Key("c")]
    deleted: Annotated[bool | None, Key("del")]
    chat_ids: Annotated[list[str] | None, OMIT_EMPTY, Key("chats")]
    instance: Annotated[str | None, Key("src"), Field(alias="sourceInstance")]
    participants: Annotated[
        list[str] | None, OMIT_EMPTY, Key("with"), Field(alias="participatingInstances")
    ]
    number: Annotated[int | None, Field(alias="version")]
    created_at: datetime | None
    modified_at: Annotated[datetime | None, Field(alias="updatedAt")]
    modified_by: Annotated[str | None, Key("by")]


class PulledReply(SuccessReply):
    """Changed documents in the order of their changes. The last changes are left out first."""

    one_channel: ClassVar[bool] = True
    large: ClassVar[bool] = True

    identity_files: Annotated[list[FilePart], Key("files")]
    memories: Annotated[list[EntryPart], Key("m")]
    new_sync_token: Annotated[TokenPart, Key("token")]
    more: Annotated[int | None, Key("more")]

    rows: Annotated[Sequence[ChangedRow], Field(exclude=True)] = ()
    since: Annotated[int, Field(exclude=True)] = 0
    space: Annotated[int | None, Field(exclude=True)] = None

    @classmethod
    def build(cls, rows: Sequence[ChangedRow], count: int, since: int, space: int | None) -> Self:
        """Return the reply with the first `count` of `rows`."""
        kept = rows[:count]
        known = kept[-1].changed if kept else since
        return cls(
            identity_files=[FilePart.model_validate(row) for row in kept if row.kind == "identity"],
            memories=[EntryPart.model_validate(row) for row in kept if row.kind == "journal"],
            new_sync_token=TokenPart.build(space, known),
            more=(len(rows) - len(kept) + (rows[-1].remaining if rows else 0)) or None,
            rows=rows,
            since=since,
            space=space,
        )

    def size(self) -> int:
        """Return the number of documents that can be left out. The first document always stays."""
        return max(len(self.rows) - 1, 0)

    def choose(self, count: int) -> Self:
        """Return a copy with the first document and `count` more."""
        return self.build(self.rows, count + 1, self.since, self.space)


async def _register(
    call: Call, instance: str, instance_type: str | None, name: str | None, version: str | None
) -> None:
    """Store that an instance synchronizes now."""
    await call.write(
        "register_instance",
        datetime,
        instance=instance,
        instance_type=instance_type,
        name=name,
        version=version,
    )


@sync.tool(READS, PulledReply)
async def sync_pull(
    call: Call,
    instanceId: InstanceId,
    lastSyncVersion: Annotated[
        Version | None, Field(description="serverVersion of your last newSyncToken; default: all")
    ] = None,
    instanceType: InstanceType | None = None,
    name: Title | None = None,
    version: Release | None = None,
) -> CallToolResult:
    """Get the identity files and journal entries that changed, oldest change first.

    If the answer has `more`, call again with its serverVersion.
    """
    home = call.caller.principal.home_space
    if not call.settings.read_only and home is not None and "write" in home.scopes:
        await _register(call, instanceId, instanceType, name, version)
    rows = await call.read("changed_documents", ChangedRow, since=lastSyncVersion, max_rows=_PAGE)
    space = call.caller.principal.home
    reply = PulledReply.build(rows, len(rows), lastSyncVersion or 0, space)
    return await call.reply_aside(reply)


_WINNERS = {"stored": "incoming", "lost": "stored", "erased": "deleted"}


class ConflictPart(Part):
    """A document that another instance changed meanwhile. `winner` is the current text."""

    path: Annotated[str, Key("at")]
    winner: Annotated[str, Key("won")]
    other: Annotated[str | None, Key("by")]

    @classmethod
    def build(cls, outcome: dict[str, Any]) -> Self:
        """Return the part for an outcome of push_changes."""
        return cls(
            path=outcome["path"],
            winner=_WINNERS[outcome["outcome"]],
            other=outcome["rival"] or None,
        )


@dataclass(frozen=True)
class PushedRow:
    """The outcome of push_changes. `outcomes` has an object for each change."""

    outcomes: list[dict[str, Any]]
    known_version: int
    space_id: int


class PushedReply(SuccessReply):
    """The number of stored changes, the conflicts, and the version that the instance knows now."""

    stored: Annotated[int, Key("n")]
    unchanged: Annotated[int | None, Key("same")]
    conflicts: Annotated[list[ConflictPart] | None, Key("conflicts")]
    new_sync_token: Annotated[TokenPart, Key("token")]

    @classmethod
    def build(cls, row: PushedRow) -> Self:
        """Return the reply for `row`."""
        found = [outcome["outcome"] for outcome in row.outcomes]
        disputed = [one for one in row.outcomes if one["rival"] is not None]
        return cls(
            stored=found.count("stored"),
            unchanged=found.count("unchanged") or None,
            conflicts=[ConflictPart.build(one) for one in disputed] or None,
            new_sync_token=TokenPart.build(row.space_id, row.known_version),
        )


@sync.tool(WRITES, PushedReply)
async def sync_push(
    call: Call,
    instance: Instance,
    identityChanges: IdentityChanges = [],  # noqa: B006
    memoryChanges: MemoryChanges = [],  # noqa: B006
    lastSyncVersion: Annotated[
        Version | None, Field(description="from which the changes were made")
    ] = None,
) -> CallToolResult:
    """Store all changes of an instance, or none. The later change wins; the answer has conflicts.

    Example: {"instance":{"id":"laptop"},"identityChanges":[{"category":"self",
    "filename":"my_wants.md","content":"Tea."}],"lastSyncVersion":7}.
    """
    changes = [change.read() for change in identityChanges]
    changes += [change.read(instance.id) for change in memoryChanges]
    if not changes:
        raise ArgumentInvalid("give identityChanges or memoryChanges", title="Nothing to push")
    row = await call.write_one(
        "push_changes",
        PushedRow,
        "lastSyncVersion",
        instance=instance.id,
        instance_type=instance.type,
        changes=json.dumps(changes),
        since=lastSyncVersion,
    )
    await _register(call, instance.id, instance.type, instance.name, instance.version)
    return call.reply(PushedReply.build(row))


class InstancePart(Part):
    """An instance that shares the documents."""

    id: Annotated[str, Key("id")]
    type: Annotated[str, Key("t")]
    name: str | None
    version: str | None
    last_sync: Annotated[datetime | None, Key("at")]


class ExtractionPart(Part):
    """The totals of the extraction of nodes and edges from journal entries."""

    llm_available: Annotated[bool, Key("llm"), Field(init=False, default_factory=bool)]
    last_attempt: datetime | None
    last_success: datetime | None
    last_error: Annotated[str | None, Key("err")]
    attempts_total: int
    successes_total: int
    nodes_created_total: int
    edges_created_total: int
    pending: Annotated[int, Key("due")]


@dataclass(frozen=True)
class _StateRow:
    server_version: int
    instances: list[Any]


class StatusReply(Reply):
    """The version of the documents, and the instances. The last to synchronize comes first."""

    items = ("connected_instances",)

    server_version: Annotated[int, Key("v")]
    connected_instances: Annotated[list[InstancePart], Key("i")]
    extraction: Annotated[ExtractionPart, Key("x")]


@sync.tool(READS, StatusReply)
async def sync_status(call: Call) -> CallToolResult:
    """Show the version of the documents, the instances that share them, and the extraction."""
    home = call.caller.principal.home
    state = await call.store.call_one("sync_state", _StateRow, **call.caller.reading_home)
    extraction = await call.store.call_one(
        "extraction_state",
        ExtractionPart,
        spaces=None if home is None else [home],
        credential=call.caller.principal.credential,
    )
    extraction.llm_available = call.store.llm is not None
    reply = StatusReply(
        server_version=state.server_version,
        connected_instances=state.instances,
        extraction=extraction,
    )
    return call.reply(reply)
