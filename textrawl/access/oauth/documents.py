"""JSON documents of one issuer, from addresses that can be trusted.

The content of a token never decides from which address something is fetched.
"""

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

import httpx

from textrawl.errors import StartRefused

_MOST_BYTES = 262_144
"""Maximum size of a document, enough for hundreds of keys."""

_LAST_PORT = 65_535


class FetchFailed(Exception):
    """The reason why a document cannot be used. It never contains a received text."""


@dataclass(frozen=True)
class Metadata:
    """The metadata of an issuer (RFC 8414), with the checked addresses in it."""

    document: Mapping[str, object]
    addresses: Mapping[str, httpx.URL]


class Documents:
    """The documents of the issuer `issuer`, which must be equal to the name in its metadata.

    `timeout` is the time limit in seconds for each step of a request. Raises StartRefused for an
    address that cannot be trusted. Each method raises FetchFailed.
    """

    def __init__(self, issuer: str, *, timeout: float) -> None:
        self._issuer = issuer
        self._url, self._plain = _read_issuer(issuer)
        self._client = httpx.AsyncClient(
            # Ask for no compression, because the real size of a compressed body is unknown.
            headers={"accept": "application/json", "accept-encoding": "identity"},
            timeout=timeout,
            follow_redirects=False,
            trust_env=not self._plain,  # do not use a proxy for an address on this machine
        )

    async def find_metadata(self, *names: str) -> Metadata:
        """Return the first metadata that names this issuer and has addresses at `names`."""
        failures: list[str] = []
        for address in _list_metadata(self._url):
            try:
                return self._check(await self.read(address), names)
            except FetchFailed as failure:
                failures.append(f"{address.path}: {failure}")
        raise FetchFailed("; ".join(failures))

    async def read(self, address: httpx.URL) -> dict[str, object]:
        """Return the document at an address."""
        return await self._send(self._client.build_request("GET", address))

    async def post(self, address: httpx.URL, form: Mapping[str, str]) -> dict[str, object]:
        """Send a form, and return the answer."""
        return await self._send(self._client.build_request("POST", address, data=dict(form)))

    async def aclose(self) -> None:
        """Close the connections to the issuer."""
        await self._client.aclose()

    def _check(self, document: dict[str, object], names: tuple[str, ...]) -> Metadata:
        # RFC 8414, section 3.3. Without this check, one issuer could act for another issuer of the
        # same host.
        if document.get("issuer") != self._issuer:
            raise FetchFailed(
                "names another issuer: TEXTRAWL_OAUTH_ISSUER must be exactly equal to this name"
            )
        addresses: dict[str, httpx.URL] = {}
        for name in names:
            found = document.get(name)
            address = _read_address(found, plain=self._plain) if isinstance(found, str) else None
            if address is None:
                raise FetchFailed(f"has no {name} that is an https address")
            addresses[name] = address
        return Metadata(document, addresses)

    async def _send(self, request: httpx.Request) -> dict[str, object]:
        body = bytearray()
        try:
            response = await self._client.send(request, stream=True)
            try:
                if response.status_code != HTTPStatus.OK:
                    raise FetchFailed(f"HTTP {response.status_code}")
                async for chunk in response.aiter_raw():
                    body += chunk
                    if len(body) > _MOST_BYTES:
                        raise FetchFailed(f"more than {_MOST_BYTES} bytes")
            finally:
                await response.aclose()
            document = json.loads(body)
        except httpx.HTTPError as error:
            raise FetchFailed(type(error).__name__) from None
        except (ValueError, RecursionError):
            raise FetchFailed("not JSON") from None
        if not isinstance(document, dict):
            raise FetchFailed("not a JSON object")
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
