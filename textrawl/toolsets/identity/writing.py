"""The tools that change identity files."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.failures import FailureReply, reply_failure
from textrawl.toolsets.identity.declaration import (
    Addition,
    Category,
    Content,
    Filename,
    InstanceId,
    PromptLabel,
    Section,
    identity,
)
from textrawl.toolsets.identity.operations import Edit, File, IdentityOperations
from textrawl.toolsets.identity.replies import DoneReply
from textrawl.toolsets.toolset import DELETES, WRITES
from textrawl.values.section import add_to_section, rewrite_section

_Heading = Annotated[Section, Field(description="text of a heading, ## or ###")]
_Body = Annotated[Content, Field(description="without the heading")]


@identity.tool(WRITES, DoneReply)
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
    file = File(category, filename, instanceId)
    row = await IdentityOperations(call.store).write(file, content, call.caller)
    verb = "created" if row.created else "rewrote"
    return call.reply(DoneReply(message=f"I {verb} {file.path}.", snapshot_id=row.snapshot_id))


@identity.tool(WRITES, DoneReply)
async def identity_append(
    call: Call,
    category: Category,
    filename: Filename,
    content: Addition,
    instanceId: InstanceId | None = None,
) -> CallToolResult:
    """Add a paragraph to the end of one of my files, or create the file."""
    return await _add(call, File(category, filename, instanceId), content, "append")


@identity.tool(WRITES, DoneReply)
async def identity_prepend(
    call: Call,
    category: Category,
    filename: Filename,
    content: Addition,
    instanceId: InstanceId | None = None,
) -> CallToolResult:
    """Add a paragraph to the beginning of one of my files, or create the file."""
    return await _add(call, File(category, filename, instanceId), content, "prepend")


async def _add(call: Call, file: File, content: str, placement: str) -> CallToolResult:
    row = await IdentityOperations(call.store).write(file, content, call.caller, placement)
    verb = "created" if row.created else "added to"
    return call.reply(DoneReply(message=f"I {verb} {file.path}."))


@identity.tool(WRITES, DoneReply, FailureReply)
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


@identity.tool(WRITES, DoneReply, FailureReply)
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
    operations, rewrites = IdentityOperations(call.store), edit is rewrite_section
    row = await operations.change_section(file, section, edit, call.caller, snapshot=rewrites)
    if row is None:
        return reply_failure(call, f"I have no file {file.path}: create it with identity_write.")
    message = f"I {'rewrote' if rewrites else 'added to'} {section[0]} in {file.path}."
    return call.reply(DoneReply(message=message, snapshot_id=row.snapshot_id))


@identity.tool(DELETES, DoneReply, FailureReply)
async def identity_delete_custom(
    call: Call, filename: Filename, instanceId: InstanceId | None = None
) -> CallToolResult:
    """Delete a file of the category custom. Its text stays as a snapshot."""
    file = File("custom", filename, instanceId)
    row = await IdentityOperations(call.store).delete(file, call.caller)
    if not row.deleted:
        return reply_failure(call, f"I have no file {file.path}.")
    return call.reply(DoneReply(message=f"I deleted {file.path}.", snapshot_id=row.snapshot_id))


@identity.tool(WRITES, DoneReply, FailureReply)
async def identity_set_meta(
    call: Call, category: Category, filename: Filename, promptLabel: PromptLabel
) -> CallToolResult:
    """Set the prompt label of one of my files: the XML tag around it in the prompt `identity`."""
    file = File(category, filename)
    if not await IdentityOperations(call.store).label(file, promptLabel, call.caller):
        return reply_failure(call, f"I have no file {file.path}: create it with identity_write.")
    return call.reply(DoneReply(message=f"I labelled {file.path} {promptLabel}."))
