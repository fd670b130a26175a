"""Proposals: what waits for a decision, a plan of it, and the decision."""

from collections.abc import Sequence
from typing import cast, get_args
from uuid import UUID

from starlette.responses import Response

from textrawl.access.principal import Scope
from textrawl.errors import ArgumentInvalid
from textrawl.explorer.arguments import read_fact, read_reason, read_start
from textrawl.explorer.requests import PageRequest, turn
from textrawl.memory.review import Decision, Filter, PlannedRow, ReviewOperations, State
from textrawl.values.text import FACT_LENGTH, MOST_PROPOSALS, REASON_LENGTH, clean_name

_PAGE = 20
_STATES: tuple[State, ...] = get_args(State)
_SEERS: tuple[Scope, ...] = ("propose", "review")  # beside people who read


async def show(visit: PageRequest) -> Response:
    """Show the proposals that the person reviews or made, with the stored facts beside them."""
    visit.principal.require("read", *_SEERS)
    state = visit.read("state") or _STATES[0]
    if state not in _STATES:
        raise ArgumentInvalid(f"Use one of: {', '.join(_STATES)}", title="Unknown state")
    given = {name: clean_name(visit.read(name)) for name in ("author", "entity")}
    skip = visit.read_skip()
    chosen = Filter(
        given["author"] or None,
        given["entity"] or None,
        read_start(visit.read("since")),
        state,
        _PAGE,
        skip,
    )
    rows = await ReviewOperations(visit.site.store).list(chosen, visit.caller)
    total = rows[0].total if rows else 0
    values = {
        "proposals": rows,
        "state": state,
        "states": _STATES,
        "since": visit.read("since"),
        "all_chosen": bool(visit.read("all")),
        "skip": skip,
    }
    return visit.show("proposals.html", {**values, **given, **turn(skip, _PAGE, total)})


async def plan(visit: PageRequest) -> Response:
    """Show what the decision of some proposals would do with each of them."""
    visit.principal.require("review", anywhere=True)
    chosen = _check_choice(visit.request.query_params.getlist("id"))
    rows = await ReviewOperations(visit.site.store).plan(chosen, visit.caller)
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
    """Accept or reject proposals, all or none, as the plan said. Show what was done."""
    visit.principal.require("review", anywhere=True)
    chosen = _check_choice(visit.read("ids").split())
    decision = visit.read("decision")
    if decision not in get_args(Decision):
        raise ArgumentInvalid("Go back, and accept or reject", title="Nothing was decided")
    reason = None
    if decision == "reject":
        reason = read_reason(visit.read("reason"), "Say why, for the author")
    rows = await ReviewOperations(visit.site.store).decide(
        chosen, cast("Decision", decision), reason, visit.caller
    )
    return visit.show("decided.html", {"decided": rows, "decision": decision})


async def ask_amendment(visit: PageRequest) -> Response:
    """Show the form that accepts the fact of a proposal with another text."""
    visit.principal.require("review")
    chosen = _check_choice(visit.request.query_params.getlist("id"))
    row = (await ReviewOperations(visit.site.store).plan(chosen[:1], visit.caller))[0]
    values = {"row": row, "longest": FACT_LENGTH, "space": row.space_name}
    return visit.show("amend.html", values)


async def amend(visit: PageRequest) -> Response:
    """Accept a fact in the name of its author, and store the text that is right in its place."""
    visit.principal.require("review")
    visit.principal.require("write")
    [chosen], space = _check_choice([visit.read("id")]), visit.require_space()
    text = read_fact(visit.read("text"))
    entity = await ReviewOperations(visit.site.store).amend(chosen, text, visit.caller)
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
