"""The operations on reflections: they embed texts and call SQL functions."""

from collections.abc import Sequence
from dataclasses import dataclass

from textrawl.access.principal import Caller
from textrawl.postgres.sqlstates import DataRefused
from textrawl.store.store import Store
from textrawl.toolsets.graph.rows import DeletedReflectionRow, ReflectionRow, StoredReflectionRow


@dataclass(frozen=True)
class Reflection:
    """A reflection to store. `target` is the number of the entity or relation that it is about.

    `voice` is the name of the speaker. It can differ from the name of the author.
    """

    target_type: str
    content: str
    voice: str
    mood: str | None
    target: int | None


@dataclass(frozen=True)
class Filter:
    """The conditions that reflections have to meet. A condition of None is always met."""

    voice: str | None
    mood: str | None
    target_type: str | None


class ReflectionOperations:
    """The reflections of one memory."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def add(self, reflection: Reflection, caller: Caller) -> StoredReflectionRow:
        """Store a reflection.

        Raises ArgumentInvalid if no entity or relation has the number `target`.
        """
        model, vector, _ = await self._store.try_to_embed_query(reflection.content or " ")
        try:
            [row] = await self._call(
                "add_reflection",
                StoredReflectionRow,
                target_type=reflection.target_type,
                content=reflection.content,
                voice=reflection.voice,
                mood=reflection.mood,
                target=reflection.target,
                model=model,
                embedding=vector,
                **caller.writing,
            )
        except DataRefused as refusal:
            raise refusal.explain(reflection.target_type) from refusal
        return row

    async def search(
        self, query: str, choice: Filter, limit: int, caller: Caller
    ) -> list[ReflectionRow]:
        """Return reflections that match the query by words or by meaning.

        While the embedding provider is down, only words are compared.
        """
        model, vector, _ = await self._store.try_to_embed_query(query or " ")
        return await self._call(
            "search_reflections",
            ReflectionRow,
            query=query,
            model=model,
            vector=vector,
            voice=choice.voice,
            mood=choice.mood,
            target_type=choice.target_type,
            max_rows=limit,
            **caller.reading_home,
        )

    async def delete(self, numbers: Sequence[int], caller: Caller) -> list[DeletedReflectionRow]:
        """Delete reflections by their numbers. Return one row for each number."""
        return await self._call(
            "delete_reflections", DeletedReflectionRow, numbers=list(numbers), **caller.writing
        )
