"""LLMs of OpenAI, and of any server with OpenAI's protocol."""

import re
from typing import Any

import httpx2
from openai import APIConnectionError, APIError, AsyncOpenAI, DefaultAsyncHttpxClient
from pydantic import BaseModel, ValidationError

from textrawl.errors import LlmFailed
from textrawl.llm.faults import LlmEndpoint, RequestRefused
from textrawl.llm.protocol import Completion, Request
from textrawl.llm.responses import check_response
from textrawl.providers.answers import PLAIN

_NEWER_LIMIT = re.compile(r"(o\d|gpt-5)", re.IGNORECASE)
"""OpenAI's models with these names require max_completion_tokens, and refuse a temperature."""
_LIMIT_OPTIONS = ("max_tokens", "max_completion_tokens", "temperature")
_TEMPERATURE = 0.1


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Answer(BaseModel):
    choices: list[_Choice]
    usage: _Usage | None = None


class OpenAISource:
    """Requests /v1/chat/completions through OpenAI's client."""

    def __init__(self, endpoint: LlmEndpoint, *, api_key: str, base_url: str) -> None:
        self.endpoint = endpoint
        self._newer_limit = _NEWER_LIMIT.match(endpoint.model) is not None
        http = DefaultAsyncHttpxClient(
            follow_redirects=False, event_hooks={"response": [self._check]}
        )
        self._client = AsyncOpenAI(
            api_key=api_key,
            base_url=base_url,
            timeout=None,
            max_retries=0,
            http_client=http,
            default_headers=PLAIN,
        )

    async def ask(self, request: Request) -> Completion:
        """Send a request. If the server refuses the name of the token limit, use its other name."""
        try:
            return await self._send(request)
        except RequestRefused as refusal:
            if not any(option in refusal.reason for option in _LIMIT_OPTIONS):
                raise
        self._newer_limit = not self._newer_limit
        return await self._send(request)

    async def aclose(self) -> None:
        """Close the client's connections."""
        await self._client.close()

    async def _send(self, request: Request) -> Completion:
        prompt = request.prompt
        create: Any = self._client.chat.completions.with_raw_response.create
        try:
            answer = await create(
                model=self.endpoint.model,
                messages=[
                    {"role": "system", "content": prompt.system},
                    {"role": "user", "content": prompt.user},
                ],
                **self._write_options(request),
            )
        except APIConnectionError as error:
            if isinstance(error.__cause__, LlmFailed):
                raise error.__cause__ from None
            # The client raises one class for a server that cannot be reached and for a broken
            # connection. Only the cause is different.
            if type(error.__cause__).__name__ == "ConnectError":
                raise self.endpoint.unreachable() from None
            raise self.endpoint.interrupted() from None
        except APIError:
            raise self.endpoint.malformed() from None
        return self._read(answer.http_response.content)

    def _write_options(self, request: Request) -> dict[str, Any]:
        limit = request.prompt.max_tokens
        options: dict[str, Any] = (
            {"max_completion_tokens": limit}
            if self._newer_limit
            else {"max_tokens": limit, "temperature": _TEMPERATURE}
        )
        if request.form == "schema":
            schema = {"name": "answer", "strict": True, "schema": request.schema}
            options["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.form == "object":
            options["response_format"] = {"type": "json_object"}
        return options

    def _read(self, body: bytes) -> Completion:
        try:
            answer = _Answer.model_validate_json(body)
            choice = answer.choices[0]
        except (ValidationError, IndexError):
            raise self.endpoint.malformed() from None
        usage = answer.usage or _Usage()
        return Completion(
            choice.message.content or "",
            choice.finish_reason == "length",
            usage.prompt_tokens,
            usage.completion_tokens,
        )

    async def _check(self, response: httpx2.Response) -> None:
        await check_response(self.endpoint, response)
