"""Decisions of people: merges and splits, proposals, and what is doubtful or may be the same.

A merge, a split and the decision of a proposal have two steps: the first shows what will change,
and the second changes it. A dismissal is kept: a fact is still true, two
entities differ, or two facts can both be true.
"""

import time
from collections.abc import Sequence
from typing import cast, get_args
from uuid import UUID

from starlette.responses import Response

from textrawl.access.principal import Scope
from textrawl.errors import ArgumentInvalid
from textrawl.explorer.arguments import (
    read_fact,
    read_id,
    read_name,
    read_number,
    read_reason,
    read_start,
)
from textrawl.explorer.entity_page import find_target
from textrawl.explorer.rendering import write_count, write_link
from textrawl.explorer.requests import PageRequest, turn
from textrawl.explorer.site import Notice, Record, count_pairs
from textrawl.memory import curation, entities, review
from textrawl.memory.command_results import Decision, PlannedRow, SamePair, State
from textrawl.values.text import FACT_LENGTH, MOST_PROPOSALS, NAME_LENGTH, REASON_LENGTH, clean_name

LEAST_SCORE = 0.3  # lower than in the answers of tools: people see at once that a pair is wrong
_CANDIDATES = 10
_MOST_MERGES = 50  # of one merge
_TWO = 2
_MOST_LATER = 50  # facts since a merge that are shown


async def plan_merge(visit: PageRequest) -> Response:
    """Show what a merge would change. Without the other entity, let the person choose it."""
    (entity, call), other = await find_target(visit), clean_name(visit.read("other"))
    values: dict[str, object] = {"entity": entity, "longest": NAME_LENGTH}
    if not other:
        pairs = await entities.find_same(
            call, entity.name, least_score=LEAST_SCORE, limit=_CANDIDATES
        )
        return visit.show("merge.html", {**values, "plan": None, "pairs": pairs})
    row = await entities.merge(call, entity.name, read_name(other), dry_run=True)
    hidden = row.duplicate_facts + row.duplicate_relations - len(row.collapsing)
    return visit.show("merge.html", {**values, "plan": row, "hidden": hidden})


async def merge(visit: PageRequest) -> Response:
    """Merge two entities. The form is the confirmation of the person."""
    (entity, call), other = await find_target(visit), read_name(visit.read("other"))
    row = await entities.merge(call, entity.name, other, dry_run=False)
    fields = {"name": row.merged_name, "space": entity.space}
    return visit.tell(Notice("Merged.", row.kept_name, entity.space, "split", fields))


async def plan_pairs(visit: PageRequest) -> Response:
    """Show what the merges of the chosen pairs would change, in one space."""
    pairs, rivals = _read_pairs(visit, visit.read_all("pair"))
    rows = await entities.merge_pairs(visit.store_call, pairs, dry_run=True)
    joined = " ".join("/".join(pair) for pair in pairs)
    values = {"plan": rows, "pairs": joined, "rivals": rivals, "space": visit.require_space()}
    return visit.show("merge_pairs.html", values)


async def merge_pairs(visit: PageRequest) -> Response:
    """Merge pairs, all or none. The form is the confirmation of the person."""
    pairs, _ = _read_pairs(visit, visit.read("pairs").split())
    rows = await entities.merge_pairs(visit.store_call, pairs, dry_run=False)
    fields = {"names": "\n".join(row.merged_name for row in rows), "space": visit.require_space()}
    text = f"Merged {len(rows)} pairs." if len(rows) > 1 else "Merged."
    return visit.tell(Notice(text, page="split", fields=fields), write_link("same"))


def _read_pairs(visit: PageRequest, given: Sequence[str]) -> tuple[list[list[str]], int]:
    """Return the pairs of ids, and how many had an entity of a pair before, and are left out.

    Raises ArgumentInvalid, ItemNotFound, ReadOnly, ScopeMissing.
    """
    visit.require_writable()
    visit.require_space()
    visit.principal.require("write")
    pairs: list[list[str]] = []
    for text in given[:_MOST_MERGES]:
        pair = [str(read_id(clean_name(each))) for each in text.split("/")]
        if len(pair) == _TWO and not {*pair} & {each for before in pairs for each in before}:
            pairs.append(pair)
    if not pairs:
        raise ArgumentInvalid("Choose at least one", title="No pair is chosen")
    return pairs, len(given) - len(pairs)


async def plan_split(visit: PageRequest) -> Response:
    """Show what the split of a merge would change."""
    (entity, call), name = await find_target(visit), read_name(visit.read("name"))
    row = await entities.split(call, name, dry_run=True)
    values = {
        "entity": entity,
        "name": name,
        "plan": row,
        "later": row.later[:_MOST_LATER],
        "hidden": max(len(row.later) - _MOST_LATER, 0),
    }
    return visit.show("split.html", values)


async def split(visit: PageRequest) -> Response:
    """Split a merge, or all merges of a change. The form is the confirmation of the person."""
    if names := visit.read("names").splitlines():
        visit.require_writable()
        visit.principal.require("write")
        for merged in names:
            await entities.split(visit.store_call, read_name(merged), dry_run=False)
        return visit.report("Undone.", visit.require_space(), default=write_link("same"))
    (entity, call), name = await find_target(visit), read_name(visit.read("name"))
    row = await entities.split(call, name, dry_run=False)
    fields = {"name": row.kept_name, "other": row.merged_name, "space": entity.space}
    return visit.tell(Notice("Split.", row.merged_name, entity.space, "merge", fields))


_SAME_PAIRS, _MOST_SAME = 20, 200
_PATIENCE = 0.2  # seconds that a page waits for pairs after each write
_SCORE = 50  # hundredths, as in the answers of the tool


async def show_same(visit: PageRequest) -> Response:
    """Show the pairs of one entity, or the likeliest pairs of all spaces or of one space."""
    name = clean_name(visit.read("name"))[:NAME_LENGTH]
    score = read_number(visit.read("score"), least=0, most=100, default=_SCORE)
    limit = read_number(visit.read("limit"), least=1, most=_MOST_SAME, default=_SAME_PAIRS)
    pairs = await find_pairs(visit, name, score, limit, soon=True)
    values = {
        "pairs": pairs,
        "name": name,
        "score": score,
        "longest": NAME_LENGTH,
        "more": len(pairs) == limit < _MOST_SAME,
        "most": _MOST_SAME,
        "limit": limit,
        "all_chosen": bool(visit.read("all")),
    }
    return visit.show("same.html", values)


async def find_pairs(
    visit: PageRequest,
    name: str = "",
    score: int = _SCORE,
    limit: int = _SAME_PAIRS,
    *,
    soon: bool = False,
) -> Sequence[SamePair]:
    """Return the likeliest pairs, of all entities or of one. `score` is in hundredths.

    With `soon`, a slow search returns the pairs from before the latest writes, and finds the new
    pairs after the response.
    """

    async def find() -> tuple[Sequence[SamePair], float]:
        begin = time.monotonic()
        pairs = await entities.find_same(
            visit.store_call, name or None, least_score=score / 100, limit=limit
        )
        return pairs, time.monotonic() - begin

    question = ("pairs", name, score, limit)
    pairs, _ = await visit.remember(question, find, lambda kept: soon and kept[1] > _PATIENCE)
    return pairs


_PAGE = 20  # facts or proposals; a form has at most 50 fields
_IDS = ("one", "other")
_DONE = {
    "same": "They are not the same.",
    "close": "Both may stay.",
    "stale": "It is still true.",
}
"""The kinds of decisions, with what the page says after each."""


async def show_stale(visit: PageRequest) -> Response:
    """Show facts that are old, doubtful or never recalled, the oldest first."""
    skip = visit.read_skip()
    rows = await visit.call("stale_facts", Record, max_rows=_PAGE + 1, skip=skip)
    values = {"facts": rows[:_PAGE], "all_chosen": bool(visit.read("all"))}
    values |= turn(skip, _PAGE, skip + len(rows))
    columns = "space entity_name entity_type content reasons author created_at recalls id"
    return visit.show_list("stale.html", values, rows[:_PAGE], columns)


async def show_decisions(visit: PageRequest) -> Response:
    """Show what was decided, the newest first, and who can take it back."""
    skip = visit.read_skip()
    rows = await visit.call("list_dismissals", Record, max_rows=_PAGE + 1, skip=skip)
    values = {"rows": rows[:_PAGE], **turn(skip, _PAGE, skip + len(rows))}
    columns = "space kind entity_name one other author dismissed_at"
    return visit.show_list("decisions.html", values, rows[:_PAGE], columns)


async def dismiss(visit: PageRequest) -> Response:
    """Dismiss a candidate, or all facts that are chosen on a page."""
    form, space = visit.form, visit.require_space()
    visit.principal.require("write")
    kind = form.get("kind", "")
    given = [text for name, text in form.items() if name in _IDS or name.startswith("mark")]
    chosen = [each for each in map(read_id, given) if each is not None]
    if kind not in _DONE or not chosen:
        raise ArgumentInvalid("Choose at least one", title="Nothing is chosen")
    count = await curation.dismiss(visit.store_call, kind, chosen)
    return visit.report(_DONE[kind], space if count else "")


_ENTITIES, _MOST_ENTITIES = 100, 2_000
_CLOSE_PAIRS = 50  # of each kind


async def show_pairs(visit: PageRequest) -> Response:
    """Show pairs of facts of the entities that changed last."""
    entities = read_number(visit.read("entities"), least=1, most=_MOST_ENTITIES, default=_ENTITIES)
    pairs = await visit.call("close_pairs", Record, entities=entities, max_rows=_CLOSE_PAIRS)
    kinds = [
        (kind, [pair for pair in pairs if pair.kind == kind], count_pairs(pairs, kind))
        for kind in ("duplicate", "conflict")
    ]
    values = {
        "kinds": kinds,
        "entities": entities,
        "most_entities": _MOST_ENTITIES,
        "with_vectors": bool(pairs) or visit.site.store.models.has_vectors,
    }
    return visit.show("compare.html", values)


_STATES: tuple[State, ...] = get_args(State)
_PROPOSED = "space_name kind entity_name content author_name client created_at state reason id"
_SEERS: tuple[Scope, ...] = ("propose", "review")  # beside people who read


async def show_proposals(visit: PageRequest) -> Response:
    """Show the proposals that the person reviews or made, with the stored facts beside them."""
    visit.principal.require("read", *_SEERS)
    state = visit.read("state") or _STATES[0]
    if state not in _STATES:
        raise ArgumentInvalid(f"Use one of: {', '.join(_STATES)}", title="Unknown state")
    given = {name: clean_name(visit.read(name)) for name in ("author", "entity")}
    skip = visit.read_skip()
    rows = await review.list_proposals(
        visit.store_call,
        given["author"] or None,
        given["entity"] or None,
        read_start(visit.read("since")),
        state,
        _PAGE,
        skip,
    )
    total = rows[0].total if rows else 0
    values = {
        "proposals": rows,
        "state": state,
        "states": _STATES,
        "since": visit.read("since"),
        "all_chosen": bool(visit.read("all")),
        "skip": skip,
    }
    values |= {**given, **turn(skip, _PAGE, total)}
    return visit.show_list("proposals.html", values, rows, _PROPOSED)


async def plan_decision(visit: PageRequest) -> Response:
    """Show what the decision of some proposals would do with each of them."""
    visit.principal.require("review", anywhere=True)
    chosen = _check_choice(visit.read_all("id"))
    rows = await review.plan_decision(visit.store_call, chosen)
    rivals = _find_rivals(rows)
    writable = visit.find_spaces("write")
    storable = [
        row
        for row in rows
        if row.outcome != "refused" and row.space_name in writable and row.id not in rivals
    ]
    values = {
        "plan": rows,
        "rivals": rivals,
        "storable": _list_ids(storable),
        "accepted": len(storable),
        "all_ids": _list_ids(rows),
        "longest_reason": REASON_LENGTH,
    }
    return visit.show("decide.html", values)


async def decide(visit: PageRequest) -> Response:
    """Accept or reject proposals, all or none, as the plan said."""
    visit.principal.require("review", anywhere=True)
    chosen = _check_choice(visit.read("ids").split())
    decision = visit.read("decision")
    if decision not in get_args(Decision):
        raise ArgumentInvalid("Accept or reject", title="Nothing was decided")
    reason = None
    if decision == "reject":
        reason = read_reason(visit.read("reason"), "Say why, for the author")
    rows = await review.decide(visit.store_call, chosen, cast("Decision", decision), reason)
    space, known = visit.read("space"), sum(row.duplicate for row in rows)
    text = f"{write_count(len(rows), 'proposal')} {decision}ed."
    if known:
        text = f"{text} {write_count(known, 'fact')} stored already."
    undoable = space if space in visit.find_spaces("write") else ""
    return visit.report(text, undoable, default=write_link("proposals", space=space))


async def ask_amendment(visit: PageRequest) -> Response:
    """Show the form that accepts the fact of a proposal with another text."""
    visit.principal.require("review")
    chosen = _check_choice(visit.read_all("id"))
    row = (await review.plan_decision(visit.store_call, chosen[:1]))[0]
    values = {"row": row, "longest": FACT_LENGTH, "space": row.space_name}
    return visit.show("amend.html", values)


async def amend(visit: PageRequest) -> Response:
    """Accept a fact in the name of its author, and store the text that is right in its place."""
    visit.principal.require("review")
    visit.principal.require("write")
    [chosen], space = _check_choice([visit.read("id")]), visit.require_space()
    text = read_fact(visit.read("text"))
    entity = await review.amend(visit.store_call, chosen, text)
    return visit.report("Accepted.", space, entity=entity)


def _find_rivals(rows: Sequence[PlannedRow]) -> set[UUID]:
    """Return the proposals that replace the same as an older one of `rows`.

    A fact can be replaced only once, and a decision is about all of its proposals or none.
    """
    replaced: set[str] = set()
    rivals: set[UUID] = set()
    for row in rows:
        targets = {fact["id"] for fact in row.beside if fact["why"] == "replaces"}
        if row.outcome == "replaces" and targets & replaced:
            rivals.add(row.id)
        replaced |= targets
    return rivals


def _check_choice(ids: Sequence[str]) -> list[str]:
    """Return the ids of the chosen proposals. Raises ArgumentInvalid for none or too many."""
    chosen = list(dict.fromkeys(clean_name(each) for each in ids))
    if not chosen:
        fix = "Choose at least one on the page of proposals"
        raise ArgumentInvalid(fix, title="No proposal is chosen")
    if len(chosen) > MOST_PROPOSALS:
        raise ArgumentInvalid(
            f"Choose at most {MOST_PROPOSALS}", title="Too many proposals are chosen"
        )
    return chosen


def _list_ids(rows: Sequence[PlannedRow]) -> str:
    """Return the ids as one field of a form. The fields of a form are few, and have one value."""
    return " ".join(str(row.id) for row in rows)
