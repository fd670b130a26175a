"""The cookies of the explorer: a session, the form that signs in, a sign-in elsewhere, a theme."""

import re
from typing import Literal
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from textrawl.errors import ArgumentInvalid
from textrawl.explorer.rendering import write_link
from textrawl.explorer.site import ROOT
from textrawl.server.http.guards import is_local

_SESSION, _FORM, _FLOW = "textrawl-session", "textrawl-form", "textrawl-flow"
_THEME, _PRICE = "textrawl-theme", "textrawl-price"
_THEMES = ("", "light", "dark")
_NUMBER = re.compile(r"\d{1,4}(\.\d{1,4})?", re.ASCII)
_USUAL_PRICE = 3.0  # dollars for a million tokens that a model reads
_YEAR = 365 * 24 * 60 * 60  # seconds
_LONGEST_ID = 100  # characters; ours have 43
_LONGEST_FLOW = 3000
FLOW_SECONDS = 600


def read_session(request: Request) -> str | None:
    """Return the id in the session cookie, or None."""
    return _read(request, _SESSION)


def read_form(request: Request) -> str | None:
    """Return the secret in the cookie of the form that signs in, or None."""
    return _read(request, _FORM)


def keep_session(request: Request, response: Response, identity: str) -> None:
    """Send the session cookie, and delete the cookie of the form that signs in."""
    _send(request, response, _SESSION, identity)
    _delete(request, response, _FORM)


def keep_form(request: Request, response: Response, secret: str) -> None:
    """Send the cookie of the form that signs in."""
    _send(request, response, _FORM, secret)


def read_flow(request: Request) -> str | None:
    """Return what this browser knows of its sign-in at an identity provider, or None."""
    return _read(request, _FLOW, _LONGEST_FLOW)


def keep_flow(request: Request, response: Response, value: str) -> None:
    """Send the cookie of a sign-in at an identity provider.

    The provider leads back with a link of another site. Browsers send no Strict cookie with it.
    """
    _send(request, response, _FLOW, value, samesite="lax", max_age=FLOW_SECONDS)


def drop_flow(request: Request, response: Response) -> None:
    """Delete the cookie of a sign-in at an identity provider."""
    _delete(request, response, _FLOW)


def drop_session(request: Request, response: Response) -> None:
    """Delete the session cookie."""
    _delete(request, response, _SESSION)


def read_theme(request: Request) -> str:
    """Return the colours that somebody chose, light or dark, or an empty text for the system's."""
    chosen = _read(request, _THEME)
    return chosen if chosen in _THEMES else ""


def keep_theme(request: Request, response: Response, theme: str) -> None:
    """Keep colours for a year. The empty text means the system's. Raises ArgumentInvalid."""
    if theme not in _THEMES:
        raise ArgumentInvalid("Choose light, dark, or none of them", title="Unknown colours")
    _send(request, response, _THEME, theme, max_age=_YEAR)


def read_price(request: Request) -> float:
    """Return the price that somebody chose, in dollars for a million tokens."""
    chosen = _read(request, _PRICE) or ""
    return float(chosen) if _NUMBER.fullmatch(chosen) else _USUAL_PRICE


def keep_price(request: Request, response: Response, price: str) -> None:
    """Keep a price for a year. Raises ArgumentInvalid unless it is a number below 10,000."""
    if not _NUMBER.fullmatch(price):
        fix = "Write a number below 10,000, with at most four decimals"
        raise ArgumentInvalid(fix, title="The price cannot be read")
    _send(request, response, _PRICE, price, max_age=_YEAR)


def is_secure(request: Request) -> bool:
    """Return whether cookies need HTTPS: beyond the loopback addresses they do.

    The decision does not depend on the scheme, because a proxy can end TLS.
    """
    return not is_local(request.headers.get("host", ""))


def _name(request: Request, name: str) -> str:
    """Return the name of a cookie on this address.

    A browser sends the cookies of a host name to all its ports, so the port is part of the name on
    this machine. A cookie whose name begins with __Secure- cannot be set without HTTPS.
    """
    if is_secure(request):
        return f"__Secure-{name}"
    host = request.headers.get("host", "")
    return f"{name}-{urlsplit(f'//{host}').port or 80}"


def _read(request: Request, name: str, longest: int = _LONGEST_ID) -> str | None:
    value = request.cookies.get(_name(request, name))
    return value if value and len(value) <= longest else None


def _send(
    request: Request,
    response: Response,
    name: str,
    value: str,
    *,
    samesite: Literal["strict", "lax"] = "strict",
    max_age: int | None = None,
) -> None:
    response.set_cookie(
        _name(request, name),
        value,
        max_age=max_age,
        path=ROOT,
        secure=is_secure(request),
        httponly=True,
        samesite=samesite,
    )


def _delete(request: Request, response: Response, name: str) -> None:
    response.delete_cookie(
        _name(request, name),
        path=ROOT,
        secure=is_secure(request),
        httponly=True,
        samesite="strict",
    )


_PAGE = re.compile(rf"{ROOT}/(?!sign-in)[a-z-]+")
_SUBJECT = (
    "name", "fact", "alias", "other", "source", "target", "actor", "token", "author", "since",
    "others", "space",
)  # fmt: skip
"""Fields of forms that their pages take as parameters too."""
_LONGEST = 2000


def find_way_back(request: Request) -> str | None:
    """Return the address of the page before, or None. It is always a page of the explorer."""
    before, here = _find_referrer(request), request.url
    # A page that a form led to has no parameters in its address, and cannot be asked for again.
    if before and before not in (here.path, f"{here.path}?{here.query}"):
        return before
    form = request.scope.get("form")
    page = here.path.rpartition("/")[2]
    back = write_link(page, **{name: form.get(name) for name in _SUBJECT}) if form else None
    return back if back and len(back) <= _LONGEST else None


def _find_referrer(request: Request) -> str | None:
    """Return the address that the browser names, without its host, which has to be ours."""
    named, host = request.headers.get("referer", ""), request.headers.get("host", "")
    return find_page(named, host.lower())


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
