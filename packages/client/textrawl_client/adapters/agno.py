"""Agno: the memories of users in textrawl, and everything else in another database of Agno.

Memories are items, because Agno keeps them by id and with topics, and replaces them as a whole.
"""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any
from uuid import uuid4

from agno.db.in_memory import InMemoryDb
from agno.db.schemas import UserMemory

from textrawl_client.adapters.pages import put_all, read_pages
from textrawl_client.client import SyncClient
from textrawl_client.items import Put

Json = dict[str, Any]


class TextrawlMemories:
    """The part of Agno's `BaseDb` that keeps memories. Another database of Agno keeps the rest.

    `class Db(TextrawlMemories, SqliteDb)` has sessions in SQLite: `Db(memory, db_file="agno.db")`.
    Every method raises the errors of `ItemStore`.
    """

    def __init__(
        self, memory: SyncClient, *args: Any, namespace: Sequence[str] = ("agno",), **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self._items = memory.items
        self._place = tuple(namespace)

    def upsert_user_memory(self, memory: UserMemory, deserialize: bool | None = True) -> Any:
        """Store a memory. One with a known id replaces it, and keeps its user and its beginning."""
        return self.upsert_memories([memory], deserialize)[0]

    def upsert_memories(
        self,
        memories: list[UserMemory],
        deserialize: bool | None = True,
        preserve_updated_at: bool = False,
    ) -> list[Any]:
        """Store memories, with the times of their last changes if `preserve_updated_at`."""
        puts = dict[str, Put]()
        for memory in memories:
            key = memory.memory_id = memory.memory_id or str(uuid4())
            before = self._items.get(self._place, key)
            changed = memory.updated_at if preserve_updated_at else int(time.time())
            value = asdict(memory) | {"updated_at": changed}
            if before is not None:
                value |= {name: before.value[name] for name in ("user_id", "created_at")}
            puts[key] = Put(self._place, key, value, index=["memory", "topics"])
        put_all(self._items, puts.values())
        return [_show(puts[str(memory.memory_id)].value, deserialize) for memory in memories]

    def get_user_memory(
        self, memory_id: str, deserialize: bool | None = True, user_id: str | None = None
    ) -> Any:
        """Return a memory, or None if there is none, or if it belongs to another user."""
        item = self._items.get(self._place, memory_id)
        own = item is not None and user_id in (None, item.value["user_id"])
        return _show(item.value, deserialize) if item and own else None

    def get_user_memories(  # noqa: PLR0913, PLR0917 - those of Agno
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        team_id: str | None = None,
        topics: list[str] | None = None,
        search_content: str | None = None,
        limit: int | None = None,
        page: int | None = None,
        sort_by: str | None = None,
        sort_order: str | None = None,
        deserialize: bool | None = True,
    ) -> Any:
        """Return memories with all these topics and this part of a text, the oldest first.

        Without `deserialize`, return the dictionaries of a page, and the number of all found.
        """
        found = [
            value
            for value in self._read_all(user_id=user_id, agent_id=agent_id, team_id=team_id)
            if set(topics or ()) <= set(value["topics"] or ())
            and (search_content or "").casefold() in value["memory"].casefold()
        ]
        if sort_by in UserMemory.__dataclass_fields__:
            found.sort(key=partial(_read_field, field=sort_by), reverse=sort_order != "asc")
        shown = _cut(found, limit, page)
        return [_show(one, True) for one in shown] if deserialize else (shown, len(found))

    def get_all_memory_topics(self, user_id: str | None = None) -> list[str]:
        """Return the topics of all memories, each once."""
        topics: list[list[str]] = [one["topics"] or [] for one in self._read_all(user_id=user_id)]
        return sorted({topic for each in topics for topic in each})

    def get_user_memory_stats(
        self, limit: int | None = None, page: int | None = None, user_id: str | None = None
    ) -> tuple[list[Json], int]:
        """Return the number of memories of each user and the last change, the newest first."""
        times = defaultdict[str, list[int]](list)
        for value in self._read_all(user_id=user_id):
            if value["user_id"]:
                times[value["user_id"]].append(value["updated_at"] or 0)
        stats: list[Json] = [
            {"user_id": user, "total_memories": len(all_), "last_memory_updated_at": max(all_)}
            for user, all_ in times.items()
        ]
        stats.sort(key=lambda one: one["last_memory_updated_at"], reverse=True)
        return _cut(stats, limit, page), len(stats)

    def delete_user_memory(self, memory_id: str, user_id: str | None = None) -> None:
        """Delete a memory, unless it belongs to another user."""
        self.delete_user_memories([memory_id], user_id)

    def delete_user_memories(self, memory_ids: list[str], user_id: str | None = None) -> None:
        """Delete memories, but none of another user."""
        own = (one for one in {*memory_ids} if self.get_user_memory(one, user_id=user_id))
        put_all(self._items, (), [(self._place, one) for one in own])

    def clear_memories(self) -> None:
        """Delete the memories of all users."""
        self._items.delete(self._place)

    def _read_all(self, **wanted: str | None) -> list[Json]:
        """Return the memories with these ids, the oldest first."""
        exact = {name: value for name, value in wanted.items() if value is not None}
        pages = read_pages(partial(self._items.list, self._place, filter=exact))
        return sorted((item.value for item in pages), key=lambda value: value["created_at"])


def _read_field(memory: Json, field: str) -> Any:
    return memory[field] or memory["created_at"]  # one that was never changed has no other time


def _cut(found: list[Json], limit: int | None, page: int | None) -> list[Json]:
    first = ((page or 1) - 1) * (limit or 0)
    return found if limit is None else found[first : first + limit]


def _show(value: Json, deserialize: bool | None) -> Any:
    return UserMemory.from_dict(value) if deserialize else value


class TextrawlDb(TextrawlMemories, InMemoryDb):
    """A database of Agno with memories in textrawl. Sessions stay in the memory of the process."""
