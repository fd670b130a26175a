"""Facts and errors survive the way from a server to a program."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textrawl import errors
from textrawl.memory.fact_rows import HitRow, ProposedHitRow
from textrawl.tools.memory.search_replies import FactLayout, SearchReply, SpaceLabels
from textrawl.values.names import ENTITY_TYPES
from textrawl.values.text import clean_fact, clean_name
from textrawl.wire.replies import Renderer
from textrawl.wire.token_counter import Counter
from textrawl_client.results import Facts, read_facts
from textrawl_client.wire import Answer, read_response

FIELDS: set[str] = {
    *("id", "entity", "type", "content", "score"),
    *("author", "said_at", "created_at", "space", "proposed"),
}
ONE_TOKEN = Counter("one token an answer", exact=True, count=lambda _: 1)
RENDERER = Renderer("compact", structured=False, counter=ONE_TOKEN, budget=9).for_programs()
LABELS = SpaceLabels(home="own", several=True)

# Fillers are letters, but they are invisible, so the tools refuse them.
_FILLERS = "\u115f\u1160\u3164\uffa0\u2800"
_READABLE = st.characters(exclude_categories=["C", "Z", "M"], exclude_characters=_FILLERS)
_TRICKY = [
    "cut 3",
    "note x",
    "57 a",
    "→",
    "\\",
    "\\n",
    "@own",
    "(person)",
    " (fact) @x",
    "a\nb",
    "\t",
    "{}",
    ": ",
    "x (proposed)",
]
_PIECES = st.lists(
    st.sampled_from(_TRICKY) | st.text(_READABLE, min_size=1, max_size=8), min_size=1
)
NAMES = _PIECES.map(lambda parts: clean_name("".join(parts))[:80].strip()).filter(bool)
FACTS = _PIECES.map(lambda parts: clean_fact("".join(parts))).filter(bool)
TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2026, 1, 1), timezones=st.just(UTC))


@st.composite
def hits(draw: st.DrawFn) -> HitRow:
    entity = draw(st.integers(1, 3))
    said = draw(TIMES)
    return draw(st.sampled_from([HitRow, ProposedHitRow]))(
        draw(st.uuids()),
        UUID(int=entity),
        draw(st.sampled_from(["own", "team-1"])),
        draw(NAMES),
        draw(st.sampled_from(ENTITY_TYPES)),
        draw(FACTS),
        "note",
        draw(st.just(said) | TIMES),
        said,
        draw(NAMES.filter(lambda name: ": " not in name + " ")),
        draw(st.integers(0, 100)) / 100,
    )


def send(rows: Sequence[HitRow]) -> Facts:
    """The facts as a server sends them to a program, read again."""
    reply = SearchReply.build(list(rows), None, "?", FactLayout(LABELS, for_program=True))
    written = RENDERER.write(reply)
    sent = json.loads(json.dumps(written.content.structured))
    return read_facts(Answer(sent, written.text, reply.list_ids(written.items)))


@given(st.lists(hits(), max_size=4, unique_by=lambda row: row.observation_id))
def test_an_answer_keeps_every_fact_and_its_place(rows: list[HitRow]) -> None:
    first = {row.entity_id: row for row in reversed(rows)}
    expected = [
        {
            "id": str(row.observation_id),
            "entity": first[row.entity_id].entity_name,
            "type": first[row.entity_id].entity_type,
            "content": row.text,
            "score": row.score,
            "author": row.author,
            "said_at": row.said_at,
            "created_at": row.created_at,
            "space": first[row.entity_id].space,
            "proposed": row.proposed,
        }
        for row in rows
    ]
    found = [fact.model_dump(include=FIELDS) for fact in send(rows)]
    assert found == expected


@pytest.mark.parametrize(
    "error",
    [
        errors.ScopeMissing("write", "ada has read"),
        errors.DatabaseUnavailable(),
        errors.ReadOnly(),
        errors.ArgumentInvalid("name: too long. Shorten it"),
        errors.ArgumentInvalid("until must not be before since", title="Empty period"),
        errors.EntityTypeInvalid("entityType: must be person"),
        errors.SpaceNotFound("Spaces that ada may use: team"),
        errors.InternalError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_keeps_its_class_its_title_its_fix_and_its_scope(
    error: errors.TextrawlError,
) -> None:
    result = RENDERER.render_error(error).model_dump(mode="json", by_alias=True)
    with pytest.raises(errors.TextrawlError) as raised:
        read_response(200, json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}))
    found = raised.value

    assert (type(found), found.title, found.fix) == (type(error), error.title, error.fix)
    assert getattr(found, "scope", None) == getattr(error, "scope", None)


@pytest.mark.parametrize(
    ("status", "description", "kind"),
    [
        (401, "The token has ended", errors.NotAuthenticated),
        (429, "Wait 3 seconds", errors.ServerBusy),
        (503, "Database unavailable: Retry in a few seconds", errors.DatabaseUnavailable),
        (504, "No answer within 60 seconds", errors.ServerUnreachable),
        (502, "", errors.ServerUnreachable),
        (413, "", errors.ArgumentInvalid),
    ],
)
def test_a_refused_request_is_an_error_of_textrawl(
    status: int, description: str, kind: type[errors.TextrawlError]
) -> None:
    with pytest.raises(errors.TextrawlError) as raised:
        read_response(status, json.dumps({"error_description": description}))

    assert type(raised.value) is kind
