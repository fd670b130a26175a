"""name_entity: the tool that adds and removes aliases."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.entities.declaration import entities
from textrawl.toolsets.entities.operations import EntityOperations
from textrawl.toolsets.memory.declaration import Name
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, Reply


class NamedReply(Reply):
    """An entity and its aliases."""

    spared = (("message",),)

    success: Annotated[bool, Key("ok")] = True
    message: str | None
    entity_name: Annotated[str, Key("entity")]
    aliases: Annotated[list[str] | None, Key("aka")] = None


@entities.tool(WRITES, NamedReply)
async def name_entity(
    call: Call,
    entityName: Name,
    alias: Annotated[Name, Field(description="another name of the same entity")],
    remove: Annotated[bool, Field(description="true: the alias is wrong, remove it")] = False,
) -> CallToolResult:
    """Give an entity another name (alias), or remove a wrong one.

    Every tool then takes the alias, and a search for it finds the entity. If the other name is an
    entity already, use merge_entities.
    """
    operations = EntityOperations(call.store)
    if remove:
        removed = await operations.remove_alias(alias, call.caller, entityName)
        name, message = removed.entity_name, f"{alias} is no longer a name of {removed.entity_name}"
    else:
        added = await operations.add_alias(entityName, alias, call.caller)
        name, message = added.entity_name, f"{alias} is a name of {added.entity_name}"
    known = await operations.list_aliases(name, call.caller)
    aliases = [row.alias for row in known] or None
    return call.reply(NamedReply(message=message, entity_name=name, aliases=aliases))
