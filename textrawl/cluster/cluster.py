"""A database whose memory is distributed by Citus, with the interface of an ordinary one.

Calls go straight to the cells that have the content: a schema on a worker, with all SQL functions
and some of the spaces. Rights, tokens and spaces are those of the coordinator.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass
from itertools import count
from types import SimpleNamespace
from typing import Any, LiteralString, TypeVar, cast

import anyio
import psycopg

from textrawl import errors
from textrawl.cluster.cell_calls import CellAnswer, CellCalls, CellGone, NodeAway, Query
from textrawl.cluster.layout import CitusNode, mark_directory
from textrawl.cluster.merged_trail import (
    VectorTables,
    join_ends,
    join_watches,
    name_cursors,
    refuse_split,
    split_watches,
    start_cell,
)
from textrawl.cluster.merging import (
    COUNTED,
    MERGES,
    UPKEEP,
    Counts,
    MergedCall,
    Values,
    add_counts,
    fit_ceiling,
    keep_best,
    measure_once,
)
from textrawl.cluster.planning import (
    ABSENT,
    SPREAD,
    Arguments,
    CellCall,
    Planner,
    Route,
    SpaceCells,
    find_route,
    refuse,
)
from textrawl.postgres.connection import Connection, is_distributed
from textrawl.postgres.database import (
    Database,
    advise,
    compose,
    find_builder,
    list_columns,
    translate,
)
from textrawl.postgres.sqlstates import DataRefused
from textrawl.scheduling import wait_for_earlier_writes
from textrawl.tracing import openers, trace_function


@dataclass(frozen=True)
class ModelStatusRow:
    """A model of embedding_models."""

    model_id: int
    name: str
    status: str


@dataclass(frozen=True)
class CellProgressRow:
    """A model of embedding_progress, with the numbers of its vectors and of its pending facts."""

    status: str
    vectors: int
    pending: int


logger = logging.getLogger("textrawl")

Row = TypeVar("Row")

_SIZE = 5  # connections to each worker
_MARGIN = 0.5  # as of an ordinary database
_LONGEST_SPREAD = 2.0  # seconds that a change of the directory waits for the workers
_MOST_PLANS = 3  # of one call, if cells are divided meanwhile
# If a worker is away, these calls of an administrator fail. Other calls of every cell are upkeep.
_COMPLETE = frozenset({"embedding_progress", "list_spaces", "write_state"})
_UPKEEP = (Route.EVERY, Route.TURNS, Route.WATCHES)
_IN_ALL_CELLS = frozenset({"drop_embedding_model", "start_embedding_model"})


@dataclass(frozen=True)
class _Call:
    """A call that is planned: its function, its route, its arguments and the columns to read."""

    function: str
    route: Route
    arguments: Arguments
    columns: tuple[str, ...]
    writes: bool


class ClusterDatabase(Database):
    """The pools of connections to the coordinator and to the workers.

    If it is not known that the memory is `distributed`, the first call finds out. Calls of an
    ordinary memory then go the ordinary way. If `complete` is set, upkeep needs all workers too.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        timeout: float,
        max_size: int = _SIZE,
        check: Callable[[], Awaitable[object]] | None = None,
        read_url: str | None = None,
        distributed: bool = True,
    ) -> None:
        super().__init__(
            conninfo, timeout=timeout, max_size=max_size, check=check, read_url=read_url
        )
        self._distributed: bool | None = True if distributed else None
        self.complete = False
        self.places = SpaceCells(self.ask)
        self._planner = Planner(self.places)
        self.visits = CellCalls(conninfo, self.places, timeout=timeout, max_size=max_size)
        self._vectors = VectorTables(self.lend, self.places, self.visits, timeout)
        self._turn = count()

    async def close(self) -> None:
        """Close all connections."""
        await super().close()
        await self.visits.close()

    def read_gauges(self) -> dict[str, float]:
        """Return the current numbers of connections and calls, those of workers with a prefix."""
        workers = {f"worker_{name}": number for name, number in self.visits.count().items()}
        return super().read_gauges() | workers

    async def call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        """Return the rows of a SQL function, from all the nodes that it has to ask.

        Raises DatabaseUnavailable, ServerBusy, InternalError, DataRefused, and ArgumentInvalid for
        what does not work on a distributed memory.
        """
        if not await self._asks_cells():
            return await super().call(function, row, **arguments)
        route = await self._find_route(function)
        if route is None:
            raise refuse(function)
        if route is Route.MODELS:
            return await self._call_models(function, row, arguments)
        if route is Route.DIRECTORY:
            if function == "switch_embedding_model":
                await self._check_vectors()
            return await self._call_directory(function, row, arguments)
        return await self._call_cells(function, route, row, arguments)

    async def _find_route(self, function: str) -> Route | None:
        with translate(function):
            await self.check_once()
            signature = await self.places.find_signature(function)
        return find_route(function, signature.arguments if signature is not None else ())

    async def _call_cells(
        self, function: LiteralString, route: Route, row: type[Row], arguments: Arguments
    ) -> list[Row]:
        if "tool" in arguments:
            await wait_for_earlier_writes()
        span = trace_function(function) if openers else nullcontext()
        with span, translate(function), anyio.fail_after(self._timeout + _MARGIN):
            await self.check_once()
            columns = list_columns(function, row) or await self._list_all_columns(function)
            rows = await self._visit(function, route, columns, arguments)
        if rows is None or route is Route.NAMED_TWICE:
            changed = await self._call_directory(function, row, arguments)
            if rows is None:
                return changed
        if row is SimpleNamespace:
            return [row(**dict(zip(columns, values, strict=True))) for values in rows]
        return [find_builder(row)(*values) for values in rows]

    async def _list_all_columns(self, function: str) -> tuple[str, ...]:
        signature = await self.places.find_signature(function)
        return signature.columns if signature is not None else ()

    async def _asks_cells(self) -> bool:
        if self._distributed is None:
            with translate("is_distributed"):
                await self.check_once()
                self._distributed = await self.ask(is_distributed)
        return self._distributed

    async def _call_directory(
        self, function: LiteralString, row: type[Row], arguments: Arguments
    ) -> list[Row]:
        rows = await super().call(function, row, **arguments)
        if function in SPREAD:
            await self._spread()
        return rows

    async def _spread(self) -> int:
        """Wait until the workers have copied the last change of the directory, and number it."""
        self.places.forget_rights()
        with translate("mark_directory"):
            mark = await self.ask(mark_directory)
            nodes = (await self.places.find_map()).nodes
            await self.visits.wait_for_mark(nodes, mark, _LONGEST_SPREAD)
        return mark

    async def _call_models(
        self, function: LiteralString, row: type[Row], arguments: Arguments
    ) -> list[Row]:
        in_all_cells = function in _IN_ALL_CELLS
        if in_all_cells:
            await self._vectors.require_workers()
            await self._vectors.drop()  # what an earlier command has left
        before = await super().call("embedding_models", ModelStatusRow)
        rows = await super().call(function, row, **arguments)
        after = await super().call("embedding_models", ModelStatusRow)
        if in_all_cells or before != after or not self._vectors.known:
            mark = await self._spread()
            if in_all_cells:
                await self._vectors.require_workers(mark)
                await self._vectors.drop()
            await self._vectors.distribute()
        if function == "start_embedding_model":
            [model] = [model.model_id for model in after if model.name == arguments["name"]]
            await self.call("release_all_embeddings", int, model=model)
        return rows

    async def _check_vectors(self) -> None:
        """Raise DataRefused if too many facts of all cells wait for a vector of the new model."""
        for model in await self.call("embedding_progress", CellProgressRow):
            missing, total = model.pending, model.vectors + model.pending
            if model.status == "building" and missing > total // 100:
                raise DataRefused("TR045", str(missing))

    async def _visit(
        self, function: str, route: Route, columns: tuple[str, ...], arguments: Arguments
    ) -> list[tuple[Any, ...]] | None:
        """Return the rows of the cells, or None if the coordinator has to answer."""
        signature = await self.places.find_signature(function)
        writes = signature is not None and signature.writes
        call = _Call(function, route, arguments, columns, writes)
        for _ in range(_MOST_PLANS):
            plan = await self._planner.plan(function, route, arguments, writes=writes)
            try:
                return await self._follow(call, plan) if plan else None
            except CellGone:
                self.places.forget_map()
        raise errors.ServerBusy

    async def _follow(self, call: _Call, plan: list[CellCall]) -> list[tuple[Any, ...]]:
        """Wait for a turn on each worker of the plan, so that calls of others do not wait."""
        found = [await self.places.find_cell(visit.shard) for visit in plan]
        nodes = {cell.node for cell in found if cell is not None}
        async with AsyncExitStack() as turns:
            for node in sorted(nodes, key=lambda node: node.id):
                await turns.enter_async_context(self.take_turns(call.function, node.address))
            return await self._ask(call, plan)

    async def _ask(self, call: _Call, plan: list[CellCall]) -> list[tuple[Any, ...]]:
        query = Query(call.function, call.columns, call.writes)
        ways = {Route.WATCHES: self._watch, Route.TURNS: self._take_rows}
        ways |= {Route.ENDS: self._follow_trail, Route.FOLLOWED: self._follow_trail}
        if call.route in ways:
            return await ways[call.route](call, plan)
        if len(plan) == 1:
            [visit] = plan
            try:
                return await self.visits.ask(query, visit)
            except NodeAway:
                raise await self._explain_absence(call, plan) from None
        if call.route in (Route.SEARCHED, Route.SOURCE):
            return await self._search(call, query, plan)
        if call.route in (Route.ROWS, Route.RECALLS):
            answers = await self.visits.gather(query, plan)
            await self._raise_errors(call, answers)
            return [(sum(answer.rows[0][0] for answer in answers if answer.rows),)]
        return await self._merge(call, plan)

    async def _merge(self, call: _Call, plan: list[CellCall]) -> list[tuple[Any, ...]]:
        is_upkeep = call.route is Route.EVERY or call.function == "prune_documents"
        merge = MERGES.get(call.function, UPKEEP if is_upkeep else None)
        if merge is None:
            raise refuse(call.function)
        columns = (*call.columns, *(key for key in merge.keys if key not in call.columns))
        query = Query(call.function, columns, call.writes)
        wider = [CellCall(visit.shard, merge.widen(visit.arguments)) for visit in plan]
        counts: Counts | None = None
        if call.function == "search_memory" and not call.arguments.get("semantic"):
            totals, counts = await self._count_terms(call, plan)
            wider = [CellCall(each.shard, {**each.arguments, "totals": totals}) for each in wider]
        answers = await self.visits.gather(query, wider)
        answers = await self._raise_errors(call, answers)
        rights = await self.places.find_rights(call.arguments.get("credential"))
        named = [_name(answer, columns) for answer in answers]
        if call.function == "memory_statistics":
            cells = [await self.places.find_cell(answer.visit.shard) for answer in answers]
            measure_once([cell and cell.node for cell in cells], named)
        question = MergedCall(call.arguments, rights.order(call.arguments.get("spaces")))
        rows = merge.combine(named, question)
        if counts is not None:
            rows = keep_best(rows, counts, call.arguments)
        if merge.has_ceiling:
            rows = fit_ceiling(rows, question)
        return [tuple(row[name] for name in call.columns) for row in rows]

    async def _count_terms(self, call: _Call, plan: list[CellCall]) -> tuple[str, Counts]:
        """Return what all cells together have, for the weights of words and the least score."""
        given = {name: call.arguments[name] for name in COUNTED if name in call.arguments}
        columns = list_columns("count_terms", Counts)
        text = compose("textrawl", "count_terms", columns, (*given, "spaces"))
        spaces = call.arguments.get("spaces")

        async def count_all(connection: Connection) -> Counts:
            cursor = await connection.execute(text, {**given, "spaces": spaces})
            return Counts(*cast("tuple[Any, ...]", await cursor.fetchone()))

        # The coordinator knows the languages of all spaces.
        directory = await self.ask(count_all)
        given["languages"] = directory.languages_found
        visits = [
            CellCall(visit.shard, {**given, "spaces": visit.arguments.get("spaces")})
            for visit in plan
        ]
        query = Query("count_terms", columns, writes=False)
        answers = await self._raise_errors(call, await self.visits.gather(query, visits))
        counts = [Counts(*row) for answer in answers for row in answer.rows]
        return add_counts(counts, directory.languages_found), directory

    async def _search(
        self, call: _Call, query: Query, plan: list[CellCall]
    ) -> list[tuple[Any, ...]]:
        """Ask one cell after the other, until one knows what the arguments name."""
        refusal: psycopg.Error | None = None
        for visit in plan:
            try:
                rows = await self.visits.ask(query, visit)
            except NodeAway:
                raise await self._explain_absence(call, [visit]) from None
            except psycopg.Error as error:
                if error.sqlstate not in ABSENT:
                    raise
                refusal = error
                continue
            if rows:
                return rows
        if refusal is not None:
            await refuse_split(self.visits, plan, call.arguments)
            raise refusal
        return []

    async def _take_rows(self, call: _Call, plan: list[CellCall]) -> list[tuple[Any, ...]]:
        """Ask one cell after the other for rows, each time beginning with another cell."""
        query = Query(call.function, call.columns, call.writes)
        begin = next(self._turn) % len(plan)
        rows: list[tuple[Any, ...]] = []
        away = set[CitusNode | None]()
        for visit in (*plan[begin:], *plan[:begin]):
            most = cast("int", visit.arguments.get("max_rows", 1))
            arguments = dict(visit.arguments)
            if "max_rows" in arguments:
                arguments["max_rows"] = most - len(rows)
            cell = await self.places.find_cell(visit.shard)
            node = cell and cell.node
            if node in away:
                continue
            try:
                rows += await self.visits.ask(query, CellCall(visit.shard, arguments))
            except NodeAway:
                if self.complete:
                    raise await self._explain_absence(call, [visit]) from None
                logger.info("A worker is away: its spaces are left out for now")
                away.add(node)
            if len(rows) >= most:
                break
        return rows

    async def _watch(self, call: _Call, plan: list[CellCall]) -> list[tuple[Any, ...]]:
        query = Query(call.function, ("cursor", "place", "state"), call.writes)
        answers = await self.visits.gather(query, split_watches(plan, call.arguments))
        answers = await self._raise_errors(call, answers)
        rows = join_watches(answers, call.arguments)
        return [tuple(row[name] for name in call.columns) for row in rows]

    async def _follow_trail(self, call: _Call, plan: list[CellCall]) -> list[tuple[Any, ...]]:
        hashes = {cell.shard: cell.low for cell in (await self.places.find_map()).cells}
        if not hashes.keys() >= {visit.shard for visit in plan}:
            raise CellGone  # the map was read before a cell was divided
        query = Query(call.function, call.columns, call.writes)
        if call.route is Route.ENDS:
            answers = await self._raise_errors(call, await self.visits.gather(query, plan))
            return [(join_ends(answers, hashes),)]
        if len(plan) > 1:
            raise refuse(call.function)
        visits = [start_cell(visit, hashes) for visit in plan]
        [answer] = await self._raise_errors(call, await self.visits.gather(query, visits))
        rows = name_cursors(answer, hashes, call.arguments, call.columns)
        return [tuple(row[name] for name in call.columns) for row in rows]

    async def _raise_errors(self, call: _Call, answers: Sequence[CellAnswer]) -> list[CellAnswer]:
        """Raise the first error, and return the answers without errors.

        Upkeep goes on while a worker is away. A name can be missing in some of the cells.
        """
        failed = [answer for answer in answers if answer.error is not None]
        kept = [answer for answer in answers if answer.error is None]
        skips_away = call.route in _UPKEEP and not (self.complete or call.function in _COMPLETE)
        for answer in failed:
            error = answer.error
            if isinstance(error, NodeAway):
                if skips_away and kept:
                    continue
                away = [each.visit for each in failed if isinstance(each.error, NodeAway)]
                done = call.writes and bool(kept)
                raise await self._explain_absence(call, away, done=done)
            absent = isinstance(error, psycopg.Error) and error.sqlstate in (*ABSENT, "TR050")
            if error is not None and not (absent and kept and not call.writes):
                raise error
        return kept

    async def _explain_absence(
        self, call: _Call, visits: Sequence[CellCall], *, done: bool = False
    ) -> errors.DatabaseUnavailable:
        """Return the error for a worker that is away, with those of its spaces the caller knows."""
        rights = await self.places.find_rights(call.arguments.get("credential"))
        shards = {visit.shard for visit in visits}
        of_caller = [right for right in rights.spaces if right.tier != "sensitive"]
        cells = await self.places.find_shards([right.space for right in of_caller])
        away = {space for shard in shards for space in cells.get(shard, [])}
        names = ", ".join(right.name for right in of_caller if right.space in away)
        whose = f"of the spaces {names}" if names else "of these spaces"
        others = "the call was done in the other spaces" if done else "other spaces can be used"
        return errors.DatabaseUnavailable(
            f"The node {whose} cannot be reached, or they are being moved; {others}. "
            f"{advise(call.function)}"
        )


def _name(answer: CellAnswer, columns: tuple[str, ...]) -> list[Values]:
    return [dict(zip(columns, row, strict=True)) for row in answer.rows]
