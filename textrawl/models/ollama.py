"""Embeddings and LLMs of Ollama."""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
from ollama import AsyncClient, ResponseError
from pydantic import BaseModel, ConfigDict, ValidationError

from textrawl.models.embeddings import EmbeddingEndpoint, find_model
from textrawl.models.llm import Completion, CompletionRequest, Form, LlmEndpoint, Prompt
from textrawl.models.provider import PLAIN, ProviderEndpoint, read_address
from textrawl.models.remote import RemoteEmbedder, check_answer, check_response, expect_vectors
from textrawl.settings import Settings

_DEFAULT_MODEL = "nomic-embed-text"
_DEFAULT_URL = "http://127.0.0.1:11434"


def _open_client(
    check: Callable[[httpx.Response], object], url: str, headers: Mapping[str, str] = PLAIN
) -> AsyncClient:
    """Return a client without a time limit, which gives each response to `check`."""
    return AsyncClient(
        host=url,
        timeout=None,
        follow_redirects=False,
        headers=headers,
        event_hooks={"response": [check]},
    )


@contextmanager
def _translate(endpoint: ProviderEndpoint) -> Generator[None]:
    """Turn the errors of the client into those of the endpoint."""
    try:
        yield
    except ConnectionError:
        raise endpoint.unreachable() from None
    except httpx.HTTPError:
        raise endpoint.interrupted() from None
    except (ValueError, TypeError, ResponseError):  # not JSON, or another structure
        raise endpoint.malformed() from None


class _OllamaEmbeddings(BaseModel):
    model_config = ConfigDict(strict=True)  # refuse strings and booleans in place of numbers

    embeddings: list[list[float]]


class OllamaSource:
    """Requests /api/embed through Ollama's client."""

    def __init__(self, endpoint: EmbeddingEndpoint, *, base_url: str) -> None:
        self.endpoint = endpoint
        self._client = _open_client(self._check, base_url)

    async def ask(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """Send one request, and return the numbers of each text, in order."""
        with _translate(self.endpoint), expect_vectors(len(texts)):
            answer = await self._client.embed(model=self.endpoint.model, input=texts)
        return answer.embeddings

    async def aclose(self) -> None:
        """Close the client's connections."""
        await self._client.close()

    async def _check(self, response: httpx.Response) -> None:
        # Check the response here, because the client's errors do not contain its headers, and the
        # client's validation is not strict.
        check_answer(self.endpoint, response)
        await response.aread()
        try:
            _OllamaEmbeddings.model_validate_json(response.content)
        except ValidationError:
            raise self.endpoint.malformed() from None


def build_embedder(
    settings: Settings, *, clock: Callable[[], float] = time.monotonic
) -> RemoteEmbedder:
    """Return the embedder that `settings` describe. Raises StartRefused for a wrong setting."""
    model = find_model(settings.embedding_model or _DEFAULT_MODEL)
    url = settings.ollama_base_url or _DEFAULT_URL
    endpoint = EmbeddingEndpoint(
        provider="Ollama",
        address=read_address(
            url if "://" in url else f"http://{url}",
            "TEXTRAWL_OLLAMA_BASE_URL",
            "http://host:port, such as http://127.0.0.1:11434",
        ),
        model=model.name,
        url_variable="TEXTRAWL_OLLAMA_BASE_URL",
        key_variable="OLLAMA_API_KEY",
        missing_model=f"run `ollama pull {model.name}`",
    )
    source = OllamaSource(endpoint, base_url=url)
    return RemoteEmbedder(f"ollama:{model.name}", model, source, clock=clock)


_TEMPERATURE = 0.1
_CHARACTERS = 3  # characters of a token, at least on average
_SMALLEST_CONTEXT, _LARGEST_CONTEXT = 4_096, 65_536


class _OllamaMessage(BaseModel):
    content: str | None = None


class _OllamaAnswer(BaseModel):
    message: _OllamaMessage
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None


class OllamaCompletionSource:
    """Requests /api/chat through Ollama's client."""

    def __init__(self, endpoint: LlmEndpoint, *, api_key: str, base_url: str) -> None:
        self.endpoint = endpoint
        headers = {**PLAIN, "authorization": f"Bearer {api_key}"} if api_key else PLAIN
        self._client = _open_client(self._check, base_url, headers)

    async def ask(self, request: CompletionRequest) -> Completion:
        """Send a request."""
        prompt = request.prompt
        formats: dict[Form, Any] = {"schema": request.schema, "object": "json", "text": None}
        with _translate(self.endpoint):
            answer = await self._client.chat(  # pyright: ignore[reportUnknownMemberType]
                model=self.endpoint.model,
                messages=[
                    {"role": "system", "content": prompt.system},
                    {"role": "user", "content": prompt.user},
                ],
                format=formats[request.form],
                options=_write_options(prompt),
            )
        return Completion(
            answer.message.content or "",
            answer.done_reason == "length",
            answer.prompt_eval_count or 0,
            answer.eval_count or 0,
        )

    async def aclose(self) -> None:
        """Close the client's connections."""
        await self._client.close()

    async def _check(self, response: httpx.Response) -> None:
        await check_response(self.endpoint, response)
        await response.aread()
        try:  # here, because the client's validation accepts an answer without a message
            _OllamaAnswer.model_validate_json(response.content)
        except ValidationError:
            raise self.endpoint.malformed() from None


def _write_options(prompt: Prompt) -> dict[str, Any]:
    """Return the options of a request. Ollama cuts a prompt that is longer than its context."""
    length = len(prompt.system) + len(prompt.user)
    needed = length // _CHARACTERS + prompt.max_tokens
    context = _SMALLEST_CONTEXT
    while context < min(needed, _LARGEST_CONTEXT):
        context *= 2  # few sizes, because Ollama loads the model again for another size
    return {"temperature": _TEMPERATURE, "num_predict": prompt.max_tokens, "num_ctx": context}
