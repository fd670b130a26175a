"""The operations of the `entities` toolset: they call SQL functions."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString, TypeVar
from uuid import UUID

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
from textrawl.memory.store import StoreCall
from textrawl.models.embeddings import compose_document
from textrawl.values.text import clean_document


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


Row = TypeVar("Row")


class EntityOperations:
    """The names of the entities of one memory.

    The operations raise EntityNotFound for an unknown name.
    """

    def __init__(self, call: StoreCall) -> None:
        self._call = call

    async def find_same(
        self, *, entity: str | None, least_score: float, limit: int
    ) -> list[SamePair]:
        """Return pairs of entities that can be one, the likeliest first."""
        return await self._read(
            "find_same_entities",
            SamePair,
            "entityName",
            entity=entity,
            min_score=least_score,
            max_rows=limit,
        )

    async def merge(self, kept: str, merged: str, *, dry_run: bool) -> MergeRow:
        """Merge the entity `merged` into the entity `kept`.

        Raises ArgumentInvalid if both names belong to one entity, or if one holds a document.
        """
        names = {"kept": kept, "merged": merged, "dry_run": dry_run}
        return await self._call.write_one("merge_entities", MergeRow, "other", **names)

    async def merge_pairs(self, pairs: Sequence[Sequence[str]], *, dry_run: bool) -> list[PairRow]:
        """Merge the second entity of each pair of ids into the first one, all or none.

        Raises ArgumentInvalid as `merge` does.
        """
        given = {"pairs": json.dumps(pairs), "dry_run": dry_run}
        return await self._call.write("merge_pairs", PairRow, "pairs", **given)

    async def split(self, name: str, *, dry_run: bool) -> SplitRow:
        """Split the merge of the entity that was called `name`.

        Raises ArgumentInvalid if nothing was merged under this name.
        """
        return await self._call.write_one(
            "split_entity", SplitRow, "name", merged=name, dry_run=dry_run
        )

    async def add_alias(self, entity: str, alias: str) -> NamedRow:
        """Give an entity an alias. Raises ArgumentInvalid if another entity has this name."""
        return await self._call.write_one(
            "name_entity", NamedRow, "alias", entity=entity, alias=alias
        )

    async def remove_alias(self, alias: str, entity: str | None = None) -> UnnamedRow:
        """Remove an alias, which `entity` must have if it is given.

        Raises ArgumentInvalid if there is no such alias, or if a merge made it.
        """
        return await self._call.write_one(
            "unname_entity", UnnamedRow, "alias", entity=entity, alias=alias
        )

    async def edit(
        self,
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
        model, vectors = await self._call.store.embed_documents(texts)
        return await self._call.write_one(
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

    async def list_aliases(self, entity: str | None) -> list[AliasRow]:
        """Return the aliases of an entity, or of all entities."""
        return await self._read("list_aliases", AliasRow, entity=entity)

    async def find_aliases(self, text: str) -> dict[str, list[str]]:
        """Return the aliases in a text, by the case-folded name of their entity in the home space.

        A caller that cannot read the space gets none.
        """
        principal = self._call.caller.principal
        spaces = [space.id for space in principal.readable if space.id == principal.home]
        if not spaces:
            return {}
        rows = await self._call.store.call(
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

    async def list_own(self) -> list[OwnRow]:
        """Return the entities that the caller is, at most one of each space."""
        return await self._read("own_entities", OwnRow)

    async def set_own(self, entity: str | None) -> list[OwnRow]:
        """Let the caller be `entity` in the spaces that have it, or no entity, and return these.

        In a space that does not have it, nothing changes.
        """
        return await self._read("set_own_entity", OwnRow, entity=entity)

    async def _read(
        self, function: LiteralString, row: type[Row], refused: str = "", /, **arguments: object
    ) -> list[Row]:
        """Return the rows of a SQL function for readers of the spaces of the caller."""
        reading = self._call.caller.reading
        return await self._call.store.call(function, row, refused, **arguments, **reading)
