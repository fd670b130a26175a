"""The trail: who did what. An undo of what an author wrote, and the erasure of a person.

Both show first what they would change, and change nothing if that is different now.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from typing import cast, get_args

from starlette.responses import Response

from textrawl.errors import ArgumentInvalid
from textrawl.explorer.arguments import read_name, read_number, read_start, require_typed
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import CLIENT, PageRequest, turn
from textrawl.explorer.site import Notice, Record
from textrawl.memory.command_results import (
    ErasedFact,
    ErasurePlanRow,
    EventFilter,
    EventRow,
    Keep,
    PlanRow,
)
from textrawl.memory.erasure import Erasure, Person
from textrawl.memory.trail import Trail
from textrawl.postgres.database import Database
from textrawl.values.text import clean_name

_EVENTS, _MOST_EVENTS = 50, 500
_LAST_EVENT = (1 << 63) - 1
_COLUMNS = "at space_name author_name client tool action entity_name other_name observation_id"


_MOST_STEPS = 200  # of a plan that are shown


async def show(visit: PageRequest) -> Response:
    """Show the newest events of the spaces that the person administers."""
    limit = read_number(visit.read("limit"), least=1, most=_MOST_EVENTS, default=_EVENTS)
    given = {name: clean_name(visit.read(name)) for name in ("author", "entity", "action")}
    since = read_start(visit.read("since"))
    chosen = EventFilter(**{name: text or None for name, text in given.items()}, since=since)
    events = await Trail(*_claim_spaces(visit)).list_events(chosen, limit)
    values = {
        "events": events,
        "links": await _find_links(visit, events),
        "more": len(events) == limit < _MOST_EVENTS,
        "limit": limit,
        "most": _MOST_EVENTS,
        "since": visit.read("since"),
    }
    return visit.show_list("trail.html", {**values, **given}, events, _COLUMNS)


async def _find_links(visit: PageRequest, events: Sequence[EventRow]) -> list[str | None]:
    """Return the address of what each event is about, if it is there and the person can read it."""
    named = {(each.space_name, each.entity_name or "") for each in events}
    spaces, paths = map(list, zip(*named, strict=True)) if named else ([], [])
    found = await visit.call_anywhere(
        "find_documents", Record, spaces=spaces, paths=paths, graphs=visit.graphs
    )
    documents = {(row.space, row.path): _find_address(row) for row in found}
    facts = {space.name for space in visit.principal.readable}

    def find(event: EventRow) -> str | None:
        name, space = event.entity_name, event.space_name
        if event.entity_id is not None and name and space in facts:
            return write_link("entity", name=name, space=space)
        return documents.get((space, name or ""))

    return [find(event) for event in events]


def _find_address(document: Record) -> str:
    if document.kind == "source":
        return write_link("item", id=f"document:{document.id}")
    parameter = {"journal": "entry", "identity": "file"}[document.kind]
    return write_link(document.kind, **{parameter: document.path}, space=document.space)


async def plan(visit: PageRequest) -> Response:
    """Show what an undo would change."""
    scope = _read_scope(visit.read("author"), visit.read("since"))
    trail = Trail(*_claim_spaces(visit))
    return await _show_plan(visit, trail, *scope, await trail.plan(*scope))


async def undo(visit: PageRequest) -> Response:
    """Undo what an author wrote, as the plan said, and show the undos.

    If the plan is different now, undo nothing, and show the new plan.
    """
    author, since = _read_scope(visit.read("author"), visit.read("since"))
    trail = Trail(*_claim_spaces(visit))
    steps = await trail.plan(author, since)
    if visit.form.get("planned") != _sum_up(steps):
        return await _show_plan(visit, trail, author, since, steps, changed=True)
    done = await trail.undo(author, since)
    return visit.show("undone.html", {"author": author, "done": done})


async def revert(visit: PageRequest) -> Response:
    """Put back what an undo removed. The form is the confirmation of the person."""
    number = read_number(visit.read("undo"), least=0, most=10**9, default=0)
    trail = Trail(*_claim_spaces(visit))
    await trail.revert(number)
    return visit.report("It is as before the undo.", default=write_link("trail"))


async def undo_change(visit: PageRequest) -> Response:
    """Undo one event, or what one request of this person wrote, in one space."""
    event = read_number(visit.read("event"), least=1, most=_LAST_EVENT, default=0)
    call, space = clean_name(visit.read("call")), visit.require_space()
    if not event and not call:
        raise ArgumentInvalid("Choose one on the page of the trail", title="No change is chosen")
    principal = visit.principal
    trail = Trail(visit.site.store.database, principal.credential, principal.home, CLIENT)
    done = await trail.undo_event(event or None, None if event else call)
    if space not in visit.administered:
        return visit.report("Undone.", default=write_link("search"))
    fields = {"undo": done.undo_id, "space": space}
    return visit.tell(Notice("Undone.", page="revert", fields=fields), write_link("trail"))


async def _show_plan(
    visit: PageRequest,
    trail: Trail,
    author: str,
    since: datetime,
    steps: Sequence[PlanRow],
    *,
    changed: bool = False,
) -> Response:
    """Return the page of a plan. `changed` says that it is not the plan that was confirmed."""
    repeated = EventFilter(author, action="repeated", since=since)
    values = {
        "author": author,
        "since": since,
        "repeats": not steps and bool(await trail.list_events(repeated, 1)),
        "count": len(steps),
        "hidden": max(len(steps) - _MOST_STEPS, 0),
        "plan": _group(steps[:_MOST_STEPS]),
        "planned": _sum_up(steps),
        "changed": changed,
    }
    return visit.show("undo.html", values, 409 if changed else 200)


def _sum_up(steps: Sequence[PlanRow]) -> str:
    """Return a short text that differs for different steps, to compare a plan with the deed."""
    return sha256("\n".join(sorted(str(step) for step in steps)).encode()).hexdigest()


def _claim_spaces(visit: PageRequest) -> tuple[Database, bytes | None, int | None, str]:
    """Return what reaches the spaces that the person administers. Raises ScopeMissing."""
    principal = visit.principal
    principal.require("admin", anywhere=True)
    space = principal.home if principal.pinned else None
    return visit.site.store.database, principal.credential, space, CLIENT


def _read_scope(author: str, since: str) -> tuple[str, datetime]:
    """Return the author and the time of an undo. Raises ArgumentInvalid if one is missing."""
    name, begin = clean_name(author), read_start(since)
    if not name or begin is None:
        fix = "Choose an author and a time on the page of the trail"
        raise ArgumentInvalid(fix, title="The author or the time is missing")
    return name, begin


def _group(steps: Sequence[PlanRow]) -> list[tuple[str, str | None, list[PlanRow]]]:
    """Return the steps by space and entity."""
    keyed = groupby(steps, lambda step: (step.space_name, step.entity_name))
    return [(space, entity, list(rows)) for (space, entity), rows in keyed]


async def plan_erasure(visit: PageRequest) -> Response:
    """Show what an erasure would delete and redact, and what stays, or ask for a name."""
    erasure = Erasure(*_claim_spaces(visit))
    person = _read_person(visit.read("name"), visit.read("also"), visit.read("keep"))
    plan = await erasure.plan(person) if person.name else []
    skip = visit.read_skip()
    rows = await erasure.list_rows(person, _EVENTS, skip) if plan else []
    return _show_erasure(visit, person, plan, rows, skip)


async def erase(visit: PageRequest) -> Response:
    """Erase a person as the plan said, and show the receipts.

    If the plan of a space is different now, erase nothing, and say so.
    """
    form = visit.form
    person = _read_person(form.get("name", ""), form.get("also", ""), form.get("keep", ""))
    require_typed(visit.read("typed"), person.name)
    pairs = (pair.partition(":") for pair in form.get("planned", "").split())
    planned = {read_number(s, least=0, most=2**31 - 1, default=0): shape for s, _, shape in pairs}
    done = await Erasure(*_claim_spaces(visit)).erase(person, planned)
    content = {"textrawl": "receipts", "receipts": [row.receipt for row in done]}
    values = {"done": done, "receipts": json.dumps(content, indent=1)}
    return visit.show("erased.html", values)


def _read_person(name: str, also: str, keep: str) -> Person:
    if keep not in ("", *get_args(Keep)):
        raise ArgumentInvalid("Choose it from the list", title="This cannot be kept")
    return Person(
        read_name(name, owner="a person") if name else "",
        [one for part in also.split(",") if (one := clean_name(part))],
        cast("Keep | None", keep or None),
    )


def _show_erasure(
    visit: PageRequest,
    person: Person,
    plan: Sequence[ErasurePlanRow],
    rows: Sequence[ErasedFact],
    skip: int,
) -> Response:
    goes = [row for row in plan if row.action != "stay"]
    values = {
        "name": person.name,
        "also": ", ".join(person.also),
        "keep": person.keep or "",
        "plan": [(space, list(some)) for space, some in groupby(plan, lambda row: row.space_name)],
        "rows": rows,
        "skip": skip,
        **turn(skip, _EVENTS, rows[0].total if rows else 0),
        "count": sum(row.rows for row in goes),
        "planned": " ".join({f"{row.space_id}:{row.fingerprint}": None for row in goes}),
    }
    return visit.show("erase.html", values)
