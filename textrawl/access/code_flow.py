"""The authorization code flow (RFC 6749, OAuth 2.1) with PKCE, as a public client of one issuer.

Authlib 1.9 would make the same two requests with 0.8 MB of code. The metadata with its limits and
the checks of the answer are shared with the verification of tokens, so they stay ours anyway.
"""

import base64
import hmac
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from hashlib import sha256

import anyio

from textrawl.access.oauth import SCOPES, Documents, FetchFailed, Metadata
from textrawl.errors import IssuerUnavailable

logger = logging.getLogger("textrawl")

_FRESH = 300.0  # seconds after which the metadata are fetched again
_PAUSE = 5.0  # seconds between fetches that fail
_TIMEOUT = 5.0  # seconds for all requests of one step
_LONGEST_TOKEN = 8192


@dataclass(frozen=True)
class Registration:
    """A client that the issuer knows. `resource` becomes the audience of its access tokens."""

    issuer: str
    client_id: str
    redirect_uri: str
    resource: str


class CodeFlow:
    """The sign-in at one issuer. `clock` returns seconds."""

    def __init__(
        self, registration: Registration, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._registration = registration
        self._clock = clock
        self._metadata: Metadata | None = None
        self._fetched_at = self._failed_at = float("-inf")
        self._fetching = anyio.Lock()

    async def begin(self, state: str, verifier: str) -> str:
        """Return the address at the issuer that asks the person. Raises IssuerUnavailable."""
        metadata, registration = await self._find_metadata(), self._registration
        # The issuer may have names of its own for our scopes.
        offered = metadata.document.get("scopes_supported")
        known = [name for name in SCOPES if isinstance(offered, list) and name in offered]
        challenge = base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=")
        parameters = {
            "response_type": "code",
            "client_id": registration.client_id,
            "redirect_uri": registration.redirect_uri,
            "resource": registration.resource,
            "scope": " ".join(known or sorted(set(SCOPES.values()))),
            "state": state,
            "code_challenge": challenge.decode(),
            "code_challenge_method": "S256",
        }
        return str(metadata.addresses["authorization_endpoint"].copy_merge_params(parameters))

    async def accepts(self, issuer: str | None) -> bool:
        """Return whether an answer with this parameter `iss` can be of our issuer (RFC 9207).

        Raises IssuerUnavailable.
        """
        if issuer is None:
            document = (await self._find_metadata()).document
            return document.get("authorization_response_iss_parameter_supported") is not True
        return hmac.compare_digest(issuer.encode(), self._registration.issuer.encode())

    async def exchange(self, code: str, verifier: str) -> str | None:
        """Return the access token for a code, or None if the issuer refuses the code.

        Raises IssuerUnavailable if the issuer's metadata cannot be fetched.
        """
        metadata, registration = await self._find_metadata(), self._registration
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": registration.redirect_uri,
            "client_id": registration.client_id,
            "code_verifier": verifier,
            "resource": registration.resource,
        }
        try:
            async with aclosing(self._open()) as documents:
                with anyio.fail_after(_TIMEOUT):
                    answer = await documents.post(metadata.addresses["token_endpoint"], form)
        except (FetchFailed, TimeoutError) as failure:
            logger.info("The issuer gave no token for a code: %s", failure)
            return None
        return _read_token(answer)

    async def _find_metadata(self) -> Metadata:
        async with self._fetching:
            now = self._clock()
            if self._metadata is not None and now - self._fetched_at < _FRESH:
                return self._metadata
            if now - self._failed_at < _PAUSE:
                raise IssuerUnavailable
            try:
                self._metadata = await self._fetch()
            except (FetchFailed, TimeoutError) as failure:
                self._failed_at = now
                issuer = self._registration.issuer
                logger.warning("Nobody can sign in at %s: %s", issuer, failure or "no answer")
                raise IssuerUnavailable from None
            self._fetched_at = now
            return self._metadata

    async def _fetch(self) -> Metadata:
        async with aclosing(self._open()) as documents:
            with anyio.fail_after(_TIMEOUT):
                return await documents.find_metadata("authorization_endpoint", "token_endpoint")

    def _open(self) -> Documents:
        return Documents(self._registration.issuer, timeout=_TIMEOUT)


def _read_token(answer: Mapping[str, object]) -> str | None:
    token, kind = answer.get("access_token"), answer.get("token_type")
    if not isinstance(token, str) or not isinstance(kind, str) or kind.lower() != "bearer":
        return None
    return token if token.isascii() and len(token) <= _LONGEST_TOKEN else None
