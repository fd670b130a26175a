"""mem0: `Memory` and `AsyncMemory` with the methods and answers of its open source package.

Change `from mem0 import Memory` to `from textrawl_client.adapters.mem0 import Memory`. Memories are
items, because mem0 keeps texts of each user, agent and run apart, word for word and with a history.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any
from uuid import uuid4

from textrawl_client.adapters import mem0_values as values
from textrawl_client.adapters.mem0_filters import Json, check_ids, find
from textrawl_client.adapters.pages import put_all
from textrawl_client.client import SyncClient

_UNSET: Any = object()


class Memory:
    """The memory of mem0 in textrawl. Wrong arguments raise ValueError, as in mem0.

    Without `memory`, it opens a client for the server that TEXTRAWL_SERVER_URL names. mem0's
    `config` is accepted and not used, because the server embeds and stores. `ids` are user_id,
    agent_id and run_id: at least one is needed. In filters, they are members.

    With `infer`, `add` lets the LLM of the server find the facts, if it may
    (TEXTRAWL_ENABLE_MEMORY_EXTRACTION). Otherwise it stores each message as told. In both cases a
    text is stored once for the same ids.
    """

    def __init__(
        self, config: Any = None, *, memory: Any = None, namespace: Sequence[str] = ("mem0",)
    ) -> None:
        self.config = config
        self._client: SyncClient = memory or SyncClient()
        self._items = self._client.items
        self._place = tuple(namespace)

    @classmethod
    def from_config(cls, config_dict: Json) -> "Memory":
        """Return a memory. The class says what becomes of `config_dict`."""
        return cls(config_dict)

    def add(
        self,
        messages: str | Json | list[Json],
        *,
        metadata: Json | None = None,
        expiration_date: Any = None,
        infer: bool = True,
        **ids: Any,
    ) -> Json:
        """Store messages, or the facts in them, until the end of the day `expiration_date`."""
        exact = check_ids(**ids)
        about = values.drop_ids(metadata) | exact | values.write_day(expiration_date)
        told = values.read_messages(messages)
        results = list[Json]()
        for text, who in values.find_facts(self._client, told) if infer else told:
            if infer and self._items.list(self._place, filter=exact | {"data": text}, limit=1):
                continue
            key = str(uuid4())
            self._items.put(self._place, key, about | who | {"data": text}, index=["data"])
            results.append({"id": key, "memory": text, "event": "ADD", **who})
        return {"results": results}

    def search(  # noqa: PLR0913 - the arguments of mem0
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Json | None = None,
        threshold: float | None = 0.1,
        explain: bool = False,
        show_expired: bool = False,
        rerank: bool = False,
    ) -> Json:
        """Return the memories that answer a query, the best first, each with score_details.

        `rerank` and `explain` change nothing.
        """
        if not query.strip():
            raise ValueError("Invalid query: it must not be empty")
        fetch = partial(self._items.search, query, self._place)
        found = find(fetch, filters, expired=show_expired)
        good = (item for item in found if (item.score or 0) >= (threshold or 0))
        return {"results": [values.show(item) for item in islice(good, top_k)]}

    def get_all(
        self, *, filters: Json | None = None, top_k: int = 20, show_expired: bool = False
    ) -> Json:
        """Return memories of a user, an agent or a run, the newest first."""
        fetch = partial(self._items.list, self._place, order="updated")
        found = find(fetch, filters, expired=show_expired)
        return {"results": [values.show(item) for item in islice(found, top_k)]}

    def get(self, memory_id: str) -> Json | None:
        """Return a memory, or None if none has this id."""
        item = self._items.get(self._place, memory_id)
        return item and values.show(item)

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Json | None = None,
        expiration_date: Any = _UNSET,
    ) -> Json:
        """Change the text of a memory, some of its metadata, or its last day (None: no end)."""
        if text is None and metadata is None and expiration_date is _UNSET:
            raise ValueError("Give at least one of text, metadata, expiration_date")
        item = self._items.get(self._place, memory_id)
        if item is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        value = item.value | values.drop_ids(metadata) | ({} if text is None else {"data": text})
        if expiration_date is not _UNSET:
            value = value | {"expiration_date": None} | values.write_day(expiration_date)
        self._items.put(self._place, memory_id, value, index=["data"], version=item.version)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> Json:
        """Delete a memory."""
        if not self._items.delete(self._place, memory_id):
            raise ValueError(f"Memory with id {memory_id} not found")
        return {"message": "Memory deleted successfully!"}

    def delete_all(self, **ids: Any) -> Json:
        """Delete the memories that have all the given ids."""
        fetch = partial(self._items.list, self._place)
        found = find(fetch, check_ids(**ids), expired=True)
        put_all(self._items, (), [(self._place, item.key) for item in found])
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[Json]:
        """Return the changes of a memory, the oldest first."""
        return values.show_changes(self._items.history(self._place, memory_id))

    def reset(self) -> None:
        """Delete all memories of all users."""
        self._items.delete(self._place)


class AsyncMemory:
    """`Memory` for programs that use asyncio: each method runs in a thread."""

    def __init__(self, config: Any = None, **options: Any) -> None:
        self._memory = Memory(config, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(asyncio.to_thread, getattr(self._memory, name))
