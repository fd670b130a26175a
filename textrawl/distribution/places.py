"""Where the spaces of a distributed memory are, and what callers may do in them.

All of it is asked from the coordinator, and kept for a short time. The cell checks the rights of
each call again, so an answer that is too old only sends a call to the wrong cell.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, LiteralString, Protocol, TypeVar

from cachetools import TTLCache

from textrawl.distribution.map import Cell, CellMap, find_shards, read_map
from textrawl.distribution.routes import Signature
from textrawl.postgres.connection import Connection

_LIFETIME = 1.0  # seconds; the same as that of principals
_MOST_CALLERS = 4096
_RIGHTS = "select home, spaces from textrawl.authenticate(credential => %s)"
_SIGNATURES: LiteralString = """
    select p.proname::text, coalesce(p.proargnames[:p.pronargs], '{}'), p.provolatile = 'v'
    from pg_proc p where p.pronamespace = 'textrawl'::regnamespace
"""

Reply = TypeVar("Reply")


class Ask(Protocol):
    """A function that asks the coordinator, and its successor after a failover."""

    async def __call__(self, question: Callable[[Connection], Awaitable[Reply]], /) -> Reply:
        """Return the answer of the question."""
        ...


@dataclass(frozen=True)
class Right:
    """The scopes of a caller in one space. A space with a tier is a graph."""

    space: int
    name: str
    scopes: frozenset[str]
    tier: str | None


@dataclass(frozen=True)
class Rights:
    """What a caller may do, and the caller's home space. The home space is the first."""

    home: int | None
    spaces: tuple[Right, ...]

    def order(self, spaces: Sequence[int] | None) -> dict[str, int]:
        """Return the place of each space by its name: as given, or the home space first."""
        names = {right.space: right.name for right in self.spaces}
        given = names if spaces is None else [space for space in spaces if space in names]
        return {names[space]: place for place, space in enumerate(given)}

    def choose(self, scope: str | None, *, graphs: bool = False) -> list[int]:
        """Return the spaces in which the caller has `scope`, or any scope."""
        return [
            right.space
            for right in self.spaces
            if (graphs or right.tier is None or right.space == self.home)
            and (scope is None or scope in right.scopes)
        ]


class Places:
    """The map, the shards of spaces and the rights of callers. `ask` leads to the coordinator."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._map: CellMap | None = None
        self._shards: dict[int, int] = {}
        self._first: int | None = None
        self._signatures: dict[str, Signature] = {}
        self._rights = TTLCache[bytes | None, Rights](_MOST_CALLERS, _LIFETIME)

    async def find_map(self) -> CellMap:
        """Return the map, as it was at the last reading."""
        if (known := self._map) is None:
            known = self._map = await self._ask(read_map)
        return known  # another call can forget the map meanwhile

    def forget_map(self) -> None:
        """Read the map and the shards of spaces again, because a cell was moved or divided."""
        self._map = None
        self._shards.clear()

    def forget_rights(self) -> None:
        """Ask for the rights of callers again, because they have changed."""
        self._rights.clear()

    async def find_cell(self, shard: int) -> Cell | None:
        """Return a cell, or None if its spaces have other cells now."""
        return (await self.find_map()).find_cell(shard)

    async def find_shards(self, spaces: Sequence[int]) -> dict[int, list[int]]:
        """Return the spaces of each shard that has some of `spaces`, in the order of `spaces`."""
        known = {space: self._shards[space] for space in spaces if space in self._shards}
        if unknown := [space for space in spaces if space not in known]:
            found = await self._ask(partial(find_shards, spaces=unknown))
            self._shards |= found
            known |= found
        shards: dict[int, list[int]] = {}
        for space in spaces:
            if space in known:
                shards.setdefault(known[space], []).append(space)
        return shards

    async def find_rights(self, credential: bytes | None, *, anew: bool = False) -> Rights:
        """Return the rights of a credential, or of the login if it is None."""
        if not anew and (known := self._rights.get(credential)) is not None:
            return known
        [row] = await self._fetch(_RIGHTS, credential) or [None]
        rights = _read_rights(*row) if row is not None else Rights(None, ())
        self._rights[credential] = rights
        return rights

    async def find_first(self) -> int:
        """Return the space in which callers work who have no home space."""
        if self._first is None:
            [row] = await self._fetch("select textrawl.default_space()")
            self._first = int(row[0])
        return self._first

    async def find_signature(self, function: str) -> Signature | None:
        """Return the signature of a function, or None if the schema has no such function."""
        if function not in self._signatures:
            rows = await self._fetch(_SIGNATURES)
            self._signatures = {name: Signature(frozenset(names), v) for name, names, v in rows}
        return self._signatures.get(function)

    async def _fetch(self, query: LiteralString, *values: object) -> list[tuple[Any, ...]]:
        async def execute(connection: Connection) -> list[tuple[Any, ...]]:
            return await (await connection.execute(query, values)).fetchall()

        return await self._ask(execute)


def _read_rights(home: int | None, spaces: list[dict[str, Any]]) -> Rights:
    rights = [
        Right(members["id"], members["name"], frozenset(members["scopes"]), members["tier"])
        for members in spaces
    ]
    rights.sort(key=lambda right: (right.space != home, right.space))
    return Rights(home, tuple(rights))
