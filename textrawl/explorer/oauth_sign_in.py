"""Signing in at the identity provider of the server, without pasting a token.

The browser keeps a secret in a cookie. `state` and the PKCE verifier are computed from it, so the
server keeps nothing, and only the browser that began can end the sign-in.
"""

import hmac
import secrets
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import jwt
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from textrawl.access.code_flow import CodeFlow, Registration
from textrawl.access.principal import Principal
from textrawl.errors import TextrawlError
from textrawl.explorer.cookies import FLOW
from textrawl.explorer.forms import FormRefused, SignInRefused, TooManyFailures, derive
from textrawl.explorer.rendering import render
from textrawl.explorer.requests import show_error
from textrawl.explorer.sign_in import begin_session, find_target
from textrawl.explorer.site import ROOT, Site
from textrawl.server.http.guards import Window

_RETURN = "signed-in"
_MOST_FAILURES = 20  # per minute and address: each costs a request to the provider
_SECRET_BYTES = 32
_LONGEST_NEXT = 1500
_LONGEST_ANSWER = 8000


class OAuthSignIn:
    """The sign-in at `issuer`, which knows this server by `client_id`."""

    def __init__(self, site: Site, issuer: str, client_id: str) -> None:
        public_url = site.settings.public_url or ""
        self._site = site
        self._host = urlsplit(public_url).netloc.lower()
        self._name = urlsplit(issuer).netloc
        self._failures = Window(_MOST_FAILURES)
        self._flow = CodeFlow(
            Registration(issuer, client_id, f"{public_url}{ROOT}/{_RETURN}", f"{public_url}/mcp")
        )
        self.routes = [Route("/issuer", self._begin), Route(f"/{_RETURN}", self._end)]

    def find_name(self, request: Request) -> str | None:
        """Return the host of the provider, or None at another address than PUBLIC_URL.

        The provider leads back to PUBLIC_URL, where this browser would not have its cookie.
        """
        return self._name if request.headers.get("host", "").lower() == self._host else None

    async def _begin(self, request: Request) -> Response:
        """Lead to the provider. This changes nothing, so it needs no form."""
        if self.find_name(request) is None:
            raise SignInRefused("Open the explorer at the public address of the server")
        flow = _write_flow(request.query_params.get("next", ""))
        response = RedirectResponse(
            await self._flow.begin(derive("state", flow), derive("verifier", flow)), 303
        )
        FLOW.send(request, response, flow)
        return response

    async def _end(self, request: Request) -> Response:
        """Begin a session for the person whom the provider has sent back."""
        flow = FLOW.read(request) or ""
        page = _read_page(flow)
        given = _read_answer(request)
        if not hmac.compare_digest(given["state"].encode(), derive("state", flow).encode()):
            raise FormRefused("Begin again: this browser did not ask for this sign-in")
        try:
            principal = await self._identify(request, given, derive("verifier", flow))
            # A redirect would not do: browsers send the Strict cookie of a session only if a page
            # of ours leads on.
            values = {"title": "You are signed in", "target": find_target(page)}
            response = render("leading.html", values)
            begin_session(self._site, request, response, principal.credential)
        except TextrawlError as error:
            response = show_error(request, error)
        FLOW.delete(request, response)
        return response

    async def _identify(self, request: Request, given: dict[str, str], verifier: str) -> Principal:
        address = request.client.host if request.client else ""
        if self._failures.find_wait(address):
            raise TooManyFailures
        if not await self._flow.accepts(given.get("iss")) or "code" not in given:
            raise SignInRefused
        token = await self._flow.exchange(given["code"], verifier)
        principal = await self._site.look_up(token) if token else None
        if principal is None or not principal.federated:
            self._failures.add(address)
            raise SignInRefused
        return principal


def _write_flow(wanted: str) -> str:
    """Return a cookie with a secret, and the page to lead to at the end."""
    page = wanted if wanted.isascii() and len(wanted) <= _LONGEST_NEXT else ""
    end = datetime.now(UTC) + timedelta(seconds=FLOW.max_age or 0)
    kept = {"exp": end, "page": page, "secret": secrets.token_urlsafe(_SECRET_BYTES)}
    return jwt.encode(kept, derive("key", "flow"), "HS256")


def _read_page(flow: str) -> str:
    """Return the page in a cookie of this process. Raises FormRefused if it is another or old."""
    try:
        return jwt.decode(flow, derive("key", "flow"), ["HS256"], {"require": ["exp"]})["page"]
    except jwt.InvalidTokenError as error:
        fix = "Sign in again: this sign-in is too old, or of another browser"
        raise FormRefused(fix) from error


def _read_answer(request: Request) -> dict[str, str]:
    """Return the parameters of the provider's answer. Raises FormRefused unless each is single."""
    pairs = request.query_params.multi_items()
    given = dict(pairs)
    if len(given) < len(pairs) or "state" not in given or len(str(pairs)) > _LONGEST_ANSWER:
        raise FormRefused("Sign in again: the answer of the identity provider cannot be read")
    return given
