"""Clients that write. They repeat a write if its answer is an error or is lost."""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import anyio

from benchmarks.chaos.ledger import Author, Ledger
from benchmarks.chaos.servers import Broken

Send = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
Result = TypeVar("Result")
_PAUSE = 0.1  # seconds until a deed is repeated


class Doer:
    """Somebody who repeats each deed until it is acknowledged."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self.author = Author(name)
        self.ledger = ledger
        self.repeated = False  # the last deed
        self.stopping = self.stopped = False

    async def run(self) -> None:
        """Act until the run ends. A deed that was begun is completed first."""
        while not self.stopping:
            await self.act()
            await self.rest()
        self.stopped = True

    async def act(self) -> None:
        """Do one deed, and note it."""
        raise NotImplementedError

    async def rest(self) -> None:
        """Wait until the next deed."""

    async def persist(self, attempt: Callable[[], Awaitable[Result | None]]) -> Result:
        """Repeat an attempt until it has a result, and return the result."""
        self.repeated = False
        while (result := await attempt()) is None:
            self.repeated = True
            await anyio.sleep(_PAUSE)
        self.ledger.repeated += self.repeated
        return result


class Writer(Doer):
    """One client that remembers facts. `way` names its server."""

    def __init__(self, way: str, name: str, send: Send, ledger: Ledger) -> None:
        super().__init__(name, ledger)
        self.way = way
        self._send = send

    async def act(self) -> None:
        """Remember a fact or a batch of facts, and note the answer."""
        tool, arguments, texts = self.author.write_call()
        if len(texts) > 1:
            self.ledger.batches.append(texts)
        answer = await self.call(tool, arguments)
        known = answer.get("duplicate") or answer.get("factsDuplicate")
        if known and not self.repeated:
            self.ledger.mistaken += texts  # taken for duplicates, although they are new
        for text in texts:
            self.ledger.acknowledged[text] = answer.get("observationId")

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Repeat the same call until it is acknowledged, and return its structured content."""
        result = await self.persist(lambda: self._try(tool, arguments))
        return result["structuredContent"]

    async def _try(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        began = time.monotonic()
        try:
            result = await self._send(tool, arguments)
        except Broken as broken:
            self.ledger.errors[f"no answer: {broken}"] += 1
            return None
        if result.get("isError"):
            self.ledger.errors[result["content"][0]["text"]] += 1
            return None
        self.ledger.note(self.way, began)
        return result
