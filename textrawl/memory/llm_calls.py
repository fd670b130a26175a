"""Calls to the LLM, each recorded in the database with its cost."""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import LiteralString, TypeVar

import anyio
from pydantic import BaseModel

from textrawl.errors import LlmFailed, LlmNotConfigured, TextrawlError
from textrawl.memory.store import Store
from textrawl.models.llm import LlmClient, Meter, Prompt

logger = logging.getLogger("textrawl")

Answer = TypeVar("Answer", bound=BaseModel)
Result = TypeVar("Result")


class LlmCalls:
    """Calls to the LLM for one purpose. The SQL function `record` stores the cost of each call.

    `arguments` are what `record` takes beside the cost, such as the space and the purpose.
    """

    def __init__(self, store: Store, record: LiteralString, **arguments: object) -> None:
        self._llm = store.llm
        self._call = store.database.call
        self._record: LiteralString = record
        self._arguments = arguments

    async def complete_text(self, prompt: Prompt) -> str:
        """Return the text that the LLM writes for `prompt`. Raises LlmFailed."""
        llm = self._require()
        return await self._measure(llm, lambda meter: llm.complete_text(prompt, meter))

    async def complete_json(
        self, prompt: Prompt, schema: type[Answer], *, whole: bool = False
    ) -> Answer:
        """Return the answer of the LLM to `prompt` as a `schema`. Raises LlmFailed.

        With `whole`, an answer that reached the largest number of tokens is refused, too.
        """
        llm = self._require()
        return await self._measure(
            llm, lambda meter: llm.complete_json(prompt, schema, meter, whole=whole)
        )

    def _require(self) -> LlmClient:
        if self._llm is None:
            raise LlmNotConfigured
        return self._llm

    async def _measure(self, llm: LlmClient, ask: Callable[[Meter], Awaitable[Result]]) -> Result:
        meter, started = Meter(), time.perf_counter()
        error: str | None = None
        try:
            return await ask(meter)
        except LlmFailed as failure:
            error = failure.title
            raise
        finally:
            milliseconds = 1000 * (time.perf_counter() - started)
            # A cancelled call has its cost too.
            with anyio.CancelScope(shield=True):
                await self._store_cost(
                    model=llm.name, **asdict(meter), milliseconds=milliseconds, error=error
                )

    async def _store_cost(self, **cost: object) -> None:
        """Store what a call cost. A fault is only logged, because the answer is more important."""
        try:
            await self._call(self._record, bool, **cost, **self._arguments)
        except TextrawlError as error:
            logger.warning("The cost of a call to the LLM was not recorded: %s", error.title)
