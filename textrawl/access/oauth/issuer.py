"""Verification of the access tokens of one identity provider (RFC 9068, RFC 8725)."""

import hashlib
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast, get_args

import jwt

from textrawl.access.oauth.keyring import KeyRing
from textrawl.access.oauth.keys import ALGORITHMS, Key
from textrawl.access.principal import Scope
from textrawl.values.limits import NAME_LENGTH
from textrawl.values.text import clean_name

logger = logging.getLogger("textrawl")

_MOST_CHARACTERS = 8_192
_SIGNED = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
"""Matches a compact signed token without base64 padding.

PyJWT accepts padding as well, so the same token could be written in several ways.
"""

_LEEWAY = 5.0
"""The seconds that the issuer's clock can be ahead of the clock of this machine.

Without this leeway, the newest tokens would be refused. The claim `exp` gets no leeway, because the
client of an expired token must fetch a new token anyway.
"""

SCOPES: dict[str, Scope] = {
    f"{prefix}{scope}": scope
    for scope in cast("tuple[Scope, ...]", get_args(Scope))
    for prefix in ("", "textrawl:", "memory:")
}
"""The scopes by the names that an issuer can have for them."""

_ACCESS_TOKEN = ("at+jwt", "application/at+jwt")
_ANY_TOKEN = ("jwt", "application/jwt", None)


class _Refused(jwt.InvalidTokenError):
    """The error for a token that a check of this module refuses. PyJWT has its own errors."""


@dataclass(frozen=True)
class Identity:
    """The actor of a valid token, its scopes, and its expiry (UTC).

    `digest` is the SHA-256 of the signed part. Logs, limits and lists of revoked tokens identify
    the token by it. A hash of the whole token would not identify the token, because anyone can
    compute a second valid ECDSA signature from the first. A known digest does not prove that the
    signature is valid, so the token of every request is verified.
    """

    actor: str
    scopes: frozenset[Scope]
    expires_at: datetime
    digest: bytes


class Issuer:
    """Verifies access tokens that the issuer at `url` made for `audience`.

    `url` must be exactly equal to the issuer's name. `actor_claim` is the claim that names the
    actor. `timeout` is the time limit in seconds for fetching keys. Raises StartRefused unless the
    address uses https or is on this machine.
    """

    def __init__(
        self,
        url: str,
        *,
        audience: str,
        actor_claim: str = "sub",
        timeout: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.url = url
        self._audience = audience
        self._actor_claim = actor_claim
        self._keys = KeyRing(url, timeout=timeout, clock=clock)

    async def verify(self, bearer: str) -> Identity | None:
        """Return the identity in `bearer`, or None if it is not a valid access token.

        Raises IssuerUnavailable if the keys for the verification cannot be fetched.
        """
        try:
            header = _read_header(bearer)
            key = await self._keys.find(header.get("kid"), header["alg"])
            return self._identify(bearer, header, key)
        except _Refused as refusal:
            logger.info("A token was refused: %s", refusal)
        except jwt.PyJWTError as error:
            # Log only the type, because the message can contain parts of the token.
            logger.info("A token was refused: %s", type(error).__name__)
        return None

    async def aclose(self) -> None:
        """Close the connections to the issuer."""
        await self._keys.aclose()

    def _identify(self, bearer: str, header: Mapping[str, object], key: Key | None) -> Identity:
        if key is None:
            raise _Refused("signed with a key that the issuer does not publish")
        claims = jwt.decode(
            bearer,
            key.public,
            algorithms=sorted(key.algorithms),
            audience=self._audience,
            issuer=self.url,
            leeway=_LEEWAY,
            options={"require": ["iss", "aud", "exp", self._actor_claim]},
        )
        _check_kind(header, claims)
        return Identity(
            actor=_read_actor(claims, self._actor_claim),
            scopes=_read_scopes(claims),
            expires_at=_read_expiry(claims["exp"]),
            digest=hashlib.sha256(bearer.rpartition(".")[0].encode()).digest(),
        )


def _read_header(bearer: str) -> dict[str, Any]:
    """Return the unverified header. It can choose a key, but must not contain or locate a key."""
    if len(bearer) > _MOST_CHARACTERS:
        raise _Refused("longer than 8 KiB")
    if not _SIGNED.fullmatch(bearer):
        raise _Refused("not a compact signed token")
    header = jwt.get_unverified_header(bearer)
    # PyJWT supports the header b64. With it, the signature belongs to another text than the text
    # that is read here.
    if "crit" in header or "b64" in header:
        raise _Refused("has the header crit or b64, which are not supported")
    if not isinstance(header.get("alg"), str) or header["alg"] not in ALGORITHMS:
        raise _Refused("not signed with an algorithm that is allowed")
    return header


def _check_kind(header: Mapping[str, object], claims: Mapping[str, object]) -> None:
    """Refuse tokens other than bearer access tokens.

    RFC 9068 requires the type at+jwt, but many providers set the type JWT or no type. Such a token
    must have a scope, because ID tokens do not have a scope. It must not have at_hash or c_hash,
    because only ID tokens have these claims.
    """
    kind = header.get("typ")
    kind = kind.lower() if isinstance(kind, str) else kind
    if kind not in _ACCESS_TOKEN:
        if kind not in _ANY_TOKEN:
            raise _Refused("not of the type of an access token")
        if {"at_hash", "c_hash"} & claims.keys():
            raise _Refused("an ID token: it has at_hash or c_hash")
        if not {"scope", "scp"} & claims.keys():
            raise _Refused("perhaps an ID token: its type is not at+jwt, and it has no scope")
    # RFC 7800: a token with `cnf` needs a proof of possession, which is not checked here.
    if "cnf" in claims:
        raise _Refused("bound to a key, but a proof of possession is not supported")


def _read_actor(claims: Mapping[str, object], name: str) -> str:
    actor = claims[name]
    if not isinstance(actor, str) or not 0 < len(actor) <= NAME_LENGTH:
        raise _Refused("its actor is not a text of 1 to 200 characters")
    # Two actors must not look the same, here or in a log.
    if clean_name(actor) != actor:
        raise _Refused("its actor has characters that hide text, or is not in normal form")
    if name == "email" and claims.get("email_verified", True) not in (True, "true"):
        raise _Refused("its email is not verified, so anybody could have written this email")
    return actor


def _read_scopes(claims: Mapping[str, object]) -> frozenset[Scope]:
    words: list[object] = []
    for name in ("scope", "scp"):
        value = claims.get(name)
        if isinstance(value, str):
            words += value.split(" ")
        elif isinstance(value, list):
            words += cast("list[object]", value)
    return frozenset(SCOPES[word] for word in words if isinstance(word, str) and word in SCOPES)


def _read_expiry(value: object) -> datetime:
    """Return the instant in UTC. Raise `_Refused` if it has passed.

    PyJWT has checked the value already, but with leeway, and it accepts a number in a string.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Refused("its expiry is not a number")
    try:
        expires_at = datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        raise _Refused("its expiry is not a possible time") from None
    if expires_at <= datetime.now(UTC):
        raise _Refused("expired")
    return expires_at
