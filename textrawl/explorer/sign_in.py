"""Signing in with an access token or a one-time link, and signing out."""

import re
import secrets
from typing import Protocol

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from textrawl.errors import ArgumentInvalid
from textrawl.explorer import cookies
from textrawl.explorer.forms import (
    FormRefused,
    TooManyFailures,
    check_token,
    make_form_token,
    mask,
    read_form,
)
from textrawl.explorer.rendering import render, write_link
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import ROOT, Site
from textrawl.server.http.guards import Window

_MOST_FAILURES = 60  # per minute and address
_MOST_LINKS = 6  # per minute, printed where the explorer runs
_OWN = "own machine"
_LONGEST = 8192  # characters of an access token
_SECRET_BYTES = 32
_PAGE = re.compile(r"[a-z-]+(\?[!-~]*)?", re.ASCII)
_REFUSED = "This access token is not known, has expired, or was revoked."


class IssuerSignIn(Protocol):
    """The other way to sign in: at the identity provider of the server."""

    def find_name(self, request: Request) -> str | None:
        """Return the name of the provider, or None if it cannot lead back to this address."""
        ...


class SignIn:
    """The page that signs people in.

    A session begins only here, and each gets a new id. So nobody can fix the id of a session before
    somebody else signs in.
    """

    def __init__(self, site: Site, issuer: IssuerSignIn | None = None) -> None:
        self._site = site
        self._issuer = issuer
        self._failures = Window(_MOST_FAILURES)
        self._links = Window(_MOST_LINKS)

    async def ask(self, request: Request) -> Response:
        """Show the form. A one-time link fills it in. On the own machine, print a new one."""
        code, wanted = (request.query_params.get(each, "") for each in ("code", "next"))
        print_link = self._site.print_link
        if print_link and not code and not self._links.find_wait(_OWN):
            self._links.add(_OWN)
            print_link(wanted if _PAGE.fullmatch(wanted) else "")
        return self._show(request, wanted, code)

    async def accept(self, request: Request) -> Response:
        """Begin a session, and lead to the page that was asked for."""
        address = request.client.host if request.client else ""
        secret = cookies.SIGN_IN_FORM.read(request)
        if secret is None:
            raise FormRefused("Let your browser accept cookies, then load the page again")
        form = await read_form(request)
        check_token(form, make_form_token(secret))
        if self._failures.find_wait(address):
            raise TooManyFailures
        code, wanted = form.get("code", ""), form.get("next", "")
        credential = await self._find(form.get("token", ""), code)
        if credential is None:
            self._failures.add(address)
            return self._show(request, wanted, message=_REFUSED, status=401)
        response = RedirectResponse(find_target(wanted), 303)
        begin_session(self._site, request, response, credential[0])
        return response

    def _show(
        self, request: Request, wanted: str, code: str = "", *, message: str = "", status: int = 200
    ) -> Response:
        secret = cookies.SIGN_IN_FORM.read(request) or secrets.token_urlsafe(_SECRET_BYTES)
        values = {
            "form_token": mask(make_form_token(secret)),
            "code": code,
            "next": wanted,
            "kept": "draft=" in wanted,
            "with_token": self._site.lookup is not None,
            "issuer": self._issuer.find_name(request) if self._issuer else None,
            "host": request.url.hostname,
            "message": message,
        }
        response = render("sign_in.html", values, status)
        cookies.SIGN_IN_FORM.send(request, response, secret)
        return response

    async def _find(self, token: str, code: str) -> tuple[bytes | None] | None:
        """Return the credential of a token or of a one-time link in a tuple, or None."""
        if code:
            return self._site.links.use(code)
        token = token.strip()
        usable = token and len(token) <= _LONGEST and token.isascii()
        principal = await self._site.look_up(token) if usable else None
        return None if principal is None else (principal.credential,)


async def sign_out(visit: PageRequest) -> Response:
    """End the session."""
    if identity := cookies.SESSION.read(visit.request):
        visit.site.sessions.end(identity)
    response = RedirectResponse(write_link("sign-in"), 303)
    cookies.SESSION.delete(visit.request, response)
    return response


async def keep_preferences(visit: PageRequest) -> Response:
    """Keep the colours or the price that the person chose, and show the page before again."""
    theme, price = visit.form.get("theme"), visit.form.get("price")
    if theme is None and price is None:
        raise ArgumentInvalid("Choose colours or a price", title="Nothing is chosen")
    response = RedirectResponse(cookies.find_way_back(visit.request) or write_link(""), 303)
    if theme is not None:
        cookies.keep_theme(visit.request, response, theme)
    if price is not None:
        cookies.keep_price(visit.request, response, price)
    return response


def begin_session(
    site: Site, request: Request, response: Response, credential: bytes | None
) -> None:
    """Begin a session with a new id, end the former session of this browser, and send the id."""
    if old := cookies.SESSION.read(request):
        site.sessions.end(old)
    cookies.SESSION.send(request, response, site.sessions.begin(credential))
    cookies.SIGN_IN_FORM.delete(request, response)


def find_target(wanted: str) -> str:
    """Return the address of a page of the explorer. `wanted` never leads to another site."""
    return f"{ROOT}/{wanted if _PAGE.fullmatch(wanted) else ''}"
