"""Decisions that stay: what is still true, what is not the same, and what may both be so."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from starlette.responses import Response

from textrawl.errors import ArgumentInvalid
from textrawl.explorer.arguments import read_id, read_number
from textrawl.explorer.requests import PageRequest
from textrawl.memory.curation import CurationOperations

_PAGE = 20  # facts; a form has at most 50 fields
_LAST = 1_000_000
_DONE = {
    "same": "They are not the same.",
    "close": "Both may stay.",
    "stale": "It is still true.",
}
"""The kinds of decisions, with what the page says after each."""


@dataclass(frozen=True)
class StaleRow:
    """A fact of stale_facts, with the reasons to look at it again."""

    space: str
    id: UUID
    entity_name: str
    entity_type: str
    content: str
    reasons: str
    author: str
    created_at: datetime
    recalls: int


@dataclass(frozen=True)
class DismissalRow:
    """A decision of list_dismissals. `event` is the number for its undo."""

    space: str
    kind: str
    one: str
    other: str | None
    entity_name: str | None
    author: str
    dismissed_at: datetime
    event: int | None


async def show_stale(visit: PageRequest) -> Response:
    """Show facts that are old, doubtful or never recalled, the oldest first."""
    visit.principal.require("read")
    skip = read_number(visit.read("skip"), least=0, most=_LAST, default=0)
    rows = await visit.site.store.database.call(
        "stale_facts", StaleRow, max_rows=_PAGE + 1, skip=skip, **visit.caller.reading
    )
    values = {"facts": rows[:_PAGE], "all_chosen": bool(visit.read("all"))}
    return visit.show("stale.html", {**values, **_turn(visit, skip, len(rows))})


async def show_decisions(visit: PageRequest) -> Response:
    """Show what was decided, the newest first, and who can take it back."""
    visit.principal.require("read")
    skip = read_number(visit.read("skip"), least=0, most=_LAST, default=0)
    rows = await visit.site.store.database.call(
        "list_dismissals", DismissalRow, max_rows=_PAGE + 1, skip=skip, **visit.caller.reading
    )
    return visit.show("decisions.html", {"rows": rows[:_PAGE], **_turn(visit, skip, len(rows))})


async def dismiss(visit: PageRequest) -> Response:
    """Dismiss a candidate, or all facts that are chosen on a page."""
    form, space = visit.form, visit.require_space()
    visit.require_writable()
    visit.principal.require("write")
    kind = form.get("kind", "")
    chosen = [read_id(text) for name, text in form.items() if name.startswith("mark")]
    one, other = read_id(form.get("one", "")), read_id(form.get("other", ""))
    candidates = [each for each in [one, *chosen] if each is not None]
    if kind not in _DONE or not candidates:
        raise ArgumentInvalid("Go back, and choose at least one", title="Nothing is chosen")
    visit.require_confirmation()
    for each in candidates:
        await CurationOperations(visit.site.store).dismiss(kind, each, other, visit.caller)
    return visit.report(_DONE[kind], space)


def _turn(visit: PageRequest, skip: int, found: int) -> dict[str, object]:
    """Return how many rows are before the pages beside this one, or None where there is no page."""
    return {
        "space": visit.read("space"),
        "newer": max(skip - _PAGE, 0) if skip else None,
        "older": skip + _PAGE if found > _PAGE else None,
    }
