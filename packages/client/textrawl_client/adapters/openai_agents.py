"""The sessions of the OpenAI Agents SDK on logs: the items of a conversation, in their order."""

from collections.abc import Sequence
from typing import Any

from agents.items import TResponseInputItem
from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from textrawl_client.adapters.pages import divide
from textrawl_client.client import Client


class TextrawlSession(SessionABC):
    """The session of a conversation. Several programs and servers can go on with it.

    It is a log below `namespace` in the memory. `session_settings` has the number of items that a
    run reads when it does not say.
    """

    def __init__(
        self,
        memory: Client,
        session_id: str,
        *,
        namespace: Sequence[str] = ("openai-agents",),
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = SessionSettings().resolve(session_settings)
        self._log = memory.log(*namespace, session_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the last `limit` items, or all, in their order."""
        last = resolve_session_limit(limit, self.session_settings)
        return await self._log.read(None if last is None or last < 0 else last)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items at the end: all or none, if they fit into one request of a megabyte."""
        for some in divide(items, dict):
            await self._log.append(some)

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item and return it, or None if there is none."""
        return await self._log.pop()

    async def clear_session(self) -> None:
        """Remove all items."""
        await self._log.clear()
