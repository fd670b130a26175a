"""By which names this server is called: the guard against DNS rebinding and foreign pages."""

import ipaddress
import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from textrawl.errors import StartRefused
from textrawl.transports.http.refusals import build_refusal
from textrawl.transports.http.requests import is_open

_ADDRESS = re.compile(r"(?P<name>[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(?P<port>\d{1,5}))?", re.ASCII)
_LAST_PORT = 65_535
_HERE = ("127.0.0.1", "localhost", "[::1]")
_ANYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - they are no names to be called by


def refuse_exposure(host: str, *, public_url: str | None, insecure: bool) -> None:
    """Raises StartRefused where `host` can be reached by others and that is not provided for."""
    if _is_loopback(host):
        return
    if insecure:
        raise StartRefused(
            f"--insecure: {host} can be reached by others, who could read and change everything: "
            "leave it out and give them tokens, or listen on 127.0.0.1"
        )
    if public_url is None:
        raise StartRefused(
            f"TEXTRAWL_HTTP_HOST: {host} can be reached by others: set TEXTRAWL_PUBLIC_URL to the "
            "address that they use, such as https://memory.example.com, or listen on 127.0.0.1"
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bracket(host: str) -> str:
    """`host` as it is written in a URL."""
    return f"[{host}]" if ":" in host else host


class Hosts:
    """Refuses requests to names that are not this server's, and from pages that are not.

    This machine's names may have any port, as it is with tunnels; PUBLIC_URL has its own. The
    SDK's check is off: it takes `127.0.0.1:evil.example` for 127.0.0.1, and knows /mcp alone.
    """

    def __init__(self, app: ASGIApp, *, host: str, public_url: str | None) -> None:
        self._app = app
        self._here = {*_HERE, *([] if host in _ANYWHERE else [bracket(host).lower()])}
        public = urlsplit((public_url or "").lower())
        self._public_host = public.netloc
        self._public_origin = f"{public.scheme}://{public.netloc}" if public_url else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, or answers 421 or 403."""
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

    def _has_host(self, given: list[str]) -> bool:
        return len(given) == 1 and self._is_ours(given[0].lower())

    def _is_ours(self, address: str) -> bool:
        found = _ADDRESS.fullmatch(address)
        if found is None or int(found["port"] or 0) > _LAST_PORT:
            return False
        return found["name"] in self._here or address == self._public_host

    def _has_origin(self, given: list[str]) -> bool:
        """No page at all, one of this machine, or one of PUBLIC_URL."""
        if not given:
            return True
        scheme, separator, address = given[0].lower().partition("://")
        if len(given) > 1 or not separator or scheme not in {"http", "https"}:
            return False
        if given[0].lower() == self._public_origin:
            return True
        return self._is_ours(address) and address != self._public_host


class Pages(CORSMiddleware):
    """Lets pages use the server that Hosts, which comes first, lets in; others never get here."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            app, allow_origin_regex=".*", allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["mcp-session-id", "retry-after", "www-authenticate", "x-request-id"],
        )  # fmt: skip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, its answer readable by the page that asked."""
        if scope["type"] == "http" and is_open(scope["path"]):
            await self.app(scope, receive, send)  # Hosts lets anybody ask this
        else:
            await super().__call__(scope, receive, send)
