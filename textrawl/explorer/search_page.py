"""The search: facts with their scores, and what the answer costs in each format."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from starlette.responses import Response

from textrawl.explorer.arguments import (
    read_moment,
    read_number,
    read_query,
    read_types,
)
from textrawl.explorer.requests import PageRequest
from textrawl.memory.fact_rows import ExplainedRow, HitRow
from textrawl.memory.facts import Question, Times
from textrawl.settings import Format
from textrawl.tools.memory.search_replies import FactLayout, SearchReply, find_space_labels
from textrawl.values.names import ENTITY_TYPES
from textrawl.values.text import MOST_FACTS, PROMPT_LENGTH
from textrawl.wire.replies import Renderer, Reply

_LIMIT, _RECENT = 10, 20
_MORE = 5  # facts that were left out, with the reasons


@dataclass(frozen=True)
class Cost:
    """The tokens of an answer in one format. `used` is true for the format of this server."""

    format: Format
    text: int
    whole: int
    dropped: int
    used: bool


async def show(visit: PageRequest) -> Response:
    """Show the facts that a question finds. Without a question, show the entities changed last."""
    visit.principal.require("read")
    query = read_query(visit.read("q"))
    limit = read_number(visit.read("limit"), least=1, most=MOST_FACTS, default=_LIMIT)
    types, as_of = read_types(visit.read("type")), read_moment(visit.read("as_of"))
    values: dict[str, Any] = {
        "query": query,
        "query_length": PROMPT_LENGTH,
        "type": visit.read("type"),
        "types": ENTITY_TYPES,
        "as_of": visit.read("as_of"),
        "space": visit.read("space"),
        "limit": limit,
        "most": MOST_FACTS,
        "why": bool(visit.read("why")),
    }
    template = "results.html" if visit.read("part") else "search.html"
    if not query:
        page = await visit.site.memory.list_entities(
            types, visit.caller, limit=_RECENT, offset=0, times=Times(as_of)
        )
        return visit.show(template, {**values, "recent": page.entities, "total": page.total})
    question = Question(query, types, Times(as_of), limit)
    return visit.show(template, {**values, "recent": None, **await _find(visit, question)})


async def _find(visit: PageRequest, question: Question) -> dict[str, object]:
    memory = visit.site.memory
    question = await memory.condense(question, visit.caller)
    hits, reason = await memory.search(question, visit.caller)
    explained: list[ExplainedRow] = []
    if visit.read("why"):
        explained, _ = await memory.explain(question, visit.caller, more=_MORE)
    absence = None if hits else await memory.explain_absence(question, visit.caller)
    layout = FactLayout(find_space_labels(visit.principal))
    reply = SearchReply.build(hits, reason, question.query, layout).explain(absence)
    return {
        "groups": _group(hits),
        "found": len(hits),
        "absence": absence,
        "reason": reason,
        "reasons": {row.observation_id: row for row in explained},
        "left_out": [row for row in explained if row.outcome != "returned"],
        "costs": measure(reply, visit.site.renderer),
    }


def _group(hits: Sequence[HitRow]) -> list[list[HitRow]]:
    """Return the facts by entity, the best first, as the answers of the tools have them."""
    groups: dict[object, list[HitRow]] = {}
    for hit in hits:
        groups.setdefault(hit.entity_id, []).append(hit)
    return list(groups.values())


def measure(reply: Reply, renderer: Renderer) -> list[Cost]:
    """Return what a reply costs a model in each format, within the budget of this server."""
    return [_measure(reply, renderer, format) for format in get_args(Format)]


def _measure(reply: Reply, renderer: Renderer, format: Format) -> Cost:
    text = replace(renderer, format=format, structured=False).write(reply)
    whole = replace(renderer, format=format, structured=True).write(reply)
    used = renderer.format == format
    return Cost(format, text.tokens, whole.tokens, text.dropped, used)
