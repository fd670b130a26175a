"""The tools of the toolset `identity`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal, Self

from mcp.types import Annotations, CallToolResult, Resource
from pydantic import AfterValidator, BeforeValidator, Field

from textrawl.memory.identity import (
    SECTION_LENGTH,
    DeletedFileRow,
    Edit,
    File,
    FilePart,
    RestoredRow,
    WrittenFileRow,
    add_to_section,
    change_section,
    rewrite_section,
)
from textrawl.tools.call import Call, FailureReply, reply_failure
from textrawl.tools.toolset import DELETES, READS, WRITES, Collection, PromptSpec, Toolset
from textrawl.values.names import check_id, check_instance
from textrawl.values.text import clean_document, frame_files
from textrawl.values.times import write_day
from textrawl.wire.replies import OMIT_EMPTY, Key, Part, Reply, SuccessReply

identity = Toolset(
    "identity",
    "Files that say who the agent is and whom it talks to, with snapshots of every former text.",
)

CONTENT_LENGTH = 1_000_000
CATEGORIES = ("self", "user", "relationship", "custom")

_FILENAME = re.compile(r"[A-Za-z0-9_-]+\.md")
_FILENAME_LENGTH = 100
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")
_SNAPSHOT = re.compile(r"[a-z]{1,20}/[A-Za-z0-9_-]{1,200}")


def check_filename(name: str) -> str:
    """Return the name of an identity file. Raises ValueError for another name."""
    if len(name) > _FILENAME_LENGTH or not _FILENAME.fullmatch(name):
        raise ValueError(
            "must be letters, digits, _ and - with .md at the end, such as my_wants.md, at most "
            f"{_FILENAME_LENGTH} characters"
        )
    return name


def _check_label(label: str) -> str:
    if not _LABEL.fullmatch(label):
        raise ValueError(
            "must be the name of an XML tag: letters, digits and _.-, beginning with a letter or "
            "_, at most 100 characters"
        )
    return label


def _check_section(section: str) -> str:
    name = clean_document(section).strip()
    if not name.strip("# "):
        raise ValueError("must not be empty")
    if len(name.splitlines()) > 1:
        raise ValueError("must be one line: the text of the heading")
    return name


def _check_addition(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return clean_document(text)


Category = Literal["self", "user", "relationship", "custom"]
Filename = Annotated[str, AfterValidator(check_filename)]
Content = Annotated[str, Field(max_length=CONTENT_LENGTH), AfterValidator(clean_document)]
Addition = Annotated[str, Field(max_length=CONTENT_LENGTH), AfterValidator(_check_addition)]
InstanceId = Annotated[str, AfterValidator(check_instance)]
Section = Annotated[str, Field(max_length=SECTION_LENGTH), AfterValidator(_check_section)]
PromptLabel = Annotated[str, AfterValidator(_check_label)]
SnapshotId = Annotated[str, AfterValidator(partial(check_id, kind="snapshot", form=_SNAPSHOT))]


class FileReply(SuccessReply):
    """A change that was made, and the id of the snapshot of the replaced text."""

    message: str
    snapshot_id: Annotated[str | None, Key("snap")] = None


_ADDRESS = "memory://identity/"
_MARKDOWN = "text/markdown"
# With the fullwidth and small twins of the signs.
_CLOSING = re.compile(r"[<\uff1c\ufe64](?=\s*[/\uff0f])")
_NOTHING = "I have no identity files yet. I write them with identity_write."


async def _list(call: Call) -> Sequence[Resource]:
    rows = await call.read("read_identity", FilePart, texts=False)
    return [
        Resource(
            uri=f"{_ADDRESS}{row.path}",
            name=row.path,
            title=row.prompt_label,
            mime_type=_MARKDOWN,
            annotations=Annotations(last_modified=row.modified_at.isoformat()),
        )
        for row in rows
        if row.modified_at
    ]


async def _read(call: Call, uri: str) -> str | None:
    category, _, filename = uri.removeprefix(_ADDRESS).partition("/")
    if not uri.startswith(_ADDRESS) or "\0" in uri:
        return None
    chosen = {"only_category": category, "only_filename": filename}
    rows = await call.read("read_identity", FilePart, **chosen)
    return rows[0].content if rows and rows[0].modified_at else None


async def _write_prompt(call: Call, _: Mapping[str, str]) -> str:
    files = wrap_files(await call.read("read_identity", FilePart))
    return frame_files(files) if files else _NOTHING


def wrap_files(rows: Iterable[FilePart]) -> str:
    """Return the texts of files, each in the XML tag of its prompt label, without blank files.

    A text cannot close the tag of its file, because the sign < of closing tags is escaped.
    """
    return "\n\n".join(
        f"<{row.prompt_label}>\n{_CLOSING.sub('&lt;', row.content).strip()}\n</{row.prompt_label}>"
        for row in rows
        if row.content and not row.content.isspace()
    )


identity.collections.append(
    Collection(
        f"{_ADDRESS}{{category}}/{{filename}}",
        "identity",
        "Identity file",
        "A file that says who I am or whom I talk to",
        _MARKDOWN,
        _list,
        _read,
    )
)
identity.prompts.append(
    PromptSpec(
        "identity",
        "Identity",
        "All my identity files, each in the XML tag of its prompt label",
        _write_prompt,
    )
)


Files = list[FilePart]


class IdentityReply(Reply):
    """The identity files by category, and the names of files that were too long for the answer."""

    large = True
    one_channel = True

    self_: Annotated[Files, Key("self"), Field(serialization_alias="self")]
    user: Annotated[Files, Key("user")]
    relationship: Annotated[Files, Key("relationship")]
    custom: Annotated[Files, Key("custom")]
    omitted: Annotated[list[str] | None, Key("cut")] = None
    hint: Annotated[str | None, Key("note")] = None

    @classmethod
    def build(cls, files: Sequence[FilePart]) -> Self:
        """Return the reply with all files."""
        groups = {
            field: [file for file in files if file.category == category]
            for field, category in zip(_FIELDS, CATEGORIES, strict=True)
        }
        return cls.model_validate(groups)

    def size(self) -> int:
        """Return the number of files after the first. The first file is never left out."""
        return max(0, sum(len(getattr(self, name)) for name in _FIELDS) - 1)

    def choose(self, count: int) -> Self:
        """Return a copy with the first files, and with the names of the others."""
        kept, omitted = dict[str, Any](), list[str]()
        left = count + 1
        for name, category in zip(_FIELDS, CATEGORIES, strict=True):
            files: Files = getattr(self, name)
            kept[name] = files[:left]
            omitted += [f"{category}/{file.filename}" for file in files[max(left, 0) :]]
            left = max(0, left - len(files))
        hint = "read one file with category and filename"
        return self.model_copy(update={**kept, "omitted": omitted, "hint": hint})


_FIELDS = ("self_", "user", "relationship", "custom")


class MetaReply(SuccessReply):
    """Prompt labels by category and filename."""

    meta: Annotated[dict[str, str], Key("meta")]


@identity.tool(READS, IdentityReply)
async def identity_get_all(
    call: Call, category: Category | None = None, filename: Filename | None = None
) -> CallToolResult:
    """Read all my files, each with its prompt label, or only one category or file."""
    chosen = {"only_category": category, "only_filename": filename}
    rows = await call.read("read_identity", FilePart, **chosen)
    return await call.reply_aside(IdentityReply.build(rows))


_Heading = Annotated[Section, Field(description="text of a heading, ## or ###")]
_Body = Annotated[Content, Field(description="without the heading")]


@identity.tool(WRITES, FileReply)
async def identity_write(
    call: Call,
    category: Category,
    filename: Filename,
    content: Content,
    instanceId: InstanceId | None = None,
) -> CallToolResult:
    """Replace one of my files, or create the file. The replaced text stays as a snapshot.

    Example: {"category":"self","filename":"my_wants.md","content":"To learn Latvian"}.
    """
    return await _write(call, File(category, filename, instanceId), content, "replace")


@identity.tool(WRITES, FileReply)
async def identity_append(
    call: Call,
    category: Category,
    filename: Filename,
    content: Addition,
    instanceId: InstanceId | None = None,
) -> CallToolResult:
    """Add a paragraph to the end of one of my files, or create the file."""
    return await _write(call, File(category, filename, instanceId), content, "append")


@identity.tool(WRITES, FileReply)
async def identity_prepend(
    call: Call,
    category: Category,
    filename: Filename,
    content: Addition,
    instanceId: InstanceId | None = None,
) -> CallToolResult:
    """Add a paragraph to the beginning of one of my files, or create the file."""
    return await _write(call, File(category, filename, instanceId), content, "prepend")


async def _write(call: Call, file: File, content: str, placement: str) -> CallToolResult:
    arguments = file.arguments | {"content": content, "placement": placement}
    row = await call.write_one("write_identity", WrittenFileRow, "content", **arguments)
    done = "rewrote" if placement == "replace" else "added to"
    message = f"I {'created' if row.created else done} {file.path}."
    return call.reply(FileReply(message=message, snapshot_id=row.snapshot_id))


@identity.tool(WRITES, FileReply, FailureReply)
async def identity_update_section(
    call: Call,
    category: Category,
    filename: Filename,
    section: _Heading,
    content: Annotated[Addition, Field(description="without the heading")],
    instanceId: InstanceId | None = None,
) -> CallToolResult:
    """Add text to the end of a section of one of my files, or add the section to the file.

    Example: {"category":"user","filename":"user_life.md","section":"Work","content":"- Nurse"}.
    """
    file = File(category, filename, instanceId)
    return await _change(call, file, (section, content), add_to_section)


@identity.tool(WRITES, FileReply, FailureReply)
async def identity_rewrite_section(
    call: Call,
    category: Category,
    filename: Filename,
    section: _Heading,
    content: _Body,
    instanceId: InstanceId | None = None,
) -> CallToolResult:
    """Replace the text of a section. Prefer identity_update_section while the old text is true.

    The replaced text stays as a snapshot.
    """
    file = File(category, filename, instanceId)
    return await _change(call, file, (section, content), rewrite_section)


async def _change(call: Call, file: File, section: tuple[str, str], edit: Edit) -> CallToolResult:
    rewrites = edit is rewrite_section
    row = await change_section(call, file, section, edit, snapshot=rewrites)
    if row is None:
        return reply_failure(call, f"I have no file {file.path}: create it with identity_write.")
    message = f"I {'rewrote' if rewrites else 'added to'} {section[0]} in {file.path}."
    return call.reply(FileReply(message=message, snapshot_id=row.snapshot_id))


@identity.tool(DELETES, FileReply, FailureReply)
async def identity_delete_custom(
    call: Call, filename: Filename, instanceId: InstanceId | None = None
) -> CallToolResult:
    """Delete a file of the category custom. Its text stays as a snapshot."""
    file = File("custom", filename, instanceId)
    row = await call.write_one("delete_identity", DeletedFileRow, **file.arguments)
    if not row.deleted:
        return reply_failure(call, f"I have no file {file.path}.")
    return call.reply(FileReply(message=f"I deleted {file.path}.", snapshot_id=row.snapshot_id))


@identity.tool(READS, MetaReply)
async def identity_get_meta(
    call: Call, category: Category | None = None, filename: Filename | None = None
) -> CallToolResult:
    """List prompt labels: of a category all labels, otherwise only labels that were set."""
    chosen = {"only_category": category, "only_filename": filename}
    rows = await call.read("read_identity", FilePart, texts=False, **chosen)
    meta = {row.path: row.prompt_label for row in rows if category or row.labelled}
    return call.reply(MetaReply(meta=meta))


@identity.tool(WRITES, FileReply, FailureReply)
async def identity_set_meta(
    call: Call, category: Category, filename: Filename, promptLabel: PromptLabel
) -> CallToolResult:
    """Set the prompt label of one of my files: the XML tag around it in the prompt `identity`."""
    file = File(category, filename)
    if not await call.write_one("label_identity", bool, label=promptLabel, **file.arguments):
        return reply_failure(call, f"I have no file {file.path}: create it with identity_write.")
    return call.reply(FileReply(message=f"I labelled {file.path} {promptLabel}."))


class SnapshotsTakenReply(SuccessReply):
    """The snapshots that were taken."""

    message: str
    snapshots: Annotated[list[str], Key("snaps")]


def _write_instant(instant: datetime) -> str:
    """Return an instant with milliseconds."""
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class SnapshotPart(Part):
    """A snapshot of list_snapshots. Only snapshot_get reads its text."""

    id: Annotated[str, Key("id")]
    category: str
    filename: str
    timestamp: Annotated[str, BeforeValidator(_write_instant), Field(validation_alias="created_at")]
    date: Annotated[str, BeforeValidator(write_day), Field(validation_alias="created_at")]
    reason: Annotated[str, Key("r")]
    source: Annotated[str | None, Key("by")]
    pinned: Annotated[bool | None, OMIT_EMPTY, Key("pin")]
    content: Annotated[str | None, Field(exclude=True)]


class SnapshotsReply(SuccessReply):
    """Snapshots, newest first."""

    items = ("snapshots",)

    snapshots: Annotated[list[SnapshotPart], Key("snaps")]
    dropped: Annotated[int | None, Key("cut"), Field(alias="omitted")] = None


class ContentReply(SuccessReply):
    """The text of a snapshot."""

    content: Annotated[str, Key("c")]


@identity.tool(WRITES, SnapshotsTakenReply)
async def snapshot_create(
    call: Call, pinned: Annotated[bool, Field(description="keep the snapshots for good")] = False
) -> CallToolResult:
    """Take a snapshot of each of my files."""
    days = call.settings.snapshot_retention_days
    names = await call.write("create_snapshots", str, pinned=pinned, days=days)
    message = f"I took a snapshot of {len(names)} file{'s' if len(names) != 1 else ''}."
    return call.reply(SnapshotsTakenReply(message=message, snapshots=names))


@identity.tool(READS, SnapshotsReply)
async def snapshot_list(
    call: Call, category: Category | None = None, filename: Filename | None = None
) -> CallToolResult:
    """List the snapshots of my files, newest first."""
    rows = await call.read(
        "list_snapshots", SnapshotPart, only_category=category, only_filename=filename
    )
    return call.reply(SnapshotsReply(snapshots=rows))


@identity.tool(READS, ContentReply, FailureReply)
async def snapshot_get(call: Call, snapshotId: SnapshotId) -> CallToolResult:
    """Read the text of a snapshot."""
    rows = await call.read("list_snapshots", SnapshotPart, only_id=snapshotId, texts=True)
    if not rows:
        return _reply_missing(call, snapshotId)
    return await call.reply_aside(ContentReply(content=rows[0].content or ""))


@identity.tool(WRITES, FileReply, FailureReply)
async def snapshot_restore(call: Call, snapshotId: SnapshotId) -> CallToolResult:
    """Bring back the text of a snapshot. The replaced text stays as a snapshot."""
    row = await call.write_one("restore_snapshot", RestoredRow, id=snapshotId)
    if row.path is None:
        return _reply_missing(call, snapshotId)
    message = f"I restored {row.path} from {snapshotId}."
    return call.reply(FileReply(message=message, snapshot_id=row.snapshot_id))


def _reply_missing(call: Call, name: str) -> CallToolResult:
    return reply_failure(call, f"There is no snapshot {name}: snapshot_list shows all.")
