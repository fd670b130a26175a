"""The embedder for an Ollama server, on this machine or on another machine."""

import time
from collections.abc import Callable, Sequence

import httpx
from ollama import AsyncClient
from pydantic import BaseModel, ConfigDict, ValidationError

from textrawl.embeddings.answers import expect_vectors
from textrawl.embeddings.faults import EmbeddingEndpoint
from textrawl.embeddings.models import find_model
from textrawl.embeddings.remote import RemoteEmbedder
from textrawl.errors import StartRefused
from textrawl.providers.answers import PLAIN, check_answer
from textrawl.providers.endpoint import name_address
from textrawl.settings import Settings

_DEFAULT_MODEL = "nomic-embed-text"
_DEFAULT_URL = "http://127.0.0.1:11434"


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True)  # refuse strings and booleans in place of numbers

    embeddings: list[list[float]]


class OllamaSource:
    """Requests /api/embed through Ollama's client."""

    def __init__(self, endpoint: EmbeddingEndpoint, *, base_url: str) -> None:
        self.endpoint = endpoint
        self._client = AsyncClient(
            host=base_url,
            timeout=None,
            follow_redirects=False,
            headers=PLAIN,
            event_hooks={"response": [self._check]},
        )

    async def ask(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """Send one request, and return the numbers of each text, in order."""
        try:
            with expect_vectors(len(texts)):
                answer = await self._client.embed(model=self.endpoint.model, input=texts)
        except ConnectionError:
            raise self.endpoint.unreachable() from None
        except httpx.HTTPError:
            raise self.endpoint.interrupted() from None
        except (ValueError, TypeError):  # not JSON, or another structure
            raise self.endpoint.malformed() from None
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
            _Answer.model_validate_json(response.content)
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
        address=_read_address(url),
        model=model.name,
        url_variable="TEXTRAWL_OLLAMA_BASE_URL",
        key_variable="OLLAMA_API_KEY",
        missing_model=f"run `ollama pull {model.name}`",
    )
    source = OllamaSource(endpoint, base_url=url)
    return RemoteEmbedder(f"ollama:{model.name}", model, source, clock=clock)


def _read_address(url: str) -> str:
    try:
        return name_address(url if "://" in url else f"http://{url}")
    except ValueError:
        raise StartRefused(
            "TEXTRAWL_OLLAMA_BASE_URL is not an address: write http://host:port, such as "
            "http://127.0.0.1:11434"
        ) from None
