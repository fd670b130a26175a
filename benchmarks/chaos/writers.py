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
    """One client. `way` names its server."""

    def __init__(self, way: str, author: Author, send: Send, ledger: Ledger) -> None:
        self.way = way
        self._author = author
        self._send = send
        self._ledger = ledger
        self.stopping = False

    async def run(self) -> None:
        """Write until the run ends. A call that was begun is completed first."""
        while not self.stopping:
            tool, arguments, texts = self._author.write_call()
            if len(texts) > 1:
                self._ledger.batches.append(texts)
            await self._persist(tool, arguments, texts)

    async def _persist(self, tool: str, arguments: dict[str, Any], texts: list[str]) -> None:
        """Repeat the same call until it is acknowledged."""
        repeated = False
        while True:
            began = time.monotonic()
            result = await self._try(tool, arguments)
            if result is not None:
                break
            repeated = True
            await anyio.sleep(_PAUSE)
        self._ledger.note(self.way, began)
        self._ledger.repeated += repeated
        answer = result["structuredContent"]
        known = answer.get("duplicate") or answer.get("factsDuplicate")
        if known and not repeated:
            self._ledger.mistaken += texts  # taken for duplicates, although they are new
        for text in texts:
            self._ledger.acknowledged[text] = answer.get("observationId")

    async def _try(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        try:
            result = await self._send(tool, arguments)
        except Broken as broken:
            self._ledger.errors[f"no answer: {broken}"] += 1
            return None
        if result.get("isError"):
            self._ledger.errors[result["content"][0]["text"]] += 1
            return None
        return result
