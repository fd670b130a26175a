"""OAuth: tokens of an identity provider, its keys and its documents."""

import hashlib
import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, cast, get_args

import anyio
import httpx
import jwt

from textrawl.access.access_token import Scope
from textrawl.errors import IssuerUnavailable, StartRefused
from textrawl.values.names import is_loopback
from textrawl.values.text import NAME_LENGTH, clean_name

_LEAST_RSA_BITS = 2_048

_ALGORITHMS = {
    ("RSA", None): ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
"""Allowed algorithms by key type and curve.

No algorithm is symmetric, because a public key must never be used as a shared secret.
"""

ALGORITHMS = frozenset(name for names in _ALGORITHMS.values() for name in names)
"""All allowed algorithms."""

_PUBLIC_MEMBERS = ("kty", "crv", "n", "e", "x", "y")


@dataclass(frozen=True)
class SigningKey:
    """One public key. `id` is its kid, or None."""

    id: str | None
    algorithms: frozenset[str]
    public: Any


def read_keys(document: Mapping[str, object]) -> tuple[SigningKey, ...]:
    """Return the keys of a key set that are allowed to verify signatures. Ignore other keys."""
    members = document.get("keys")
    if not isinstance(members, list):
        return ()
    return tuple(
        key
        for member in cast("list[object]", members)
        if isinstance(member, dict) and (key := _read_key(cast("dict[str, object]", member)))
    )


def _read_key(member: dict[str, object]) -> SigningKey | None:
    algorithms = _choose_algorithms(member)
    if not algorithms or not _is_for_signatures(member):
        return None
    # Take only the public half, because the private half may have been published by mistake.
    public_half = {name: member[name] for name in _PUBLIC_MEMBERS if name in member}
    try:
        public = jwt.PyJWK(public_half, algorithm=algorithms[0]).key
    except jwt.PyJWTError:
        return None
    if member["kty"] == "RSA" and public.key_size < _LEAST_RSA_BITS:
        return None
    name = member.get("kid")
    return SigningKey(name if isinstance(name, str) else None, frozenset(algorithms), public)


def _choose_algorithms(member: dict[str, object]) -> tuple[str, ...]:
    """Return the algorithms of the key's type, or only the algorithm that the issuer names."""
    kind, curve, only = member.get("kty"), member.get("crv"), member.get("alg")
    if not isinstance(kind, str) or not isinstance(curve, str | None):
        return ()
    allowed = _ALGORITHMS.get((kind, curve), ())
    return allowed if only is None else tuple(name for name in allowed if name == only)


def _is_for_signatures(member: dict[str, object]) -> bool:
    operations = member.get("key_ops", ["verify"])
    return (
        member.get("use", "sig") == "sig"
        and isinstance(operations, list)
        and "verify" in operations
    )


_MOST_BYTES = 262_144
"""Maximum size of a document, enough for hundreds of keys."""

_LAST_PORT = 65_535


class FetchFailed(Exception):
    """The reason why a document cannot be used. It never contains a received text."""


@dataclass(frozen=True)
class Metadata:
    """The metadata of an issuer (RFC 8414), with the checked addresses in it."""

    document: Mapping[str, object]
    addresses: Mapping[str, httpx.URL]


class Documents:
    """The documents of the issuer `issuer`, which must be equal to the name in its metadata.

    `timeout` is the time limit in seconds for each step of a request. Raises StartRefused for an
    address that cannot be trusted. Each method raises FetchFailed.
    """

    def __init__(self, issuer: str, *, timeout: float) -> None:
        url = _read_address(issuer, plain=True)
        if url is None or url.query:
            raise StartRefused(
                "TEXTRAWL_OAUTH_ISSUER must be an https address without user, query and fragment, "
                "such as https://login.example.org; http is allowed only for addresses of this "
                "machine"
            )
        self._issuer, self._url, self._plain = issuer, url, url.scheme == "http"
        self._client = httpx.AsyncClient(
            # Ask for no compression, because the real size of a compressed body is unknown.
            headers={"accept": "application/json", "accept-encoding": "identity"},
            timeout=timeout,
            follow_redirects=False,
            trust_env=not self._plain,  # do not use a proxy for an address on this machine
        )

    async def find_metadata(self, *names: str) -> Metadata:
        """Return the first metadata that names this issuer and has addresses at `names`."""
        failures: list[str] = []
        path = self._url.path.rstrip("/")
        paths = (  # in the order of the MCP specification
            f"/.well-known/oauth-authorization-server{path}",
            f"/.well-known/openid-configuration{path}",
            f"{path}/.well-known/openid-configuration",
        )
        for address in (self._url.copy_with(path=one) for one in dict.fromkeys(paths)):
            try:
                return self._check(await self.read(address), names)
            except FetchFailed as failure:
                failures.append(f"{address.path}: {failure}")
        raise FetchFailed("; ".join(failures))

    async def read(self, address: httpx.URL) -> dict[str, object]:
        """Return the document at an address."""
        return await self._send(self._client.build_request("GET", address))

    async def post(self, address: httpx.URL, form: Mapping[str, str]) -> dict[str, object]:
        """Send a form, and return the answer."""
        return await self._send(self._client.build_request("POST", address, data=dict(form)))

    async def aclose(self) -> None:
        """Close the connections to the issuer."""
        await self._client.aclose()

    def _check(self, document: dict[str, object], names: tuple[str, ...]) -> Metadata:
        # RFC 8414, section 3.3. Without this check, one issuer could act for another issuer of the
        # same host.
        if document.get("issuer") != self._issuer:
            raise FetchFailed(
                "names another issuer: TEXTRAWL_OAUTH_ISSUER must be exactly equal to this name"
            )
        addresses: dict[str, httpx.URL] = {}
        for name in names:
            found = document.get(name)
            address = _read_address(found, plain=self._plain) if isinstance(found, str) else None
            if address is None:
                raise FetchFailed(f"has no {name} that is an https address")
            addresses[name] = address
        return Metadata(document, addresses)

    async def _send(self, request: httpx.Request) -> dict[str, object]:
        body = bytearray()
        try:
            response = await self._client.send(request, stream=True)
            try:
                if response.status_code != HTTPStatus.OK:
                    raise FetchFailed(f"HTTP {response.status_code}")
                async for chunk in response.aiter_raw():
                    body += chunk
                    if len(body) > _MOST_BYTES:
                        raise FetchFailed(f"more than {_MOST_BYTES} bytes")
            finally:
                await response.aclose()
            document = json.loads(body)
        except httpx.HTTPError as error:
            raise FetchFailed(type(error).__name__) from None
        except (ValueError, RecursionError):
            raise FetchFailed("not JSON") from None
        if not isinstance(document, dict):
            raise FetchFailed("not a JSON object")
        return cast("dict[str, object]", document)


def _read_address(text: str, *, plain: bool) -> httpx.URL | None:
    """Return the https address in `text`, or None. With `plain`, also accept http on this machine.

    httpx parses the address, because httpx also connects to it. Another parser could find another
    host in the same text.
    """
    try:
        url = httpx.URL(text)
        host = url.host
    except (httpx.InvalidURL, ValueError):  # ValueError for a name that is not valid IDNA
        return None
    if not host or url.userinfo or url.fragment:
        return None
    if url.port is not None and not 0 < url.port <= _LAST_PORT:
        return None
    if url.scheme == "https" or (plain and url.scheme == "http" and is_loopback(host)):
        return url
    return None


logger = logging.getLogger("textrawl")

_FRESH = 300.0
"""Seconds after which keys are fetched again. A withdrawn key is accepted for at most this time."""

_LASTING = 86_400.0
"""Seconds for which keys are used while the issuer is down. Users stay logged in for a day.

While the issuer is down, a withdrawn key is accepted for at most this time.
"""

_PAUSE = 30.0
"""Seconds between fetches while keys are cached."""

_PAUSE_WITHOUT_KEYS = 5.0
"""Seconds between fetches while no key is cached, so nobody can log in."""


class KeyRing:
    """The keys of one issuer.

    `issuer` must be equal to the name in its tokens. `timeout` is the time limit in seconds for a
    whole fetch. Raises StartRefused for an address that cannot be trusted.
    """

    def __init__(
        self, issuer: str, *, timeout: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._issuer = issuer
        self._documents = Documents(issuer, timeout=timeout)
        self._timeout = timeout
        self._clock = clock
        self._keys: tuple[SigningKey, ...] = ()
        self._fetched_at = self._tried_at = float("-inf")
        self._failed = False
        self._fetching = anyio.Lock()

    async def find(self, name: str | None, algorithm: str) -> SigningKey | None:
        """Return the key with the id `name` for `algorithm`, or None if the issuer has no such key.

        Without a name, return the only key for the algorithm. If no such key is cached and the last
        fetch failed, raise IssuerUnavailable.
        """
        found = self._pick(name, algorithm)
        if found is None or (self._age > _FRESH and not self._fetching.locked()):
            await self._fetch_if_due()
            found = self._pick(name, algorithm)
        if found is None and self._failed:
            raise IssuerUnavailable
        return found

    async def renew(self, name: str | None, algorithm: str) -> SigningKey | None:
        """Return the same as `find`, but fetch the keys before, unless that was done lately."""
        await self._fetch_if_due()
        return self._pick(name, algorithm)

    async def aclose(self) -> None:
        """Close the connections to the issuer."""
        await self._documents.aclose()

    @property
    def _age(self) -> float:
        return self._clock() - self._fetched_at

    def _pick(self, name: str | None, algorithm: str) -> SigningKey | None:
        if self._age > _LASTING:
            return None
        fitting = [
            key
            for key in self._keys
            if algorithm in key.algorithms and (name is None or key.id == name)
        ]
        return fitting[0] if len(fitting) == 1 else None

    async def _fetch_if_due(self) -> None:
        async with self._fetching:
            pause = _PAUSE if self._age <= _LASTING else _PAUSE_WITHOUT_KEYS
            if self._clock() - self._tried_at < pause:
                return
            # A client that disconnects must not cancel a fetch, because other calls wait for it. A
            # client could otherwise cancel each fetch, and nobody would get a new key.
            with anyio.CancelScope(shield=True):
                await self._renew()

    async def _renew(self) -> None:
        try:
            self._keys = await self._fetch()
        except FetchFailed as failure:
            self._failed = True
            logger.warning("Keys of %s cannot be fetched: %s", self._issuer, failure)
        else:
            self._failed = False
            self._fetched_at = self._clock()
        finally:
            self._tried_at = self._clock()

    async def _fetch(self) -> tuple[SigningKey, ...]:
        try:
            with anyio.fail_after(self._timeout):
                metadata = await self._documents.find_metadata("jwks_uri")
                keys = read_keys(await self._documents.read(metadata.addresses["jwks_uri"]))
        except TimeoutError:
            raise FetchFailed(f"no complete answer within {self._timeout:g} s") from None
        if not keys:
            raise FetchFailed("its key set has no usable key")
        return keys


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
class TokenIdentity:
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

    async def verify(self, bearer: str) -> TokenIdentity | None:
        """Return the identity in `bearer`, or None if it is not a valid access token.

        Raises IssuerUnavailable if the keys for the verification cannot be fetched.
        """
        try:
            header = _read_header(bearer)
            name, algorithm = header.get("kid"), header["alg"]
            key = await self._keys.find(name, algorithm)
            try:
                return self._identify(bearer, header, key)
            except jwt.InvalidSignatureError:
                # Some issuers give a new key the name of the old one, or no name.
                renewed = await self._keys.renew(name, algorithm)
                if renewed == key:
                    raise
                return self._identify(bearer, header, renewed)
        except jwt.ImmatureSignatureError:
            logger.warning(
                "A token was refused: issued in the future, so compare the clocks of this machine "
                "and of the issuer"
            )
        except _Refused as refusal:
            logger.info("A token was refused: %s", refusal)
        except jwt.PyJWTError as error:
            # Log only the type, because the message can contain parts of the token.
            logger.info("A token was refused: %s", type(error).__name__)
        return None

    async def aclose(self) -> None:
        """Close the connections to the issuer."""
        await self._keys.aclose()

    def _identify(
        self, bearer: str, header: Mapping[str, object], key: SigningKey | None
    ) -> TokenIdentity:
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
        return TokenIdentity(
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
