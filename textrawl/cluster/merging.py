"""The answer of several cells, made of the answers of each of them.

The rows of a cell are dictionaries, in the order of the cell's answer. The table `MERGES` has what
nobody can do without in all spaces at once: a search, an entity, the list of entities, the digest,
the lists of spaces and graphs, the upkeep, and what these ask beside. All other functions work on
the spaces of one cell.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from operator import itemgetter
from typing import Any, cast

from textrawl.cluster.cell_calls import CellAnswer
from textrawl.cluster.planning import Arguments, CellCall

Values = dict[str, Any]
Answers = Sequence[Sequence[Values]]
"""The rows of each cell, the cell of the home space first."""
Combine = Callable[[Answers, Arguments], list[Values]]


@dataclass(frozen=True)
class Merge:
    """A rule that combines answers.

    `keys` are columns that the merge needs beside those of the caller. `page` names the argument
    with the number of rows of a page, whose first row the argument `skip` tells, and its default.
    """

    combine: Combine
    keys: tuple[str, ...] = ()
    page: tuple[str, int] | None = None

    def widen(self, arguments: Arguments) -> Arguments:
        """Return the arguments for each cell, which does not know how many rows others have."""
        skipped = _count(arguments, "skip", 0)
        if self.page is None or not skipped:
            return arguments
        return {**arguments, self.page[0]: _count(arguments, *self.page) + skipped, "skip": 0}


def _count(arguments: Arguments, name: str, default: int) -> int:
    value = arguments.get(name)
    return default if value is None else int(value)


def sort(rows: Iterable[Values], *keys: str) -> list[Values]:
    """Sort rows by columns. A key with - in front is descending."""
    ordered = list(rows)
    for key in reversed(keys):
        ordered.sort(key=itemgetter(key.lstrip("-")), reverse=key.startswith("-"))
    return ordered


def order_by(*keys: str, most: int | None = None) -> Merge:
    """Merge rows in the order of `keys`, by which each cell sorts, up to max_rows or `most`."""

    def combine(answers: Answers, arguments: Arguments) -> list[Values]:
        rows = sort(chain(*answers), *keys)
        return rows if most is None else rows[: _count(arguments, "max_rows", most)]

    return Merge(combine, tuple(key.lstrip("-") for key in keys))


def _find_best(*keys: str) -> Merge:
    """Merge what a search has found. The texts of all graphs together stay below the ceiling."""
    merge = order_by(*keys, most=10)

    def combine(answers: Answers, arguments: Arguments) -> list[Values]:
        ceiling, used = _count(arguments, "ceiling", 8000), 0
        fitted = list[Values]()
        for row in merge.combine(answers, arguments):
            used += 0 if row["over_cap"] else row["tokens"] or 0
            over = row["over_cap"] or (row["tokens"] is not None and used > ceiling)
            content = None if over else row["content"]
            fitted.append({**row, "over_cap": over, "content": content})
        return fitted

    return Merge(combine, (*merge.keys, "tokens", "over_cap", "content"))


def _put_together(answers: Answers, arguments: Arguments) -> list[Values]:
    """Let equal rows come once, those of the first cell first."""
    once = {repr(row): row for row in chain(*answers)}
    return [*once.values()][: arguments.get("max_rows")]


def add_up(*keys: str) -> Merge:
    """Make one row of those with the same `keys`. Numbers are added; a flag is set if one is."""

    def combine(answers: Answers, _arguments: Arguments) -> list[Values]:
        groups = dict[tuple[Any, ...], list[Values]]()
        for row in chain(*answers):
            groups.setdefault(tuple(row[key] for key in keys), []).append(row)
        return [
            {name: value if name in keys else _add(rows, name) for name, value in rows[0].items()}
            for rows in groups.values()
        ]

    return Merge(combine, keys)


def _add(rows: Sequence[Values], name: str) -> Any:
    """Add the numbers of a column. Of other values, which all cells share, return the first."""
    known = [row[name] for row in rows if row[name] is not None]
    if known and isinstance(known[0], bool):
        return any(known)
    return sum(known) if known and isinstance(known[0], int) else next(iter(known), None)


def _list_spaces(answers: Answers, _arguments: Arguments) -> list[Values]:
    return sorted(chain(*answers), key=lambda row: (row["archived_at"] is not None, row["name"]))


def _list_entities(answers: Answers, arguments: Arguments) -> list[Values]:
    rows = [*chain(*answers)]
    entities = _list_newest(rows, ["entities"], "updated_at")
    begin = _count(arguments, "skip", 0)
    page = entities[begin : begin + _count(arguments, "max_rows", 10)]
    return [{"total": sum(row["total"] for row in rows), "entities": page}]


def _describe_entity(answers: Answers, arguments: Arguments) -> list[Values]:
    rows = [*chain(*answers)]
    if not rows:
        return []
    begin, most = _count(arguments, "skip", 0), _count(arguments, "max_observations", 20)
    relations = _list_newest(rows, ["outgoing", "incoming"], "valid_from", "created_at")
    relations = relations[: _count(arguments, "max_relations", 100)]
    said = "valid_from" if arguments.get("as_of") == "infinity" else "said_at"
    facts = _list_newest(rows, ["observations"], f"{said} day", "created_at")
    changed: Values = {
        "observations": facts[begin : begin + most],
        "outgoing": [item for item in relations if "to_entity" in item],
        "incoming": [item for item in relations if "from_entity" in item],
        "revised": [] if begin else _list_newest(rows, ["revised"], "revised_at")[:5],
    }
    for name in ("total_observations", "total_relations"):
        changed[name] = sum(row[name] for row in rows)
    return [{**rows[0], **changed}]


def _list_newest(rows: Sequence[Values], columns: Sequence[str], *times: str) -> list[Values]:
    """Return the items of columns of jsonb, the newest first. `said_at day` is the date alone."""

    def read(item: Values, time: str) -> str:
        name, _, day = time.partition(" ")
        moment = datetime.fromisoformat(item[name]).astimezone(UTC)
        return moment.isoformat(timespec="microseconds")[: 10 if day else None]

    items = cast("list[Values]", [item for row in rows for name in columns for item in row[name]])
    return sorted(items, key=lambda item: [read(item, time) for time in times], reverse=True)


# The rank and the share of each section, as in digest_memory(). A test compares them.
DIGEST_SECTIONS = {
    "pinned": (0, 1000),
    "today": (1, 3),
    "project": (2, 3),
    "self": (3, 2),
    "question": (4, 2),
    "preference": (5, 2),
    "person": (6, 2),
    "recalled": (7, 2),
    "recent": (8, 1),
    "summary": (9, 1),
}


def _digest(answers: Answers, arguments: Arguments) -> list[Values]:
    """Let the sections take turns, as digest_memory() does in one cell."""
    counted = dict.fromkeys(DIGEST_SECTIONS, 0)
    turns = list[tuple[float, int, Values]]()
    for row in sort(chain(*answers), *_SCORED):
        rank, share = DIGEST_SECTIONS[row["section"]]
        counted[row["section"]] += 1
        turns.append((counted[row["section"]] / share, rank, row))
    turns.sort(key=lambda turn: turn[:2])
    return [row for _, _, row in turns[: _count(arguments, "max_rows", 40)]]


_SCORED = ("-score", "-created_at", "observation_id")
_OF_ENTITY = (
    "observations",
    "total_observations",
    "outgoing",
    "incoming",
    "total_relations",
    "revised",
)
# What a search, a description or a digest asks beside.
_PARTS = """
    complete_name entity_spaces facts_from_authors fetch_entity fetch_fact find_documents find_ids
    known_names known_types mark_matches named_entities similar_names suggest_entities"""
# What finds the cells of its rows anew: the upkeep, and commands that are about one row of a list.
_LISTS = "claim_webhooks list_webhooks sample_facts write_state"

MERGES: dict[str, Merge] = {
    "describe_entity": Merge(_describe_entity, _OF_ENTITY, page=("max_observations", 20)),
    "digest_memory": Merge(_digest, ("section", "score", "created_at", "observation_id")),
    "list_repository_facts": order_by("-created_at", "observation_id", most=20),
    "list_entities": Merge(_list_entities, page=("max_rows", 10)),
    "list_graphs": order_by("name"),
    "list_spaces": Merge(_list_spaces, ("archived_at", "name")),
    "search_memory": _find_best(*_SCORED),
    "recall_chunks": _find_best("-score", "-updated_at", "observation_id"),
    "search_proposals": order_by(*_SCORED, most=10),
    "entity_proposals": order_by("-created_at", "id", most=20),
    "missing_words": Merge(  # the rows that every cell has
        lambda answers, _: [row for row in answers[0] if all(row in rows for rows in answers[1:])]
    ),
    "count_waiting": add_up(),
    "measure_graphs": add_up(),
    "embedding_progress": add_up("model_id", "dimensions"),
    **dict.fromkeys((*_PARTS.split(), *_LISTS.split()), Merge(_put_together)),
}
"""The merge of each function that answers for several cells, except upkeep that returns counts."""

UPKEEP = add_up()
"""The merge of upkeep, which returns what it did: numbers, and whether it did something."""


def split_watches(calls: Sequence[CellCall], arguments: Arguments) -> list[CellCall]:
    """Give each cell its own cursor, and its own states of the watches."""
    cursors = _read(arguments["after"])
    watches = cast("list[dict[str, Any]]", json.loads(arguments["watches"]))
    return [
        CellCall(
            call.shard,
            {
                "watches": json.dumps(
                    [
                        {**watch, "state": _read(watch.get("state")).get(str(call.shard))}
                        for watch in watches
                    ]
                ),
                "after": cursors.get(str(call.shard)),
            },
        )
        for call in calls
    ]


def join_watches(answers: Sequence[CellAnswer], arguments: Arguments) -> list[Values]:
    """Return the watches that changed in some cell. Cells without an answer keep their cursors."""
    cursors = dict(_read(arguments["after"]))
    watches = cast("list[dict[str, Any]]", json.loads(arguments["watches"]))
    states = {number: dict(_read(watch.get("state"))) for number, watch in enumerate(watches, 1)}
    changed = set[int]()
    for answer in answers:
        shard = str(answer.visit.shard)
        for cursor, number, state in answer.rows:
            cursors[shard] = cursor
            if number is not None:
                states[number][shard] = state
                changed.add(number)
    cursor = json.dumps(cursors)
    return [
        {"cursor": cursor, "place": None, "state": None},
        *(
            {"cursor": cursor, "place": number, "state": json.dumps(states[number])}
            for number in sorted(changed)
        ),
    ]


def _read(text: object) -> Mapping[str, str]:
    return json.loads(cast("str", text)) if text else {}
