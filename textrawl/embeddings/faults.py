"""Errors of embedding providers. Each message says what the user should start or set.

    EmbeddingUnavailable
    ├── ProviderFailed    the provider is down or slow, refuses requests, or sends invalid data
    │   └── ModelMissing  the model of this process cannot be loaded, perhaps for a long time
    └── TextRefused       the provider works, but cannot embed this text: do not retry

The circuit breaker counts only ProviderFailed. Messages never contain a text, a vector or a key.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from textrawl.errors import EmbeddingUnavailable
from textrawl.providers.endpoint import TEXT_AT_FAULT, Endpoint
from textrawl.providers.outage import Outage


class ProviderFailed(Outage, EmbeddingUnavailable):
    """The provider made no vectors."""


class ModelMissing(ProviderFailed):
    """A model cannot be loaded: it is being downloaded, or its files cannot be had or used."""


class TextRefused(EmbeddingUnavailable):
    """The provider cannot embed a text of a batch, so a retry would fail as well.

    `positions` are the indexes of such texts in the batch. They are empty if the indexes are
    unknown. Then the caller splits the batch in halves to find the texts.
    """

    def __init__(self, fix: str, *, positions: Sequence[int] = ()) -> None:
        super().__init__(fix)
        self.positions = tuple(positions)


@dataclass(frozen=True, slots=True)
class EmbeddingEndpoint(Endpoint):
    """The address and the model of an embedding provider."""

    def outage(
        self, fix: str, *, transient: bool = False, retry_after: float | None = None
    ) -> ProviderFailed:
        """Return the error for a provider that made no vectors."""
        return ProviderFailed(fix, transient=transient, retry_after=retry_after)

    def malformed(self) -> ProviderFailed:
        """Return the error for a response that violates the protocol."""
        return ProviderFailed(
            f"{self} sent an answer without valid embeddings: check {self.url_variable}"
        )

    def explain_refusal(self, status: int) -> EmbeddingUnavailable | None:
        """Return the error for an unknown model or a text that cannot be embedded."""
        if status == HTTPStatus.NOT_FOUND:
            return ProviderFailed(
                f"{self} does not have the model {self.model} (HTTP 404): {self.missing_model}"
            )
        if status in TEXT_AT_FAULT:
            return TextRefused(
                f"{self} refused a text (HTTP {status}): shorten it, or check "
                "TEXTRAWL_EMBEDDING_MODEL"
            )
        return None
