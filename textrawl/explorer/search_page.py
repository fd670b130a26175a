"""The search: entities, facts and documents, and what the answer costs in each format."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args
from uuid import UUID

from starlette.responses import Response

from textrawl.explorer.arguments import (
    read_moment,
    read_number,
    read_query,
    read_repository,
    read_types,
)
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Record
from textrawl.memory.fact_rows import ExplainedRow, HitRow
from textrawl.memory.questions import Question, Sources, Times
from textrawl.scheduling import repository
from textrawl.settings import Format
from textrawl.tools.memory.search_replies import FactLayout, SearchReply, find_space_labels
from textrawl.values.names import ENTITY_TYPES
from textrawl.values.text import MOST_FACTS, NAME_LENGTH
from textrawl.wire.replies import Renderer, Reply

_LIMIT, _RECENT = 10, 20
_HIT_COLUMNS = "score space entity_name entity_type text author origin said_at valid_until"
_ENTITY_COLUMNS = "space name entity_type description updated_at id"
_MORE = 5  # facts that were left out, with the reasons
_NAMES, _NAME_WORDS = 8, 5  # names of entities that are suggested, and the words of a name


async def show(visit: PageRequest) -> Response:
    """Show the facts that a question finds. Without a question, show the entities changed last."""
    query = read_query(visit.read("q"))
    limit = read_number(visit.read("limit"), least=1, most=MOST_FACTS, default=_LIMIT)
    types, as_of = read_types(visit.read("type")), read_moment(visit.read("as_of"))
    values: dict[str, Any] = {
        "query": query,
        "type": visit.read("type"),
        "types": ENTITY_TYPES,
        "as_of": visit.read("as_of"),
        "limit": limit,
        "most": MOST_FACTS,
        "why": bool(visit.read("why")),
        "repository": visit.read("repository"),
    }
    repository.set(read_repository(visit.read("repository")))  # until the end of the call
    template = "results.html" if visit.read("part") else "search.html"
    if not query:
        page = await visit.site.memory.list_entities(
            types, visit.caller, limit=_RECENT, offset=0, times=Times(as_of)
        )
        values |= {"recent": page.entities, "total": page.total}
        rows = [Record(**each) for each in page.entities]
        return visit.show_list(template, values, rows, _ENTITY_COLUMNS)
    sources = Sources.find_all(visit.principal, visit.site.settings)
    question = Question(query, types, Times(as_of), limit, sources=sources)
    values |= {"recent": None, **await _find(visit, question)}
    hits = [hit for group in values["groups"] for hit in group]
    return visit.show_list(template, values, hits, _HIT_COLUMNS)


async def suggest(visit: PageRequest) -> Response:
    """Show the names of entities for a name that somebody is typing, as a part of a page."""
    query = read_query(visit.read("q"))
    rows = await _suggest(visit, query)
    known = any(row.match == "exact" for row in rows) or not _is_name(query)
    values = {"names": rows, "field": "" if known else visit.read("new")}
    return visit.show("suggestions.html", {"query": query, **values})


async def _suggest(visit: PageRequest, query: str) -> Sequence[Record]:
    if not (_is_name(query) and visit.principal.readable):
        return []
    return await visit.call("suggest_entities", Record, typed=query, max_rows=_NAMES)


def _is_name(query: str) -> bool:
    """Return false for a text with so many words that nobody looks for such a name."""
    return 0 < len(query.split()) <= _NAME_WORDS and len(query) <= NAME_LENGTH


async def _find(visit: PageRequest, question: Question) -> dict[str, object]:
    memory, asked = visit.site.memory, question.query
    question = await memory.condense(question, visit.caller)
    hits, reason = await memory.search(question, visit.caller)
    explained: list[ExplainedRow] = []
    if visit.read("why"):
        explained, _ = await memory.explain(question, visit.caller, more=_MORE)
    absence = None if hits else await memory.explain_absence(question, visit.caller)
    layout = FactLayout(find_space_labels(visit.principal))
    reply = SearchReply.build(hits, reason, question.query, layout).explain(absence)
    hits = [hit for hit in hits if hit.content is not None]  # the others are over a limit of tokens
    return {
        "names": await _suggest(visit, asked),
        "groups": _group(hits),
        "marks": await _mark(visit, question.query, hits),
        "facts": sum(hit.document_id is None for hit in hits),
        "passages": sum(hit.document_id is not None for hit in hits),
        "absence": absence,
        "reason": reason,
        "reasons": {row.observation_id: row for row in explained},
        "left_out": [row for row in explained if row.outcome != "returned"],
        "costs": measure(reply, visit.site.renderer),
    }


async def _mark(visit: PageRequest, query: str, hits: Sequence[HitRow]) -> Mapping[UUID, Record]:
    """Return the texts of the hits with marks at the words of the question, by their id."""
    shown = [(hit.observation_id, hit.text, hit.space) for hit in hits if not hit.relation_id]
    facts, texts, spaces = map(list, zip(*shown, strict=True)) if shown else ([], [], [])
    rows = await visit.call_anywhere(
        "mark_matches", Record, query=query, facts=facts, texts=texts, spaces=spaces
    )
    return {row.fact: row for row in rows}


def _group(hits: Sequence[HitRow]) -> list[list[HitRow]]:
    """Return the hits by entity or document, the best first, as the tools' answers have them."""
    groups: dict[object, list[HitRow]] = {}
    for hit in hits:
        groups.setdefault(hit.document_id or hit.entity_id, []).append(hit)
    return list(groups.values())


def measure(reply: Reply, renderer: Renderer) -> list[dict[str, Any]]:
    """Return the tokens of a reply in each format, within the budget of this server."""
    costs: list[dict[str, Any]] = []
    for format in get_args(Format):
        text, whole = (
            replace(renderer, format=format, structured=structured).write(reply)
            for structured in (False, True)
        )
        cost = {"format": format, "text": text.tokens, "whole": whole.tokens}
        costs.append({**cost, "dropped": text.dropped, "used": renderer.format == format})
    return costs
