"""Facts survive each form in which a server can send them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tool_calls import text_of
from textrawl import errors
from textrawl.client.answers import read_facts, read_forgotten
from textrawl.client.remote import read_refusal, read_status
from textrawl.client.results import Facts
from textrawl.memory.fact_rows import HitRow, ProposedHitRow
from textrawl.settings import Format
from textrawl.tools.memory.search_replies import FactLayout, SearchReply, SpaceLabels
from textrawl.values.names import ENTITY_TYPES
from textrawl.values.text import clean_fact, clean_name
from textrawl.wire.replies import Renderer
from textrawl.wire.token_counter import Counter

ONE_TOKEN = Counter("one token an answer", exact=True, count=lambda _: 1)
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


def send(rows: Sequence[HitRow], form: Format, *, structured: bool) -> Facts:
    """The facts as a server with these settings sends them, read again."""
    renderer = Renderer(form, structured=structured, counter=ONE_TOKEN, budget=9)
    reply = SearchReply.build(list(rows), None, "?", FactLayout(LABELS, with_ids=True))
    result = renderer.render(reply)
    return read_facts(text_of(result), result.structured_content)


@pytest.mark.slow
@given(st.lists(hits(), max_size=4, unique_by=lambda row: row.entity_id))
def test_every_form_of_an_answer_has_the_same_facts(rows: list[HitRow]) -> None:
    best_first = sorted(rows, key=lambda row: -row.score)
    whole = [send(rows, "compact", structured=True), send(rows, "verbose", structured=False)]
    short = [send(rows, form, structured=False) for form in ("compact", "lines")]
    expected: list[tuple[Any, ...]] = [
        (row.entity_name, row.entity_type, row.content, row.score, row.author, row.proposed)
        for row in best_first
    ]

    for found in (*whole, *short):
        assert [
            (f.entity, f.type, f.content, f.score, f.author, f.proposed) for f in found
        ] == expected
        assert found.omitted == 0
    for found in whole:
        assert [f.id for f in found] == [str(row.observation_id) for row in best_first]
        assert [f.said_at for f in found] == [row.said_at for row in best_first]
        assert [f.created_at for f in found] == [row.created_at for row in best_first]
        assert [f.space for f in found] == [row.space for row in best_first]
    for found in short:
        assert [f.id for f in found] == [str(row.observation_id)[:8] for row in best_first]
        assert [f.said_at.date() for f in found] == [row.said_at.date() for row in best_first]
        assert [f.space or "own" for f in found] == [row.space for row in best_first]


def test_an_answer_of_another_program_is_refused() -> None:
    for text in ("hello", "5", '{"n":', "57 a fact without a header"):
        with pytest.raises(errors.ServerUnreachable, match="Answer not understood"):
            read_facts(text, None)
    with pytest.raises(errors.ServerUnreachable, match="Answer not understood"):
        read_forgotten("gone", None)


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
@pytest.mark.parametrize("structured", [True, False])
def test_an_error_keeps_its_class_its_title_and_its_fix(
    error: errors.TextrawlError, structured: bool
) -> None:
    renderer = Renderer("compact", structured=structured, counter=ONE_TOKEN, budget=9)
    found = read_refusal(text_of(renderer.render_error(error)))

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
    ],
)
def test_a_refused_request_is_an_error_of_textrawl(
    status: int, description: str, kind: type[errors.TextrawlError]
) -> None:
    assert type(read_status(status, description)) is kind
