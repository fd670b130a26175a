"""The cookies of the explorer: a session, the form that signs in, a sign-in elsewhere, a theme."""

import re
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from textrawl.errors import ArgumentInvalid
from textrawl.explorer.rendering import write_link
from textrawl.explorer.site import ROOT
from textrawl.server.http.guards import is_local

_THEMES = ("", "light", "dark")
_NUMBER = re.compile(r"\d{1,4}(\.\d{1,4})?", re.ASCII)
_USUAL_PRICE = 3.0  # dollars for a million tokens that a model reads
_YEAR = 365 * 24 * 60 * 60  # seconds


@dataclass(frozen=True)
class Cookie:
    """A cookie of the explorer. `max_age` is in seconds, and None until the browser is closed."""

    name: str
    max_age: int | None = None
    samesite: Literal["strict", "lax"] = "strict"
    longest: int = 100  # characters; a secret of ours has 43

    def read(self, request: Request) -> str | None:
        """Return the value, or None if it is empty or too long."""
        value = request.cookies.get(self._find_name(request))
        return value if value and len(value) <= self.longest else None

    def send(self, request: Request, response: Response, value: str) -> None:
        """Send the cookie to the browser."""
        response.set_cookie(
            self._find_name(request),
            value,
            max_age=self.max_age,
            path=ROOT,
            secure=_is_secure(request),
            httponly=True,
            samesite=self.samesite,
        )

    def delete(self, request: Request, response: Response) -> None:
        """Delete the cookie in the browser."""
        replace(self, max_age=0).send(request, response, "")

    def _find_name(self, request: Request) -> str:
        """Return the name of the cookie on this address.

        A browser sends the cookies of a host name to all its ports, so the port is part of the name
        on this machine. A cookie whose name begins with __Secure- cannot be set without HTTPS.
        """
        if _is_secure(request):
            return f"__Secure-textrawl-{self.name}"
        host = request.headers.get("host", "")
        return f"textrawl-{self.name}-{urlsplit(f'//{host}').port or 80}"


SESSION, SIGN_IN_FORM = Cookie("session"), Cookie("form")
# An identity provider leads back with a link of another site. Browsers send no Strict cookie then.
FLOW = Cookie("flow", 600, "lax", 3000)
_THEME, _PRICE = Cookie("theme", _YEAR), Cookie("price", _YEAR)


def read_theme(request: Request) -> str:
    """Return the colours that somebody chose, light or dark, or an empty text for the system's."""
    chosen = _THEME.read(request)
    return chosen if chosen in _THEMES else ""


def keep_theme(request: Request, response: Response, theme: str) -> None:
    """Keep colours for a year. The empty text means the system's. Raises ArgumentInvalid."""
    if theme not in _THEMES:
        raise ArgumentInvalid("Choose light, dark, or none of them", title="Unknown colours")
    _THEME.send(request, response, theme)


def read_price(request: Request) -> float:
    """Return the price that somebody chose, in dollars for a million tokens."""
    chosen = _PRICE.read(request) or ""
    return float(chosen) if _NUMBER.fullmatch(chosen) else _USUAL_PRICE


def keep_price(request: Request, response: Response, price: str) -> None:
    """Keep a price for a year. Raises ArgumentInvalid unless it is a number below 10,000."""
    if not _NUMBER.fullmatch(price):
        fix = "Write a number below 10,000, with at most four decimals"
        raise ArgumentInvalid(fix, title="The price cannot be read")
    _PRICE.send(request, response, price)


def _is_secure(request: Request) -> bool:
    """Return whether cookies need HTTPS: beyond the loopback addresses they do.

    The decision does not depend on the scheme, because a proxy can end TLS.
    """
    return not is_local(request.headers.get("host", ""))


_PAGE = re.compile(rf"{ROOT}/(?!sign-in)[a-z-]+")
_SUBJECT = (
    "name", "fact", "alias", "other", "source", "target", "actor", "token", "author", "since",
    "others", "space",
)  # fmt: skip
"""Fields of forms that their pages take as parameters too."""
_LONGEST = 2000


def find_way_back(request: Request) -> str | None:
    """Return the address of the page before, or None. It is always a page of the explorer."""
    named, host = request.headers.get("referer", ""), request.headers.get("host", "")
    before, here = find_page(named, host.lower()), request.url
    # A page that a form led to has no parameters in its address, and cannot be asked for again.
    if before and before not in (here.path, f"{here.path}?{here.query}"):
        return before
    form = request.scope.get("form")
    page = here.path.rpartition("/")[2]
    back = write_link(page, **{name: form.get(name) for name in _SUBJECT}) if form else None
    return back if back and len(back) <= _LONGEST else None


def find_page(address: str, host: str = "") -> str | None:
    """Return an address without its host if it is a page of the explorer at this host, or None."""
    if not (address.isascii() and address.isprintable() and len(address) <= _LONGEST):
        return None
    try:
        came = urlsplit(address)
    except ValueError:
        return None
    if came.netloc.lower() != host or not _PAGE.fullmatch(came.path):
        return None
    return f"{came.path}?{came.query}" if came.query else came.path
