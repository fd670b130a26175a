"""The cookies of the explorer: one for a session, and one for the form that signs in."""

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from textrawl.explorer.site import ROOT
from textrawl.transports.http.hosts import is_local

_SESSION, _FORM = "textrawl-session", "textrawl-form"
_LONGEST_ID = 100  # characters; ours have 43


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


def drop_session(request: Request, response: Response) -> None:
    """Delete the session cookie."""
    _delete(request, response, _SESSION)


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


def _read(request: Request, name: str) -> str | None:
    value = request.cookies.get(_name(request, name))
    return value if value and len(value) <= _LONGEST_ID else None


def _send(request: Request, response: Response, name: str, value: str) -> None:
    response.set_cookie(
        _name(request, name),
        value,
        path=ROOT,
        secure=is_secure(request),
        httponly=True,
        samesite="strict",
    )


def _delete(request: Request, response: Response, name: str) -> None:
    response.delete_cookie(
        _name(request, name),
        path=ROOT,
        secure=is_secure(request),
        httponly=True,
        samesite="strict",
    )
