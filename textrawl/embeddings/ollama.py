"""Embeddings of an Ollama server, on this machine or another."""

import time
from collections.abc import Callable, Sequence

import httpx
from ollama import AsyncClient

from textrawl.embeddings.faults import Endpoint, name_address
from textrawl.embeddings.models import find_model
from textrawl.embeddings.remote import RemoteEmbedder
from textrawl.errors import StartRefused
from textrawl.settings import Settings

_DEFAULT_MODEL = "nomic-embed-text"
_DEFAULT_URL = "http://127.0.0.1:11434"


class OllamaSource:
    """Speaks /api/embed through Ollama's client."""

    def __init__(self, endpoint: Endpoint, *, base_url: str) -> None:
        self.endpoint = endpoint
        self._client = AsyncClient(
            host=base_url, timeout=None, event_hooks={"response": [self._refuse]}
        )

    async def ask(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """One request; numbers as sent, in the order of the texts."""
        try:
            answer = await self._client.embed(model=self.endpoint.model, input=texts)
        except ConnectionError:
            raise self.endpoint.unreachable() from None
        except httpx.HTTPError:
            raise self.endpoint.interrupted() from None
        except (ValueError, TypeError):  # no JSON, other JSON, JSON that is no object
            raise self.endpoint.malformed() from None
        return answer.embeddings

    async def aclose(self) -> None:
        """Close the client's connections."""
        await self._client.close()

    async def _refuse(self, response: httpx.Response) -> None:
        # Here rather than from the client's error, which has lost the headers.
        if not response.is_success and not response.has_redirect_location:
            raise self.endpoint.refused(response.status_code, response.headers.get("retry-after"))


def build_embedder(
    settings: Settings, *, clock: Callable[[], float] = time.monotonic
) -> RemoteEmbedder:
    """The embedder that `settings` describe; StartRefused names the variable that is wrong."""
    model = find_model(settings.embedding_model or _DEFAULT_MODEL)
    url = settings.ollama_base_url or _DEFAULT_URL
    endpoint = Endpoint(
        provider="Ollama",
        address=_read_address(url),
        model=model.name,
        url_variable="OLLAMA_BASE_URL",
        key_variable="OLLAMA_API_KEY",
        missing_model=f"run `ollama pull {model.name}`",
    )
    source = OllamaSource(endpoint, base_url=url)
    return RemoteEmbedder(
        f"ollama:{model.name}", model, source, timeout=settings.embedding_timeout, clock=clock
    )


def _read_address(url: str) -> str:
    try:
        return name_address(url if "://" in url else f"http://{url}")
    except ValueError:
        raise StartRefused(
            "OLLAMA_BASE_URL is no address: write http://host:port, like http://127.0.0.1:11434"
        ) from None
