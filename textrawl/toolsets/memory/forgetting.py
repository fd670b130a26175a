"""forget_entity: the one tool that deletes."""

from typing import Annotated, Self

from mcp.server.mcpserver import AcceptedElicitation, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from textrawl.replies import Key, Reply
from textrawl.rows import ForgottenRow
from textrawl.toolsets import DELETES, App
from textrawl.toolsets.memory.declaration import FactReference, Name, memory

_ASKS_BY_ITSELF = "2026-07-28"  # from this protocol on a question needs no channel to the client


class ForgetReply(Reply):
    """What was deleted or, dry, would be; or why nothing was."""

    spared = (("message",), ("deleted_entity_id", "deleted_observation_id"), ("facts", "relations"),
              ("error",))  # fmt: skip

    success: Annotated[bool, Key("ok")]
    message: str | None
    error: str | None = None
    reason: Annotated[str | None, Key("err"), Field(exclude=True)] = None
    dry_run: Annotated[bool | None, Key("dry")] = None
    deleted_entity_id: Annotated[str | None, Key("id", short_id=True)] = None
    deleted_observation_id: Annotated[str | None, Key("obs", short_id=True)] = None
    facts: Annotated[int | None, Key("facts")] = None
    relations: Annotated[int | None, Key("rel")] = None
    sample: Annotated[list[str] | None, Key("sample")] = None

    @classmethod
    def build(cls, row: ForgottenRow) -> Self:
        """The reply where something was deleted."""
        if row.observation_id:
            told = f"Forgot a fact about {row.entity_name}"
            return cls(success=True, message=told, deleted_observation_id=str(row.observation_id))
        told = f"Forgot {row.entity_name}: facts {row.facts}, relations {row.relations}"
        return cls(success=True, message=told, deleted_entity_id=str(row.entity_id))

    @classmethod
    def preview(cls, row: ForgottenRow) -> Self:
        """The reply to a dry run: counts, and the newest facts."""
        return cls(
            success=True, message=f"Would forget {_name_target(row)}; nothing was deleted",
            dry_run=True, facts=row.facts, relations=row.relations, sample=row.sample,
        )  # fmt: skip

    @classmethod
    def refuse(cls, message: str) -> Self:
        """The reply without a confirmation."""
        return cls(success=False, error="Confirmation required", reason="confirm", message=message)

    @classmethod
    def miss(cls, name: str) -> Self:
        """The reply where there is no such entity."""
        return cls(
            success=False, error="Entity not found", reason="not_found",
            message=f"There is no entity named {name}",
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


class Absent(Confirmation):
    """There is nothing to ask about."""

    confirm: bool = False


def _name_target(row: ForgottenRow) -> str:
    if row.observation_id:
        return f"one fact about {row.entity_name}"
    return f"{row.entity_name} (facts {row.facts}, relations {row.relations})"


def _can_ask(ctx: Context[App]) -> bool:
    """Whether the client can put a question to its user now."""
    asks = ctx.client_capabilities and ctx.client_capabilities.elicitation
    if not asks or (asks.url is not None and asks.form is None):
        return False
    return ctx.session.can_send_request or (ctx.protocol_version or "") >= _ASKS_BY_ITSELF


async def _ask(
    ctx: Context[App],
    entityName: str,
    fact: str,
    confirm: bool | None,
    dryRun: bool,
) -> Confirmation | Elicit[Confirmation]:
    """The user's word, where the client can ask for it and the model does not claim to have it."""
    if dryRun or confirm is not None or not _can_ask(ctx):
        return Confirmation(confirm=bool(confirm))
    app: App = ctx.request_context.lifespan_context
    caller = await app.identify(ctx, "forget_entity")
    row = await app.memory.forget(entityName, caller, fact=fact or None, dry_run=True)
    if row is None:
        return Absent()
    return Elicit(f"Forget {_name_target(row)}? This cannot be undone.", Confirmation)


@memory.tool(DELETES, ForgetReply, looking="dryRun")
async def forget_entity(
    ctx: Context[App],
    entityName: Name,
    answer: Annotated[ElicitationResult[Confirmation], Resolve(_ask)],
    confirm: Annotated[bool | None, Field(description="true once the user agreed")] = None,
    fact: Annotated[FactReference, Field(description="id or text: only this fact")] = "",
    dryRun: Annotated[bool, Field(description="only tell what would go")] = False,
) -> CallToolResult:
    """Delete an entity with its facts and relations, or one fact of it, for good.

    Only when the user wants it; to correct a fact use remember_fact with replaces. Example:
    {"entityName":"Jeff","confirm":true}.
    """
    app: App = ctx.request_context.lifespan_context
    if not isinstance(answer, AcceptedElicitation):
        return app.render(ForgetReply.refuse("Nothing was deleted: the user did not agree"))
    if isinstance(answer.data, Absent):
        return app.render(ForgetReply.miss(entityName))
    if not answer.data.confirm and not dryRun:
        return app.render(ForgetReply.refuse(
            "Nothing was deleted: call again with confirm true once the user agrees"))  # fmt: skip
    caller = await app.identify(ctx, "forget_entity")
    row = await app.memory.forget(entityName, caller, fact=fact or None, dry_run=dryRun)
    if row is None:
        return app.render(ForgetReply.miss(entityName))
    return app.render(ForgetReply.preview(row) if dryRun else ForgetReply.build(row))
