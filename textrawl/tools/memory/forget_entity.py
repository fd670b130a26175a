"""forget_entity: the only tool of the toolset that deletes."""

from typing import Annotated

from mcp.server.mcpserver import AcceptedElicitation, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, ConfigDict, Field

from textrawl.errors import ConfirmationMissing, DeletionDeclined, NothingToDelete
from textrawl.memory.fact_rows import ForgottenRow
from textrawl.memory.facts import MemoryOperations, suggest_names
from textrawl.scheduling import let_later_writes_pass
from textrawl.tools.call import App, Call, Target, find_call, name_session
from textrawl.tools.memory.declaration import ForgottenReference, Name, memory
from textrawl.tools.memory.write_replies import ForgetReply, name_target
from textrawl.tools.toolset import DELETES
from textrawl.wire.replies import RefusalReply

# From this protocol version on, a server can ask the user without an open channel to the client.
_ASKS_WITHOUT_CHANNEL = "2026-07-28"


class Confirmation(BaseModel):
    """The question to a user before a deletion."""

    # The question goes to the client as a schema with this description.
    model_config = ConfigDict(
        json_schema_extra={"description": "A question to a person before something is deleted."}
    )

    confirm: bool = Field(description="Delete it for good?")


def _can_ask(call: Call) -> bool:
    """Return whether the client can ask its user a question now."""
    context = call.context
    asks = context.client_capabilities and context.client_capabilities.elicitation
    if not asks or (asks.url is not None and asks.form is None):
        return False
    version = context.protocol_version or ""
    return context.session.can_send_request or version >= _ASKS_WITHOUT_CHANNEL


async def _preview(call: Call, name: str, fact: str) -> ForgottenRow:
    """Return the numbers of facts and relations that a deletion would delete.

    Raises NothingToDelete, FactNotFound.
    """
    row = await MemoryOperations(call.store).forget(
        name, call.caller, fact=fact or None, dry_run=True
    )
    if row is None:
        raise await _miss(call, name)
    return row


async def _miss(call: Call, name: str) -> NothingToDelete:
    """Return the error for a name that no entity has. It suggests similar names."""
    operations = MemoryOperations(call.store)
    return NothingToDelete(name, await suggest_names(operations, name, call.caller))


def _find_target(row: ForgottenRow, fact: str) -> Target:
    return Target(row.entity_id, row.observation_id or row.relation_id or fact.casefold() or None)


async def _ask(
    ctx: Context[App],
    entityName: str,
    fact: str,
    confirm: bool | None,
    dryRun: bool,
) -> Confirmation | Elicit[Confirmation]:
    """Return the confirmation, or a question to the user if the model's confirmation is not enough.

    Raises ConfirmationMissing, DeletionDeclined, NothingToDelete, FactNotFound.
    """
    call = find_call(ctx)
    if dryRun:
        return Confirmation(confirm=False)
    if not call.caller.principal.readable and not confirm:
        raise ConfirmationMissing  # the caller may not know what is there
    # In protocol 2026-07-28 the client calls again with the answer and a state. The SDK reads the
    # answer only if this function returns the question again. So such a second call gets the
    # question again, even if the refusal expired meanwhile.
    again = ctx.request_state is not None
    session = name_session(ctx)
    if confirm and not again and not call.app.refused_deletions.has_any(session):
        return Confirmation(confirm=True)
    row = await _preview(call, entityName, fact)
    if confirm is False or (not confirm and not _can_ask(call)):
        raise ConfirmationMissing(name_target(row))
    if (
        confirm
        and not again
        and not call.app.refused_deletions.overlap(session, _find_target(row, fact))
    ):
        return Confirmation(confirm=True)
    if not _can_ask(call):
        raise DeletionDeclined
    let_later_writes_pass()
    return Elicit(f"Forget {name_target(row)}? This cannot be undone.", Confirmation)


@memory.tool(
    DELETES,
    ForgetReply,
    RefusalReply,
    dry_run="dryRun",
    aliases={"observation": "fact", "entity": "entityName", "name": "entityName"},
)
async def forget_entity(
    call: Call,
    entityName: Name,
    answer: Annotated[ElicitationResult[Confirmation], Resolve(_ask)],
    confirm: Annotated[bool | None, Field(description="true once the user agreed")] = None,
    fact: Annotated[
        ForgottenReference, Field(description="id, text or works_at→Acme: only this")
    ] = "",
    dryRun: Annotated[bool, Field(description="only tell what would go")] = False,
) -> CallToolResult:
    """Delete an entity with its facts and relations, or one fact of it, for good.

    Only when the user wants it; to correct a fact use remember_fact with replaces. Example:
    {"entityName":"Jeff","confirm":true}.
    """
    if dryRun:
        return call.reply(ForgetReply.preview(await _preview(call, entityName, fact)))
    await _check_answer(call, answer, entityName, fact)
    row = await MemoryOperations(call.store).forget(
        entityName, call.caller, fact=fact or None, dry_run=False
    )
    if row is None:
        raise await _miss(call, entityName)
    return call.reply(ForgetReply.build(row))


async def _check_answer(
    call: Call, answer: ElicitationResult[Confirmation], name: str, fact: str
) -> None:
    """Check the user's answer, and record a refusal.

    If the user agreed, drop earlier refusals of the same deletion. Raises NothingToDelete,
    FactNotFound, and DeletionDeclined if the user refused.
    """
    session = name_session(call.context)
    agreed = isinstance(answer, AcceptedElicitation) and answer.data.confirm
    if agreed and not call.app.refused_deletions.has_any(session):
        return
    target = _find_target(await _preview(call, name, fact), fact)
    if agreed:
        call.app.refused_deletions.remove(session, target)
        return
    call.app.refused_deletions.add(session, target)
    raise DeletionDeclined
