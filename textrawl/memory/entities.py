"""The operations of the `entities` toolset: they call SQL functions.

They raise EntityNotFound for an unknown name.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from pydantic import Field

from textrawl.memory.command_results import (
    AliasRow,
    DescribedRow,
    MergeRow,
    NamedRow,
    OwnRow,
    SamePair,
    SplitRow,
    UnnamedRow,
)
from textrawl.memory.operation import FactText, Name, Score, operation
from textrawl.memory.store import StoreCall
from textrawl.models.embeddings import compose_document
from textrawl.values.text import clean_document


@operation("entity same", "read")
async def find_same(
    call: StoreCall,
    name: Name | None = None,
    *,
    least_score: Score = 0.5,
    limit: Annotated[int, Field(ge=1, le=1000)] = 20,
) -> list[SamePair]:
    """Return pairs of entities that can be one, the likeliest first."""
    given = {"entity": name, "min_score": least_score, "max_rows": limit}
    return await call.store.call(
        "find_same_entities", SamePair, "entityName", **given, **call.caller.reading
    )


@operation("entity merge", "write", writes=True)
async def merge(call: StoreCall, name: Name, other: Name, *, dry_run: bool = False) -> MergeRow:
    """Merge the entity `other` into the entity `name`.

    Raises ArgumentInvalid if both names belong to one entity, or if one holds a document.
    """
    names = {"kept": name, "merged": other, "dry_run": dry_run}
    return await call.write_one("merge_entities", MergeRow, "other", **names)


@dataclass(frozen=True)
class PairRow:
    """A merge of merge_pairs, with what moves and what both entities have."""

    kept_id: UUID
    kept_name: str
    kept_type: str
    merged_id: UUID
    merged_name: str
    merged_type: str
    facts: int
    relations: int
    duplicate_facts: int
    duplicate_relations: int


async def merge_pairs(
    call: StoreCall, pairs: Sequence[Sequence[str]], *, dry_run: bool
) -> list[PairRow]:
    """Merge the second entity of each pair of ids into the first one, all or none.

    Raises ArgumentInvalid as `merge` does.
    """
    given = {"pairs": json.dumps(pairs), "dry_run": dry_run}
    return await call.write("merge_pairs", PairRow, "pairs", **given)


@operation("entity split", "write", writes=True)
async def split(call: StoreCall, name: Name, *, dry_run: bool = False) -> SplitRow:
    """Split the merge of the entity that was called `name`.

    Raises ArgumentInvalid if nothing was merged under this name.
    """
    return await call.write_one("split_entity", SplitRow, "name", merged=name, dry_run=dry_run)


@operation("entity alias add", "write", writes=True)
async def add_alias(call: StoreCall, name: Name, other: Name) -> NamedRow:
    """Give an entity an alias. Raises ArgumentInvalid if another entity has this name."""
    return await call.write_one("name_entity", NamedRow, "alias", entity=name, alias=other)


@operation("entity alias remove", "write", writes=True)
async def remove_alias(call: StoreCall, other: Name, name: Name | None = None) -> UnnamedRow:
    """Remove an alias, which the entity `name` must have if it is given.

    Raises ArgumentInvalid if there is no such alias, or if a merge made it.
    """
    return await call.write_one("unname_entity", UnnamedRow, "alias", entity=name, alias=other)


@operation("entity describe", "write", writes=True)
async def set_description(call: StoreCall, name: Name, text: FactText) -> DescribedRow:
    """Set the description of an entity."""
    return await edit(call, name, description=text)


async def edit(
    call: StoreCall,
    entity: str,
    *,
    name: str | None = None,
    type: str | None = None,
    description: str | None = None,
) -> DescribedRow:
    """Set what is given of an entity, all or none. A former name becomes an alias.

    The description is a fact, which replaces the former one.

    Raises ArgumentInvalid if another entity has the new name.
    """
    texts = [compose_document(entity, description)] if description else []
    model, vectors = await call.store.embed_documents(texts)
    return await call.write_one(
        "edit_entity",
        DescribedRow,
        "name",
        entity=entity,
        name=name,
        type=type,
        description=description,
        model=model,
        embedding=vectors[0] if vectors else None,
    )


@operation("entity alias list", "read")
async def list_aliases(call: StoreCall, name: Name | None = None) -> list[AliasRow]:
    """Return the aliases of an entity, or of all entities."""
    return await call.store.call("list_aliases", AliasRow, entity=name, **call.caller.reading)


async def find_aliases(call: StoreCall, text: str) -> dict[str, list[str]]:
    """Return the aliases in a text, by the case-folded name of their entity in the home space.

    A caller that cannot read the space gets none.
    """
    principal = call.caller.principal
    spaces = [space.id for space in principal.readable if space.id == principal.home]
    if not spaces:
        return {}
    rows = await call.store.call(
        "list_aliases",
        AliasRow,
        content=clean_document(text),
        spaces=spaces,
        credential=principal.credential,
    )
    found = dict[str, list[str]]()
    for row in rows:
        found.setdefault(row.entity_name.casefold(), []).append(row.alias)
    return found


@operation("me", "read", anywhere=True)
async def list_own(call: StoreCall) -> list[OwnRow]:
    """Return the entities that the caller is, at most one of each space."""
    return await call.store.call("own_entities", OwnRow, **call.caller.reading)


async def set_own_entity(call: StoreCall, entity: str | None) -> list[OwnRow]:
    """Let the caller be `entity` in the spaces that have it, or no entity, and return these.

    In a space that does not have it, nothing changes.
    """
    return await call.store.call("set_own_entity", OwnRow, entity=entity, **call.caller.reading)


@operation("me", "read", writes=True, anywhere=True)
async def clear_own(call: StoreCall) -> list[OwnRow]:
    """Let the caller be no entity, and return those that the caller was."""
    return await set_own_entity(call, None)
