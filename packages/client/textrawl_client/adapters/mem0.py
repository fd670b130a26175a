"""mem0: `Memory` and `AsyncMemory` with the methods and answers of the open source package.

Change `from mem0 import Memory` to `from textrawl_client.adapters.mem0 import Memory`. Memories are
items, because mem0 keeps texts of each user, agent and run apart, word for word and with a history.
"""

import asyncio
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from itertools import islice
from typing import Any
from uuid import uuid4

from textrawl_client import errors
from textrawl_client.adapters import mem0_values as values
from textrawl_client.adapters.mem0_values import IDS, Json
from textrawl_client.adapters.pages import read_pages
from textrawl_client.client import SyncClient
from textrawl_client.items import Item

_UNSET: Any = object()


class Memory:
    """The memory of mem0 on a server of textrawl.

    Without `client`, it opens one of its own, for the server that TEXTRAWL_SERVER_URL names. mem0's
    `config` is accepted and not used, because the server embeds and stores.

    With `infer=True`, `add` lets the LLM of the server find the facts, if it may
    (TEXTRAWL_ENABLE_MEMORY_EXTRACTION). Otherwise it stores each message as told. In both cases a
    text is stored once for the same ids. Wrong arguments raise ValueError, as in mem0.
    """

    def __init__(
        self, config: Any = None, *, client: SyncClient | None = None, namespace: str = "mem0"
    ) -> None:
        self.config = config
        self._client = client or SyncClient(client="mem0")
        self._items = self._client.items
        self._place = (namespace,)

    @classmethod
    def from_config(cls, config_dict: Json) -> Any:
        """Return a memory. The class says what becomes of `config_dict`."""
        return cls(config_dict)

    def add(  # noqa: PLR0913 - the arguments of mem0
        self,
        messages: str | Json | list[Json],
        *,
        user_id: Any = None,
        agent_id: Any = None,
        run_id: Any = None,
        metadata: Json | None = None,
        expiration_date: date | str | None = None,
        infer: bool = True,
    ) -> Json:
        """Store messages, or the facts in them, for a user, an agent or a run."""
        ids = values.check_ids({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        about = values.drop_ids(metadata) | ids | values.write_day(expiration_date)
        told = values.read_messages(messages)
        results = list[Json]()
        for text, who in self._infer(told) if infer else told:
            if infer and self._items.list(self._place, filter=ids | {"data": text}, limit=1):
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
        """Return the memories that answer a query, the best first. `rerank` changes nothing."""
        if not query.strip():
            raise ValueError("Invalid query: it must not be empty")
        found = self._find(partial(self._items.search, query), filters, expired=show_expired)
        good = (item for item in found if (item.score or 0) >= (threshold or 0))
        results = [values.show(item) | {"score": item.score} for item in islice(good, top_k)]
        for result in results if explain else ():
            result["score_details"] = {"final_score": result["score"], "threshold": threshold}
        return {"results": results}

    def get_all(
        self, *, filters: Json | None = None, top_k: int = 20, show_expired: bool = False
    ) -> Json:
        """Return memories of a user, an agent or a run, the newest first."""
        newest = partial(self._items.list, order="updated")
        found = self._find(newest, filters, expired=show_expired)
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
        item = self._read(memory_id)
        value = item.value | values.drop_ids(metadata) | ({} if text is None else {"data": text})
        if expiration_date is not _UNSET:
            value = value | {"expiration_date": None} | values.write_day(expiration_date)
        self._items.put(self._place, memory_id, value, index=["data"], version=item.version)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> Json:
        """Delete a memory."""
        self._items.delete(self._place, self._read(memory_id).key)
        return {"message": "Memory deleted successfully!"}

    def delete_all(self, user_id: Any = None, agent_id: Any = None, run_id: Any = None) -> Json:
        """Delete the memories that have all the given ids."""
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        for item in list(self._find(self._items.list, ids, expired=True)):
            self._items.delete(self._place, item.key)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[Json]:
        """Return the changes of a memory, the oldest first."""
        return values.show_changes(self._items.history(self._place, memory_id))

    def reset(self) -> None:
        """Delete all memories of all users."""
        self._items.delete(self._place)

    def _infer(self, told: list[tuple[str, Json]]) -> list[tuple[str, Json]]:
        """Return the facts that the LLM of the server finds in messages, or the messages."""
        text = "\n".join(f"{who['role']}: {text}" for text, who in told)
        asked = {"text": text, "source": "conversation", "storeResults": False}
        try:
            found = self._client.call("extract_memories", asked)
        except errors.ArgumentInvalid:
            return told
        entities = (found["extraction"] or {}).get("entities", ())
        return [(f"{one['name']}: {fact}", {}) for one in entities for fact in one["observations"]]

    def _read(self, memory_id: str) -> Item:
        item = self._items.get(self._place, memory_id)
        if item is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        return item

    def _find(
        self, fetch: Callable[..., Any], filters: Json | None, *, expired: bool
    ) -> Iterator[Item]:
        """Yield the items that pass the filters. The server compares the ids."""
        ids = values.check_ids(filters or {})
        wanted = {name: each for name, each in (filters or {}).items() if name not in IDS} | ids
        exact = {name: each for name, each in ids.items() if each != "*"}
        for item in read_pages(partial(fetch, prefix=self._place, filter=exact)):
            if values.matches(item.value, wanted) and (
                expired or not values.is_expired(item.value)
            ):
                yield item


class AsyncMemory:
    """`Memory` for programs that use asyncio: each method runs in a thread."""

    def __init__(self, config: Any = None, **options: Any) -> None:
        self._memory = Memory(config, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(asyncio.to_thread, getattr(self._memory, name))
