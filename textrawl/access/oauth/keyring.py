"""The keys of one issuer: found through its metadata, cached, and fetched again.

Requests of clients must not become many requests to the issuer. Therefore one fetch runs at a time,
and a pause follows each fetch, even after a failure. A slow issuer must not delay tokens with
cached keys. Therefore the total time of a fetch is limited.
"""

import logging
import time
from collections.abc import Callable

import anyio

from textrawl.access.oauth.documents import Documents, FetchFailed
from textrawl.access.oauth.keys import Key, read_keys
from textrawl.errors import IssuerUnavailable

logger = logging.getLogger("textrawl")

_FRESH = 300.0
"""Seconds after which keys are fetched again. A withdrawn key is accepted for at most this time."""

_LASTING = 86_400.0
"""Seconds for which keys are used while the issuer is down. Users stay logged in for a day.

While the issuer is down, a withdrawn key is accepted for at most this time.
"""

_PAUSE = 30.0
"""Seconds between fetches while keys are cached."""

_PAUSE_WITHOUT_KEYS = 5.0
"""Seconds between fetches while no key is cached, so nobody can log in."""


class KeyRing:
    """The keys of one issuer.

    `issuer` must be equal to the name in its tokens. `timeout` is the time limit in seconds for a
    whole fetch. Raises StartRefused for an address that cannot be trusted.
    """

    def __init__(
        self, issuer: str, *, timeout: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._issuer = issuer
        self._documents = Documents(issuer, timeout=timeout)
        self._timeout = timeout
        self._clock = clock
        self._keys: tuple[Key, ...] = ()
        self._fetched_at = self._tried_at = float("-inf")
        self._failed = False
        self._fetching = anyio.Lock()

    async def find(self, name: str | None, algorithm: str) -> Key | None:
        """Return the key with the id `name` for `algorithm`, or None if the issuer has no such key.

        Without a name, return the only key for the algorithm. If no such key is cached and the last
        fetch failed, raise IssuerUnavailable.
        """
        found = self._pick(name, algorithm)
        if found is None or (self._age > _FRESH and not self._fetching.locked()):
            await self._fetch_if_due()
            found = self._pick(name, algorithm)
        if found is None and self._failed:
            raise IssuerUnavailable
        return found

    async def aclose(self) -> None:
        """Close the connections to the issuer."""
        await self._documents.aclose()

    @property
    def _age(self) -> float:
        return self._clock() - self._fetched_at

    def _pick(self, name: str | None, algorithm: str) -> Key | None:
        if self._age > _LASTING:
            return None
        fitting = [
            key
            for key in self._keys
            if algorithm in key.algorithms and (name is None or key.id == name)
        ]
        return fitting[0] if len(fitting) == 1 else None

    async def _fetch_if_due(self) -> None:
        async with self._fetching:
            pause = _PAUSE if self._age <= _LASTING else _PAUSE_WITHOUT_KEYS
            if self._clock() - self._tried_at < pause:
                return
            # A client that disconnects must not cancel a fetch, because other calls wait for it. A
            # client could otherwise cancel each fetch, and nobody would get a new key.
            with anyio.CancelScope(shield=True):
                await self._renew()

    async def _renew(self) -> None:
        try:
            self._keys = await self._fetch()
        except FetchFailed as failure:
            self._failed = True
            logger.warning("Keys of %s cannot be fetched: %s", self._issuer, failure)
        else:
            self._failed = False
            self._fetched_at = self._clock()
        finally:
            self._tried_at = self._clock()

    async def _fetch(self) -> tuple[Key, ...]:
        try:
            with anyio.fail_after(self._timeout):
                metadata = await self._documents.find_metadata("jwks_uri")
                keys = read_keys(await self._documents.read(metadata.addresses["jwks_uri"]))
        except TimeoutError:
            raise FetchFailed(f"no complete answer within {self._timeout:g} s") from None
        if not keys:
            raise FetchFailed("its key set has no usable key")
        return keys
