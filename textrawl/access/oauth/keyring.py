"""The keys of one issuer: found through its metadata, cached, and fetched again.

Requests of clients must not become many requests to the issuer. Therefore one fetch runs at a time,
and a pause follows each fetch, even after a failure. A slow issuer must not delay tokens with
cached keys. Therefore the total time of a fetch is limited.
"""

import ipaddress
import json
import logging
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import cast

import anyio
import httpx

from textrawl.access.oauth.keys import Key, read_keys
from textrawl.errors import StartRefused, TextrawlError

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

_MOST_BYTES = 262_144
"""Maximum size of a document, enough for hundreds of keys."""

_LAST_PORT = 65_535


class IssuerUnavailable(TextrawlError):
    """The identity provider's keys cannot be fetched, so its tokens cannot be verified."""

    # The caller is not authenticated yet, so only the log names the cause.
    title = "Identity provider unavailable"
    fix = "Retry in a few seconds; the server's log names the cause"


class _FetchFailed(Exception):
    """The reason why a fetch got no keys. It never contains a received text."""


class KeyRing:
    """The keys of one issuer.

    `issuer` must be equal to the name in its tokens. `timeout` is the time limit in seconds for a
    whole fetch. Raises StartRefused for an address that cannot be trusted.
    """

    def __init__(
        self, issuer: str, *, timeout: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._issuer = issuer
        self._url, self._plain = _read_issuer(issuer)
        self._timeout = timeout
        self._clock = clock
        self._keys: tuple[Key, ...] = ()
        self._fetched_at = self._tried_at = float("-inf")
        self._failed = False
        self._fetching = anyio.Lock()
        self._client = httpx.AsyncClient(
            # Ask for no compression, because the real size of a compressed body is unknown.
            headers={"accept": "application/json", "accept-encoding": "identity"},
            timeout=timeout,
            follow_redirects=False,
            trust_env=not self._plain,  # do not use a proxy for an address on this machine
        )

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
        await self._client.aclose()

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
        except _FetchFailed as failure:
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
                keys = read_keys(await self._read(await self._find_key_set()))
        except TimeoutError:
            raise _FetchFailed(f"no complete answer within {self._timeout:g} s") from None
        if not keys:
            raise _FetchFailed("its key set has no usable key")
        return keys

    async def _find_key_set(self) -> httpx.URL:
        """Return the address of the key set, from the first metadata that names this issuer."""
        failures: list[str] = []
        for address in _list_metadata(self._url):
            try:
                return self._read_metadata(await self._read(address))
            except _FetchFailed as failure:
                failures.append(f"{address.path}: {failure}")
        raise _FetchFailed("; ".join(failures))

    def _read_metadata(self, metadata: dict[str, object]) -> httpx.URL:
        # RFC 8414, section 3.3. Without this check, one issuer could act for another issuer of the
        # same host.
        if metadata.get("issuer") != self._issuer:
            raise _FetchFailed(
                "names another issuer: TEXTRAWL_OAUTH_ISSUER must be exactly equal to this name"
            )
        found = metadata.get("jwks_uri")
        address = _read_address(found, plain=self._plain) if isinstance(found, str) else None
        if address is None:
            raise _FetchFailed("has no jwks_uri that is an https address")
        return address

    async def _read(self, address: httpx.URL) -> dict[str, object]:
        body = bytearray()
        try:
            async with self._client.stream("GET", address) as response:
                if response.status_code != HTTPStatus.OK:
                    raise _FetchFailed(f"HTTP {response.status_code}")
                async for chunk in response.aiter_raw():
                    body += chunk
                    if len(body) > _MOST_BYTES:
                        raise _FetchFailed(f"more than {_MOST_BYTES} bytes")
            document = json.loads(body)
        except httpx.HTTPError as error:
            raise _FetchFailed(type(error).__name__) from None
        except (ValueError, RecursionError):
            raise _FetchFailed("not JSON") from None
        if not isinstance(document, dict):
            raise _FetchFailed("not a JSON object")
        return cast("dict[str, object]", document)


def _read_issuer(text: str) -> tuple[httpx.URL, bool]:
    """Return the issuer's address, and True if it is a plain http address on this machine."""
    url = _read_address(text, plain=True)
    if url is None or url.query:
        raise StartRefused(
            "TEXTRAWL_OAUTH_ISSUER must be an https address without user, query and fragment, "
            "such as https://login.example.org; http is allowed only for addresses of this machine"
        )
    return url, url.scheme == "http"


def _read_address(text: str, *, plain: bool) -> httpx.URL | None:
    """Return the https address in `text`, or None. With `plain`, also accept http on this machine.

    httpx parses the address, because httpx also connects to it. Another parser could find another
    host in the same text.
    """
    try:
        url = httpx.URL(text)
        host = url.host
    except (httpx.InvalidURL, ValueError):  # ValueError for a name that is not valid IDNA
        return None
    if not host or url.userinfo or url.fragment:
        return None
    if url.port is not None and not 0 < url.port <= _LAST_PORT:
        return None
    if url.scheme == "https" or (plain and url.scheme == "http" and _is_loopback(host)):
        return url
    return None


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _list_metadata(issuer: httpx.URL) -> list[httpx.URL]:
    """Return the addresses of metadata in the order of the MCP specification."""
    path = issuer.path.rstrip("/")
    paths = [
        f"/.well-known/oauth-authorization-server{path}",
        f"/.well-known/openid-configuration{path}",
        f"{path}/.well-known/openid-configuration",
    ]
    return [issuer.copy_with(path=one) for one in dict.fromkeys(paths)]
