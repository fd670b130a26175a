"""Who a credential is: asked of the database, believed for a moment.

Every call is checked by the database again, so what is believed here only tells sooner, and to
whom an HTTP status can say so.
"""

from typing import TYPE_CHECKING, Any

from cachetools import TTLCache

from textrawl.access.principal import Principal, Space
from textrawl.access.rows import PrincipalRow, VouchedRow
from textrawl.postgres.database import Database

if TYPE_CHECKING:
    from textrawl.access.oauth.issuer import Identity

_MOST_REMEMBERED = 4096


class Directory:
    """Principals of one database; one that was found is believed for `lifetime` seconds."""

    def __init__(self, database: Database, *, lifetime: float = 1.0) -> None:
        self._database = database
        self._known = TTLCache[bytes | None, Principal](_MOST_REMEMBERED, lifetime)

    async def find(self, credential: bytes | None) -> Principal | None:
        """Whose `credential` (SHA-256 of a token) it is; None for one that is not valid.

        Without one: what the database login itself may do. Raises DatabaseUnavailable.
        """
        if (known := self._known.get(credential)) is not None:
            return known
        rows = await self._database.call("authenticate", PrincipalRow, credential=credential)
        if not rows:
            return None
        [row] = rows
        found = Principal(
            credential, row.token, row.actor, row.home, tuple(map(_read_space, row.spaces)),
            row.expires_at, row.federated,
        )  # fmt: skip
        self._known[credential] = found
        return found

    async def vouch(self, own: bytes | None, identity: "Identity", issuer: str) -> bool:
        """Tell the database whose token of the identity provider `issuer` this is.

        False where nothing was granted to them. Raises ScopeMissing unless `own`, the credential of
        this server, has the scope admin, IssuerRefused unless it was made for `issuer`.
        """
        [row] = await self._database.call(
            "vouch", VouchedRow, credential=own, bearer=identity.digest, actor=identity.actor,
            scopes=sorted(identity.scopes), expires_at=identity.expires_at, issuer=issuer,
        )  # fmt: skip
        return row.vouch


def _read_space(told: dict[str, Any]) -> Space:
    return Space(told["id"], told["name"], frozenset(told["scopes"]))
