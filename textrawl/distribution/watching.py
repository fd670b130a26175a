"""The changes of watched resources in all cells, with one cursor for all of them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from textrawl.distribution.planning import Arguments, Visit
from textrawl.distribution.visits import Answer


def split_watches(visits: Sequence[Visit], arguments: Arguments) -> list[Visit]:
    """Give each cell its own cursor, and its own states of the watches."""
    cursors = _read(arguments["after"])
    watches = cast("list[dict[str, Any]]", json.loads(arguments["watches"]))
    return [
        Visit(
            visit.shard,
            {
                "watches": json.dumps([_narrow(watch, visit.shard) for watch in watches]),
                "after": cursors.get(str(visit.shard)),
            },
        )
        for visit in visits
    ]


def join_watches(answers: Sequence[Answer], arguments: Arguments) -> list[dict[str, Any]]:
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


def _narrow(watch: Mapping[str, Any], shard: int) -> dict[str, Any]:
    return {**watch, "state": _read(watch.get("state")).get(str(shard))}


def _read(text: object) -> Mapping[str, str]:
    return json.loads(cast("str", text)) if text else {}
