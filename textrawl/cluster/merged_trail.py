"""The trail of several cells, with one cursor for all of them.

The cursor of a cell is `transaction:id`, as in an ordinary memory. The common cursor names each
cell by the least hash of its spaces: `hash=transaction:id,hash=transaction:id`. If a cell is
divided, its parts continue with its cursor, because their hashes follow the one that is named.
Cells number their transactions by their placement, so a cursor stays valid after a move.
"""

import json
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

import anyio
import psycopg

from textrawl import errors
from textrawl.cluster.cell_calls import CellAnswer, CellCalls, Query
from textrawl.cluster.planning import Arguments, CellCall, SpaceCells
from textrawl.errors import ArgumentInvalid
from textrawl.postgres.connection import Connection
from textrawl.postgres.database import translate

Hashes = Mapping[int, int]
"""The least hash of each cell, by its shard."""


def start_cell(visit: CellCall, hashes: Hashes) -> CellCall:
    """Give a cell its own cursor."""
    cursor = _find(_read_cell(visit.arguments), hashes[visit.shard])
    return CellCall(visit.shard, {**visit.arguments, **_divide(cursor)})


def name_cursors(
    answer: CellAnswer, hashes: Hashes, arguments: Arguments, columns: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the events of a cell, each with the common cursor after it.

    Other cells keep their cursors.
    """
    cursors = _read_cell(arguments)
    cursors |= {at: _find(cursors, at) for at in hashes.values()}
    cursors.pop(None, None)
    rows: list[dict[str, Any]] = []
    for values in answer.rows:
        row = dict(zip(columns, values, strict=True))
        cursors[hashes[answer.visit.shard]] = row["cursor"]
        rows.append({**row, "cursor": _write(cursors)})
    return rows


def join_ends(answers: Sequence[CellAnswer], hashes: Hashes) -> str:
    """Return the common cursor of the ends of all trails."""
    return _write({hashes[answer.visit.shard]: answer.rows[0][0] for answer in answers})


def _read_cell(arguments: Arguments) -> dict[int | None, str]:
    """Return the cursor of each hash. The cursor of an ordinary memory has no hash."""
    text = f"{arguments.get('after_transaction', 0)}:{arguments.get('after_id', 0)}"
    parts = [part.rpartition("=") for part in text.split(",")]
    return {int(at) if at else None: cursor for at, _, cursor in parts}


def _find(cursors: Mapping[int | None, str], at: int) -> str:
    """Return the cursor of the cell that begins with the hash `at`, or that it was a part of."""
    known = sorted(begin for begin in cursors if begin is not None)
    place = bisect_right(known, at)
    return cursors[known[place - 1]] if place else cursors.get(None, "0:0")


def _divide(cursor: str) -> dict[str, object]:
    transaction, _, number = cursor.partition(":")
    return {"after_transaction": transaction, "after_id": int(number)}


def _write(cursors: Mapping[int | None, str]) -> str:
    known = sorted((at, cursor) for at, cursor in cursors.items() if at is not None)
    return ",".join(f"{at}={cursor}" for at, cursor in known)


_FIND = Query("plan_decision", ("space_name",), writes=False)


async def refuse_split(visits: CellCalls, plan: Sequence[CellCall], arguments: Arguments) -> None:
    """Raise ArgumentInvalid if all proposals are known, but not in one cell.

    No cell knows all of them, so each has answered that some of them are unknown.
    """
    proposals = cast("list[str] | None", arguments.get("proposals"))
    if proposals is None or min(len(proposals), len(plan)) <= 1:
        return
    spaces = list[str]()
    for proposal in proposals:
        found = await _find_spaces(visits, plan, proposal, arguments.get("credential"))
        if not found:
            return
        spaces += found
    names = ", ".join(sorted(set(spaces)))
    raise ArgumentInvalid(
        f"These proposals are of spaces in different cells of the cluster ({names}), and cannot be "
        "decided all or nothing: decide those of one space at a time; nothing was changed",
        title="Not possible between these spaces",
    )


async def _find_spaces(
    visits: CellCalls, plan: Sequence[CellCall], proposal: str, credential: object
) -> list[str]:
    given = {"proposals": [proposal], "credential": credential}
    answers = await visits.gather(_FIND, [CellCall(visit.shard, given) for visit in plan])
    return [name for answer in answers for (name,) in answer.rows]


def split_watches(visits: Sequence[CellCall], arguments: Arguments) -> list[CellCall]:
    """Give each cell its own cursor, and its own states of the watches."""
    cursors = _read(arguments["after"])
    watches = cast("list[dict[str, Any]]", json.loads(arguments["watches"]))
    return [
        CellCall(
            visit.shard,
            {
                "watches": json.dumps(
                    [
                        {**watch, "state": _read(watch.get("state")).get(str(visit.shard))}
                        for watch in watches
                    ]
                ),
                "after": cursors.get(str(visit.shard)),
            },
        )
        for visit in visits
    ]


def join_watches(answers: Sequence[CellAnswer], arguments: Arguments) -> list[dict[str, Any]]:
    """Return the watches that changed in some cell. Cells without an answer keep their cursors."""
    cursors = dict(_read(arguments["after"]))
    watches = cast("list[dict[str, Any]]", json.loads(arguments["watches"]))
    states = {at: dict(_read(watch.get("state"))) for at, watch in enumerate(watches, start=1)}
    changed: list[int] = []
    for answer in answers:
        shard = str(answer.visit.shard)
        for cursor, place, state in answer.rows:
            cursors[shard] = cursor
            if place is not None:
                states[place][shard] = state
                changed.append(place)
    cursor = json.dumps(cursors)
    places = [
        {"cursor": cursor, "place": place, "state": json.dumps(states[place])}
        for place in sorted(set(changed))
    ]
    return [{"cursor": cursor, "place": None, "state": None}, *places]


def _read(text: object) -> Mapping[str, str]:
    return json.loads(cast("str", text)) if text else {}


Lend = Callable[[], AbstractAsyncContextManager[Connection]]
"""A function that lends a connection to the coordinator."""

_PAUSE = 0.5  # seconds until vectors are dropped again that somebody read


class VectorTables:
    """The tables of vectors. `lend` leads to the coordinator, and `timeout` is that of a call."""

    def __init__(self, lend: Lend, places: SpaceCells, visits: CellCalls, timeout: float) -> None:
        self._lend, self._places, self._visits = lend, places, visits
        self._timeout = timeout
        self.known = False  # whether this process has distributed all models

    async def require_workers(self, mark: int = 0) -> None:
        """Raise DatabaseUnavailable unless all workers have the directory up to `mark`."""
        nodes = (await self._places.find_map()).nodes
        late = await self._visits.wait_for_mark(nodes, mark, self._timeout)
        if late:
            names = ", ".join(sorted(node.address for node in late))
            raise errors.DatabaseUnavailable(
                f"All workers are needed to start or drop a model, but {names} cannot be reached, "
                "or does not copy the directory: see its log, then repeat the command"
            )

    async def distribute(self) -> None:
        """Give all cells the tables of new models."""
        with translate("distribute_models"):
            async with self._lend() as connection:
                await connection.execute("select textrawl_content.distribute_models()")
            await self._visits.match_models((await self._places.find_map()).nodes)
        self.known = True

    async def drop(self) -> None:
        """Drop the vectors of all models that were dropped. Raises ServerBusy."""
        end = time.monotonic() + self._timeout
        with translate("drop_models"):
            while not await self._try_to_drop():
                if time.monotonic() > end:
                    raise errors.ServerBusy(
                        "The vectors of a dropped model are still in use: repeat the command in a "
                        "minute, it goes on where it stopped"
                    )
                await anyio.sleep(_PAUSE)

    async def _try_to_drop(self) -> bool:
        try:
            async with self._lend() as connection:
                await connection.execute("select textrawl_content.drop_models()")
        except psycopg.errors.LockNotAvailable:
            return False
        return True
