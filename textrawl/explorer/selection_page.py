"""Several facts of an entity at once: forget them, share them, end them, or say when they were so.

A page shows first what will change. The change is made for all of the facts or for none.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from textrawl.access.principal import Scope
from textrawl.errors import ArgumentInvalid
from textrawl.explorer.arguments import read_moment, read_name
from textrawl.explorer.forms import Form
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Record
from textrawl.memory.connector import read_item_id
from textrawl.memory.curation import CurationOperations, Share
from textrawl.values.text import clean_name

_MOST = 50  # facts, as many as a page of an entity shows
_SCOPES: dict[str, Scope] = {"end": "write", "said": "write", "share": "read", "forget": "forget"}
_DATES = {"end": "valid_until", "said": "said_at"}  # parameters of date_facts

Facts = Sequence[Record]


async def plan(visit: PageRequest) -> Response:
    """Show what a change of the chosen facts would do."""
    given = dict(visit.request.query_params)
    facts = await _find_facts(visit, given, visit.request.query_params.getlist("id"))
    values: dict[str, Any] = {
        "name": read_name(visit.read("name")),
        "facts": facts,
        "ids": " ".join(str(fact.id) for fact in facts),
        "change": visit.read("change"),
        "source": visit.read("source"),
        "today": datetime.now(UTC).date().isoformat(),
    }
    return visit.show("selection.html", values)


async def change(visit: PageRequest) -> Response:
    """Change the facts as the plan said, all or none."""
    facts = await _find_facts(visit, visit.form, visit.read("ids").split())
    name, source = read_name(visit.read("name")), visit.read("source")
    return await _DOINGS[visit.form["change"]](visit, name, source, facts)


async def _forget(visit: PageRequest, name: str, source: str, facts: Facts) -> Response:
    ids = [str(fact.id) for fact in facts]
    writing = visit.pin(source).caller.writing
    await visit.site.store.call("forget_facts", int, "ids", entity=name, facts=ids, **writing)
    return visit.report("Deleted for good.", entity=name)


async def _share(visit: PageRequest, name: str, source: str, facts: Facts) -> Response:
    target, move = clean_name(visit.read("target")), bool(visit.read("move"))
    if not target:
        raise ArgumentInvalid("Go back, and choose a space", title="No space is chosen")
    wanted = Share(name, target, source, [str(fact.id) for fact in facts], move=move, ended=True)
    await CurationOperations(visit.site.store).share(wanted, visit.caller, dry_run=False)
    return visit.report("Moved." if move else "Copied.", entity=name)


async def _date(visit: PageRequest, name: str, source: str, facts: Facts) -> Response:
    """End the facts on a day, or say that they were said on it."""
    moment = read_moment(visit.read("day"))
    if moment is None:
        raise ArgumentInvalid("Go back, and choose a day", title="The day is missing")
    times = {_DATES[visit.form["change"]]: min(moment, datetime.now(UTC))}
    ids = [str(fact.id) for fact in facts]
    writing = visit.pin(source).caller.writing
    await visit.site.store.call(
        "date_facts", int, "day", entity=name, facts=ids, **times, **writing
    )
    return visit.report("Changed.", source, entity=name)


_DOINGS: dict[str, Callable[[PageRequest, str, str, Facts], Awaitable[Response]]] = {
    "end": _date,
    "said": _date,
    "share": _share,
    "forget": _forget,
}


async def _find_facts(visit: PageRequest, given: Form, ids: Sequence[str]) -> Facts:
    """Return the chosen facts, for a person who may change them so. Raises ArgumentInvalid."""
    visit.require_writable()
    visit.principal.require("read")
    kind, source = given.get("change", ""), given.get("source", "")
    if kind not in _SCOPES or not source:
        raise ArgumentInvalid("Go back, and choose a change", title="Unknown change")
    here = visit.pin(source)
    here.principal.require(_SCOPES[kind])
    chosen = [read_item_id(f"fact:{each}").id for each in dict.fromkeys(ids)]
    if not 1 <= len(chosen) <= _MOST:
        raise ArgumentInvalid(f"Choose one to {_MOST} facts", title="No facts are chosen")
    name = read_name(given.get("name", ""))
    facts = await here.call("entity_history", Record, entity=name, chosen=chosen, max_rows=_MOST)
    facts = [fact for fact in facts if fact.valid or kind in ("share", "forget")]
    if not facts:
        raise ArgumentInvalid("Look at the entity again", title="None of these facts is left")
    return facts
