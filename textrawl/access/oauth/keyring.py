"""The keys of one issuer: found through its metadata, kept, fetched again when due.

Whoever sends tokens must not be able to make us hammer the issuer, nor may an issuer that is
down or slow hold up those whose keys are known. So one fetch is under way at a time, its whole
length is bounded, and after it there is a pause, whatever came of it.
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
"""Seconds after which keys are fetched again: a key that the issuer withdrew lives no longer."""

_LASTING = 86_400.0
"""Seconds for which keys serve while the issuer is down: whoever had signed in stays so for a day,
and a key that was withdrawn meanwhile serves no longer than that either."""

_PAUSE = 30.0
"""Seconds between fetches while there are keys."""

_PAUSE_WITHOUT_KEYS = 5.0
"""Seconds from a failed fetch to the next while there are none, so that nobody can get in."""

_MOST_BYTES = 262_144
"""Of one document: hundreds of keys, and no burden on memory."""

_LAST_PORT = 65_535


class IssuerUnavailable(TextrawlError):
    """The identity provider's keys cannot be fetched, so no token of it can be judged."""

    # Callers have not shown who they are: the cause is for the log.
    title = "Identity provider unavailable"
    fix = "Retry in a few seconds; who runs this memory finds the cause in the server's log"


class _FetchFailed(Exception):
    """Why there are no keys; the message holds nothing that was received."""


class KeyRing:
    """Keys of `issuer`, exact as tokens name it; `timeout` is seconds for a whole fetch.

    Raises StartRefused for an address that must not be trusted with what it would say.
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
            # No compressed bodies: their size could not be bounded before they are unpacked.
            headers={"accept": "application/json", "accept-encoding": "identity"},
            timeout=timeout,
            follow_redirects=False,
            trust_env=not self._plain,  # no proxy leads to this machine
        )

    async def find(self, name: str | None, algorithm: str) -> Key | None:
        """The key called `name` if it may verify `algorithm`; None if the issuer has none such.

        Without a name, the only key for that algorithm. Raises IssuerUnavailable when that
        cannot be told, because the last fetch failed.
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
            # Who hangs up must not end what others wait for: with the pause after it, one could
            # keep everybody from a new key that way.
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
        """Address of the key set, from the first metadata that speaks for this very issuer."""
        failures: list[str] = []
        for address in _list_metadata(self._url):
            try:
                return self._read_metadata(await self._read(address))
            except _FetchFailed as failure:
                failures.append(f"{address.path}: {failure}")
        raise _FetchFailed("; ".join(failures))

    def _read_metadata(self, metadata: dict[str, object]) -> httpx.URL:
        # RFC 8414, section 3.3: otherwise one issuer of a host could speak for another.
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
    """The issuer's address, and whether it is a plain one on this machine."""
    url = _read_address(text, plain=True)
    if url is None or url.query:
        raise StartRefused(
            "TEXTRAWL_OAUTH_ISSUER has to be an https address without user, query and fragment, "
            "such as https://login.example.org; http is for this machine's own addresses"
        )
    return url, url.scheme == "http"


def _read_address(text: str, *, plain: bool) -> httpx.URL | None:
    """The address if it is https, or `plain` allows http and it is this machine's; else None.

    Read by what will connect to it, since two readers may find two hosts in one text.
    """
    try:
        url = httpx.URL(text)
        host = url.host
    except (httpx.InvalidURL, ValueError):  # the second for a name that is no IDNA
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
    """Where metadata may be, in the order of the MCP specification: OAuth, then OpenID."""
    path = issuer.path.rstrip("/")
    paths = [
        f"/.well-known/oauth-authorization-server{path}",
        f"/.well-known/openid-configuration{path}",
        f"{path}/.well-known/openid-configuration",
    ]
    return [issuer.copy_with(path=one) for one in dict.fromkeys(paths)]
