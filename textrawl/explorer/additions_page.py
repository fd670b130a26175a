"""Additions by hand: a fact from every page, and the relations of an entity.

Somebody who can only propose makes proposals with the same forms.
"""

from starlette.responses import Response

from textrawl.errors import ArgumentInvalid
from textrawl.explorer.arguments import (
    read_fact,
    read_name,
    read_new_type,
    read_period,
    read_relation,
)
from textrawl.explorer.forms import Form
from textrawl.explorer.notices import PROPOSED
from textrawl.explorer.requests import PageRequest
from textrawl.memory.facts import Edge, Fact
from textrawl.values.text import NAME_LENGTH, RELATION_LENGTH


async def ask_fact(visit: PageRequest) -> Response:
    """Show the form for a new fact, which every page also has in its header."""
    _require(visit, anywhere=True)
    return visit.show("remember.html", {"name": visit.read("name")})


async def remember(visit: PageRequest) -> Response:
    """Store a fact, or propose it."""
    _require(visit)
    form, (begin, end) = visit.form, read_period(visit.form)
    name, text = read_name(form.get("name", "")), read_fact(form.get("text", ""))
    kind = read_new_type(form.get("type", ""))
    row = await visit.site.memory.remember(
        Fact(name, kind, text, valid_from=begin, valid_until=end), visit.caller
    )
    known = "It was known already." if row.duplicate else "Remembered."
    text = PROPOSED if row.proposal_id else known
    return visit.report(text, _name_space(visit), entity=row.entity_name)


async def ask_relation(visit: PageRequest) -> Response:
    """Show the form for a new relation, or for another relation in place of one."""
    _require(visit)
    given = {key: visit.read(key) for key in ("name", "relation", "other")}
    values = {"longest": NAME_LENGTH, "most": RELATION_LENGTH}
    return visit.show("relate.html", {**values, **given, "name": read_name(given["name"])})


async def relate(visit: PageRequest) -> Response:
    """Store a relation, or propose it. If the form names a former relation, that one ends."""
    _require(visit)
    form, memory = visit.form, visit.site.memory
    edge, former = _read_edge(form), None
    if form.get("former"):
        known = read_relation(form.get("former_relation", "")), read_name(form["former"])
        former = Edge(edge.from_entity, *known)
        if known == (edge.relation, edge.to_entity):
            raise ArgumentInvalid("Go back, and write what is so now", title="Nothing is different")
    if former is None:
        proposal, done = (await memory.relate(edge, visit.caller)).proposal_id, "Related."
    else:
        proposal, done = await memory.correct_relation(former, edge, visit.caller), "Corrected."
    text = PROPOSED if proposal else done
    return visit.report(text, _name_space(visit), entity=edge.from_entity)


async def ask_end(visit: PageRequest) -> Response:
    """Show the form that ends a relation."""
    _require(visit)
    given = {key: visit.read(key) for key in ("name", "relation", "other")}
    return visit.show("end.html", given)


async def end(visit: PageRequest) -> Response:
    """End a relation, now or on a day. It stays in the history."""
    _require(visit)
    edge = _read_edge(visit.form)
    row = await visit.site.memory.end(edge, visit.caller)
    text = "Ended." if row.ended else "It had ended already."
    return visit.report(text, _name_space(visit), entity=edge.from_entity)


def _read_edge(form: Form) -> Edge:
    name, other = read_name(form.get("name", "")), read_name(form.get("other", ""))
    relation, (begin, end) = read_relation(form.get("relation", "")), read_period(form)
    return Edge(name, relation, other, valid_from=begin, valid_until=end)


def _require(visit: PageRequest, *, anywhere: bool = False) -> None:
    visit.require_writable()
    visit.principal.require("propose", "write", anywhere=anywhere)


def _name_space(visit: PageRequest) -> str:
    """Return the name of the space that a form of this visit writes to."""
    home = visit.principal.home_space
    return home.name if home else ""
