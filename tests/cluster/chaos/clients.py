"""Clients that write and read the spaces of a cluster, and what they were told."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio

from benchmarks.chaos.ledger import Author
from benchmarks.chaos.servers import Broken

Send = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""A call of a tool in one space: the tool and its arguments."""

_PAUSE = 0.1  # seconds until a call is repeated
_MOST_UNEXCUSED = 20  # then the test ends
_REPLACING = 7  # every seventh call replaces the fact before it


@dataclass
class Ledger:
    """What clients were told, and the spaces whose calls may fail now (`excused`)."""

    excused: set[str] = field(default_factory=set[str])
    phase: str = "load"
    acknowledged: dict[str, tuple[str, str | None]] = field(
        default_factory=dict[str, tuple[str, str | None]]
    )
    replaced: dict[str, str] = field(default_factory=dict[str, str])
    batches: list[list[str]] = field(default_factory=list[list[str]])
    errors: Counter[str] = field(default_factory=Counter[str])
    unexcused: list[str] = field(default_factory=list[str])
    missed: list[str] = field(default_factory=list[str])
    searches: int = 0
    repeated: int = 0
    longest: dict[str, float] = field(default_factory=dict[str, float])
    _latest: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])

    def expect(self, kind: str, space: str) -> None:
        """Know of a client before its first call is answered."""
        self._latest[kind, space] = 0.0

    def note_success(self, kind: str, space: str, began: float, *, excused: bool) -> None:
        """Note a call that was answered. Times of excused spaces do not count."""
        key = (kind, space)
        self._latest[key] = max(began, self._latest.get(key, 0.0))
        if not excused and space not in self.excused:
            took = time.monotonic() - began
            self.longest[self.phase] = max(took, self.longest.get(self.phase, 0.0))

    def note_error(self, kind: str, space: str, text: str, *, excused: bool) -> None:
        """Note a call that failed."""
        self.errors[text] += 1
        if not excused and space not in self.excused:
            self.unexcused.append(f"{self.phase}: {kind} {space}: {text}")
            assert len(self.unexcused) < _MOST_UNEXCUSED, self.unexcused

    async def wait_for_success(self, spaces: set[str]) -> float:
        """Wait until each client of these spaces had an answer; the seconds that it took."""
        since = time.monotonic()
        keys = [key for key in self._latest if key[1] in spaces]
        with anyio.fail_after(120):
            while any(self._latest[key] < since for key in keys):  # noqa: ASYNC110 - many tasks
                await anyio.sleep(0.01)
        return time.monotonic() - since

    async def wait_for_errors(self, number: int) -> None:
        """Wait until clients have seen this number of further errors."""
        since = self.errors.total()
        with anyio.fail_after(60):
            while self.errors.total() < since + number:  # noqa: ASYNC110 - counted by many tasks
                await anyio.sleep(0.01)

    async def wait_for_writes(self, number: int) -> None:
        """Wait until this number of facts is acknowledged."""
        while len(self.acknowledged) < number:  # noqa: ASYNC110 - counted by many tasks
            await anyio.sleep(0.05)


class Client:
    """One who calls tools in one space, and repeats a call that failed."""

    def __init__(self, kind: str, space: str, send: Send, ledger: Ledger) -> None:
        self.kind, self.space = kind, space
        self._send, self._ledger = send, ledger
        self.stopping = False
        ledger.expect(kind, space)

    async def try_once(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """The answer of a call, or None if it failed or no answer came."""
        began, excused = time.monotonic(), self.space in self._ledger.excused
        try:
            result = await self._send(tool, arguments)
        except Broken as broken:
            self._ledger.note_error(self.kind, self.space, str(broken), excused=excused)
            return None
        if result.get("isError"):
            text = result["content"][0]["text"]
            self._ledger.note_error(self.kind, self.space, text, excused=excused)
            return None
        self._ledger.note_success(self.kind, self.space, began, excused=excused)
        return result["structuredContent"]


class Writer(Client):
    """Remembers facts one after the other: alone, in batches, and in place of others."""

    def __init__(self, kind: str, space: str, send: Send, ledger: Ledger) -> None:
        super().__init__(kind, space, send, ledger)
        self._author = Author(f"{kind} {space}")
        self._last = ("", "", "")  # entity, text and id of the newest fact
        self._calls = 0

    async def run(self) -> None:
        """Write until the end. A call that was begun is completed first."""
        while not self.stopping:
            tool, arguments, texts = self._author.write_call()
            self._calls += 1
            if tool == "build_knowledge":
                self._ledger.batches.append(texts)
            elif self._calls % _REPLACING == 0 and self._last[0] == arguments["entityName"]:
                _, replaced, identity = self._last
                self._ledger.replaced[replaced] = texts[0]
                arguments |= {"replaces": identity}
            answer = await self._persist(tool, arguments)
            for text in texts:
                self._ledger.acknowledged[text] = (self.space, answer.get("observationId"))
            if tool == "remember_fact":
                self._last = (arguments["entityName"], texts[0], answer["observationId"])

    async def _persist(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        repeated = False
        while (answer := await self.try_once(tool, arguments)) is None:
            repeated = True
            await anyio.sleep(_PAUSE)
        self._ledger.repeated += repeated
        return answer


class Reader(Client):
    """Searches for facts that were acknowledged before."""

    async def run(self) -> None:
        """Search until the end."""
        while not self.stopping:
            text = self._choose_text()
            if text is not None:
                await self._search(text)
            await anyio.sleep(_PAUSE)

    async def _search(self, text: str) -> None:
        answer = await self.try_once("query_memory", {"query": text})
        if answer is not None:
            self._ledger.searches += 1
            if text not in str(answer) and text not in self._ledger.replaced:
                self._ledger.missed.append(f"{self._ledger.phase}: {self.space}: {text}")

    def _choose_text(self) -> str | None:
        own = [
            text
            for text, (space, _) in reversed(self._ledger.acknowledged.items())
            if space == self.space and text not in self._ledger.replaced
        ]
        return own[0] if own else None
