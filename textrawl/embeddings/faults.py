"""Errors of embedding providers; each message says what to start or to set.

    EmbeddingUnavailable
    ├── ProviderFailed    down, slow, refusing, or sending invalid data; counts for the breaker
    └── TextRefused       the provider works, but the text has no embedding: do not retry

Messages contain no text, vector or key, and only the scheme, host and port of an address.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from urllib.parse import urlsplit

from textrawl.errors import EmbeddingUnavailable

_LONGEST_WAIT = 60.0  # seconds: a longer Retry-After is shortened to it
_TEXT_AT_FAULT = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)


class ProviderFailed(EmbeddingUnavailable):
    """The provider gave no embeddings.

    `transient`: the same request may succeed soon. `retry_after`: seconds to wait, as the provider
    demands.
    """

    def __init__(
        self, fix: str, *, transient: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(fix)
        self.transient = transient
        self.retry_after = retry_after


class TextRefused(EmbeddingUnavailable):
    """A text that has no embedding, so that retries are useless.

    `positions` are indexes of such texts in the batch. They are empty if the provider did not name
    any; the caller then splits the batch in halves to find them.
    """

    def __init__(self, fix: str, *, positions: Sequence[int] = ()) -> None:
        super().__init__(fix)
        self.positions = tuple(positions)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A provider's address and model, as errors name them."""

    provider: str
    address: str
    model: str
    url_variable: str
    key_variable: str
    missing_model: str

    def __str__(self) -> str:
        return f"{self.provider} at {self.address}"

    def unreachable(self) -> ProviderFailed:
        """Return the error for an address that cannot be reached."""
        return ProviderFailed(
            f"{self} cannot be reached: check that it runs, the network and {self.url_variable}",
            transient=True,
        )

    def interrupted(self) -> ProviderFailed:
        """Return the error for a connection that ended before the response."""
        return ProviderFailed(
            f"{self} broke off the connection in the middle of an answer: retry later",
            transient=True,
        )

    def late(self, seconds: float) -> ProviderFailed:
        """Return the error for a response that was not complete within the time limit."""
        return ProviderFailed(
            f"{self} did not answer within {seconds:g} s: retry later, or check that it is not "
            "overloaded"
        )

    def malformed(self) -> ProviderFailed:
        """Return the error for a response that violates the protocol."""
        return ProviderFailed(
            f"{self} answered something that holds no embeddings: check {self.url_variable}"
        )

    def refused(self, status: int, retry_after: str | None) -> EmbeddingUnavailable:
        """Return the error for an HTTP status; `retry_after` is the header of that name."""
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return ProviderFailed(
                f"{self} refused the key (HTTP {status}): check {self.key_variable}"
            )
        if status == HTTPStatus.NOT_FOUND:
            return ProviderFailed(
                f"{self} knows no model {self.model} (HTTP 404): {self.missing_model}"
            )
        if status in _TEXT_AT_FAULT:
            return TextRefused(
                f"{self} refused a text (HTTP {status}): shorten it, or check "
                "TEXTRAWL_EMBEDDING_MODEL"
            )
        wait = read_retry_after(retry_after)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return ProviderFailed(
                f"{self} is over its rate limit or quota (HTTP 429): retry later",
                transient=True,
                retry_after=wait,
            )
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return ProviderFailed(
                f"{self} failed inside (HTTP {status}): retry later, or look at its log",
                transient=True,
                retry_after=wait,
            )
        return ProviderFailed(f"{self} answered HTTP {status}: check {self.url_variable}")


def name_address(url: str) -> str:
    """Return the scheme, host and port of `url`. Raises ValueError for an invalid address."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("not an http or https address")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{parts.port}" if parts.port else f"{parts.scheme}://{host}"


def read_retry_after(value: str | None) -> float | None:
    """Return the seconds in a Retry-After header, a number or a date; at most a minute.

    Return None without the header, or if it cannot be parsed.
    """
    try:
        seconds = float(value or "")
    except ValueError:
        seconds = _seconds_until(value or "")
    if seconds is None or math.isnan(seconds):
        return None
    return min(max(seconds, 0.0), _LONGEST_WAIT)


def _seconds_until(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
