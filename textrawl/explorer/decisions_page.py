"""Decisions about facts that may say the same or contradict each other, or may be out of date.

A decision stays: what is still true, what is not the same, and what may both be so.
"""

from starlette.responses import Response

from textrawl.errors import ArgumentInvalid
from textrawl.explorer.arguments import read_id, read_number
from textrawl.explorer.requests import PageRequest, turn
from textrawl.explorer.site import Record, count_pairs
from textrawl.memory.curation import CurationOperations

_PAGE = 20  # facts; a form has at most 50 fields
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
    return visit.show("stale.html", {**values, **turn(skip, _PAGE, skip + len(rows))})


async def show_decisions(visit: PageRequest) -> Response:
    """Show what was decided, the newest first, and who can take it back."""
    skip = visit.read_skip()
    rows = await visit.call("list_dismissals", Record, max_rows=_PAGE + 1, skip=skip)
    values = {"rows": rows[:_PAGE], **turn(skip, _PAGE, skip + len(rows))}
    return visit.show("decisions.html", values)


async def dismiss(visit: PageRequest) -> Response:
    """Dismiss a candidate, or all facts that are chosen on a page."""
    form, space = visit.form, visit.require_space()
    visit.principal.require("write")
    kind = form.get("kind", "")
    given = [text for name, text in form.items() if name in _IDS or name.startswith("mark")]
    chosen = [each for each in map(read_id, given) if each is not None]
    if kind not in _DONE or not chosen:
        raise ArgumentInvalid("Go back, and choose at least one", title="Nothing is chosen")
    await CurationOperations(visit.site.store).dismiss(kind, chosen, visit.caller)
    return visit.report(_DONE[kind], space)


_ENTITIES, _MOST_ENTITIES = 100, 2_000
_PAIRS = 50  # of each kind


async def show_pairs(visit: PageRequest) -> Response:
    """Show pairs of facts of the entities that changed last."""
    entities = read_number(visit.read("entities"), least=1, most=_MOST_ENTITIES, default=_ENTITIES)
    pairs = await visit.call("close_pairs", Record, entities=entities, max_rows=_PAIRS)
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
