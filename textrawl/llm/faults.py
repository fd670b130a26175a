"""Errors of providers of LLMs. Each message says what the user should start or set.

    LlmFailed
    ├── LlmNotConfigured
    ├── LlmUnreachable
    │   └── LlmOutage        with the details that retries and the circuit breaker need
    ├── LlmModelMissing
    └── LlmBadOutput
        └── RequestRefused   HTTP 400: the text is too long, or an option is unknown

Messages never contain a prompt, an answer or a key.
"""

from dataclasses import dataclass
from http import HTTPStatus

from textrawl.errors import LlmBadOutput, LlmFailed, LlmModelMissing, LlmUnreachable
from textrawl.providers.endpoint import TEXT_AT_FAULT, Endpoint
from textrawl.providers.outage import Outage


class LlmOutage(Outage, LlmUnreachable):
    """The provider made no answer."""


class RequestRefused(LlmBadOutput):
    """The provider refuses this request, although it works. `reason` is never shown."""

    def __init__(self, fix: str, *, reason: str = "") -> None:
        super().__init__(fix)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class LlmEndpoint(Endpoint):
    """The address and the model of a provider of LLMs."""

    def outage(
        self, fix: str, *, transient: bool = False, retry_after: float | None = None
    ) -> LlmOutage:
        """Return the error for a provider that made no answer."""
        return LlmOutage(fix, transient=transient, retry_after=retry_after)

    def malformed(self) -> LlmBadOutput:
        """Return the error for a response that violates the protocol."""
        return LlmBadOutput(
            f"{self} sent a response that is not of its protocol: check {self.url_variable}"
        )

    def empty(self) -> LlmBadOutput:
        """Return the error for an answer without text."""
        return LlmBadOutput(
            f"{self.model} sent an empty answer: retry, or set TEXTRAWL_LLM_MODEL to another model"
        )

    def cut(self, max_tokens: int) -> LlmBadOutput:
        """Return the error for a text that reached the largest number of tokens."""
        return LlmBadOutput(
            f"{self.model} was not finished after {max_tokens} tokens: retry with a shorter text, "
            "or set TEXTRAWL_LLM_MODEL to another model"
        )

    def unreadable(self, fault: str) -> LlmBadOutput:
        """Return the error for an answer that is not the JSON that was asked for."""
        return LlmBadOutput(
            f"{self.model} sent {fault}: retry, or set TEXTRAWL_LLM_MODEL to a larger model"
        )

    def explain_refusal(self, status: int) -> LlmFailed | None:
        """Return the error for a refused request, or None for another status."""
        if status in TEXT_AT_FAULT:
            return self.refused_request(status, "")
        return None

    def refused_request(self, status: int, reason: str) -> RequestRefused:
        """Return the error for a request that is too long or has an unknown option."""
        return RequestRefused(
            f"{self} refused the request (HTTP {status}), for example because the text is too "
            f"long for {self.model}: set TEXTRAWL_LLM_MODEL to another model",
            reason=reason,
        )

    def explain_body(self, status: int, body: str) -> LlmFailed | None:
        """Return the error for a status whose meaning depends on the body, or None."""
        if status == HTTPStatus.NOT_FOUND and "model" in body.lower():
            return LlmModelMissing(
                f"{self} does not have the model {self.model}: {self.missing_model}"
            )
        if status in TEXT_AT_FAULT:
            return self.refused_request(status, body.lower())
        return None
