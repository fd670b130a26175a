"""HTML from the templates in `pages/`, its assets and headers.

Every value is escaped. A template that uses a missing value fails. Characters that people cannot
see are shown as escape sequences.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.datastructures import Headers as RequestHeaders
from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.explorer.site import ROOT
from textrawl.values.text import escape_hidden

_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_CACHED = "private, max-age=31536000, immutable"


@cache
def read_assets() -> dict[str, bytes]:
    """Return the content of each file by its name."""
    folder = files("textrawl.explorer") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@cache
def find_address(name: str) -> str:
    """Return the address of a file. It changes with the content, so browsers can keep the file."""
    return f"{ROOT}/static/{sha256(read_assets()[name]).hexdigest()[:12]}/{name}"


async def answer_asset(request: Request) -> Response:
    """Answer with a file, or with 404 for any other name."""
    name = request.path_params["name"]
    if name not in read_assets():
        return Response(status_code=404)
    kind = _KINDS[name.rpartition(".")[2]]
    return Response(read_assets()[name], media_type=kind, headers={"cache-control": _CACHED})


def _show(value: object) -> object:
    """Return a value as pages show it. Markup of our templates stays as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return escape_hidden(value)
    return value


def write_link(page: str, **parameters: object) -> str:
    """Return the address of a page. Parameters that are None or empty are left out.

    A list repeats its parameter.
    """
    given = {key: value for key, value in parameters.items() if value not in (None, "", False)}
    query = urlencode({key: 1 if value is True else value for key, value in given.items()}, True)
    return f"{ROOT}/{page}{'?' if query else ''}{query}"


def write_time(instant: datetime) -> str:
    """Return a time in UTC, to the minute."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M}"


def write_age(instant: datetime) -> str:
    """Return how long ago a time was, in its largest whole unit."""
    seconds = (datetime.now(UTC) - instant).total_seconds()
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if number := int(seconds // length):
            return f"{_count(number, unit)} ago"
    return "just now"


def _write_share(share: float) -> str:
    """Return a share in hundredths, as in the answers of the tools."""
    return f"{100 * share:.0f}"


def _count(number: int, thing: str) -> str:
    """Return a number with what it counts, such as 1 entity or 2 facts."""
    short = thing.endswith("y") and not thing.endswith("day")
    many = f"{thing[:-1]}ies" if short else f"{thing}s"
    return f"{number:,} {thing if number == 1 else many}"


def _build_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("textrawl.explorer", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_show,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    functions: dict[str, Any] = {"link": write_link, "asset": find_address}
    filters: dict[str, Any] = {
        "time": write_time,
        "age": write_age,
        "hundredths": _write_share,
        "number": _count,
    }
    environment.globals.update(functions)
    environment.filters.update(filters)
    return environment


_ENVIRONMENT = _build_environment()


def render(template: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """Return a page made of a template."""
    return HTMLResponse(write(template, values), status)


def write(template: str, values: Mapping[str, Any]) -> str:
    """Return the text of a page made of a template."""
    return _ENVIRONMENT.get_template(template).render(values)


_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    # With no-referrer, browsers would send `Origin: null` with our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_PRIVATE = "no-store"


_COMPRESSED_FROM = 1000  # bytes
_LEVEL = 5  # of gzip: the higher ones take twice the time for two hundredths of the size


class Compression(GZipMiddleware):
    """Compresses pages, but for no request of a page of somebody else.

    Such a page could learn from the sizes of our pages what they say (BREACH). Streams are sent as
    they are.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, minimum_size=_COMPRESSED_FROM, compresslevel=_LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        came_from = RequestHeaders(scope=scope).get("sec-fetch-site", "none")
        serve = super().__call__ if came_from in ("none", "same-origin") else self.app
        await serve(scope, receive, send)


class Headers:
    """Adds the headers to all responses of `app`. Pages are not cached, because they hold facts."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("cache-control", _PRIVATE)
            await send(message)

        await self._app(scope, receive, answer)
