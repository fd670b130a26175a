"""Embeddings and LLMs of OpenAI, and of servers that speak its protocol."""

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx2
from openai import APIConnectionError, APIError, AsyncOpenAI, DefaultAsyncHttpxClient
from pydantic import BaseModel, ConfigDict, ValidationError

from textrawl.errors import EmbeddingUnavailable, LlmFailed, StartRefused, TextrawlError
from textrawl.models.embeddings import EmbeddingEndpoint, find_model
from textrawl.models.llm import Completion, CompletionRequest, LlmEndpoint, RequestRefused
from textrawl.models.provider import PLAIN, read_address, read_key
from textrawl.models.remote import RemoteEmbedder, check_answer, check_response, expect_vectors
from textrawl.settings import Settings

_DEFAULT_MODEL = "text-embedding-3-small"
_DEFAULT_URL = "https://api.openai.com/v1"


class _Item(BaseModel):
    model_config = ConfigDict(strict=True)  # refuse strings and booleans in place of numbers

    embedding: list[float]
    index: int = 0  # servers that are built on protobuf omit a zero


class _EmbeddingAnswer(BaseModel):
    data: list[_Item]


def _open_client(check: Callable[[httpx2.Response], object], key: str, url: str) -> AsyncOpenAI:
    """Return a client without retries and time limits, which gives each response to `check`."""
    http = DefaultAsyncHttpxClient(follow_redirects=False, event_hooks={"response": [check]})
    return AsyncOpenAI(
        api_key=key,
        base_url=url,
        timeout=None,
        max_retries=0,
        http_client=http,
        default_headers=PLAIN,
    )


def _explain(error: APIConnectionError, endpoint: EmbeddingEndpoint | LlmEndpoint) -> TextrawlError:
    """Return the error of a check, or the error for a server without an answer."""
    cause = error.__cause__
    if isinstance(cause, EmbeddingUnavailable | LlmFailed):
        return cause
    # The client raises one class for a server that cannot be reached and for a broken connection.
    # Only the cause is different.
    if type(cause).__name__ == "ConnectError":
        return endpoint.unreachable()
    return endpoint.interrupted()


class OpenAISource:
    """Requests /v1/embeddings through OpenAI's client."""

    def __init__(self, endpoint: EmbeddingEndpoint, *, api_key: str, base_url: str) -> None:
        self.endpoint = endpoint
        self._client = _open_client(self._check, api_key, base_url)

    async def ask(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """Send one request, and return the numbers of each text, in order.

        The request asks for floats, because not every server supports base64, the default of the
        client. The body is validated here, because the client does not validate its objects.
        """
        try:
            with expect_vectors(len(texts)):
                answer = await self._client.embeddings.with_raw_response.create(
                    model=self.endpoint.model, input=texts, encoding_format="float"
                )
        except APIConnectionError as error:
            raise _explain(error, self.endpoint) from None
        return self._read(answer.http_response.content)

    async def aclose(self) -> None:
        """Close the client's connections."""
        await self._client.close()

    async def _check(self, response: httpx2.Response) -> None:
        check_answer(self.endpoint, response)

    def _read(self, body: bytes) -> list[list[float]]:
        try:
            items = _EmbeddingAnswer.model_validate_json(body).data
        except ValidationError:
            raise self.endpoint.malformed() from None
        items.sort(key=lambda item: item.index)
        indexes = [item.index for item in items]
        # If a server sends no index at all, the vectors are in the order of the texts.
        if any(indexes) and indexes != list(range(len(items))):
            raise self.endpoint.malformed()
        return [item.embedding for item in items]


def build_embedder(
    settings: Settings, *, clock: Callable[[], float] = time.monotonic
) -> RemoteEmbedder:
    """Return the embedder that `settings` describe. Raises StartRefused for a wrong setting."""
    model = find_model(settings.embedding_model or _DEFAULT_MODEL)
    url = settings.openai_base_url or _DEFAULT_URL
    endpoint = EmbeddingEndpoint(
        provider="OpenAI" if url == _DEFAULT_URL else "The embedding server",
        address=read_address(
            url, "TEXTRAWL_OPENAI_BASE_URL", "http://host:port/v1 or https://host/v1"
        ),
        model=model.name,
        url_variable="TEXTRAWL_OPENAI_BASE_URL",
        key_variable="TEXTRAWL_OPENAI_API_KEY",
        missing_model="set TEXTRAWL_EMBEDDING_MODEL to a model of this server, or check "
        "TEXTRAWL_OPENAI_BASE_URL",
    )
    key = read_key(settings.openai_api_key, "TEXTRAWL_OPENAI_API_KEY")
    if not key and not settings.openai_base_url:
        raise StartRefused(
            "TEXTRAWL_OPENAI_API_KEY is not set: set it, or TEXTRAWL_OPENAI_BASE_URL for a server "
            "that needs no key, or TEXTRAWL_EMBEDDING_PROVIDER=local"
        )
    source = OpenAISource(endpoint, api_key=key or "none", base_url=url)
    return RemoteEmbedder(f"openai:{model.name}", model, source, clock=clock)


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


class OpenAICompletionSource:
    """Requests /v1/chat/completions through OpenAI's client."""

    def __init__(self, endpoint: LlmEndpoint, *, api_key: str, base_url: str) -> None:
        self.endpoint = endpoint
        self._newer_limit = _NEWER_LIMIT.match(endpoint.model) is not None
        self._client = _open_client(self._check, api_key, base_url)

    async def ask(self, request: CompletionRequest) -> Completion:
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

    async def _send(self, request: CompletionRequest) -> Completion:
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
            raise _explain(error, self.endpoint) from None
        except APIError:
            raise self.endpoint.malformed() from None
        return self._read(answer.http_response.content)

    def _write_options(self, request: CompletionRequest) -> dict[str, Any]:
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
