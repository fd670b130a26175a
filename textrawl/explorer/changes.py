"""Changes of facts: correct one, or forget a fact or an entity.

A correction is made at once, because an undo takes it back. A deletion shows first what goes.
"""

from contextlib import suppress
from dataclasses import replace
from uuid import UUID

from starlette.responses import Response

from textrawl.access.principal import Scope
from textrawl.errors import ArgumentInvalid, FactNotFound, NothingToDelete
from textrawl.explorer.arguments import read_fact, read_name, read_reason
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


async def ask_correction(visit: PageRequest) -> Response:
    """Show the form for the correction of a fact."""
    entity, fact = await _find_target(visit)
    values = {"longest": FACT_LENGTH, "longest_reason": REASON_LENGTH, "space": fact.space}
    return visit.show("correct.html", {"entity": entity, "fact": fact, **values})


async def correct(visit: PageRequest) -> Response:
    """Correct a fact."""
    entity, fact = await _find_target(visit)
    text, reason = _read_change(visit)
    if text == fact.content:
        raise ArgumentInvalid("Go back, and write what is right now", title="Nothing is different")
    done = "Corrected."
    if reason:
        revision = Revision(entity.name, str(fact.id), reason, text or None)
        await CurationOperations(visit.site.store).revise(revision, visit.caller)
    else:
        new = Fact(entity.name, entity.entity_type, text, replaces=str(fact.id))
        row = await visit.site.memory.remember(new, visit.caller)
        done = PROPOSED if row.proposal_id else done
    return visit.report(done, fact.space, entity=entity.name)


def _read_change(visit: PageRequest) -> tuple[str, str]:
    """Return what is right, and why the fact was wrong. Raises ArgumentInvalid.

    The kind is ended (it was right until now, so there is no reason), wrong, or void (nothing is
    right in its place).
    """
    kind = visit.read("kind") or "ended"
    if kind not in _KINDS:
        raise ArgumentInvalid("Go back, and say what was wrong", title="Unknown change")
    text = "" if kind == "void" else read_fact(visit.read("text"))
    reason = visit.read("reason") or _NO_REASON
    return text, "" if kind == "ended" else read_reason(reason, _NO_REASON)


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
    name, fact = read_name(visit.read("name")), clean_name(visit.read("fact"))
    await _forget(visit, name, fact, dry_run=False, planned=visit.read("planned"))
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


async def _find_target(visit: PageRequest) -> tuple[EntityRow, Record]:
    """Return an entity and its valid fact, for a person who may write. Raises FactNotFound."""
    _require(visit, "write", "propose")
    name, facts = read_name(visit.read("name")), list[Record]()
    entity = await visit.site.memory.describe(
        name, visit.caller, max_observations=0, with_relations=False
    )
    with suppress(ValueError):
        facts = await visit.call(
            "entity_history", Record, entity=name, fact=UUID(visit.read("fact"))
        )
    if entity is None or not facts or not facts[0].valid:
        raise FactNotFound("Look at the entity again: it may have changed", title="No valid fact")
    return entity, facts[0]


def _require(visit: PageRequest, *scopes: Scope) -> None:
    visit.require_writable()
    visit.principal.require("read")
    visit.principal.require(*scopes)
