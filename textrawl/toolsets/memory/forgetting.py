"""forget_entity: the one tool that deletes."""

from typing import Annotated

from mcp.server.mcpserver import AcceptedElicitation, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from textrawl.replies import Key, Reply
from textrawl.toolsets import DELETES, App
from textrawl.toolsets.memory.declaration import FactReference, Name, memory


class Confirmation(BaseModel):
    """What a person is asked before something is deleted."""

    confirm: bool = Field(description="Delete it for good?")


class ForgetReply(Reply):
    """What was deleted, or why nothing was."""

    success: Annotated[bool, Key("ok")]
    message: str
    error: str | None = None
    reason: Annotated[str | None, Key("err"), Field(exclude=True)] = None
    dry_run: Annotated[bool | None, Key("dry")] = None
    deleted_entity_id: Annotated[str | None, Key("id", short_id=True)] = None
    deleted_observation_id: Annotated[str | None, Key("obs", short_id=True)] = None
    facts: Annotated[int | None, Key("facts")] = None
    relations: Annotated[int | None, Key("rel")] = None
    sample: Annotated[list[str] | None, Key("sample")] = None


async def _ask(
    ctx: Context,
    entityName: str,
    fact: str,
    confirm: bool | None,
    dryRun: bool,  # noqa: FBT001
) -> Confirmation | Elicit[Confirmation]:
    """The user's word where the client can ask for it and the model did not say it has it."""
    capabilities = ctx.client_capabilities
    if dryRun or confirm is not None or not capabilities or not capabilities.elicitation:
        return Confirmation(confirm=bool(confirm))
    what = (
        f"one fact about {entityName}" if fact else f"{entityName} with all its facts and relations"
    )
    return Elicit(f"Forget {what}? This cannot be undone.", Confirmation)


@memory.tool(DELETES, ForgetReply)
async def forget_entity(
    ctx: Context[App],
    entityName: Name,
    answer: Annotated[ElicitationResult[Confirmation], Resolve(_ask)],
    confirm: Annotated[
        bool | None, Field(description="must be true, after the user agreed")
    ] = None,
    fact: Annotated[FactReference, Field(description="id or text: forget only this fact")] = "",
    dryRun: Annotated[bool, Field(description="only tell what would go")] = False,
) -> CallToolResult:
    """Delete an entity with all its facts and relations, or one fact of it, for good. To correct a
    fact use remember_fact with replaces."""
    app: App = ctx.request_context.lifespan_context
    agreed = isinstance(answer, AcceptedElicitation) and answer.data.confirm
    if not agreed and not dryRun:
        return app.render(_refuse())
    origin = await app.describe_origin(ctx, "forget_entity")
    row = await app.memory.forget(entityName, origin, fact=fact or None, dry_run=dryRun)
    if row is None:
        return app.render(_miss(entityName))
    whole = row.observation_id is None
    reply = ForgetReply(
        success=True,
        message=f"{'Would forget' if dryRun else 'Forgot'} {row.entity_name}"
        if whole
        else f"{'Would forget' if dryRun else 'Forgot'} a fact about {row.entity_name}",
        dry_run=dryRun or None,
        deleted_entity_id=str(row.entity_id) if whole and not dryRun else None,
        deleted_observation_id=str(row.observation_id) if not whole and not dryRun else None,
        facts=row.facts if dryRun else None,
        relations=row.relations if dryRun else None,
        sample=row.sample if dryRun else None,
    )
    return app.render(reply)


def _refuse() -> ForgetReply:
    return ForgetReply(
        success=False, error="Confirmation required", reason="confirm",
        message="Nothing was deleted: call again with confirm true once the user agrees",
    )  # fmt: skip


def _miss(name: str) -> ForgetReply:
    return ForgetReply(
        success=False, error="Entity not found", reason="not_found",
        message=f"There is no entity named {name}",
    )  # fmt: skip
