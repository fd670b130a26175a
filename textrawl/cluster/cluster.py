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
from typing import Any, LiteralString, TypeVar

import anyio
import psycopg

from textrawl import errors
from textrawl.cluster.cell_calls import CellAnswer, CellCalls, CellGone, NodeAway, Query
from textrawl.cluster.layout import CitusNode, mark_directory
from textrawl.cluster.merging import MERGES, UPKEEP, join_watches, split_watches
from textrawl.cluster.planning import (
    ABSENT,
    Arguments,
    CellCall,
    Planner,
    Route,
    SpaceCells,
    find_route,
    refuse,
    refuse_several,
)
from textrawl.cluster.vector_tables import VectorTables
from textrawl.postgres.connection import is_distributed
from textrawl.postgres.database import (
    Database,
    advise,
    find_builder,
    list_columns,
    translate,
)
from textrawl.postgres.functions import COMPLETE, IN_ALL_CELLS, SPREAD
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
_UPKEEP = (Route.EVERY, Route.TURNS, Route.WATCHES)


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

    divided = True

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
        self.cells = SpaceCells(self.ask)
        self._planner = Planner(self.cells)
        self.visits = CellCalls(conninfo, self.cells, timeout=timeout, max_size=max_size)
        self._vectors = VectorTables(self.lend, self.cells, self.visits, timeout)
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
        if self._distributed is None:
            with translate("is_distributed"):
                await self.check_once()
                self._distributed = await self.ask(is_distributed)
        if not self._distributed:
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
            signature = await self.cells.find_signature(function)
        return find_route(function, signature.arguments if signature is not None else ())

    async def _call_cells(
        self, function: LiteralString, route: Route, row: type[Row], arguments: Arguments
    ) -> list[Row]:
        if "tool" in arguments:
            await wait_for_earlier_writes()
        span = trace_function(function) if openers else nullcontext()
        with span, translate(function), anyio.fail_after(self._timeout + _MARGIN):
            await self.check_once()
            columns = list_columns(function, row)
            if not columns and (found := await self.cells.find_signature(function)) is not None:
                columns = found.columns
            rows = await self._visit(function, route, columns, arguments)
        if rows is None or route is Route.NAMED_TWICE:
            changed = await self._call_directory(function, row, arguments)
            if rows is None:
                return changed
        if row is SimpleNamespace:
            return [row(**dict(zip(columns, values, strict=True))) for values in rows]
        return [find_builder(row)(*values) for values in rows]

    async def _call_directory(
        self, function: LiteralString, row: type[Row], arguments: Arguments
    ) -> list[Row]:
        rows = await super().call(function, row, **arguments)
        if function in SPREAD:
            await self._spread()
        return rows

    async def _spread(self) -> int:
        """Wait until the workers have copied the last change of the directory, and number it."""
        self.cells.forget_rights()
        with translate("mark_directory"):
            mark = await self.ask(mark_directory)
            nodes = (await self.cells.find_map()).nodes
            await self.visits.wait_for_mark(nodes, mark, _LONGEST_SPREAD)
        return mark

    async def _call_models(
        self, function: LiteralString, row: type[Row], arguments: Arguments
    ) -> list[Row]:
        in_all_cells = function in IN_ALL_CELLS
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
        signature = await self.cells.find_signature(function)
        writes = signature is not None and signature.writes
        call = _Call(function, route, arguments, columns, writes)
        for _ in range(_MOST_PLANS):
            plan = await self._planner.plan(function, route, arguments, writes=writes)
            try:
                return await self._follow(call, plan) if plan else None
            except CellGone:
                self.cells.forget_map()
        raise errors.ServerBusy

    async def _follow(self, call: _Call, plan: list[CellCall]) -> list[tuple[Any, ...]]:
        """Wait for a turn on each worker of the plan, so that calls of others do not wait."""
        found = [await self.cells.find_cell(visit.shard) for visit in plan]
        nodes = {cell.node for cell in found if cell is not None}
        async with AsyncExitStack() as turns:
            for node in sorted(nodes, key=lambda node: node.id):
                await turns.enter_async_context(self.take_turns(call.function, node.address))
            return await self._ask(call, plan)

    async def _ask(self, call: _Call, plan: list[CellCall]) -> list[tuple[Any, ...]]:
        query = Query(call.function, call.columns, call.writes)
        if call.route is Route.WATCHES:
            return await self._watch(call, plan)
        if call.route is Route.TURNS:
            return await self._take_rows(call, plan)
        if len(plan) == 1:
            [visit] = plan
            try:
                return await self.visits.ask(query, visit)
            except NodeAway:
                raise await self._explain_absence(call, plan) from None
        if call.route in (Route.SEARCHED, Route.SOURCE):
            return await self._search(call, query, plan)
        return await self._merge(call, plan)

    async def _merge(self, call: _Call, plan: list[CellCall]) -> list[tuple[Any, ...]]:
        is_upkeep = call.route in (Route.EVERY, Route.RECALLS) or call.function == "prune_documents"
        merge = MERGES.get(call.function, UPKEEP if is_upkeep else None)
        if merge is None:
            raise refuse_several()
        columns = (*call.columns, *(key for key in merge.keys if key not in call.columns))
        query = Query(call.function, columns, call.writes)
        wider = [CellCall(visit.shard, merge.widen(visit.arguments)) for visit in plan]
        answers = await self._raise_errors(call, await self.visits.gather(query, wider))
        named = [
            [dict(zip(columns, row, strict=True)) for row in answer.rows] for answer in answers
        ]
        rows = merge.combine(named, call.arguments)
        return [tuple(row[name] for name in call.columns) for row in rows]

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
            # No cell knows all of several proposals.
            several = len(call.arguments.get("proposals") or ()) > 1
            raise refuse_several() if several else refusal
        return []

    async def _take_rows(self, call: _Call, plan: list[CellCall]) -> list[tuple[Any, ...]]:
        """Ask each cell until one has rows, each time beginning with another cell."""
        query = Query(call.function, call.columns, call.writes)
        begin = next(self._turn) % len(plan)
        away = set[CitusNode | None]()
        for visit in (*plan[begin:], *plan[:begin]):
            cell = await self.cells.find_cell(visit.shard)
            node = cell and cell.node
            if node in away:
                continue
            try:
                if rows := await self.visits.ask(query, visit):
                    return rows
            except NodeAway:
                if self.complete:
                    raise await self._explain_absence(call, [visit]) from None
                logger.info("A worker is away: its spaces are left out for now")
                away.add(node)
        return []

    async def _watch(self, call: _Call, plan: list[CellCall]) -> list[tuple[Any, ...]]:
        query = Query(call.function, ("cursor", "place", "state"), call.writes)
        answers = await self.visits.gather(query, split_watches(plan, call.arguments))
        answers = await self._raise_errors(call, answers)
        rows = join_watches(answers, call.arguments)
        return [tuple(row[name] for name in call.columns) for row in rows]

    async def _raise_errors(self, call: _Call, answers: Sequence[CellAnswer]) -> list[CellAnswer]:
        """Raise the first error, and return the answers without errors.

        Upkeep goes on while a worker is away. A name can be missing in some of the cells.
        """
        failed = [answer for answer in answers if answer.error is not None]
        kept = [answer for answer in answers if answer.error is None]
        skips_away = call.route in _UPKEEP and not (self.complete or call.function in COMPLETE)
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
        rights = await self.cells.find_rights(call.arguments.get("credential"))
        shards = {visit.shard for visit in visits}
        of_caller = [right for right in rights.spaces if right.tier != "sensitive"]
        cells = await self.cells.find_shards([right.space for right in of_caller])
        away = {space for shard in shards for space in cells.get(shard, [])}
        names = ", ".join(right.name for right in of_caller if right.space in away)
        whose = f"of the spaces {names}" if names else "of these spaces"
        others = "the call was done in the other spaces" if done else "other spaces can be used"
        return errors.DatabaseUnavailable(
            f"The node {whose} cannot be reached, or they are being moved; {others}. "
            f"{advise(call.function)}"
        )
