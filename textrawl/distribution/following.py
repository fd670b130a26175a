"""The trail of several cells, with one cursor for all of them.

The cursor of a cell is `transaction:id`, as in an ordinary memory. The common cursor names each
cell by the least hash of its spaces: `hash=transaction:id,hash=transaction:id`. If a cell is
divided, its parts continue with its cursor, because their hashes follow the one that is named.
Cells number their transactions by their placement, so a cursor stays valid after a move.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from textrawl.distribution.planning import Arguments, Visit
from textrawl.distribution.visits import Answer

Hashes = Mapping[int, int]
"""The least hash of each cell, by its shard."""


def split_follows(visits: Sequence[Visit], hashes: Hashes, arguments: Arguments) -> list[Visit]:
    """Give each cell its own cursor."""
    cursors = _read(arguments)
    return [
        Visit(visit.shard, {**visit.arguments, **_divide(_find(cursors, hashes[visit.shard]))})
        for visit in visits
    ]


def join_follows(
    answers: Sequence[Answer], hashes: Hashes, arguments: Arguments, columns: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the events of all cells by their time, each with the cursor after it.

    The order of a cell is kept, also if its clock was set back. Cells without an answer keep their
    cursors.
    """
    cursors = _read(arguments)
    cursors |= {at: _find(cursors, at) for at in hashes.values()}
    cursors.pop(None, None)
    waiting = {
        hashes[answer.visit.shard]: [dict(zip(columns, row, strict=True)) for row in answer.rows]
        for answer in answers
    }
    rows: list[dict[str, Any]] = []
    while len(rows) < arguments.get("max_rows", 500) and any(waiting.values()):
        at = min((at for at in waiting if waiting[at]), key=lambda at: waiting[at][0]["at"])
        row = waiting[at].pop(0)
        cursors[at] = row["cursor"]
        rows.append({**row, "cursor": _write(cursors)})
    return rows


def join_ends(answers: Sequence[Answer], hashes: Hashes) -> str:
    """Return the common cursor of the ends of all trails."""
    return _write({hashes[answer.visit.shard]: answer.rows[0][0] for answer in answers})


def _read(arguments: Arguments) -> dict[int | None, str]:
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
