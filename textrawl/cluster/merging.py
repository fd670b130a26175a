"""The answer of several cells, made of the answers of each of them.

The rows of a cell are dictionaries, in the order of the cell's answer. A merge is one of a few
functions with the names of columns. The table `MERGES` has the merge of each SQL function that a
person or a model needs for several cells. All other functions work on the spaces of one cell.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

Values = dict[str, Any]
Answers = Sequence[Sequence[Values]]
"""The rows of each cell, the cell of the home space first."""


@dataclass(frozen=True)
class MergedCall:
    """The arguments of a call, and the places of spaces by name, as readable_spaces() has them."""

    arguments: Mapping[str, Any]
    places: Mapping[str, int] = field(default_factory=dict[str, int])

    def find(self, name: str, default: int) -> int:
        """Return an argument that is a number."""
        value = self.arguments.get(name)
        return default if value is None else int(value)


_NO_CEILING = 2**31 - 1

Combine = Callable[[Answers, MergedCall], list[Values]]


@dataclass(frozen=True)
class Merge:
    """A rule that combines answers.

    `keys` are columns that the merge needs beside those of the caller. `skip` is the name of the
    argument with the number of rows to leave out, and `limit` that with the most rows. Cells then
    get a larger limit, and no number of rows to leave out. `default` is the limit if none is given.
    `has_ceiling` is true if the texts of all rows together have a limit, which no cell can know.
    """

    combine: Combine
    keys: tuple[str, ...] = ()
    limit: str = "max_rows"
    skip: str | None = None
    default: int = 10
    has_ceiling: bool = False

    def widen(self, arguments: Mapping[str, Any]) -> Values:
        """Return the arguments for each cell."""
        if self.has_ceiling:
            arguments = {**arguments, "ceiling": _NO_CEILING}
        skipped = arguments.get(self.skip) if self.skip is not None else None
        if self.skip is None or not skipped:
            return dict(arguments)
        most = arguments.get(self.limit)
        most = self.default if most is None else most
        return {**arguments, self.limit: most + skipped, self.skip: 0}


def sort(
    rows: Iterable[Values], *keys: str, places: Mapping[str, int] | None = None
) -> list[Values]:
    """Sort rows by columns. A key with - in front is descending, and places nulls first.

    The key `@column` is the place of the space that the column names.
    """
    ordered = list(rows)
    for key in reversed(keys):
        name = key.lstrip("-@")
        known = places or {} if key.startswith("@") else None
        ordered.sort(key=_build_key(name, known), reverse=key.startswith("-"))
    return ordered


def _build_key(name: str, places: Mapping[str, int] | None) -> Callable[[Values], Any]:
    if places is not None:
        return lambda row: places.get(row[name], len(places))

    def key(row: Values) -> tuple[bool, Any]:
        value = row[name]
        return value is None, 0 if value is None else value

    return key


def ordered(*keys: str, cut: bool = True, default: int = 10) -> Merge:
    """Merge rows in the order of `keys`, by which each cell sorts, and cut them at max_rows."""

    def combine(answers: Answers, question: MergedCall) -> list[Values]:
        rows = sort((row for rows in answers for row in rows), *keys, places=question.places)
        return rows[: question.find("max_rows", default)] if cut else rows

    columns = tuple(key.lstrip("-@") for key in keys)
    return Merge(combine, columns)


def _rank(*keys: str) -> Merge:
    """Merge what was found. Afterwards fit_ceiling() leaves out texts that are too many."""
    merge = ordered(*keys)
    return replace(merge, keys=(*merge.keys, "tokens", "over_cap", "content"), has_ceiling=True)


def _complete_name(answers: Answers, question: MergedCall) -> list[Values]:
    """Let names come once, those with the beginning first, as complete_name() orders them."""
    rows = sort(_everything(answers, question), "rank", "-updated_at", "entity_name")
    once: dict[str, Values] = {}
    for row in rows:
        once.setdefault(row["name_key"], row)
    return list(once.values())[: question.find("max_rows", 100)]


_MATCHES = ("exact", "beginning", "word", "similar")


def _suggest_entities(answers: Answers, question: MergedCall) -> list[Values]:
    """Let names come once, in the order of suggest_entities()."""
    once: dict[str, Values] = {}
    for row in sorted(_everything(answers, question), key=lambda row: _MATCHES.index(row["match"])):
        once.setdefault(row["name"], row)
    return list(once.values())[: question.find("max_rows", 8)]


def _unite_names(answers: Answers, question: MergedCall) -> list[Values]:
    """Let candidates come once. The caller decides which names are close."""
    return list({row["entity_name"]: row for row in _everything(answers, question)}.values())


def _keep_common(answers: Answers, _question: MergedCall) -> list[Values]:
    """Keep the words that every cell misses."""
    others = [{row["word"] for row in rows} for rows in answers[1:]]
    return [row for row in answers[0] if all(row["word"] in words for words in others)]


def _unite_mentions(answers: Answers, question: MergedCall) -> list[Values]:
    """Let mentions come once, the longest first."""
    once = {row["mention"]: row for row in _everything(answers, question)}
    return sorted(once.values(), key=lambda row: len(row["mention"]), reverse=True)


def _count(values: list[Any]) -> Any:
    """Add numbers of things. Of flags, return whether one is set.

    Of other values, which all cells share, return the first.
    """
    known = [value for value in values if value is not None]
    if known and isinstance(known[0], bool):
        return any(known)
    return sum(known) if known and isinstance(known[0], int) else _first(known)


def _add_members(values: list[Any]) -> dict[str, Any]:
    total = Counter[str]()
    for members in values:
        total.update(members or {})
    return dict(total)


def _first(values: list[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def _join(values: list[Any]) -> str:
    return " ".join(map(str, values))


def _add_models(values: list[Any]) -> list[Values]:
    """Add the numbers of pending facts of each model."""
    models: dict[str, Values] = {}
    for model in (model for cell in values for model in cast("list[Values]", cell or [])):
        known = models.setdefault(model["name"], {**model, "pending": 0})
        known["pending"] += model["pending"]
    return list(models.values())


def one_row(**folds: Callable[[list[Any]], Any]) -> Merge:
    """Merge answers of one row, column by column. Other columns are added if they are counts."""

    def combine(answers: Answers, _question: MergedCall) -> list[Values]:
        rows = [row for rows in answers for row in rows]
        if not rows:
            return []
        return [{name: folds.get(name, _count)([row[name] for row in rows]) for name in rows[0]}]

    return Merge(combine)


def measure_once(nodes: Sequence[object], answers: Answers) -> None:
    """Count the size of each node's database once, though several of its cells tell it."""
    for place, rows in enumerate(answers):
        for row in rows if nodes[place] in nodes[:place] else ():
            row["bytes"] = None


def _by_group(group: str, **folds: Callable[[list[Any]], Any]) -> Merge:
    """Merge rows of the same group into one row."""

    def combine(answers: Answers, question: MergedCall) -> list[Values]:
        groups: dict[Any, list[Values]] = {}
        for row in (row for rows in answers for row in rows):
            groups.setdefault(row[group], []).append(row)
        fold = one_row(**folds).combine
        return [row for rows in groups.values() for row in fold([rows], question)]

    return Merge(combine, (group,))


def _list_spaces(answers: Answers, question: MergedCall) -> list[Values]:
    rows = _everything(answers, question)
    return sorted(rows, key=lambda row: (row["archived_at"] is not None, row["name"]))


def _everything(answers: Answers, _question: MergedCall) -> list[Values]:
    return [row for rows in answers for row in rows]


def read_time(value: object) -> datetime:
    """Return the time of a text in a jsonb."""
    return datetime.fromisoformat(cast("str", value))


def _list_entities(answers: Answers, question: MergedCall) -> list[Values]:
    rows = _everything(answers, question)
    items = [
        {**item, "at": read_time(item["updated_at"])} for row in rows for item in row["entities"]
    ]
    begin = question.find("skip", 0)
    page = sort(items, "-at", "id")[begin : begin + question.find("max_rows", 10)]
    entities = [{name: value for name, value in item.items() if name != "at"} for item in page]
    return [{"total": sum(row["total"] for row in rows), "entities": entities}]


def _describe_entity(answers: Answers, question: MergedCall) -> list[Values]:
    rows = sort(_everything(answers, question), "@space", places=question.places)
    if not rows:
        return []
    begin, most = question.find("skip", 0), question.find("max_observations", 20)
    facts = _newest(rows, "observations", "created_at", "space", "id")[begin : begin + most]
    relations = sorted(
        (
            (read_time(item["created_at"]), column, item)
            for row in rows
            for column in ("outgoing", "incoming")
            for item in row[column]
        ),
        key=lambda relation: relation[0],
        reverse=True,
    )[: question.find("max_relations", 100)]
    revised = _newest(rows, "revised", "revised_at", "id")[:5] if begin == 0 else []
    first = rows[0]
    changed: Values = {
        "observations": facts,
        "total_observations": sum(row["total_observations"] for row in rows),
        "outgoing": [item for _, column, item in relations if column == "outgoing"],
        "incoming": [item for _, column, item in relations if column == "incoming"],
        "total_relations": sum(row["total_relations"] for row in rows),
        "revised": revised,
    }
    return [{**first, **changed}]


def _newest(rows: list[Values], column: str, time: str, *keys: str) -> list[Values]:
    items = [item for row in rows for item in row[column]]
    items = sort(items, *keys)
    return sorted(items, key=lambda item: read_time(item[time]), reverse=True)


# The place and the share of each section, as in digest_memory(). A test compares them.
DIGEST_SECTIONS = {
    "project": (1, 3),
    "self": (2, 2),
    "question": (3, 2),
    "preference": (4, 2),
    "person": (5, 2),
    "recalled": (6, 2),
    "recent": (7, 1),
    "summary": (8, 1),
}


def _digest(answers: Answers, question: MergedCall) -> list[Values]:
    """Let the sections take turns, as digest_memory() does in one cell."""
    places = dict.fromkeys(DIGEST_SECTIONS, 0)
    turns: list[tuple[float, int, Any, Values]] = []
    rows = sort(_everything(answers, question), "-score", "-created_at", "observation_id")
    for row in rows:
        place, share = DIGEST_SECTIONS[row["section"]]
        places[row["section"]] += 1
        turns.append((places[row["section"]] / share, place, row["observation_id"], row))
    turns.sort(key=lambda turn: turn[:3])
    return [turn[3] for turn in turns[: question.find("max_rows", 40)]]


def fit_ceiling(rows: Sequence[Values], question: MergedCall) -> list[Values]:
    """Leave out the texts of the lowest chunks that exceed the ceiling of all graphs."""
    ceiling, used, fitted = question.find("ceiling", 8000), 0, list[Values]()
    for row in rows:
        over = bool(row["over_cap"])
        if not over and row["tokens"] is not None:
            used += row["tokens"]
            over = used > ceiling
        fitted.append({**row, "over_cap": over, "content": None if over else row["content"]})
    return fitted


_OF_ENTITY = (
    "space",
    "observations",
    "total_observations",
    "outgoing",
    "incoming",
    "total_relations",
    "revised",
)
_SCORED = ("-score", "-created_at", "observation_id")
_OF_DIGEST = ("section", "score", "created_at", "observation_id")


MERGES: dict[str, Merge] = {
    "claim_webhooks": Merge(_everything),
    "complete_name": Merge(_complete_name, ("entity_name", "name_key", "rank", "updated_at")),
    "count_waiting": one_row(),
    "describe_entity": Merge(_describe_entity, _OF_ENTITY, "max_observations", "skip", 20),
    "digest_memory": Merge(_digest, _OF_DIGEST),
    "embedding_progress": _by_group("model_id", model_id=_first, dimensions=_first),
    "entity_proposals": ordered("-created_at", "id", default=20),
    "entity_spaces": ordered("@space", cut=False),
    "facts_from_authors": Merge(_everything),
    "fetch_entity": Merge(_everything),
    "fetch_fact": Merge(_everything),
    "find_documents": Merge(_everything),
    "find_ids": Merge(_everything),
    "known_types": Merge(_everything),
    "list_entities": Merge(_list_entities, (), skip="skip"),
    "list_graphs": ordered("name", cut=False),
    "list_spaces": Merge(_list_spaces, ("archived_at", "name")),
    "list_webhooks": ordered("space_name", "created_at", cut=False),
    "list_sources": Merge(_everything),
    "mark_matches": Merge(_everything),
    "measure_graphs": one_row(database=_first),
    "memory_statistics": replace(one_row(types=_add_members, models=_add_models), keys=("bytes",)),
    "known_names": Merge(_everything),
    "missing_words": Merge(_keep_common),
    "named_entities": Merge(_unite_mentions),
    "own_entities": ordered("@space", cut=False),
    "pending_embeddings": one_row(),
    "recall_chunks": _rank("-score", "-updated_at", "observation_id"),
    "search_memory": _rank(*_SCORED),
    "search_proposals": ordered(*_SCORED),
    "set_own_entity": ordered("@space", cut=False),
    "suggest_entities": Merge(_suggest_entities, ("name", "match")),
    "similar_names": Merge(_unite_names, ("entity_name",)),
    "write_state": one_row(write_state=_join),
}
"""The merge of each function that answers a person or a model for several cells."""

UPKEEP = one_row()
"""The merge of upkeep, which returns what it did: numbers, and whether it did something."""


COUNTED = (
    "query",
    "credential",
    "entity_types",
    "as_of",
    "since",
    "until",
    "sources",
    "graphs",
)
"""The arguments that count_terms() shares with search_memory()."""
_MOST_COUNTED = 4000  # facts that are counted anew if the statistics are old


@dataclass(frozen=True)
class Counts:
    """The row of count_terms() in a cell. Its fields name the columns."""

    languages_found: list[str]
    facts: int
    counted: int | None
    words: Mapping[str, int]
    counted_words: Mapping[str, int] | None
    names: list[str]
    own: list[str]
    bar: float
    best: float


def add_counts(counts: Sequence[Counts], languages: Sequence[str]) -> str:
    """Return the sums for search_memory(), from the statistics or from the counts of now."""
    facts = sum(cell.facts for cell in counts)
    counted = sum(cell.counted or 0 for cell in counts)
    every = all(cell.counted_words is not None for cell in counts)
    stale = every and counted <= _MOST_COUNTED and abs(counted - facts) > 0.2 * counted
    words: dict[str, int] = {}
    for cell in counts:
        known = cell.counted_words if stale and cell.counted_words is not None else cell.words
        for word, number in known.items():
            words[word] = words.get(word, 0) + number
    totals = {
        "facts": counted if stale else facts or None,
        "words": words,
        "languages": list(languages),
        "names": sorted({name for cell in counts for name in cell.names}),
        "own": sorted({name for cell in counts for name in cell.own}),
    }
    return json.dumps(totals)


def keep_best(rows: Sequence[Values], counts: Counts, arguments: Mapping[str, Any]) -> list[Values]:
    """Return the rows that one search of all cells has: none without evidence."""
    best = sort(rows, *_SCORED)
    if arguments.get("least_score") is not None:
        return best
    about_time = any(arguments.get(name) for name in ("tense", "during", "around"))
    least = 0 if about_time else counts.best
    answered = any(row["score"] >= least for row in best)
    return [row for row in best if answered and row["score"] >= counts.bar]
