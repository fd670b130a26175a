"""Principals, callers, scopes, and the directory that finds the principal of a token.

A principal is an access token as the database knows it: its actor, its home space, and its scopes
in each space. The database finds it by its credential, the SHA-256 of the token. The scopes allow:

    read     query_memory, and dry runs of forget_entity
    propose  remember_fact, build_knowledge, relate_entities, as proposals
    write    remember_fact, build_knowledge, relate_entities
    forget   forget_entity
    review   list_proposals, decide_proposals
    admin    grants, the trail and undo of a space
    metrics  /metrics of the server, but nothing in a space

The directory caches principals for a second. The database checks the credential of every call
again. With the directory, a server can refuse a request earlier and with an HTTP status.
"""

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from cachetools import LRUCache, TTLCache

from textrawl.access.access_token import Scope, hash_token, is_token
from textrawl.errors import (
    ArgumentInvalid,
    NotAuthenticated,
    OnlyProposes,
    ScopeMissing,
    SpaceNotFound,
)
from textrawl.scheduling import account, repository
from textrawl.values.anchors import checkout

if TYPE_CHECKING:
    from textrawl.access.oauth import Issuer, TokenIdentity
    from textrawl.postgres.database import Database


WRITES_OR_PROPOSES: tuple[Scope, Scope] = ("write", "propose")
"""The scopes of calls that store proposals for callers with `propose` instead of `write`."""


@dataclass(frozen=True)
class Space:
    """A space, with the scopes of one principal in it. A graph has a tier."""

    id: int
    name: str
    scopes: frozenset[str]
    tier: str | None = None


@dataclass(frozen=True)
class Principal:
    """An access token as the database knows it. It has at least one scope in each of `spaces`.

    `home` is the id of the space that writes go to, or None if the address must name this space.
    `pinned` is true if an address or a setting names the only space for reads and writes. `token`
    is the number of the token in logs and limits.
    """

    credential: bytes | None
    token: int
    actor: str
    home: int | None
    spaces: tuple[Space, ...]
    expires_at: datetime | None = None
    federated: bool = False
    pinned: bool = False

    def pin(self, name: str) -> Self:
        """Return the same principal, restricted to the space `name`.

        Raises SpaceNotFound, also for an existing space in which the principal has no scope.
        """
        for space in self._usable:
            if space.name == name:
                return replace(self, home=space.id, spaces=(space,), pinned=True)
        raise SpaceNotFound(f"Spaces that {self.actor} may use: {self._list_names()}")

    def allow_graphs(self, names: Sequence[str]) -> Self:
        """Return the same principal without other graphs than `names`."""
        spaces = tuple(s for s in self.spaces if s.tier is None or s.name in names)
        return replace(self, spaces=spaces)

    def restrict(self, graphs: Sequence[str] | None, *names: str | None) -> Self:
        """Return the same principal with only these graphs and only the space that is named.

        None restricts nothing. Raises SpaceNotFound, also for two different spaces.
        """
        principal = self if graphs is None else self.allow_graphs(graphs)
        for name in filter(None, names):
            principal = principal.pin(name)
        return principal

    def require(self, scope: Scope, *also: Scope, anywhere: bool = False) -> None:
        """Raise ScopeMissing unless the home space (or any space, for `read`) has `scope`.

        One of the scopes in `also` is enough too. With `anywhere`, each scope can be in any space.
        Raises OnlyProposes if the space has `propose` instead of `write`.
        """
        anywhere = anywhere or scope == "read"
        for space in self.spaces:
            if (anywhere or space.id == self.home) and not space.scopes.isdisjoint((scope, *also)):
                return
        spaces = self.spaces if anywhere else tuple(s for s in self.spaces if s.id == self.home)
        if scope == "write" and any("propose" in space.scopes for space in spaces):
            raise OnlyProposes
        home = None if anywhere else self.home_space
        raise ScopeMissing(scope, f"{self.actor} has {self._list_scopes(spaces, home)}")

    def allows(self, scope: Scope, *also: Scope, anywhere: bool = False) -> bool:
        """Return whether `require` raises no error."""
        try:
            self.require(scope, *also, anywhere=anywhere)
        except ScopeMissing:
            return False
        return True

    def require_home(self) -> None:
        """Raise ArgumentInvalid if it is not clear which space a write goes to."""
        if self.home is None:
            names = ", ".join(sorted(space.name for space in self.spaces)) or "none"
            raise ArgumentInvalid(
                f"choose one with --space or TEXTRAWL_SPACE: {names}",
                title="The space to write to is not clear",
            )

    @cached_property
    def home_space(self) -> Space | None:
        """The space that writes go to."""
        return next((space for space in self.spaces if space.id == self.home), None)

    @cached_property
    def readable(self) -> tuple[Space, ...]:
        """The spaces with facts in which the principal has the scope `read`."""
        return tuple(s for s in self.spaces if "read" in s.scopes and s.tier is None)

    @cached_property
    def proposes(self) -> bool:
        """True if the principal can propose in a space that it reads."""
        return any("propose" in space.scopes for space in self.readable)

    def find_graphs(self, allowed: Sequence[str] | None) -> list[str] | None:
        """Return the names of the only graphs that a call can reach, or None for all graphs.

        `allowed` restricts all callers. An address or a setting can restrict a caller to one space.
        The database checks the rights in each graph.
        """
        if not self.pinned:
            return None if allowed is None else list(allowed)
        return [space.name for space in self.spaces if allowed is None or space.name in allowed]

    @cached_property
    def readable_graphs(self) -> tuple[str, ...]:
        """The names of the graphs whose documents the principal can read through a server."""
        return tuple(
            space.name
            for space in self.spaces
            if space.tier in ("public", "personal") and "read" in space.scopes
        )

    @cached_property
    def _usable(self) -> tuple[Space, ...]:
        """The spaces with another scope than `metrics`, because `metrics` must not reveal names."""
        return tuple(space for space in self.spaces if space.scopes - {"metrics"})

    def _list_names(self) -> str:
        return ", ".join(sorted(space.name for space in self._usable)) or "none"

    def _list_scopes(self, spaces: tuple[Space, ...], home: Space | None) -> str:
        scopes = sorted({scope for space in spaces for scope in space.scopes})
        name = f" in {home.name}" if home is not None and home in self._usable else ""
        return f"{', '.join(scopes) or 'no scope'}{name}"


@dataclass(frozen=True)
class Caller:
    """A principal with its client, tool and request. Only the server creates callers.

    `sharing` is true if the call has an access token. Several people can use such a server.
    `cleaned` is the number of texts in the arguments that `clean_text` changes. `secrets` are the
    kinds of secrets in the arguments. `repository` has the keys of that of the session, if any, and
    `checkout` its folder, if the session is one of this machine. `anchors` are those of a new fact.
    """

    principal: Principal
    client: str | None
    tool: str
    request: str | None = None
    sharing: bool = False
    cleaned: int = 0
    secrets: Sequence[str] = ()
    repository: str | None = None
    checkout: str | None = None
    anchors: Sequence[str] = ()
    begun: float = field(default_factory=time.perf_counter, compare=False)

    @cached_property
    def reading(self) -> dict[str, object]:
        """The arguments of SQL functions that read. `spaces` is None for all readable spaces."""
        pinned = [self.principal.home] if self.principal.pinned else None
        return {"credential": self.principal.credential, "spaces": pinned}

    @property
    def watching(self) -> tuple[bytes | None, tuple[int, ...] | None]:
        """The credential and the only spaces to watch. None: all spaces that can be read."""
        principal = self.principal
        pinned = (principal.home,) if principal.pinned and principal.home is not None else None
        return principal.credential, pinned

    @property
    def reading_home(self) -> dict[str, object]:
        """The arguments of SQL functions that read only the home space."""
        return {"credential": self.principal.credential, "space": self.principal.home}

    @cached_property
    def writing(self) -> dict[str, object]:
        """The arguments of SQL functions that write. `space` is None for the home space."""
        return {
            "space": self.principal.home if self.principal.pinned else None,
            "credential": self.principal.credential,
            "client": self.client,
            "tool": self.tool,
            "request": self.request,
        }

    @property
    def signing(self) -> dict[str, object]:
        """The arguments of SQL functions that write to the space of another argument."""
        return {name: value for name, value in self.writing.items() if name != "space"}


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


@contextmanager
def keep_caller(caller: Caller) -> Generator[None]:
    """Let `find_caller` return `caller` in this task, because a call is identified only once."""
    before = _caller.set(caller)
    counted = account.set(caller.principal.actor if caller.sharing else None)
    former = repository.set(caller.repository)
    folder = checkout.set(caller.checkout)
    try:
        yield
    finally:
        checkout.reset(folder)
        repository.reset(former)
        account.reset(counted)
        _caller.reset(before)


def find_caller() -> Caller | None:
    """Return the caller of this task's call, or None if it is not identified yet."""
    return _caller.get()


@dataclass(frozen=True)
class PrincipalRow:
    """A row of `authenticate`. Each of `spaces` is an object with id, name, scopes and tier."""

    token: int
    actor: str
    home: int | None
    federated: bool
    expires_at: datetime | None
    spaces: list[dict[str, Any]]


_MOST_CACHED, _KNOWN_FOR = 4096, 1.0  # principals; seconds until a change of rights is seen


class Directory:
    """Principals of one database, each cached for a second.

    Without `sensitive`, principals have no sensitive graphs, so no MCP client learns that these
    exist. Only commands that a person runs need sensitive graphs.
    """

    def __init__(self, database: "Database", *, sensitive: bool = False) -> None:
        self._database = database
        self._sensitive = sensitive
        self._principals = TTLCache[bytes | None, Principal](_MOST_CACHED, _KNOWN_FOR)
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
            Space(one["id"], one["name"], frozenset[str](one["scopes"]), one["tier"])
            for one in row.spaces
            if self._sensitive or one["tier"] != "sensitive"
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

    def forget(self, actor: str) -> None:
        """Let the next requests of an actor see rights that have just changed."""
        for credential in list(self._principals):
            principal = self._principals.get(credential)  # None: expired meanwhile
            if principal is not None and principal.actor == actor:
                self._principals.pop(credential, None)

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

    async def vouch(self, own: bytes | None, identity: "TokenIdentity", issuer: str) -> bool:
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
        if self._issuer is None:
            return None
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
