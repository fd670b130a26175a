"""A circuit breaker: it skips a provider that is down, so that writes stay fast."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from textrawl.embeddings.faults import ProviderFailed, TextRefused

T = TypeVar("T")

_FAILURES = 3
_FIRST_DELAY = 2.0
_LONGEST_DELAY = 30.0  # a provider that works again is noticed within this time


class Breaker:
    """Lets calls through until three in a row have failed, or one got a Retry-After header.

    Then calls fail at once for 2 seconds, or longer if Retry-After says so. Each failed probe
    doubles the delay, up to 30 seconds. After the delay one call is a probe; if it succeeds, all
    calls pass again. Only ProviderFailed counts as a failure, and a cancelled call does not count.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures = 0
        self._delay = _FIRST_DELAY
        self._silent_until: float | None = None
        self._probing = False
        self._cause = ""

    async def call(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Return the answer of `ask`. Raises ProviderFailed at once while calls are skipped."""
        probe = self._admit()
        try:
            answer = await ask()
        except TextRefused:
            self._reset()
            raise
        except ProviderFailed as error:
            self._count(error, probe)
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
            raise ProviderFailed(
                f"{self._cause} (not asked again; next attempt in {max(left, 0):.0f} s)"
            )
        self._probing = True
        return True

    def _count(self, error: ProviderFailed, probe: bool) -> None:
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
