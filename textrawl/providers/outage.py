"""The error of a provider that made no answer, and the retries after it."""

from textrawl.errors import TextrawlError

_PAUSE = 0.2
"""Seconds before the first retry if the provider sent no Retry-After."""


class Outage(TextrawlError):
    """The provider is down or slow, refuses requests, or violates its protocol.

    `transient` is true if the same request may succeed soon. `retry_after` is the number of seconds
    that the provider asks clients to wait.
    """

    def __init__(
        self, fix: str, *, transient: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(fix)
        self.transient = transient
        self.retry_after = retry_after


def is_transient(error: BaseException) -> bool:
    """Return whether a retry of the same request may succeed."""
    return isinstance(error, Outage) and error.transient


def pause_before_retry(error: BaseException) -> float:
    """Return the seconds to wait before a retry."""
    return getattr(error, "retry_after", None) or _PAUSE
