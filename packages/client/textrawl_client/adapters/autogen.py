"""AutoGen: a `Memory` whose texts, objects, bytes and images outlive the process.

Contents are items, because AutoGen stores one twice if told twice, keeps metadata and the kind of
a content, and clears all of them at once.
"""

import base64
import time
from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from autogen_core import CancellationToken, Image
from autogen_core.memory import Memory, MemoryContent, MemoryQueryResult, UpdateContextResult
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import SystemMessage

from textrawl_client.adapters.pages import read_all
from textrawl_client.client import Client
from textrawl_client.items import Item


class TextrawlMemory(Memory):
    """The memory called `name`.

    Agents with the same name share a memory: give each user a name. A query finds at most `limit`
    contents, by words and meaning; an empty one returns all, the oldest first, as ListMemory does.
    Results have their `score` in the metadata. Every method raises the errors of `ItemStore`.
    """

    component_type = "memory"

    def __init__(
        self, memory: Client, name: str, *, namespace: Sequence[str] = ("autogen",), limit: int = 5
    ) -> None:
        self._items = memory.items
        self._place = (*namespace, name)
        self._limit = limit

    async def add(
        self, content: MemoryContent, cancellation_token: CancellationToken | None = None
    ) -> None:
        """Store a content. Bytes and images are kept, but no query finds them."""
        key = f"{time.time_ns():020d} {uuid4()}"  # sorted by time
        value = _write(content)
        index = ["content"] if value["kind"] in ("str", "dict") else False
        await self._items.put(self._place, key, value, metadata=content.metadata, index=index)

    async def query(
        self,
        query: str | MemoryContent = "",
        cancellation_token: CancellationToken | None = None,
        **kwargs: Any,
    ) -> MemoryQueryResult:
        """Return the contents that answer a text, the best first; `limit` can be given here too."""
        asked = query if isinstance(query, str) else str(query.content)
        if asked.strip():
            limit = kwargs.get("limit", self._limit)
            items = await self._items.search(asked, self._place, limit=limit)
        else:
            items = await read_all(partial(self._items.list, self._place))
        return MemoryQueryResult(results=[_read(item) for item in items])

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Add the contents that answer the last message to the context, as a system message."""
        messages = await model_context.get_messages()
        if not messages:
            return UpdateContextResult(memories=MemoryQueryResult(results=[]))
        last = messages[-1].content
        found = await self.query(last if isinstance(last, str) else str(last))
        if found.results:
            lines = [f"{place}. {one.content}" for place, one in enumerate(found.results, 1)]
            text = "\nRelevant memory content:\n" + "\n".join(lines)
            await model_context.add_message(SystemMessage(content=text))
        return UpdateContextResult(memories=found)

    async def clear(self) -> None:
        """Delete all contents of this memory."""
        await self._items.delete(self._place)

    async def close(self) -> None:
        """Do nothing: the client belongs to the program."""


def _write(content: MemoryContent) -> dict[str, Any]:
    value = content.content
    kind = type(value).__name__
    stored: Any = value
    if isinstance(value, bytes):
        kind, stored = "bytes", base64.b64encode(value).decode()
    elif isinstance(value, Image):
        kind, stored = "image", value.to_base64()
    return {"kind": kind, "content": stored, "mime_type": content.model_dump()["mime_type"]}


def _read(item: Item) -> MemoryContent:
    stored, kind = item.value["content"], item.value["kind"]
    if kind == "bytes":
        stored = base64.b64decode(stored)
    elif kind == "image":
        stored = Image.from_base64(stored)
    score = {} if item.score is None else {"score": item.score}
    about = {**(item.metadata or {}), **score} or None
    return MemoryContent(content=stored, mime_type=item.value["mime_type"], metadata=about)
