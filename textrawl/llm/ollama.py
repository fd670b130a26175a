"""LLMs of an Ollama server, on this machine or on another machine."""

from typing import Any

import httpx
from ollama import AsyncClient, ResponseError
from pydantic import BaseModel, ValidationError

from textrawl.llm.faults import LlmEndpoint
from textrawl.llm.protocol import Completion, Prompt, Request
from textrawl.llm.responses import check_response
from textrawl.providers.answers import PLAIN

_TEMPERATURE = 0.1
_CHARACTERS = 3  # characters of a token, at least on average
_SMALLEST_CONTEXT, _LARGEST_CONTEXT = 4_096, 65_536


class _Message(BaseModel):
    content: str | None = None


class _Answer(BaseModel):
    message: _Message
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None


class OllamaSource:
    """Requests /api/chat through Ollama's client."""

    def __init__(self, endpoint: LlmEndpoint, *, api_key: str, base_url: str) -> None:
        self.endpoint = endpoint
        headers = {**PLAIN, "authorization": f"Bearer {api_key}"} if api_key else PLAIN
        self._client = AsyncClient(
            host=base_url,
            timeout=None,
            follow_redirects=False,
            headers=headers,
            event_hooks={"response": [self._check]},
        )

    async def ask(self, request: Request) -> Completion:
        """Send a request."""
        prompt = request.prompt
        try:
            answer = await self._client.chat(  # pyright: ignore[reportUnknownMemberType]
                model=self.endpoint.model,
                messages=[
                    {"role": "system", "content": prompt.system},
                    {"role": "user", "content": prompt.user},
                ],
                format=_choose_format(request),
                options=_write_options(prompt),
            )
        except ConnectionError:
            raise self.endpoint.unreachable() from None
        except httpx.HTTPError:
            raise self.endpoint.interrupted() from None
        except (ValueError, TypeError, ResponseError):  # not JSON, or another structure
            raise self.endpoint.malformed() from None
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
            _Answer.model_validate_json(response.content)
        except ValidationError:
            raise self.endpoint.malformed() from None


def _choose_format(request: Request) -> Any:
    formats = {"schema": request.schema, "object": "json", "text": None}
    return formats[request.form]


def _write_options(prompt: Prompt) -> dict[str, Any]:
    """Return the options of a request. Ollama cuts a prompt that is longer than its context."""
    length = len(prompt.system) + len(prompt.user)
    needed = length // _CHARACTERS + prompt.max_tokens
    context = _SMALLEST_CONTEXT
    while context < min(needed, _LARGEST_CONTEXT):
        context *= 2  # few sizes, because Ollama loads the model again for another size
    return {"temperature": _TEMPERATURE, "num_predict": prompt.max_tokens, "num_ctx": context}
