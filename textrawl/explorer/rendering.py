"""HTML from the templates in `pages/`, its assets and headers.

Every value is escaped. A template that uses a missing value fails. Characters that people cannot
see are shown as escape sequences.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
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

from textrawl.explorer.arguments import ROLES
from textrawl.explorer.site import ROOT
from textrawl.values.names import ENTITY_TYPES
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


@cache
def _read_icons() -> dict[str, Markup]:
    # The drawings are a file of this package, so they are safe to write as they are.
    text = (files("textrawl.explorer") / "icons.svg").read_text(encoding="utf-8")
    shapes = re.findall(r'<symbol id="([^"]+)"[^>]*>(.*)</symbol>', text)
    return {name: Markup(shape) for name, shape in shapes}  # noqa: S704


def _draw_icon(name: str) -> Markup:
    """Return an icon of icons.svg. It has no name for screen readers: write a text beside it.

    It is part of the page, because browsers differ in what policy lets them load parts of a file.
    """
    return Markup('<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">{}</svg>').format(
        _read_icons()[name]
    )


def _show(value: object) -> object:
    """Return a value as pages show it. Markup of our templates stays as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return escape_hidden(value)
    return value


def write_link(page: str, /, **parameters: object) -> str:
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
    """Return how long ago a time was, or will be, in its largest whole unit."""
    seconds = (datetime.now(UTC) - instant).total_seconds()
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if number := int(abs(seconds) // length):
            return (
                f"{write_count(number, unit)} ago"
                if seconds > 0
                else f"in {write_count(number, unit)}"
            )
    return "just now"


_RELATIVE = timedelta(days=30)  # times that are further away are shown as dates


def _write_when(instant: datetime) -> Markup:
    """Return a time as people say it, with the exact one for the pointer. A script makes it local.

    A distant time is a date.
    """
    near = abs(datetime.now(UTC) - instant) < _RELATIVE
    text = write_age(instant) if near else f"{instant.astimezone(UTC):%Y-%m-%d}"
    exact = write_time(instant)
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
        instant.isoformat(), exact, text
    )


def _write_moment(instant: datetime) -> Markup:
    """Return an exact time. A script makes it local."""
    return Markup('<time class="moment" datetime="{}">{} UTC</time>').format(
        instant.isoformat(), write_time(instant)
    )


_HUES = 8


def _write_author(name: str) -> Markup:
    """Return a name after its initials, which have a colour that follows from the name."""
    words = escape_hidden(name).split()
    initials = "".join(word[0] for word in words[:2]) if len(words) > 1 else "".join(words)[:2]
    hue = sha256(name.encode()).digest()[2] % _HUES
    return Markup(
        '<span class="author"><span class="initials hue-{}" aria-hidden="true">{}</span>'
        '<span dir="auto">{}</span></span>'
    ).format(hue, initials.upper(), escape_hidden(name))


def _write_marked(text: str) -> Markup:
    """Return a text of mark_matches(), which has characters 2 and 3 around what a page marks."""
    pieces = re.split("[\x02\x03]", text)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(escape_hidden(piece))
        if place % 2
        else escape_hidden(piece)
        for place, piece in enumerate(pieces)
    )


def _write_share(share: float) -> str:
    """Return a share in hundredths, as in the answers of the tools."""
    return f"{100 * share:.0f}"


def write_count(number: int, thing: str) -> str:
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
    functions: dict[str, Any] = {
        "link": write_link,
        "asset": find_address,
        "icon": _draw_icon,
        "entity_types": ENTITY_TYPES,
        "roles": ROLES,
    }
    filters: dict[str, Any] = {
        "time": write_time,
        "age": write_age,
        "when": _write_when,
        "moment": _write_moment,
        "author": _write_author,
        "thousands": "{:,}".format,
        "hundredths": _write_share,
        "marked": _write_marked,
        "number": write_count,
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
    """Compresses pages, except if a page of another site asks for them.

    Such a site could guess the content of our pages from their sizes (BREACH). Streams are sent as
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
