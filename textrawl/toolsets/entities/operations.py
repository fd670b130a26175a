"""The operations of the `entities` toolset: they call SQL functions."""

from textrawl.access.principal import Caller
from textrawl.postgres.sqlstates import DataRefused
from textrawl.store.store import Store
from textrawl.toolsets.entities.rows import (
    AliasRow,
    MergeRow,
    NamedRow,
    SamePair,
    SplitRow,
    UnnamedRow,
)


class EntityOperations:
    """The names of the entities of one memory.

    The operations raise EntityNotFound for an unknown name.
    """

    def __init__(self, store: Store) -> None:
        self._call = store.database.call

    async def find_same(
        self, caller: Caller, *, entity: str | None, least_score: float, limit: int
    ) -> list[SamePair]:
        """Return pairs of entities that can be one, the likeliest first."""
        try:
            return await self._call(
                "find_same_entities",
                SamePair,
                entity=entity,
                min_score=least_score,
                max_rows=limit,
                **caller.reading,
            )
        except DataRefused as refusal:
            raise refusal.explain("entityName") from refusal

    async def merge(self, kept: str, merged: str, caller: Caller, *, dry_run: bool) -> MergeRow:
        """Merge the entity `merged` into the entity `kept`.

        Raises ArgumentInvalid if both names belong to one entity, or if one holds a document.
        """
        try:
            [row] = await self._call(
                "merge_entities",
                MergeRow,
                kept=kept,
                merged=merged,
                dry_run=dry_run,
                **caller.writing,
            )
        except DataRefused as refusal:
            raise refusal.explain("other") from refusal
        return row

    async def split(self, name: str, caller: Caller, *, dry_run: bool) -> SplitRow:
        """Split the merge of the entity that was called `name`.

        Raises ArgumentInvalid if nothing was merged under this name.
        """
        try:
            [row] = await self._call(
                "split_entity", SplitRow, merged=name, dry_run=dry_run, **caller.writing
            )
        except DataRefused as refusal:
            raise refusal.explain("name") from refusal
        return row

    async def add_alias(self, entity: str, alias: str, caller: Caller) -> NamedRow:
        """Give an entity an alias. Raises ArgumentInvalid if another entity has this name."""
        try:
            [row] = await self._call(
                "name_entity", NamedRow, entity=entity, alias=alias, **caller.writing
            )
        except DataRefused as refusal:
            raise refusal.explain("alias") from refusal
        return row

    async def remove_alias(
        self, alias: str, caller: Caller, entity: str | None = None
    ) -> UnnamedRow:
        """Remove an alias, which `entity` must have if it is given.

        Raises ArgumentInvalid if there is no such alias, or if a merge made it.
        """
        try:
            [row] = await self._call(
                "unname_entity", UnnamedRow, alias=alias, entity=entity, **caller.writing
            )
        except DataRefused as refusal:
            raise refusal.explain("alias") from refusal
        return row

    async def list_aliases(self, entity: str | None, caller: Caller) -> list[AliasRow]:
        """Return the aliases of an entity, or of all entities."""
        return await self._call("list_aliases", AliasRow, entity=entity, **caller.reading)
