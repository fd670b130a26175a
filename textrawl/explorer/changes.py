"""Changes by hand: facts and relations that are added, corrected, ended, shared or forgotten.

Somebody who can only propose makes proposals with the same forms. What an undo takes back is done
at once. A deletion, a share, and a change of several facts first show what will change; it is then
made for all of them or for none.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from starlette.responses import Response

from textrawl.access.principal import Scope
from textrawl.errors import ArgumentInvalid, FactNotFound, NothingToDelete
from textrawl.explorer.arguments import (
    FieldInvalid,
    NameUnknown,
    read_fact,
    read_moment,
    read_name,
    read_new_type,
    read_period,
    read_reason,
    read_relation,
    require_typed,
)
from textrawl.explorer.forms import Form
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import PageRequest, turn
from textrawl.explorer.site import PROPOSED, Record
from textrawl.memory import curation
from textrawl.memory.command_results import SharedRow
from textrawl.memory.connector import read_item_id
from textrawl.memory.fact_rows import EntityRow, FactRow, ForgottenRow, RelationRow
from textrawl.memory.facts import Edge, Fact
from textrawl.values.text import (
    FACT_LENGTH,
    NAME_LENGTH,
    REASON_LENGTH,
    RELATION_LENGTH,
    clean_name,
)

_LISTED, _RELATIONS = 50, 1000  # on a page of what would be deleted
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
        raise FieldInvalid("text", "Nothing is different", "Write what is right now")
    if reason:
        await curation.revise(visit.store_call, entity.name, str(fact.id), reason, text or None)
        return visit.report("Corrected.", fact.space, entity=entity.name)
    new = Fact(entity.name, entity.entity_type, text, replaces=str(fact.id))
    row = await visit.site.memory.remember(new, visit.caller)
    return _report_fact(visit, row, "Corrected.", text)


def _read_change(visit: PageRequest) -> tuple[str, str]:
    """Return what is right, and why the fact was wrong. Raises ArgumentInvalid.

    The kind is ended (it was right until now, so there is no reason), wrong, or void (nothing is
    right in its place).
    """
    kind = visit.read("kind") or "ended"
    if kind not in _KINDS:
        raise ArgumentInvalid("Say what was wrong", title="Unknown change")
    text = "" if kind == "void" else read_fact(visit.read("text"))
    reason = visit.read("reason") or _NO_REASON
    return text, "" if kind == "ended" else read_reason(reason, _NO_REASON)


async def pin(visit: PageRequest) -> Response:
    """Pin a fact, or take its pin away."""
    visit.require_writable()
    visit.require_space()
    name, fact = read_name(visit.read("name")), clean_name(visit.read("fact"))
    pinned = visit.read("pinned") == "yes"
    await curation.pin(visit.store_call, name, fact, pinned)
    return visit.report("Pinned." if pinned else "Unpinned.", entity=name)


async def ask_deletion(visit: PageRequest) -> Response:
    """Show what would be deleted, in the space that is chosen or in the first with this name."""
    name, fact = read_name(visit.read("name")), clean_name(visit.read("fact"))
    places = [place.space for place in await visit.find_places(name)]
    here = visit.pin(places[0]) if places else visit
    plan = await _forget(here, name, fact, dry_run=True)
    values: dict[str, Any] = {"plan": plan, "name": name, "fact": fact, "others": places[1:]}
    if not fact:
        values |= await _list_everything(here, plan, here.read_skip())
    home = here.principal.home_space
    values |= {"space": home.name if home else ""}
    return visit.show("forget.html", values)


async def _list_everything(visit: PageRequest, plan: ForgottenRow, skip: int) -> dict[str, Any]:
    """Return a page of the facts of an entity, or the first one. Relations are on the last page."""
    name = plan.entity_name
    facts = await visit.call("entity_history", Record, entity=name, max_rows=_LISTED, skip=skip)
    if skip and not facts:
        return await _list_everything(visit, plan, 0)
    pages, relations = turn(skip, _LISTED, facts[0].total if facts else 0), list[Record]()
    if pages["after"] is None:
        relations = await visit.call("entity_relations", Record, entity=name, max_rows=_RELATIONS)
    listed = (pages["total"] or 0) + len(relations)
    left = (plan.facts or 0) + (plan.relations or 0) - listed if pages["after"] is None else 0
    return {"facts": facts, "relations": relations, "unlisted": left, **pages}


async def forget(visit: PageRequest) -> Response:
    """Delete an entity or a fact for good. The form is the confirmation of the person."""
    _require(visit, "forget")
    visit.require_space()
    name, fact = read_name(visit.read("name")), clean_name(visit.read("fact"))
    if not fact:
        require_typed(visit.read("typed"), name)
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


async def ask_fact(visit: PageRequest) -> Response:
    """Show the form for a new fact, which every page also has in its header."""
    _require_proposer(visit, anywhere=True)
    given = {each: visit.read(each) for each in ("name", "replaces")}
    return visit.show("remember.html", given)


async def remember(visit: PageRequest) -> Response:
    """Store a fact, or propose it."""
    _require_proposer(visit)
    form, (begin, end) = visit.form, read_period(visit.form)
    text, kind = read_fact(form.get("text", "")), read_new_type(form.get("type", ""))
    name = await _choose_entity(visit, "name")
    former = form.get("replaces") or None
    row = await visit.site.memory.remember(
        Fact(name, kind, text, valid_from=begin, valid_until=end, replaces=former), visit.caller
    )
    if row.duplicate and not (row.updated or former):
        known = f"It was {'proposed' if row.proposal_id else 'known'} already."
        return visit.report(known, entity=row.entity_name)
    done = "Replaced." if former else "Remembered."
    return _report_fact(visit, row, done, text)


_SIMILAR = 5  # names that are offered instead of an unknown one


async def _choose_entity(visit: PageRequest, field: str) -> str:
    """Return the name in a field of the form, or the one that the person meant instead of it.

    Raises NameUnknown for a name of no entity that the person has not called new.
    """
    name, home = read_name(visit.read(field), field), _name_space(visit)
    if visit.read("meant") and clean_name(visit.read("asked")) == name:
        return read_name(visit.read("meant"), field)
    here = visit.pin(home) if home else visit
    if here.principal.readable:
        rows = await here.call("suggest_entities", Record, typed=name, max_rows=_SIMILAR)
        if not any(row.match == "exact" for row in rows):
            raise NameUnknown(field, name, [row.name for row in rows])
    return name


_SAME = "may be another spelling of it"
_WHY = {"other value": "It has another value than", "opposite": "It is the opposite of"}


def _report_fact(visit: PageRequest, row: FactRow, done: str, text: str) -> Response:
    """Say that a fact is stored, which facts it ended, and with which fact it disagrees.

    The buttons replace the other fact with the new one, or keep both.
    """
    space, name, other = _name_space(visit), row.entity_name, row.closest
    parts = [(each["content"], "", f"it ended now ({each['why']})") for each in row.closed or ()]
    if other and other.get("why") == "same name":
        merge = write_link("merge", name=name, other=other["content"], space=space)
        other, parts = None, [*parts, (other["content"], merge, _SAME)]
    notice = visit.note(PROPOSED if row.proposal_id else done, space, name)
    notice = replace(notice, parts=parts)
    if other is None:
        return visit.tell(notice)
    # Without the begin of the new fact, which could be earlier, the other one ends now.
    new = {"name": name, "text": text, "replaces": other["id"], "space": space}
    both = {"kind": "close", "one": row.observation_id, "other": other["id"], "space": space}
    choices = [("Replace it", "remember", new), ("Both are true", "dismiss", both)]
    why = _WHY.get(other.get("why", ""), "It is nearly the same as")
    return visit.tell(replace(notice, why=why, beside=other["content"], choices=choices))


async def ask_relation(visit: PageRequest) -> Response:
    """Show the form for a new relation, or for another relation in place of one."""
    _require_proposer(visit)
    former = ("former_relation", "former") if visit.again else ("relation", "other")
    values = {
        "name": read_name(visit.read("name")),
        **{
            key: visit.read(given) for key, given in zip(("relation", "other"), former, strict=True)
        },
        "longest": NAME_LENGTH,
        "most": RELATION_LENGTH,
    }
    return visit.show("relate.html", values)


async def relate(visit: PageRequest) -> Response:
    """Store a relation, or propose it. If the form names a former relation, that one ends."""
    _require_proposer(visit)
    form, memory = visit.form, visit.site.memory
    edge, former = _read_edge(form), None
    if form.get("former"):
        known = read_relation(form.get("former_relation", "")), read_name(form["former"])
        former = Edge(edge.from_entity, *known)
        if known == (edge.relation, edge.to_entity):
            raise FieldInvalid("relation", "Nothing is different", "Write what is so now")
    if former is not None:
        proposal = await memory.correct_relation(former, edge, visit.caller)
        text = PROPOSED if proposal else "Corrected."
        return visit.report(text, _name_space(visit), entity=edge.from_entity)
    other, kind = await _choose_entity(visit, "other"), read_new_type(form.get("type", ""))
    edge = replace(edge, to_entity=other, to_type=kind)
    row = await memory.relate(edge, visit.caller)
    if not row.created:
        known = f"It was {'proposed' if row.proposal_id else 'known'} already."
        return visit.report(known, entity=edge.from_entity)
    return _report_relation(visit, row, edge)


def _report_relation(visit: PageRequest, row: RelationRow, edge: Edge) -> Response:
    """Say that a relation is stored, and which relations of this type disagree with it."""
    space, name, relation = _name_space(visit), edge.from_entity, edge.relation
    notice = visit.note(PROPOSED if row.proposal_id else "Related.", space, name)
    if not row.others:
        return visit.tell(notice)
    fields = {"name": name, "relation": relation, "space": space}
    ends = [(f"End it: {other}", "end", {**fields, "other": other}) for other in row.others]
    words = "It has another value than"
    beside = f"{relation} → {', '.join(row.others)}"
    return visit.tell(replace(notice, why=words, beside=beside, choices=ends))


async def ask_end(visit: PageRequest) -> Response:
    """Show the form that ends a relation."""
    _require_proposer(visit)
    given = {key: visit.read(key) for key in ("name", "relation", "other")}
    return visit.show("end.html", given)


async def end(visit: PageRequest) -> Response:
    """End a relation, now or on a day. It stays in the history."""
    _require_proposer(visit)
    edge = _read_edge(visit.form)
    row = await visit.site.memory.end(edge, visit.caller)
    text, space = ("Ended.", _name_space(visit)) if row.ended else ("It had ended already.", "")
    return visit.report(text, space, entity=edge.from_entity)


def _read_edge(form: Form) -> Edge:
    name, other = read_name(form.get("name", "")), read_name(form.get("other", ""), "other")
    relation, (begin, end) = read_relation(form.get("relation", "")), read_period(form)
    return Edge(name, relation, other, valid_from=begin, valid_until=end)


def _require_proposer(visit: PageRequest, *, anywhere: bool = False) -> None:
    visit.require_writable()
    visit.principal.require("propose", "write", anywhere=anywhere)


def _name_space(visit: PageRequest) -> str:
    """Return the name of the space that a form of this visit writes to."""
    home = visit.principal.home_space
    return home.name if home else ""


async def plan_share(visit: PageRequest) -> Response:
    """Ask for the space that gets the facts. If it is given, show what would go there."""
    visit.require_writable()
    visit.principal.require("read")
    wanted = _read_share(visit.given)
    planned = await _share_facts(visit, wanted, dry_run=True) if wanted["target"] else None
    return _show_share(visit, wanted, planned, step="plan" if planned else "ask")


async def share(visit: PageRequest) -> Response:
    """Copy or move the facts, as the plan said, and show where they are now."""
    visit.principal.require("read")
    wanted = _read_share(visit.form)
    if not wanted["target"]:
        raise FieldInvalid("target", "No space is chosen", "Choose a space")
    return _show_share(visit, wanted, await _share_facts(visit, wanted, dry_run=False), step="done")


async def _share_facts(
    visit: PageRequest, wanted: Mapping[str, Any], *, dry_run: bool
) -> SharedRow:
    return await curation.share(visit.store_call, **wanted, dry_run=dry_run)


def _read_share(given: Mapping[str, str]) -> dict[str, Any]:
    """Return what an address or a form asks for. The spaces are not `space`, which pins a visit."""
    fact, source = clean_name(given.get("fact", "")), clean_name(given.get("source", ""))
    if not source:
        raise ArgumentInvalid("Begin at the fact, and share it", title="The space is missing")
    return {
        "name": read_name(given.get("name", "")),
        "target": clean_name(given.get("target", "")),
        "source": source,
        "facts": [fact] if fact else None,
        "move": bool(given.get("move")),
        "ended": bool(given.get("ended")),
    }


def _show_share(
    visit: PageRequest, wanted: Mapping[str, Any], row: SharedRow | None, *, step: str
) -> Response:
    values: dict[str, Any] = {
        **wanted,
        "entity": wanted["name"],
        "fact": wanted["facts"][0] if wanted["facts"] else "",
        "row": row,
        "step": step,
        "hidden": max(row.shared_facts + (row.duplicate_facts or 0) - len(row.sample or []), 0)
        if row
        else 0,
    }
    return visit.show("share.html", values)


_MOST = 50  # facts, as many as a page of an entity shows
_SCOPES: dict[str, Scope] = {"end": "write", "said": "write", "share": "read", "forget": "forget"}
_DATES = {"end": "valid_until", "said": "said_at"}  # parameters of date_facts

Facts = Sequence[Record]


async def plan_selection(visit: PageRequest) -> Response:
    """Show what a change of the chosen facts would do."""
    facts = await _find_facts(visit, visit.given, visit.read_all("id"))
    values: dict[str, Any] = {
        "name": read_name(visit.read("name")),
        "facts": facts,
        "ids": " ".join(str(fact.id) for fact in facts),
        "kind": visit.read("change"),
        "source": visit.read("source"),
        "today": datetime.now(UTC).date().isoformat(),
    }
    return visit.show("selection.html", values)


async def change_selection(visit: PageRequest) -> Response:
    """Change the facts as the plan said, all or none."""
    facts = await _find_facts(visit, visit.form, visit.read("ids").split())
    name, source = read_name(visit.read("name")), visit.read("source")
    return await _DOINGS[visit.form["change"]](visit, name, source, facts)


async def _forget_selected(visit: PageRequest, name: str, source: str, facts: Facts) -> Response:
    ids = [str(fact.id) for fact in facts]
    writing = visit.pin(source).caller.writing
    await visit.site.store.call("forget_facts", int, "ids", entity=name, facts=ids, **writing)
    return visit.report("Deleted for good.", entity=name)


async def _share_selected(visit: PageRequest, name: str, source: str, facts: Facts) -> Response:
    target, move = clean_name(visit.read("target")), bool(visit.read("move"))
    if not target:
        raise FieldInvalid("target", "No space is chosen", "Choose a space")
    ids = [str(fact.id) for fact in facts]
    await curation.share(
        visit.store_call, name, target, source, ids, move, ended=True, dry_run=False
    )
    return visit.report("Moved." if move else "Copied.", entity=name)


async def _date_selected(visit: PageRequest, name: str, source: str, facts: Facts) -> Response:
    """End the facts on a day, or say that they were said on it."""
    moment = read_moment(visit.read("day"), "day")
    if moment is None:
        raise FieldInvalid("day", "The day is missing", "Choose a day")
    times = {_DATES[visit.form["change"]]: min(moment, datetime.now(UTC))}
    ids = [str(fact.id) for fact in facts]
    writing = visit.pin(source).caller.writing
    await visit.site.store.call(
        "date_facts", int, "day", entity=name, facts=ids, **times, **writing
    )
    return visit.report("Changed.", source, entity=name)


_DOINGS: dict[str, Callable[[PageRequest, str, str, Facts], Awaitable[Response]]] = {
    "end": _date_selected,
    "said": _date_selected,
    "share": _share_selected,
    "forget": _forget_selected,
}


async def _find_facts(visit: PageRequest, given: Mapping[str, str], ids: Sequence[str]) -> Facts:
    """Return the chosen facts, for a person who may change them so. Raises ArgumentInvalid."""
    visit.require_writable()
    visit.principal.require("read")
    kind, source = given.get("change", ""), given.get("source", "")
    if kind not in _SCOPES or not source:
        raise ArgumentInvalid("Choose a change", title="Unknown change")
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
