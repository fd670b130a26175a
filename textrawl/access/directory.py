"""Principals of a database by their credentials, cached for a second.

The database checks the credential of every call again. With the directory, a server can refuse a
request earlier and with an HTTP status.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache, TTLCache

from textrawl.access.access_token import hash_token, is_token
from textrawl.access.principal import Principal, Space
from textrawl.errors import NotAuthenticated
from textrawl.postgres.database import Database

if TYPE_CHECKING:
    from textrawl.access.oauth import Identity, Issuer


@dataclass(frozen=True)
class PrincipalRow:
    """A row of `authenticate`. Each of `spaces` is an object with id, name, scopes and tier."""

    token: int
    actor: str
    home: int | None
    federated: bool
    expires_at: datetime | None
    spaces: list[dict[str, Any]]


_MOST_CACHED = 4096


class Directory:
    """Principals of one database, each cached for `lifetime` seconds.

    Without `sensitive`, principals have no sensitive graphs, so no MCP client learns that these
    exist. Only commands that a person runs need sensitive graphs.
    """

    def __init__(
        self, database: Database, *, lifetime: float = 1.0, sensitive: bool = False
    ) -> None:
        self._database = database
        self._sensitive = sensitive
        self._principals = TTLCache[bytes | None, Principal](_MOST_CACHED, lifetime)
        self._known = LRUCache[bytes | None, Principal](_MOST_CACHED)

    async def find(self, credential: bytes | None) -> Principal | None:
        """Return the principal of `credential`, the SHA-256 of a token, or None if it is invalid.

        Without a credential, return the principal of the database login. Raises
        DatabaseUnavailable.
        """
        if (cached := self._principals.get(credential)) is not None:
            return cached
        rows = await self._database.call("authenticate", PrincipalRow, credential=credential)
        if not rows:
            return None
        [row] = rows
        spaces = [
            _read_space(members)
            for members in row.spaces
            if self._sensitive or members["tier"] != "sensitive"
        ]
        principal = Principal(
            credential,
            row.token,
            row.actor,
            row.home if row.home in [space.id for space in spaces] else None,
            tuple(spaces),
            row.expires_at,
            row.federated,
        )
        if self._known.get(credential) != principal:
            # A standby may not have these rights yet.
            await self._database.catch_up()
            self._known[credential] = principal
        self._principals[credential] = principal
        return principal

    async def find_own(self, credential: bytes | None, space: str | None) -> Principal:
        """Return the principal of this process, restricted to `space` unless it is None.

        `credential` is None if the database login identifies the actor. Raises NotAuthenticated,
        SpaceNotFound, DatabaseUnavailable.
        """
        principal = await self.find(credential)
        if principal is None:
            raise NotAuthenticated(
                None
                if credential
                else "The login of TEXTRAWL_DATABASE_URL cannot read the memory without a token: "
                "set TEXTRAWL_ACCESS_TOKEN to a token that `textrawl token create` made"
            )
        return principal.pin(space) if space else principal

    async def vouch(self, own: bytes | None, identity: "Identity", issuer: str) -> bool:
        """Register a verified token of `issuer` in the database. Return False if it has no grants.

        `own` is the credential of this server's token. Raises ScopeMissing unless this token has
        the scope `admin`, and IssuerRefused unless this token was made for `issuer`.
        """
        return await self._database.value(
            "vouch",
            bool,
            credential=own,
            bearer=identity.digest,
            actor=identity.actor,
            scopes=sorted(identity.scopes),
            expires_at=identity.expires_at,
            issuer=issuer,
        )


def _read_space(members: dict[str, Any]) -> Space:
    scopes = frozenset[str](members["scopes"])
    return Space(members["id"], members["name"], scopes, members["tier"])


class BearerAuthenticator:
    """Finds principals by bearer tokens.

    With the credential `own`, this server registers the tokens of an identity provider in the
    database, after it has verified them.
    """

    def __init__(self, directory: Directory, issuer: "Issuer | None", own: bytes | None) -> None:
        self._directory = directory
        self._issuer = issuer
        self._own = own

    async def find(self, bearer: str) -> Principal | None:
        """Return the principal of a bearer token, or None if it is invalid or has no grants.

        Raises DatabaseUnavailable and IssuerUnavailable. Raises ScopeMissing or IssuerRefused if
        this server may not register a token.
        """
        if is_token(bearer):
            return await self._directory.find(hash_token(bearer))
        return await self._find_federated(bearer) if self._issuer is not None else None

    async def _find_federated(self, bearer: str) -> Principal | None:
        assert self._issuer is not None  # noqa: S101 - checked by the only caller
        identity = await self._issuer.verify(bearer)
        if identity is None or not identity.scopes:
            return None
        # Do not use the hash of the whole token, because its holder can often compute a second
        # valid signature, which would give another hash.
        credential = identity.digest
        principal = await self._directory.find(credential)
        if principal is None and await self._directory.vouch(self._own, identity, self._issuer.url):
            principal = await self._directory.find(credential)
        return principal

    async def aclose(self) -> None:
        """Close the connections to the identity provider."""
        if self._issuer is not None:
            await self._issuer.aclose()
