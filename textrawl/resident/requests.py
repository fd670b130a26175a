"""The requests that come through the socket, checked like the arguments of tools.

A request is one line of JSON with the version of textrawl, the operation, and its arguments:

    {"version": "0.1.0", "op": "recall", "query": "who likes tea?", "maxTokens": 200}
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
)
from pydantic.alias_generators import to_camel

from textrawl import __version__
from textrawl.client.results import Fact, Remembered
from textrawl.errors import ArgumentInvalid
from textrawl.values.names import EntityKind, name_type
from textrawl.values.text import (
    FACT_LENGTH,
    LEAST_TOKENS,
    MOST_FACTS,
    MOST_TOKENS,
    NAME_LENGTH,
    QUERY_LENGTH,
    clean_fact,
    clean_name,
    escape_hidden,
)
from textrawl.values.times import read_future_instant
from textrawl.wire.replies import SHORT_ID, Written

_MOST_KNOWN = 10_000
_HOOK = "textrawl hook"  # beginning of the client's name in requests of hooks


def _apply(clean: Callable[[str], Any]) -> BeforeValidator:
    def run(value: object, _: ValidationInfo) -> object:
        return clean(value) if isinstance(value, str) else value

    return BeforeValidator(run)


_NAME = _apply(clean_name)
_Tokens = Annotated[int, Field(ge=LEAST_TOKENS, le=MOST_TOKENS)]
Form = Literal["lines", "json"]
_Authors = Annotated[
    list[Annotated[str, Field(max_length=NAME_LENGTH)]], Field(min_length=1, max_length=1000)
]
_Known = Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=_MOST_KNOWN)]


class Request(BaseModel):
    """A request of any operation.

    `client` is the name for the recall log and the trail. `space` is the only space to use. If
    `record` is false, the request is not in the recall log. `read_only` refuses to change anything.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, strict=True)

    op: str
    client: Annotated[str, _NAME, AfterValidator(lambda name: name[:NAME_LENGTH])] = ""
    space: Annotated[str, _NAME] | None = None
    record: bool = True
    read_only: bool = False

    @property
    def is_from_hook(self) -> bool:
        """Whether a hook sent the request. Its text goes to a model without being asked for."""
        return self.client.startswith(_HOOK)


class RecallRequest(Request):
    """A search. Facts whose short ids are in `known` are left out.

    `authors` is the value of DIGEST_AUTHORS for a hook, or None for the setting of this process.
    """

    query: Annotated[str, _NAME, Field(min_length=1, max_length=QUERY_LENGTH)]
    limit: Annotated[int, Field(ge=1, le=MOST_FACTS)] = 10
    max_tokens: _Tokens | None = None
    least_score: Annotated[float, Field(ge=0, le=1)] | None = None
    known: _Known = []
    authors: _Authors | None = None
    format: Form = "lines"


class DigestRequest(Request):
    """A digest for somebody who begins to work on `project`, or on anything if it is None.

    `authors` is as in a RecallRequest.
    """

    project: Annotated[str, _NAME, Field(max_length=NAME_LENGTH)] | None = None
    max_tokens: _Tokens | None = None
    known: _Known = []
    authors: _Authors | None = None
    format: Form = "lines"


class RememberRequest(Request):
    """A fact to store, as in the tool remember_fact."""

    entity: Annotated[str, _NAME, Field(min_length=1, max_length=NAME_LENGTH)]
    fact: Annotated[str, _apply(clean_fact), Field(min_length=1, max_length=FACT_LENGTH)]
    type: Annotated[EntityKind, BeforeValidator(name_type)] = "concept"
    until: Annotated[datetime | None, _apply(read_future_instant)] = None
    replaces: Annotated[str, _NAME, Field(max_length=FACT_LENGTH)] | None = None


class CaptureRequest(Request):
    """Texts of a session of `program`, a client such as codex, for the journal of today."""

    session: Annotated[str, _NAME, Field(min_length=1, max_length=200)]
    program: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,99}$")]
    text: Annotated[str, _apply(clean_fact), Field(min_length=1, max_length=200_000)]


def read_members(line: bytes) -> dict[str, Any]:
    """Return the members of a request. Raises ArgumentInvalid for another version or no object."""
    try:
        members = json.loads(line)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        raise ArgumentInvalid("Send one line with a JSON object", title="Request not understood")
    return cast("dict[str, Any]", members)


def is_foreign(members: dict[str, Any]) -> bool:
    """Return whether another version of textrawl made the request."""
    return members.get("version") != __version__


def check(model: type[Request], members: dict[str, Any]) -> Any:
    """Return the request. Raises ArgumentInvalid with the names of the wrong members."""
    try:
        return model.model_validate(members)
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False)
    names = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults[:5])
    raise ArgumentInvalid(names)


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
