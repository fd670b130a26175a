"""Checks of the Host and Origin headers, against DNS rebinding and foreign web pages."""

import ipaddress
import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from textrawl.errors import StartRefused
from textrawl.transports.http.refusals import build_refusal
from textrawl.transports.http.requests import is_open, is_page

_ADDRESS = re.compile(r"(?P<name>[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(?P<port>\d{1,5}))?", re.ASCII)
_LAST_PORT = 65_535
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 - used in a comparison, not to listen


def refuse_exposure(host: str, *, public_url: str | None, insecure: bool) -> None:
    """Raise StartRefused if others can reach `host` without tokens or without a PUBLIC_URL."""
    if _is_loopback(host):
        return
    if insecure:
        raise StartRefused(
            f"--insecure: other machines can reach {host} and could read and change everything: "
            "leave out --insecure and create tokens, or listen on 127.0.0.1"
        )
    if public_url is None:
        raise StartRefused(
            f"TEXTRAWL_HTTP_HOST: other machines can reach {host}: set TEXTRAWL_PUBLIC_URL to the "
            "address that they use, such as https://memory.example.com, or listen on 127.0.0.1"
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_local(address: str) -> bool:
    """Return whether a Host header is a name of this machine that other machines cannot use."""
    found = _ADDRESS.fullmatch(address.lower())
    return found is not None and found["name"] in _LOCAL


def bracket(host: str) -> str:
    """Return `host` as it is written in a URL."""
    return f"[{host}]" if ":" in host else host


class Hosts:
    """Refuses requests to unknown host names and requests of foreign web pages.

    Names of this machine can have any port, because tunnels change the port. The host of PUBLIC_URL
    needs the port of PUBLIC_URL. The SDK's check is switched off, because it accepts
    `127.0.0.1:evil.example` and checks only /mcp.
    """

    def __init__(self, app: ASGIApp, *, host: str, public_url: str | None) -> None:
        self._app = app
        self._local = {*_LOCAL, *([] if host in _WILDCARDS else [bracket(host).lower()])}
        public = urlsplit((public_url or "").lower())
        self._public_host = public.netloc
        self._public_origin = f"{public.scheme}://{public.netloc}" if public_url else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 421 or 403."""
        if scope["type"] == "http" and not is_open(scope["path"]):
            headers = Headers(scope=scope)
            if not self._has_host(headers.getlist("host")):
                refusal = build_refusal(
                    421, "wrong_host", "Unknown host name: set TEXTRAWL_PUBLIC_URL"
                )
                return await refusal(scope, receive, send)
            if not self._has_origin(headers.getlist("origin")):
                refusal = build_refusal(403, "wrong_origin", "This page may not use this server")
                return await refusal(scope, receive, send)
        return await self._app(scope, receive, send)

    def _has_host(self, hosts: list[str]) -> bool:
        return len(hosts) == 1 and self._is_ours(hosts[0].lower())

    def _is_ours(self, address: str) -> bool:
        found = _ADDRESS.fullmatch(address)
        if found is None or int(found["port"] or 0) > _LAST_PORT:
            return False
        return found["name"] in self._local or address == self._public_host

    def _has_origin(self, origins: list[str]) -> bool:
        """Return whether the page of a request is allowed.

        A request without a page is allowed. Pages of this machine and of PUBLIC_URL are allowed.
        """
        if not origins:
            return True
        scheme, separator, address = origins[0].lower().partition("://")
        if len(origins) > 1 or not separator or scheme not in {"http", "https"}:
            return False
        if origins[0].lower() == self._public_origin:
            return True
        return self._is_ours(address) and address != self._public_host


class CrossOrigin(CORSMiddleware):
    """Lets web pages read responses. `Hosts` has refused foreign pages before."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            app,
            allow_origin_regex=".*",
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["mcp-session-id", "retry-after", "www-authenticate", "x-request-id"],
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request with headers that let its page read the response."""
        if scope["type"] == "http" and (is_open(scope["path"]) or is_page(scope["path"])):
            # `Hosts` does not check open paths, and pages are only for people.
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)
