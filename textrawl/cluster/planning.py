"""The plan of a call: the cells to visit, and the arguments for each of them."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, LiteralString, Protocol, TypeVar, cast

from cachetools import TTLCache

from textrawl.cluster.layout import Cell, CellMap, find_shards, read_map
from textrawl.errors import ArgumentInvalid, SpaceIsGraph
from textrawl.postgres.connection import Connection
from textrawl.postgres.functions import SCOPE_OF


class Route(Enum):
    """The servers on which a function runs."""

    DIRECTORY = "the coordinator"
    SPACE = "the cell of one space: the given one, the home space, or the only possible one"
    SPACES = "the cells of the given spaces, or of all readable spaces"
    ADMINISTERED = "the cell of the given space, or the cells of all spaces with the scope"
    SEARCHED = "the cells of all spaces with the scope, one after the other, until one answers"
    NAMED = "the cells of the spaces that are named"
    NAMED_TWICE = "the cell of the space that is named, then the coordinator"
    GRAPH = "the cell of the graph that is named"
    GRAPHS = "the cells of the graphs that are named, or of all graphs"
    SOURCE = "the cells of the graphs, one after the other, until one has the source"
    EVERY = "every cell"
    TURNS = "every cell, one after the other, until one has rows"
    ROWS = "the cell of the rows that the arguments name"
    RECALLS = "the cells of the spaces of recalls"
    WATCHES = "every cell, with a cursor of each cell"
    MODELS = "the coordinator, which then changes the tables of vectors"


_EXCEPTIONS: dict[Route, str] = {
    Route.DIRECTORY: """
        authenticate create_analyst default_space disagreeing_texts drop_analyst embedding_models
        english_share find_names find_space has_tokens list_analysts list_grants list_tokens
        nearest_type owns_memory question_time reachable_graphs rename_erased_actors stop_words
        archive_space bind_login calibrate_embedding_model create_space create_token grant_access
        rename_space revoke_access revoke_token rollback_embedding_model rotate_token
        switch_embedding_model vouch""",
    Route.ADMINISTERED: """
        claim_webhooks count_waiting erase_person erasure_plan list_erasure list_events
        list_imports list_proposals list_webhooks plan_undo prune_documents purge_undone
        read_events trail_end undo_author verify_erasure""",
    Route.SEARCHED: "decide_proposals plan_decision revert_undo",
    Route.NAMED: "add_webhook change_policy find_documents mark_matches",
    Route.NAMED_TWICE: "change_language change_review change_tier",
    Route.GRAPH: """
        claim_graph_key destroy_graph_key encrypted_documents find_graph_key finish_import
        encrypt_source forget_encrypted_document hasten_embeddings known_items known_sources
        next_clear_source start_import store_encrypted_document store_item store_source""",
    Route.GRAPHS: "list_graphs list_sources measure_graphs recall_chunks",
    Route.SOURCE: "apply_correction fetch_document forget_source propose_correction read_chunk",
    Route.EVERY: """
        embedding_progress expire_proposals list_spaces pending_embeddings prune_llm_use
        prune_recalls queue_embeddings rebuild_documents refresh_planner_statistics
        refresh_search_statistics release_all_embeddings sample_facts write_state""",
    Route.TURNS: "claim_extraction claim_pending_embeddings",
    Route.ROWS: "fill_pending_embeddings release_pending_embeddings",
    Route.RECALLS: "record_recalls",
    Route.WATCHES: "changed_watches",
    Route.MODELS: """
        drop_embedding_model register_embedding_model start_embedding_model""",
}
_ROUTES = {name: route for route, names in _EXCEPTIONS.items() for name in names.split()}

# The SQLSTATE that says that the content is not in a cell, but perhaps in another one.
ABSENT = frozenset({"TR016", "TR031", "TR063", "TR066", "TR068"})


@dataclass(frozen=True)
class Signature:
    """The names of a function's arguments and columns, and whether it writes."""

    arguments: frozenset[str]
    writes: bool
    columns: tuple[str, ...]


def find_route(function: str, arguments: Iterable[str]) -> Route | None:
    """Return the route of a function with these arguments, or None if it has none yet."""
    if (route := _ROUTES.get(function)) is not None:
        return route
    names = set(arguments)
    if "spaces" in names:
        return Route.SPACES
    return Route.SPACE if "space" in names else None


def find_scope(function: str, *, writes: bool) -> str | None:
    """Return the scope that the function needs in a space, or None if any scope is enough."""
    return SCOPE_OF.get(function, "write" if writes else "read") or None


def refuse_target() -> ArgumentInvalid:
    """Return the error for facts that would go from one cell to another."""
    return ArgumentInvalid(
        "these two spaces are in different cells of the cluster: remember the facts in the other "
        "space, or ask the owner for `textrawl export` and `textrawl import`",
        title="Not possible between these spaces",
    )


def refuse(function: str) -> ArgumentInvalid:
    """Return the error for a function that no cell has."""
    return ArgumentInvalid(
        f"{function} does not work on a cluster", title="Not possible on this memory"
    )


def refuse_several() -> ArgumentInvalid:
    """Return the error for a call that is about spaces of several cells, but works in one."""
    return ArgumentInvalid(
        "on a cluster this call is about whole spaces of one cell, but yours are in several: use "
        "--space, TEXTRAWL_SPACE or the address of one space (/mcp/SPACE)",
        title="Name one space",
    )


_LIFETIME = 1.0  # seconds; the same as that of principals
_MOST_CALLERS = 4096
_RIGHTS = "select home, spaces from textrawl.authenticate(credential => %s)"
_SIGNATURES: LiteralString = """
    select p.proname::text, coalesce(p.proargnames[:p.pronargs], '{}'), p.provolatile = 'v',
        coalesce(p.proargnames[p.pronargs + 1:], '{}')
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
    """The rights of a caller in spaces. The home space is the first."""

    home: int | None
    spaces: tuple[Right, ...]

    def choose(self, scope: str | None, *, graphs: bool = False) -> list[int]:
        """Return the spaces in which the caller has `scope`, or any scope."""
        return [
            right.space
            for right in self.spaces
            if (graphs or right.tier is None or right.space == self.home)
            and (scope is None or scope in right.scopes)
        ]


class SpaceCells:
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
        [(home, spaces)] = await self._fetch(_RIGHTS, credential) or [(None, ())]
        rights = [
            Right(members["id"], members["name"], frozenset(members["scopes"]), members["tier"])
            for members in spaces
        ]
        rights.sort(key=lambda right: (right.space != home, right.space))
        self._rights[credential] = known = Rights(home, tuple(rights))
        return known

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
            self._signatures = {
                name: Signature(frozenset(names), writes, tuple(columns))
                for name, names, writes, columns in rows
            }
        return self._signatures.get(function)

    async def _fetch(self, query: LiteralString, *values: object) -> list[tuple[Any, ...]]:
        async def execute(connection: Connection) -> list[tuple[Any, ...]]:
            return await (await connection.execute(query, values)).fetchall()

        return await self._ask(execute)


Arguments = Mapping[str, Any]


_UNATTENDED = (Route.EVERY, Route.RECALLS, Route.ROWS, Route.TURNS, Route.WATCHES)
_OF_GRAPHS = (Route.GRAPH, Route.GRAPHS, Route.SOURCE)


@dataclass(frozen=True)
class CellCall:
    """A call of a function in the cell with this shard."""

    shard: int
    arguments: Arguments


class Planner:
    """Plans calls. A plan without visits is a call that the coordinator answers or refuses."""

    def __init__(self, cells: SpaceCells) -> None:
        self._cells = cells

    async def plan(
        self, function: str, route: Route, arguments: Arguments, *, writes: bool
    ) -> list[CellCall]:
        """Return the visits of a call, the cell of the caller's home space first."""
        if route in _UNATTENDED:
            return await self._plan_unattended(route, arguments)
        rights = await self._cells.find_rights(arguments.get("credential"))
        if route in (Route.NAMED, Route.NAMED_TWICE):
            names = arguments.get("spaces", [arguments.get("name")])
            named = [right.space for right in rights.spaces if right.name in names]
            return await self._visit(named, arguments)
        if route in _OF_GRAPHS:
            return await self._visit(_find_graphs(rights, arguments), arguments)
        scope = find_scope(function, writes=writes)
        if route is Route.SPACES:
            return await self._split_spaces(rights, scope, arguments)
        space = cast("int | None", arguments.get("space"))
        of_one = route is Route.SPACE
        if of_one and not writes:
            _refuse_graphs(rights, [space])
        several = rights.choose(scope, graphs=True)
        spaces = _choose_space(rights, scope, writes=writes) if of_one else several
        if space is not None:
            spaces = await self._keep_allowed([space], rights, arguments)
        visits = await self._visit(spaces, arguments)
        # Other functions have a name or a period as `target`. A space of another cell is refused.
        if visits and isinstance(target := arguments.get("target"), int):
            shards = await self._cells.find_shards([target])
            if [visit.shard for visit in visits] != list(shards):
                raise refuse_target()
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
        rights = await self._cells.find_rights(credential, anew=True)
        allowed = {right.space for right in rights.spaces}
        return [space for space in spaces if space in allowed]

    async def _plan_unattended(self, route: Route, arguments: Arguments) -> list[CellCall]:
        if route is Route.ROWS:
            return await self._visit(arguments["spaces"], arguments)
        if route is Route.RECALLS:
            return await self._split_recalls(arguments)
        cells = (await self._cells.find_map()).cells
        return [CellCall(cell.shard, arguments) for cell in cells]

    async def _visit(self, spaces: Sequence[int], arguments: Arguments) -> list[CellCall]:
        shards = await self._cells.find_shards(spaces)
        return [CellCall(shard, arguments) for shard in shards]

    async def _split_spaces(
        self, rights: Rights, scope: str | None, arguments: Arguments
    ) -> list[CellCall]:
        given = cast("list[int] | None", arguments.get("spaces"))
        kept = given and await self._keep_allowed(given, rights, arguments)
        if "documents" in arguments.get("sources", ()) or arguments.get("graphs", []) != []:
            return await self._split_sources(rights, kept, arguments)
        if scope is not None and kept is not None:
            _refuse_graphs(rights, kept)
        spaces = rights.choose(scope, graphs=scope is None) if kept is None else kept
        shards = await self._cells.find_shards(spaces)
        if given is None or (len(shards) <= 1 and spaces == given):
            return [CellCall(shard, arguments) for shard in shards]
        return [CellCall(shard, {**arguments, "spaces": part}) for shard, part in shards.items()]

    async def _split_sources(
        self, rights: Rights, given: list[int] | None, arguments: Arguments
    ) -> list[CellCall]:
        """Send a search that covers documents to the cells of the graphs too."""
        facts = rights.choose("read") if given is None else given
        if "facts" not in arguments.get("sources", ["facts"]):
            facts = []
        names = arguments.get("graphs")
        graphs = [
            right.space
            for right in rights.spaces
            if right.tier in ("public", "personal") and "read" in right.scopes
            if names is None or right.name in names
        ]
        shards = await self._cells.find_shards([*dict.fromkeys((*facts, *graphs))])
        parts = {shard: [s for s in part if s in facts] for shard, part in shards.items()}
        return [
            CellCall(shard, {**arguments, "spaces": None if part and given is None else part})
            for shard, part in parts.items()
        ]

    async def _split_recalls(self, arguments: Arguments) -> list[CellCall]:
        """Send each recall to the cells of its space and of the spaces of the facts found."""
        recalls = cast("list[dict[str, Any]]", json.loads(arguments["recalls"]))
        visits: dict[int, list[dict[str, Any]]] = {}
        for recall in recalls:
            token = cast("str | None", recall.get("credential"))
            rights = await self._cells.find_rights(None if token is None else bytes.fromhex(token))
            if recall.get("space") is None:
                recall["space"] = await self._cells.find_first()
            ids = {right.name: right.space for right in rights.spaces}
            found = cast("dict[str, Any]", recall.get("found") or {})
            named = [ids[name] for name in found if name in ids]
            for shard in await self._cells.find_shards([recall["space"], *named]):
                visits.setdefault(shard, []).append(recall)
        return [CellCall(shard, {"recalls": json.dumps(some)}) for shard, some in visits.items()]


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
