"""Changes of facts: correct one, or forget a fact or an entity.

A correction is made at once, because an undo takes it back. A deletion shows first what goes.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from uuid import UUID

from starlette.responses import Response

from textrawl.access.principal import Scope
from textrawl.errors import ArgumentInvalid, FactNotFound, NothingToDelete
from textrawl.explorer.arguments import read_fact, read_name, read_reason
from textrawl.explorer.forms import Form
from textrawl.explorer.notices import PROPOSED
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Record
from textrawl.memory.curation import CurationOperations, Revision
from textrawl.memory.fact_rows import EntityRow, ForgottenRow
from textrawl.memory.facts import Fact
from textrawl.values.text import FACT_LENGTH, REASON_LENGTH, clean_name

_KINDS = ("ended", "wrong", "void")
_NO_REASON = "corrected without a reason"


@dataclass(frozen=True)
class _Target:
    """A valid fact of an entity, as a person sees it before a change."""

    entity: EntityRow
    fact: Record


@dataclass(frozen=True)
class _FactChange:
    """A correction: `kind` is ended (it was right until now), wrong or void.

    Only a wrong fact has a reason. `text` is right in its place, and empty if nothing is (void).
    """

    kind: str
    text: str
    reason: str


async def ask_correction(visit: PageRequest) -> Response:
    """Show the form for the correction of a fact."""
    target = await _find_target(visit, visit.read("name"), visit.read("fact"))
    values = {"longest": FACT_LENGTH, "longest_reason": REASON_LENGTH, "space": target.fact.space}
    return visit.show("correct.html", {"entity": target.entity, "fact": target.fact, **values})


async def correct(visit: PageRequest) -> Response:
    """Correct a fact."""
    form = visit.form
    target = await _find_target(visit, form.get("name", ""), form.get("fact", ""))
    change = _read_change(form)
    if change.text == target.fact.content:
        raise ArgumentInvalid("Go back, and write what is right now", title="Nothing is different")
    entity, number = target.entity, str(target.fact.id)
    if change.reason:
        revision = Revision(entity.name, number, change.reason, change.text or None)
        await CurationOperations(visit.site.store).revise(revision, visit.caller)
        return visit.report("Corrected.", target.fact.space, entity=entity.name)
    fact = Fact(entity.name, entity.entity_type, change.text, replaces=number)
    row = await visit.site.memory.remember(fact, visit.caller)
    text = PROPOSED if row.proposal_id else "Corrected."
    return visit.report(text, target.fact.space, entity=entity.name)


def _read_change(form: Form) -> _FactChange:
    """Return what a form asks for. Raises ArgumentInvalid."""
    kind = form.get("kind", "ended")
    if kind not in _KINDS:
        raise ArgumentInvalid("Go back, and say what was wrong", title="Unknown change")
    text = "" if kind == "void" else read_fact(form.get("text", ""))
    reason = "" if kind == "ended" else read_reason(form.get("reason") or _NO_REASON, _NO_REASON)
    return _FactChange(kind, text, reason)


async def ask_deletion(visit: PageRequest) -> Response:
    """Show what would be deleted, in the space that is chosen or in the first with this name."""
    name, fact = read_name(visit.read("name")), clean_name(visit.read("fact"))
    places = [place.space for place in await visit.find_places(name)]
    here = visit.pin(places[0]) if places else visit
    plan = await _forget(here, name, fact, dry_run=True)
    hidden = max((plan.facts or 0) - len(plan.sample or []), 0)
    values = {"plan": plan, "name": name, "fact": fact, "hidden": hidden, "others": places[1:]}
    home = here.principal.home_space
    values |= {"space": home.name if home else ""}
    return visit.show("forget.html", values)


async def forget(visit: PageRequest) -> Response:
    """Delete an entity or a fact for good. The form is the confirmation of the person."""
    _require(visit, "forget")
    visit.require_space()
    name, fact = read_name(visit.form.get("name", "")), clean_name(visit.form.get("fact", ""))
    planned = visit.form.get("planned", "")
    await _forget(visit, name, fact, dry_run=False, planned=planned)
    if fact:
        return visit.report("Deleted for good.", entity=name)
    return replace(visit, form={}).report("Deleted for good.", default=write_link("search"))


async def _forget(
    visit: PageRequest, name: str, fact: str, *, dry_run: bool, planned: str | None = None
) -> ForgottenRow:
    row = await visit.site.memory.forget(
        name, visit.caller, fact=fact or None, dry_run=dry_run, planned=planned
    )
    if row is None:
        raise NothingToDelete(name)
    return row


async def _find_target(visit: PageRequest, name: str, fact: str) -> _Target:
    """Return a valid fact by its id, for a person who may write. Raises FactNotFound."""
    _require(visit, "write", "propose")
    name = read_name(name)
    entity = await visit.site.memory.describe(
        name, visit.caller, max_observations=0, with_relations=False
    )
    found = await _find_fact(visit, name, fact)
    if entity is None or found is None or not found.valid:
        raise FactNotFound("Look at the entity again: it may have changed", title="No valid fact")
    return _Target(entity, found)


async def _find_fact(visit: PageRequest, name: str, fact: str) -> Record | None:
    with suppress(ValueError):
        rows = await visit.call("entity_history", Record, entity=name, fact=UUID(fact))
        return rows[0] if rows else None
    return None


def _require(visit: PageRequest, *scopes: Scope) -> None:
    visit.require_writable()
    visit.principal.require("read")
    visit.principal.require(*scopes)
