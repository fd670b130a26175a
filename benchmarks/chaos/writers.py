"""Clients that remember facts. They repeat a call if its answer is an error or is lost."""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio

from benchmarks.chaos.ledger import Author, Ledger
from benchmarks.chaos.servers import Broken

Send = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
_PAUSE = 0.1  # seconds until a call is repeated


class Writer:
    """One client that remembers facts. `way` names its server."""

    def __init__(self, way: str, author: Author, send: Send, ledger: Ledger) -> None:
        self.way = way
        self.author = author
        self.ledger = ledger
        self._send = send
        self.stopping = self.stopped = False

    async def run(self) -> None:
        """Write until the run ends. A call that was begun is completed first."""
        while not self.stopping:
            await self.act()
        self.stopped = True

    async def act(self) -> None:
        """Remember a fact or a batch of facts, and note the answer."""
        tool, arguments, texts = self.author.write_call()
        if len(texts) > 1:
            self.ledger.batches.append(texts)
        repeated = self.ledger.repeated
        answer = await self.persist(tool, arguments)
        known = answer.get("duplicate") or answer.get("factsDuplicate")
        if known and self.ledger.repeated == repeated:
            self.ledger.mistaken += texts  # taken for duplicates, although they are new
        for text in texts:
            self.ledger.acknowledged[text] = answer.get("observationId")

    async def persist(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Repeat the same call until it is acknowledged, and return its structured content."""
        repeated = False
        while True:
            began = time.monotonic()
            result = await self._try(tool, arguments)
            if result is not None:
                break
            repeated = True
            await anyio.sleep(_PAUSE)
        self.ledger.note(self.way, began)
        self.ledger.repeated += repeated
        return result["structuredContent"]

    async def _try(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        try:
            result = await self._send(tool, arguments)
        except Broken as broken:
            self.ledger.errors[f"no answer: {broken}"] += 1
            return None
        if result.get("isError"):
            self.ledger.errors[result["content"][0]["text"]] += 1
            return None
        return result
