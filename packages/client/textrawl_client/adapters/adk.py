"""Google ADK: a memory service that keeps apps and users apart.

Events are items, not facts: a turn of a conversation states no fact by itself, and its parts have
to come back exactly as they were.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from uuid import uuid4

from google.adk.events import Event
from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai.types import Content

from textrawl_client.adapters.pages import plan, read_all
from textrawl_client.client import Client
from textrawl_client.items import Item, Put

_NO_SESSION = "__unknown_session_id__"
_DELETED = "__deleted_memory_ids__"
_INDEX = ["content.parts[*].text"]
_MOST_BYTES = 900_000  # an item has at most 1 MB


class TextrawlMemoryService(BaseMemoryService):
    """Sessions of ADK's agents in a memory.

    A search finds at most `limit` events of one app and user, by words and meaning. An event that
    was deleted is not stored again when its session is added again. `custom_metadata` comes back
    with each entry. Every method raises the errors of `ItemStore`.
    """

    def __init__(
        self, memory: Client, *, namespace: Sequence[str] = ("adk",), limit: int = 10
    ) -> None:
        self._items = memory.items
        self._root = tuple(namespace)
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session that are new or have changed."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store events that have a text. Without `session_id`, all such calls share a session."""
        place = (*self._root, app_name, user_id, session_id or _NO_SESSION)
        values = {value["id"]: value for value in map(_write_event, events) if value}
        if not values:
            return
        deleted = await self._read_all((*place[:-1], _DELETED))
        known = await self._read_all(place)
        new = (k for k in values if k not in deleted and known.get(k) != values[k])
        await self._store(Put(place, k, values[k], custom_metadata, index=_INDEX) for k in new)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store entries that belong to no session. An entry with a known id replaces it."""
        puts = dict[str, Put]()
        for entry in memories:
            key = entry.id or str(uuid4())
            value = _write_value(key, entry.content, entry.author, entry.timestamp)
            about = {**(custom_metadata or {}), **entry.custom_metadata}
            place = (*self._root, app_name, user_id)
            puts[key] = Put(place, key, value, about, index=_INDEX)
        await self._store(puts.values())

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return the entries of this app and user that answer the query, the best first."""
        if not query.strip():
            return SearchMemoryResponse()
        place = (*self._root, app_name, user_id)
        found = await self._items.search(query, place, limit=self._limit)
        return SearchMemoryResponse(memories=[_read_entry(item) for item in found])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Delete the entry with this id. Nothing happens if there is none."""
        place = (*self._root, app_name, user_id)
        wanted = {"id": memory_id or ""}
        gone = {item.key: item for item in await self._items.list(place, filter=wanted)}
        signs = (Put((*place, _DELETED), key, None, index=False) for key in gone)
        await self._store(signs, [*gone.values()])

    async def _store(self, puts: Iterable[Put], gone: Sequence[Item] = ()) -> None:
        for some, ended in plan(puts, gone):
            await self._items.put_many(some, delete=ended)

    async def _read_all(self, place: tuple[str, ...]) -> dict[str, Any]:
        items = await read_all(partial(self._items.list, place))
        return {item.key: item.value for item in items}


def _write_event(event: Event) -> dict[str, Any] | None:
    """Return the value of an event, or None if it has no text."""
    content = event.content
    if not content or not _read_text(content):
        return None
    said = datetime.fromtimestamp(event.timestamp).isoformat()
    value = _write_value(event.id, content, event.author, said)
    # An event without an id keeps one key, however often its session is added.
    value["id"] = event.id or hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]
    return value


def _write_value(key: str, content: Content, author: str | None, said: str | None) -> Any:
    whole = content.model_dump(mode="json", exclude_none=True)
    if len(json.dumps(whole)) > _MOST_BYTES:  # images and files do not fit: the text does
        whole = {"role": content.role, "parts": [{"text": _read_text(content)}]}
    return {"id": key, "content": whole, "author": author, "timestamp": said}


def _read_text(content: Content) -> str:
    parts = [part.text for part in content.parts or () if part.text and not part.thought]
    return " ".join(parts).strip()


def _read_entry(item: Item) -> MemoryEntry:
    value = item.value
    return MemoryEntry(
        id=value["id"],
        content=Content.model_validate(value["content"]),
        author=value["author"],
        timestamp=value["timestamp"],
        custom_metadata=dict(item.metadata or {}),
    )
