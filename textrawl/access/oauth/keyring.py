"""The keys of one issuer: found through its metadata, cached, and fetched again.

Clients must not be able to make this server flood the issuer with requests. A slow issuer must not
delay tokens whose keys are cached. So one fetch runs at a time, its total time is limited, and a
pause follows it, even after a failure.
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
"""Seconds after which keys are fetched again. A withdrawn key is accepted no longer than that."""

_LASTING = 86_400.0
"""Seconds for which keys are used while the issuer is down: users stay logged in for a day.

A key that is withdrawn meanwhile is accepted no longer than that either.
"""

_PAUSE = 30.0
"""Seconds between fetches while there are keys."""

_PAUSE_WITHOUT_KEYS = 5.0
"""Seconds between fetches while there are no keys and nobody can log in."""

_MOST_BYTES = 262_144
"""Maximum size of a document: room for hundreds of keys, little memory."""

_LAST_PORT = 65_535


class IssuerUnavailable(TextrawlError):
    """The identity provider's keys cannot be fetched, so its tokens cannot be verified."""

    # Callers are not authenticated yet, so only the log names the cause.
    title = "Identity provider unavailable"
    fix = "Retry in a few seconds; who runs this memory finds the cause in the server's log"


class _FetchFailed(Exception):
    """The reason why there are no keys, without any received text."""


class KeyRing:
    """Keys of `issuer`, written exactly as in tokens; `timeout` is the seconds for a whole fetch.

    Raises StartRefused for an address that cannot be trusted.
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
            # No compressed bodies: their real size is unknown until they are unpacked.
            headers={"accept": "application/json", "accept-encoding": "identity"},
            timeout=timeout,
            follow_redirects=False,
            trust_env=not self._plain,  # no proxy leads to this machine
        )

    async def find(self, name: str | None, algorithm: str) -> Key | None:
        """Return the key `name` if it may verify `algorithm`, or None if the issuer has none.

        Without a name, return the only key for the algorithm. Raises IssuerUnavailable if there is
        no such key and the last fetch failed.
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
            # A client that disconnects must not cancel a fetch that others wait for. It could
            # repeat that after each pause, and nobody would get a new key.
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
            raise _FetchFailed(f"no whole answer within {self._timeout:g} s") from None
        if not keys:
            raise _FetchFailed("its key set holds none that may be used")
        return keys

    async def _find_key_set(self) -> httpx.URL:
        """Return the address of the key set, from the first metadata of exactly this issuer."""
        failures: list[str] = []
        for address in _list_metadata(self._url):
            try:
                return self._read_metadata(await self._read(address))
            except _FetchFailed as failure:
                failures.append(f"{address.path}: {failure}")
        raise _FetchFailed("; ".join(failures))

    def _read_metadata(self, metadata: dict[str, object]) -> httpx.URL:
        # RFC 8414, section 3.3: otherwise one issuer of a host could act for another.
        if metadata.get("issuer") != self._issuer:
            raise _FetchFailed(
                "names another issuer: TEXTRAWL_OAUTH_ISSUER has to be exactly as it says"
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
            raise _FetchFailed("no JSON") from None
        if not isinstance(document, dict):
            raise _FetchFailed("no JSON object")
        return cast("dict[str, object]", document)


def _read_issuer(text: str) -> tuple[httpx.URL, bool]:
    """Return the issuer's address, and whether it is a plain http one on this machine."""
    url = _read_address(text, plain=True)
    if url is None or url.query:
        raise StartRefused(
            "TEXTRAWL_OAUTH_ISSUER has to be an https address without user, query and fragment, "
            "such as https://login.example.org; http is for this machine's own addresses"
        )
    return url, url.scheme == "http"


def _read_address(text: str, *, plain: bool) -> httpx.URL | None:
    """Return an https address, or with `plain` also an http one of this machine; else None.

    httpx parses it, because httpx connects to it: two parsers may find two hosts in one text.
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
    """List the addresses of metadata in the order of the MCP specification: OAuth, then OpenID."""
    path = issuer.path.rstrip("/")
    paths = [
        f"/.well-known/oauth-authorization-server{path}",
        f"/.well-known/openid-configuration{path}",
        f"{path}/.well-known/openid-configuration",
    ]
    return [issuer.copy_with(path=one) for one in dict.fromkeys(paths)]
