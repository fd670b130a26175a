"""forget_entity: the one tool that deletes."""

from typing import Annotated, Self

from mcp.server.mcpserver import AcceptedElicitation, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from textrawl.errors import ConfirmationMissing, DeletionDeclined, NothingToDelete
from textrawl.scheduling.lines import leave_line
from textrawl.toolsets.app import App, name_session
from textrawl.toolsets.call import Call, find_call
from textrawl.toolsets.memory.declaration import ForgottenReference, Name, memory
from textrawl.toolsets.memory.operations import MemoryOperations
from textrawl.toolsets.memory.rows import ForgottenRow
from textrawl.toolsets.refused_deletions import Target
from textrawl.toolsets.toolset import DELETES
from textrawl.wire.replies import Key, RefusalReply, Reply

_ASKS_BY_ITSELF = "2026-07-28"  # from this protocol on a question needs no channel to the client


class ForgetReply(Reply):
    """What was deleted or, dry, would be."""

    spared = (("message",), ("deleted_entity_id", "deleted_observation_id"), ("facts", "relations"))

    success: Annotated[bool, Key("ok")] = True
    message: str | None
    dry_run: Annotated[bool | None, Key("dry")] = None
    deleted_entity_id: Annotated[str | None, Key("id", short_id=True)] = None
    deleted_observation_id: Annotated[str | None, Key("obs", short_id=True)] = None
    facts: Annotated[int | None, Key("facts")] = None
    relations: Annotated[int | None, Key("rel")] = None
    sample: Annotated[list[str] | None, Key("sample")] = None

    @classmethod
    def build(cls, row: ForgottenRow) -> Self:
        """Return the reply where something was deleted."""
        if row.observation_id:
            told = f"Forgot a fact about {row.entity_name}"
            return cls(message=told, deleted_observation_id=str(row.observation_id))
        told = f"Forgot {row.entity_name}: facts {row.facts}, relations {row.relations}"
        told += f", reflections {row.reflections}" if row.reflections else ""
        return cls(message=told, deleted_entity_id=str(row.entity_id))

    @classmethod
    def preview(cls, row: ForgottenRow) -> Self:
        """Return the reply to a dry run: counts, and the newest facts."""
        return cls(
            message=f"Would forget {_name_target(row)}; nothing was deleted",
            dry_run=True, facts=row.facts, relations=row.relations, sample=row.sample,
        )  # fmt: skip

    def size(self) -> int:
        """How many facts the sample has."""
        return len(self.sample or [])

    def choose(self, count: int) -> Self:
        """The newest facts of the sample; their number is told by `facts`."""
        return self.model_copy(update={"sample": (self.sample or [])[:count] or None})


class Confirmation(BaseModel):
    """What a person is asked before something is deleted."""

    confirm: bool = Field(description="Delete it for good?")


def _name_target(row: ForgottenRow) -> str:
    if row.observation_id:
        return f"one fact about {row.entity_name}"
    thoughts = f", reflections {row.reflections}" if row.reflections else ""
    return f"{row.entity_name} (facts {row.facts}, relations {row.relations}{thoughts})"


def _can_ask(call: Call) -> bool:
    """Whether the client can put a question to its user now."""
    context = call.context
    asks = context.client_capabilities and context.client_capabilities.elicitation
    if not asks or (asks.url is not None and asks.form is None):
        return False
    return context.session.can_send_request or (context.protocol_version or "") >= _ASKS_BY_ITSELF


async def _preview(call: Call, name: str, fact: str) -> ForgottenRow:
    """Return what a deletion would delete. Raises NothingToDelete, FactNotFound."""
    row = await MemoryOperations(call.store).forget(
        name, call.caller, fact=fact or None, dry_run=True
    )
    if row is None:
        raise NothingToDelete(name)
    return row


def _find_target(row: ForgottenRow, fact: str) -> Target:
    return Target(row.entity_id, row.observation_id or fact.casefold() or None)


async def _ask(
    ctx: Context[App],
    entityName: str,
    fact: str,
    confirm: bool | None,
    dryRun: bool,
) -> Confirmation | Elicit[Confirmation]:
    """Return the user's word, asked for where the client can and the model's is not enough.

    Raises ConfirmationMissing, DeletionDeclined, NothingToDelete, FactNotFound.
    """
    call = find_call(ctx)
    if dryRun:
        return Confirmation(confirm=False)
    if confirm is False:
        raise ConfirmationMissing
    # The second round of a question (2026-07-28) has a state: whatever expired meanwhile, the
    # answer counts, which the SDK reads only if the question is put again.
    again = ctx.request_state is not None
    session = name_session(ctx)
    if confirm and not again and not call.app.declines.has_any(session):
        return Confirmation(confirm=True)
    if not confirm and not _can_ask(call):
        raise ConfirmationMissing
    row = await _preview(call, entityName, fact)
    if confirm and not again and not call.app.declines.overlap(session, _find_target(row, fact)):
        return Confirmation(confirm=True)
    if not _can_ask(call):
        raise DeletionDeclined
    leave_line()
    return Elicit(f"Forget {_name_target(row)}? This cannot be undone.", Confirmation)


@memory.tool(DELETES, ForgetReply, RefusalReply, looking="dryRun")
async def forget_entity(
    call: Call,
    entityName: Name,
    answer: Annotated[ElicitationResult[Confirmation], Resolve(_ask)],
    confirm: Annotated[bool | None, Field(description="true once the user agreed")] = None,
    fact: Annotated[ForgottenReference, Field(description="id or text: only this fact")] = "",
    dryRun: Annotated[bool, Field(description="only tell what would go")] = False,
) -> CallToolResult:
    """Delete an entity with its facts and relations, or one fact of it, for good.

    Only when the user wants it; to correct a fact use remember_fact with replaces. Example:
    {"entityName":"Jeff","confirm":true}.
    """
    if dryRun:
        return call.reply(ForgetReply.preview(await _preview(call, entityName, fact)))
    await _heed(call, answer, entityName, fact)
    row = await MemoryOperations(call.store).forget(
        entityName, call.caller, fact=fact or None, dry_run=False
    )
    if row is None:
        raise NothingToDelete(entityName)
    return call.reply(ForgetReply.build(row))


async def _heed(call: Call, answer: ElicitationResult[Confirmation], name: str, fact: str) -> None:
    """Keep a refusal, or forget earlier ones that the user's yes takes back.

    Raises DeletionDeclined, NothingToDelete, FactNotFound.
    """
    session = name_session(call.context)
    agreed = isinstance(answer, AcceptedElicitation) and answer.data.confirm
    if agreed and not call.app.declines.has_any(session):
        return
    target = _find_target(await _preview(call, name, fact), fact)
    if agreed:
        call.app.declines.remove(session, target)
        return
    call.app.declines.add(session, target)
    raise DeletionDeclined
