"""The parts that every answer through the socket has, whether the memory is local or a server's."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from textrawl.library.results import Fact, Remembered
from textrawl.resident.requests import Form, RecallRequest
from textrawl.values.limits import MOST_FACTS
from textrawl.values.text import escape_hidden
from textrawl.wire.replies import SHORT_ID, Written

Answer = dict[str, Any]
Item = TypeVar("Item")

_MORE = 20  # facts that a search finds in addition, because known facts are left out


def count_wanted(request: RecallRequest) -> int:
    """Return how many facts a search must find, so that enough are left without the known ones."""
    return min(request.limit + min(len(request.known), _MORE), MOST_FACTS)


def leave_out_known(
    items: Sequence[Item], known: Sequence[str], name: Callable[[Item], object]
) -> list[Item]:
    """Return the items whose short ids are not in `known`. `name` returns the id of an item."""
    names = set(known)
    return [item for item in items if shorten(name(item)) not in names]


def build_empty() -> Answer:
    """Return the answer of an operation that has nothing to tell."""
    return {"text": "", "ids": [], "tokens": 0, "items": 0}


def build_answer(written: Written, facts: Sequence[Mapping[str, Any]], form: Form) -> Answer:
    """Return the text with the short ids of its facts, and for JSON with the facts.

    `facts` are those of the reply, which can be more than those of the text.
    """
    shown = [dict(fact) for fact in facts[: written.items]]
    return {
        "text": escape_hidden(written.text),
        "ids": [shorten(fact["id"]) for fact in shown],
        "tokens": written.tokens,
        "items": written.items,
    } | ({"facts": shown} if form == "json" else {})


def describe_fact(fact: Fact) -> Answer:
    """Return a fact as `textrawl recall --json` shows it."""
    return {
        "id": fact.id,
        "entity": fact.entity,
        "type": fact.type,
        "space": fact.space,
        "fact": fact.content,
        "author": fact.author,
        "said_at": fact.said_at.isoformat(),
        "score": round(fact.score, 2),
    }


def describe_stored(stored: Remembered, entity_id: str | None) -> Answer:
    """Return a stored fact as `textrawl remember --json` shows it. A server names no entity id."""
    similar = stored.similar
    return build_empty() | {
        "ids": [shorten(stored.id)],
        "items": 1,
        "duplicate": stored.duplicate,
        "entity_id": entity_id,
        "entity_name": stored.entity,
        "entity_type": stored.type,
        "observation_id": None if stored.proposed else stored.id,
        "proposal_id": stored.id if stored.proposed else None,
        "updated": stored.updated,
        "closest": {"id": similar.id, "content": similar.content} if similar else None,
    }


def shorten(identity: object) -> str:
    """Return the short form of an id."""
    return str(identity)[:SHORT_ID]
