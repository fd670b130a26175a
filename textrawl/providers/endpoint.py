"""The address and the model of a provider, with the errors that name them.

Messages never contain a text or a key. An address is shortened to its scheme, host and port.
"""

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from urllib.parse import urlsplit

from textrawl.errors import TextrawlError

_LONGEST_WAIT = 60.0  # seconds: a longer Retry-After is reduced to this time
TEXT_AT_FAULT = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)
"""Statuses with which a provider refuses one request, although it works."""


@dataclass(frozen=True, slots=True)
class Endpoint(ABC):
    """The address and the model of a provider, with the errors that name them."""

    provider: str
    address: str
    model: str
    url_variable: str
    key_variable: str
    missing_model: str

    def __str__(self) -> str:
        return f"{self.provider} at {self.address}"

    @abstractmethod
    def outage(
        self, fix: str, *, transient: bool = False, retry_after: float | None = None
    ) -> TextrawlError:
        """Return the error for a provider that made no answer."""

    @abstractmethod
    def malformed(self) -> TextrawlError:
        """Return the error for a response that violates the protocol."""

    @abstractmethod
    def explain_refusal(self, status: int) -> TextrawlError | None:
        """Return the error for a request that a working provider refused with `status`.

        Return None if `status` says nothing about the request.
        """

    def unreachable(self) -> TextrawlError:
        """Return the error for an address that cannot be reached."""
        return self.outage(
            f"{self} cannot be reached: start it, or check the network and {self.url_variable}",
            transient=True,
        )

    def interrupted(self) -> TextrawlError:
        """Return the error for a connection that ended before the response."""
        return self.outage(
            f"{self} closed the connection before the answer was complete: retry later",
            transient=True,
        )

    def late(self, seconds: float) -> TextrawlError:
        """Return the error for a response that was not complete within the time limit."""
        return self.outage(
            f"{self} did not answer within {seconds:g} s: retry later, or check that it is not "
            "overloaded"
        )

    def refused(self, status: int, retry_after: str | None) -> TextrawlError:
        """Return the error for an HTTP status. `retry_after` is the Retry-After header."""
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return self.outage(f"{self} refused the key (HTTP {status}): check {self.key_variable}")
        explained = self.explain_refusal(status)
        if explained is not None:
            return explained
        wait = read_retry_after(retry_after)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return self.outage(
                f"{self} reports that a rate limit or quota is used up (HTTP 429): retry later",
                transient=True,
                retry_after=wait,
            )
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return self.outage(
                f"{self} reports an internal error (HTTP {status}): retry later, or see its log",
                transient=True,
                retry_after=wait,
            )
        return self.outage(f"{self} answered HTTP {status}: check {self.url_variable}")


def name_address(url: str) -> str:
    """Return the scheme, host and port of `url`. Raises ValueError for an invalid address."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("not an http or https address")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{parts.port}" if parts.port else f"{parts.scheme}://{host}"


def read_retry_after(value: str | None) -> float | None:
    """Return the seconds to wait for a Retry-After header, at most 60.

    The header contains a number or a date. Return None if it is missing or cannot be parsed.
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
