"""Authentication of bearer tokens: tokens of textrawl, and tokens of an identity provider."""

from typing import TYPE_CHECKING

from textrawl.access.access_token import hash_token, is_token
from textrawl.access.directory import Directory
from textrawl.access.principal import Principal

if TYPE_CHECKING:
    from textrawl.access.oauth.issuer import Issuer


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
