"""LlamaIndex: a memory block that keeps the messages which leave the short-term memory.

Messages are items: a turn of a conversation states no fact by itself. The block takes a SyncClient,
because LlamaIndex runs each call without `await` in an event loop of its own.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock

from textrawl_client.client import SyncClient
from textrawl_client.errors import ItemExists

_NO_SESSION = "no session"


class TextrawlMemoryBlock(BaseMemoryBlock[str]):
    """The messages of all conversations of a user that answer the last message.

    Messages of one `user` are never shown to another one. A message that is stored again in its
    session changes nothing. Raises the errors of `ItemStore`.
    """

    memory: SyncClient = Field(exclude=True)
    user: str
    name: str = "textrawl"
    namespace: Sequence[str] = ("llamaindex",)
    limit: int = Field(default=5, description="The number of messages that the block shows.")

    async def _aget(self, messages: Sequence[ChatMessage] | None = None, **_: Any) -> str:
        """Return the messages that answer the last message of the user, one in a line."""
        told = [each for each in messages or () if each.role == MessageRole.USER] or messages
        asked = (told[-1].content or "").strip() if told else ""
        if not asked:
            return ""
        place = (*self.namespace, self.user)
        found = await asyncio.to_thread(self.memory.items.search, asked, place, limit=self.limit)
        return "\n".join(f"{item.value['role']}: {item.value['text']}" for item in found)

    async def _aput(self, messages: Sequence[ChatMessage]) -> None:
        """Store the texts of messages."""
        for message in messages:
            text = (message.content or "").strip()
            session = message.additional_kwargs.get("session_id") or _NO_SESSION
            if text and message.role in (MessageRole.USER, MessageRole.ASSISTANT):
                await asyncio.to_thread(self._store, session, message.role.value, text)

    def _store(self, session: str, role: str, text: str) -> None:
        place = (*self.namespace, self.user, session)
        key = hashlib.sha256(f"{role}: {text}".encode()).hexdigest()[:32]
        value = {"role": role, "text": text}
        with suppress(ItemExists):
            self.memory.items.put(place, key, value, index=["text"], version=0)

    async def atruncate(self, content: Any, tokens_to_truncate: int) -> Any:
        """Leave out the messages that answer least, about four characters for each token.

        LlamaIndex gives the block as a list of parts, and takes None for a block without a message.
        """
        lines = [line for part in content for line in part.text.split("\n")]
        spare = tokens_to_truncate * 4
        while lines and spare > 0:
            spare -= len(lines.pop()) + 1
        return [TextBlock(text="\n".join(lines))] if lines else None
