"""The client of the LLM: retries, a time limit, the circuit breaker, and forms of JSON."""

import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import anyio
from anyio import to_thread
from pydantic import BaseModel, ValidationError
from tenacity import (
    AsyncRetrying,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_exception,
    wait_exponential,
)
from tenacity.wait import wait_combine

from textrawl.llm.faults import LlmEndpoint, LlmOutage, RequestRefused
from textrawl.llm.protocol import Completion, Form, Prompt, Request, Source
from textrawl.llm.reading import drop_thoughts, find_object, write_schema
from textrawl.providers.breaker import Breaker
from textrawl.providers.outage import is_transient, pause_before_retry
from textrawl.providers.sizes import expect_bytes

_ATTEMPTS = 3
_FORMS: tuple[Form, ...] = ("schema", "object", "text")
_BYTES_OF_TOKEN = 64  # of a body: a token can be a long word, escaped as \uXXXX
_IN_WORDS = (
    "\n\nAnswer with one JSON object that matches this JSON schema, without any other text:\n{}"
)

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass
class Meter:
    """The cost of a call with all its requests, also of a call that fails."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class LlmClient:
    """Asks the LLM of the settings.

    `load` loads the package of the provider and returns a function that builds its client. `load`
    is called only before the first request. `timeout` is the time limit of a call with all its
    requests, in seconds.
    """

    def __init__(
        self,
        endpoint: LlmEndpoint,
        load: Callable[[], Callable[[], Source]],
        *,
        timeout: float,
        clock: Callable[[], float] = time.monotonic,
        pause: float = 1.0,
    ) -> None:
        self.endpoint = endpoint
        self._load = load
        self._source: Source | None = None
        self.timeout = timeout
        self._breaker = Breaker(clock, LlmOutage)
        self._first_form = 0
        self._retrying = AsyncRetrying(
            retry=retry_if_exception(is_transient),
            wait=wait_combine(wait_exception(pause_before_retry), wait_exponential(pause / 2)),
            stop=stop_after_attempt(_ATTEMPTS) | stop_before_delay(timeout),
            reraise=True,
        )

    @property
    def name(self) -> str:
        """The provider and the model."""
        return f"{self.endpoint.provider} {self.endpoint.model}"

    async def complete_text(self, prompt: Prompt, meter: Meter | None = None) -> str:
        """Return the text that the LLM writes for `prompt`. Raises LlmFailed."""
        request, cost = Request(prompt), meter or Meter()
        answer = await self._call(lambda: self._ask(request, cost))
        text = drop_thoughts(answer.text)
        if not text:
            raise self.endpoint.empty()
        if answer.cut:
            raise self.endpoint.cut(prompt.max_tokens)
        return text

    async def complete_json(
        self,
        prompt: Prompt,
        schema: type[Answer],
        meter: Meter | None = None,
        *,
        whole: bool = False,
    ) -> Answer:
        """Return the answer of the LLM to `prompt` as a `schema`. Raises LlmFailed.

        With `whole`, an answer that reached the largest number of tokens is refused, too.
        """
        cost = meter or Meter()
        answer = await self._call(lambda: self._ask_for_json(prompt, schema, cost))
        text = drop_thoughts(answer.text)
        if not text:
            raise self.endpoint.empty()
        if whole and answer.cut:
            raise self.endpoint.cut(prompt.max_tokens)
        found = find_object(text)
        if found is None:
            raise self.endpoint.unreadable("text without a JSON object")
        try:
            return schema.model_validate(found)
        except ValidationError as error:
            first = error.errors(include_input=False, include_context=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            # Show pydantic's name of the fault, but no name that the LLM wrote.
            known = place if place in schema.model_fields else "its content"
            raise self.endpoint.unreadable(
                f"JSON of another structure ({known}: {first['type']})"
            ) from None

    async def aclose(self) -> None:
        """Close connections."""
        if self._source is not None:
            await self._source.aclose()

    async def _ask_for_json(
        self, prompt: Prompt, model: type[BaseModel], meter: Meter
    ) -> Completion:
        """Ask for JSON in the first form that the provider accepts. Remember this form."""
        schema = write_schema(model)
        in_words = replace(prompt, system=prompt.system + _IN_WORDS.format(json.dumps(schema)))
        for number in range(self._first_form, len(_FORMS)):
            form = _FORMS[number]
            request = Request(prompt if form == "schema" else in_words, form, schema)
            try:
                answer = await self._ask(request, meter)
            except RequestRefused:
                if number == len(_FORMS) - 1:
                    raise
            else:
                self._first_form = number
                return answer
        raise AssertionError  # not reached: the last form returns or raises

    async def _call(self, ask: Callable[[], Awaitable[Completion]]) -> Completion:
        return await self._breaker.call(lambda: self._call_in_time(ask))

    async def _call_in_time(self, ask: Callable[[], Awaitable[Completion]]) -> Completion:
        try:
            with anyio.fail_after(self.timeout):
                return await ask()
        except TimeoutError:
            raise self.endpoint.late(self.timeout) from None

    async def _ask(self, request: Request, meter: Meter) -> Completion:
        source = await self._open()
        with expect_bytes(request.prompt.max_tokens * _BYTES_OF_TOKEN):
            # Copy `_retrying`, because concurrent calls would share its counters.
            answer: Completion = await self._retrying.copy()(self._send, source, request, meter)
        return answer

    async def _send(self, source: Source, request: Request, meter: Meter) -> Completion:
        meter.requests += 1
        answer = await source.ask(request)
        meter.tokens_in += max(answer.tokens_in, 0)
        meter.tokens_out += max(answer.tokens_out, 0)
        return answer

    async def _open(self) -> Source:
        if self._source is None:
            # Load the package of the provider in a thread, because that takes up to a second.
            build = await to_thread.run_sync(self._load)
            self._source = self._source or build()  # another call may have built it meanwhile
        return self._source
