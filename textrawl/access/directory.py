"""Principals of a database by their credentials, cached for a second.

The database checks the credential of every call again. With the directory, a server can refuse a
request earlier and with an HTTP status.
"""

from typing import TYPE_CHECKING, Any

from cachetools import LRUCache, TTLCache

from textrawl.access.principal import Principal, Space
from textrawl.access.rows import PrincipalRow, VouchedRow
from textrawl.errors import NotAuthenticated
from textrawl.postgres.database import Database

if TYPE_CHECKING:
    from textrawl.access.oauth.issuer import Identity

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
        [row] = await self._database.call(
            "vouch",
            VouchedRow,
            credential=own,
            bearer=identity.digest,
            actor=identity.actor,
            scopes=sorted(identity.scopes),
            expires_at=identity.expires_at,
            issuer=issuer,
        )
        return row.vouch


def _read_space(members: dict[str, Any]) -> Space:
    scopes = frozenset[str](members["scopes"])
    return Space(members["id"], members["name"], scopes, members["tier"])
