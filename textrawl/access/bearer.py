"""Whose a bearer token is: one of ours, or one of the identity provider's that is vouched for."""

from typing import TYPE_CHECKING

from textrawl.access.access_token import hash_token, is_token
from textrawl.access.directory import Directory
from textrawl.access.principal import Principal

if TYPE_CHECKING:
    from textrawl.access.oauth.issuer import Issuer


class Bearers:
    """Finds principals by bearer tokens; `own` is the credential that this server vouches with."""

    def __init__(self, directory: Directory, issuer: "Issuer | None", own: bytes | None) -> None:
        self._directory = directory
        self._issuer = issuer
        self._own = own

    async def find(self, bearer: str) -> Principal | None:
        """Whose `bearer` is; None where it is not valid or nothing was granted to them.

        Raises DatabaseUnavailable, IssuerUnavailable, ScopeMissing, IssuerRefused (of this
        server).
        """
        if is_token(bearer):
            return await self._directory.find(hash_token(bearer))
        return await self._find_federated(bearer) if self._issuer is not None else None

    async def _find_federated(self, bearer: str) -> Principal | None:
        assert self._issuer is not None  # noqa: S101 - the one caller has looked
        identity = await self._issuer.verify(bearer)
        if identity is None or not identity.scopes:
            return None
        # Not the hash of the bearer: whoever has one can often write another signature to it.
        credential = identity.digest
        found = await self._directory.find(credential)
        if found is None and await self._directory.vouch(self._own, identity, self._issuer.url):
            found = await self._directory.find(credential)
        return found

    async def aclose(self) -> None:
        """Closes the connection to the identity provider."""
        if self._issuer is not None:
            await self._issuer.aclose()
