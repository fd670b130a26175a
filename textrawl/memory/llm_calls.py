"""Calls to the LLM, each recorded in the database with its cost."""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import anyio
from pydantic import BaseModel

from textrawl.errors import LlmFailed, LlmNotConfigured, TextrawlError
from textrawl.models.llm import LlmClient, Meter, Prompt
from textrawl.postgres.database import Database

logger = logging.getLogger("textrawl")

Answer = TypeVar("Answer", bound=BaseModel)
Result = TypeVar("Result")


@dataclass(frozen=True)
class LlmUse:
    """The cost of a call. `error` is the code of the error, or None."""

    model: str
    requests: int
    tokens_in: int
    tokens_out: int
    milliseconds: float
    error: str | None


Record = Callable[[LlmUse], Awaitable[None]]


class LlmCalls:
    """Calls to the LLM for one purpose. `record` stores the cost of each call."""

    def __init__(self, llm: LlmClient | None, record: Record) -> None:
        self._llm = llm
        self._record = record

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
            use = LlmUse(
                llm.name, meter.requests, meter.tokens_in, meter.tokens_out, milliseconds, error
            )
            # A cancelled call has its cost too.
            with anyio.CancelScope(shield=True):
                await self._record(use)


def build_record(
    database: Database, purpose: str, *, credential: bytes | None, space: int | None
) -> Record:
    """Return a function that stores the cost of a call in `space`, or else in the home space.

    A fault of the database is only logged, because the answer of the LLM is more important.
    """

    async def record(use: LlmUse) -> None:
        try:
            await database.call(
                "record_llm_use",
                bool,
                purpose=purpose,
                model=use.model,
                requests=use.requests,
                tokens_in=use.tokens_in,
                tokens_out=use.tokens_out,
                milliseconds=use.milliseconds,
                error=use.error,
                credential=credential,
                space=space,
            )
        except TextrawlError as error:
            logger.warning("The cost of a call to the LLM was not recorded: %s", error.title)

    return record
