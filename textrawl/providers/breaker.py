"""A circuit breaker: while a provider is down, calls fail without waiting for it."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from textrawl.errors import TextrawlError
from textrawl.providers.outage import Outage

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
