"""Which cells a call has to visit, and with which arguments."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from textrawl.distribution.places import Places, Rights
from textrawl.distribution.routes import Route, find_scope, refuse_target
from textrawl.errors import SpaceIsGraph

Arguments = Mapping[str, Any]


_UNATTENDED = (Route.ENDS, Route.EVERY, Route.RECALLS, Route.ROWS, Route.TURNS, Route.WATCHES)
_OF_GRAPHS = (Route.GRAPH, Route.GRAPHS, Route.SOURCE)


@dataclass(frozen=True)
class Visit:
    """A call of a function in the cell with this shard."""

    shard: int
    arguments: Arguments


class Planner:
    """Plans calls. A plan without visits is a call that the coordinator answers or refuses."""

    def __init__(self, places: Places) -> None:
        self._places = places

    async def plan(
        self, function: str, route: Route, arguments: Arguments, *, writes: bool
    ) -> list[Visit]:
        """Return the visits of a call, the cell of the caller's home space first."""
        if route in _UNATTENDED:
            return await self._plan_unattended(route, arguments)
        rights = await self._places.find_rights(arguments.get("credential"))
        if route in (Route.NAMED, Route.NAMED_TWICE):
            named = [right.space for right in rights.spaces if right.name == arguments["name"]]
            return await self._visit(named, arguments)
        if route in _OF_GRAPHS:
            return await self._visit(_find_graphs(rights, arguments), arguments)
        scope = find_scope(function, writes=writes)
        if route is Route.SPACES:
            return await self._split_spaces(rights, scope, arguments)
        space = cast("int | None", arguments.get("space"))
        if route is Route.SPACE and not writes:
            _refuse_graphs(rights, [space])
        spaces = _choose_spaces(rights, scope, route, writes=writes)
        if space is not None:
            spaces = await self._keep_allowed([space], rights, arguments)
        visits = await self._visit(spaces, arguments)
        # Other functions have a name or a period as `target`.
        if isinstance(target := arguments.get("target"), int):
            await self._require_one_cell(visits, target)
        return visits

    async def _keep_allowed(
        self, spaces: list[int], rights: Rights, arguments: Arguments
    ) -> list[int]:
        """Return those of `spaces` in which the caller has rights now.

        A worker that was away can still have a token or a grant that was revoked meanwhile.
        """
        credential = arguments.get("credential")
        if credential is None or {right.space for right in rights.spaces} >= set(spaces):
            return spaces
        rights = await self._places.find_rights(credential, anew=True)
        allowed = {right.space for right in rights.spaces}
        return [space for space in spaces if space in allowed]

    async def _require_one_cell(self, visits: Sequence[Visit], target: int) -> None:
        """Raise ArgumentInvalid if facts would go to a space of another cell."""
        shards = await self._places.find_shards([target])
        if visits and [visit.shard for visit in visits] != list(shards):
            raise refuse_target()

    async def _plan_unattended(self, route: Route, arguments: Arguments) -> list[Visit]:
        if route is Route.ROWS:
            return await self._split_rows(arguments)
        if route is Route.RECALLS:
            return await self._split_recalls(arguments)
        cells = (await self._places.find_map()).cells
        return [Visit(cell.shard, arguments) for cell in cells]

    async def _visit(self, spaces: Sequence[int], arguments: Arguments) -> list[Visit]:
        shards = await self._places.find_shards(spaces)
        return [Visit(shard, arguments) for shard in shards]

    async def _split_spaces(
        self, rights: Rights, scope: str | None, arguments: Arguments
    ) -> list[Visit]:
        given = cast("list[int] | None", arguments.get("spaces"))
        kept = given and await self._keep_allowed(given, rights, arguments)
        if "documents" in arguments.get("sources", ()):
            return await self._split_sources(rights, kept, arguments)
        if scope is not None and kept is not None:
            _refuse_graphs(rights, kept)
        spaces = rights.choose(scope, graphs=scope is None) if kept is None else kept
        shards = await self._places.find_shards(spaces)
        if given is None or (len(shards) <= 1 and spaces == given):
            return [Visit(shard, arguments) for shard in shards]
        return [Visit(shard, {**arguments, "spaces": part}) for shard, part in shards.items()]

    async def _split_sources(
        self, rights: Rights, given: list[int] | None, arguments: Arguments
    ) -> list[Visit]:
        """Send a search that covers documents to the cells of the graphs too."""
        facts = rights.choose("read") if given is None else given
        if "facts" not in arguments["sources"]:
            facts = []
        names = arguments.get("graphs")
        graphs = [
            right.space
            for right in rights.spaces
            if right.tier in ("public", "personal") and "read" in right.scopes
            if names is None or right.name in names
        ]
        shards = await self._places.find_shards([*dict.fromkeys((*facts, *graphs))])
        parts = {shard: [s for s in part if s in facts] for shard, part in shards.items()}
        return [
            Visit(shard, {**arguments, "spaces": None if part and given is None else part})
            for shard, part in parts.items()
        ]

    async def _split_rows(self, arguments: Arguments) -> list[Visit]:
        """Send each row of the arrays to the cell of its space."""
        spaces = cast("list[int]", arguments["spaces"])
        arrays = {
            name: cast("list[object]", value)
            for name, value in arguments.items()
            if isinstance(value, list)
        }
        shard_of = {
            space: shard
            for shard, part in (await self._places.find_shards(sorted(set(spaces)))).items()
            for space in part
        }
        rows: dict[int, list[int]] = {}
        for at, space in enumerate(spaces):
            rows.setdefault(shard_of[space], []).append(at)
        return [
            Visit(
                shard,
                {
                    **arguments,
                    **{name: [array[at] for at in ats] for name, array in arrays.items()},
                },
            )
            for shard, ats in rows.items()
        ]

    async def _split_recalls(self, arguments: Arguments) -> list[Visit]:
        """Send each recall to the cells of its space and of the spaces of the facts found."""
        recalls = cast("list[dict[str, Any]]", json.loads(arguments["recalls"]))
        visits: dict[int, list[dict[str, Any]]] = {}
        for recall in recalls:
            token = cast("str | None", recall.get("credential"))
            rights = await self._places.find_rights(None if token is None else bytes.fromhex(token))
            if recall.get("space") is None:
                recall["space"] = await self._places.find_first()
            ids = {right.name: right.space for right in rights.spaces}
            found = cast("dict[str, Any]", recall.get("found") or {})
            named = [ids[name] for name in found if name in ids]
            for shard in await self._places.find_shards([recall["space"], *named]):
                visits.setdefault(shard, []).append(recall)
        return [Visit(shard, {"recalls": json.dumps(some)}) for shard, some in visits.items()]


def _choose_spaces(rights: Rights, scope: str | None, route: Route, *, writes: bool) -> list[int]:
    """Return the spaces that a call without a space works on."""
    if route is Route.SPACE:
        return _choose_space(rights, scope, writes=writes)
    return rights.choose(scope, graphs=True)


def _choose_space(rights: Rights, scope: str | None, *, writes: bool) -> list[int]:
    """Return the one space that a call without a space works on, as open_write() chooses it.

    If there is more than one, the coordinator refuses the call with the reason.
    """
    if rights.home is not None:
        return [rights.home]
    spaces = rights.choose(scope)
    if writes and scope == "write":
        spaces = sorted({*spaces, *rights.choose("propose")})
    if writes:
        return spaces if len(spaces) == 1 else []
    return spaces[:1]


def _refuse_graphs(rights: Rights, spaces: Sequence[int | None]) -> None:
    """Raise SpaceIsGraph if one of the spaces is a graph, as readable_spaces() does.

    A function in a cell can be done before it reads its spaces, if the cell has no facts.
    """
    graphs = [right.name for right in rights.spaces if right.space in spaces and right.tier]
    if graphs:
        raise SpaceIsGraph(min(graphs))


def _find_graphs(rights: Rights, arguments: Arguments) -> list[int]:
    """Return the graphs that the arguments name, or all of the caller."""
    names = arguments.get("graphs", arguments.get("names"))
    if "graph" in arguments:
        names = [arguments["graph"]]
    return [
        right.space
        for right in rights.spaces
        if right.tier is not None and (names is None or right.name in names)
    ]
