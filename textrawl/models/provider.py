"""Requests to an embedding provider or an LLM: address, answers, retries, circuit breaker."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import ClassVar, Final, TypeVar
from urllib.parse import urlsplit

from pydantic import SecretStr

from textrawl.errors import StartRefused, TextrawlError

_LONGEST_WAIT = 60.0  # seconds: a longer Retry-After is reduced to this time
TEXT_AT_FAULT = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)
"""Statuses with which a provider refuses one request, although it works."""


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


@dataclass(frozen=True, slots=True)
class ProviderEndpoint(ABC):
    """The address and the model of a provider, with the errors that name them.

    `outage` is the error for a provider that made no answer.
    """

    outage: ClassVar[type[Outage]]
    provider: str
    address: str
    model: str
    url_variable: str
    key_variable: str
    missing_model: str

    def __str__(self) -> str:
        return f"{self.provider} at {self.address}"

    @abstractmethod
    def malformed(self) -> TextrawlError:
        """Return the error for a response that violates the protocol."""

    def explain_refusal(self, status: int) -> TextrawlError | None:
        """Return the error for a request that a working provider refused with `status`.

        Return None if `status` says nothing about the request.
        """
        del status

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


def read_address(url: str, variable: str, example: str) -> str:
    """Return the address that a setting names. Raises StartRefused with an example."""
    try:
        return name_address(url)
    except ValueError:
        raise StartRefused(f"{variable} is not an address: write {example}") from None


def read_key(setting: SecretStr | None, variable: str) -> str:
    """Return the key in a setting, or an empty text. Raises StartRefused.

    An error of the HTTP library would contain the key, so the key is checked before.
    """
    key = setting.get_secret_value().strip() if setting else ""
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise StartRefused(f"{variable} contains characters that no key has: copy the key again")
    return key


def read_retry_after(value: str | None) -> float | None:
    """Return the seconds to wait for a Retry-After header, at most 60.

    The header contains a number or a date. Return None if it is missing or cannot be parsed.
    """
    try:
        seconds = float(value or "")
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value or "").timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), _LONGEST_WAIT)


_PAUSE = 0.2
"""Seconds before the first retry if the provider sent no Retry-After."""


def is_transient(error: BaseException) -> bool:
    """Return whether a retry of the same request may succeed."""
    return isinstance(error, Outage) and error.transient


def pause_before_retry(error: BaseException) -> float:
    """Return the seconds to wait before a retry."""
    return getattr(error, "retry_after", None) or _PAUSE


T = TypeVar("T")

_FAILURES = 3
_FIRST_DELAY = 2.0
_LONGEST_DELAY = 30.0  # a provider that works again is noticed within this time


class Breaker:
    """Skips calls to a provider after three failures in a row, or after one Retry-After header.

    Calls are skipped for 2 seconds, or for the time of a longer Retry-After. A skipped call fails
    immediately. After this delay one call is sent as a probe. If the probe succeeds, all calls are
    sent again. If the probe fails, the delay doubles, up to 30 seconds. Only Outage is a failure.
    Any other error of textrawl means that the provider works. A cancelled call means nothing.

    `outage` makes the error of a skipped call.
    """

    def __init__(self, clock: Callable[[], float], outage: Callable[[str], Outage]) -> None:
        self._clock = clock
        self._outage = outage
        self._failures = 0
        self._delay = _FIRST_DELAY
        self._silent_until: float | None = None
        self._probing = False
        self._cause = ""

    async def call(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Return the answer of `ask`. If calls are skipped, raise an Outage instead."""
        probe = self._admit()
        try:
            answer = await ask()
        except Outage as error:
            self._count(error, probe)
            raise
        except TextrawlError:
            self._reset()
            raise
        finally:
            self._probing = self._probing and not probe
        self._reset()
        return answer

    def _admit(self) -> bool:
        if self._silent_until is None:
            return False
        left = self._silent_until - self._clock()
        if left > 0 or self._probing:
            raise self._outage(
                f"{self._cause} (calls are skipped; next attempt in {max(left, 0):.0f} s)"
            )
        self._probing = True
        return True

    def _count(self, error: Outage, probe: bool) -> None:
        self._failures += 1
        self._cause = error.fix
        wait = error.retry_after or 0.0
        if probe:
            self._delay = min(self._delay * 2, _LONGEST_DELAY)
        if probe or wait or self._failures == _FAILURES:
            until = self._clock() + max(self._delay, wait)
            self._silent_until = max(until, self._silent_until or until)

    def _reset(self) -> None:
        self._failures = 0
        self._delay = _FIRST_DELAY
        self._silent_until = None


_FRAME = 65_536  # bytes of a body beside the expected ones
_max_bytes: ContextVar[int] = ContextVar("max_bytes", default=_FRAME)


@contextmanager
def expect_bytes(count: int) -> Generator[None]:
    """Accept `count` more bytes of a body in this task and `with` block."""
    before = _max_bytes.set(_FRAME + count)
    try:
        yield
    finally:
        _max_bytes.reset(before)


def find_most_bytes() -> int:
    """Return the largest size of a body in bytes."""
    return _max_bytes.get()


PLAIN: Final = {"accept-encoding": "identity"}
"""Request headers that ask for no compression: a compressed body can expand a thousandfold."""
