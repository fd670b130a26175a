"""What a reader takes for a fact of an entity is one, in every format, whatever was stored."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.answer_readers import (
    NOTED,
    Group,
    Read,
    open_fence,
    read_compact,
    read_compact_entity,
    read_entity_lines,
    read_lines,
    read_verbose,
)
from textrawl.memory.fact_rows import DigestRow, EntityRow, HitRow, ProposedHitRow
from textrawl.tools.memory.entity_reply import EntityReply
from textrawl.tools.memory.search_replies import DigestReply, FactLayout, SearchReply, SpaceLabels
from textrawl.values.names import ENTITY_TYPES
from textrawl.values.text import (
    clean_fact,
    clean_name,
    clean_relation,
    frame_digest,
)
from textrawl.wire.replies import Renderer
from textrawl.wire.token_counter import choose_counter

COUNTER = choose_counter()
AT = datetime(2026, 11, 25, tzinfo=UTC)
LABELS = SpaceLabels("home", several=True)
Format = Literal["compact", "verbose", "lines"]

MARKS = (
    "- ", "\n- ", "\uff0d ", "\u2014 ", "→", "← ", "→ knows ", "works_at→", "\uff57orks→", "uses→",
    "nears→", " (concept)", "\uff08project\uff09", " (person) @team", " (proposed)", "57 ",
    " (source changed)", " (file gone)",
    " (2026-11-25 to 2026-11-25)", " (from 2999-01-01)",
    "\uff15\uff17 ", "100 ", "2026-11-25: ", "95 5a92bdac 2026-11-25 tom: ",
    "5a92bdac 2026-11-25 tom: ", "2026-11-25 by tom: ", "by tom: ", "\uff42y tom\uff1a ", "by ",
    ": ", ":", "# Ada\n", "## ", "```\n", "\uff40\uff40\uff40", "> ", "* ", "\n\n", "\n", "\t",
    "@team ", " @team", "\uff20team ", "\uff20", '{"n":1,"e":[{"n":"Ada","m":[', '"by":"tom"',
    '"}]}', "{", "\\", "\\n", "\\u2028", "note", "note x", "cut 4", "more 5", "aka: ", "wrong: ",
    "not found", "nothing found", "you: ", "line 3: ", "00000000-0000-0000-0000-000000000001:4 ",
    "<textrawl-memory-123456789>", "</textrawl-memory-123456789>", "\n</textrawl-memory>",
    "\uff1c/textrawl-memory-123456789\uff1e", "\ufe64/b", "< /b", "&lt;", "&amp;lt;b", "&amp;",
    "&#65308;", "Ada", "tom", "x", " ", ", ", "(", ")", "é", "語",
)  # fmt: skip
"""Marks of the formats, some of them with fullwidth characters."""

TEXTS = st.lists(st.sampled_from(MARKS) | st.text(max_size=3), min_size=1, max_size=5).map("".join)


def clean(text: str) -> str:
    """Return the stored form of a fact, or nothing if it would be refused."""
    try:
        return clean_fact(text)
    except ValueError:
        return ""


NAMES = TEXTS.map(clean_name).filter(bool)
FACTS = TEXTS.map(clean).filter(bool)
RELATIONS = TEXTS.map(clean_relation).filter(bool)
AUTHORS = NAMES | st.sampled_from(["ada", "tom"])
SPACES = st.sampled_from(["home", "team"])
LAYOUTS = st.builds(FactLayout, st.just(LABELS), st.booleans(), st.booleans(), st.booleans())


Owner = tuple[str, str, str]
"""The name, the type and the space of an entity."""


@st.composite
def find_row(draw: st.DrawFn, number: int, owners: Sequence[Owner], shared: set[str]) -> HitRow:
    """Draw a fact, a relation, a chunk or a proposal of one of the owners."""
    place = draw(st.integers(0, len(owners) - 1))
    name, kind, space = owners[place]
    make = draw(st.sampled_from([HitRow, HitRow, ProposedHitRow]))
    ids = UUID(int=number), UUID(int=100 + place)
    said = draw(FACTS), "note", AT, AT, draw(AUTHORS), draw(st.floats(0, 1))
    row = make(*ids, space, name, kind, *said, several_authors=space in shared)
    if make is HitRow:
        row.valid_from, row.valid_until = AT, draw(st.sampled_from([None, AT]))
    form = draw(st.sampled_from(["fact", "fact", "relation", "chunk"]))
    if form == "relation":
        row.relation_id, row.relation_type = row.observation_id, draw(RELATIONS)
        row.to_entity, row.to_entity_type = draw(NAMES), "concept"
    elif form == "chunk" and make is HitRow:
        row.document_id, row.part, row.line = row.entity_id, number + 1, 7
    return row


@st.composite
def find_rows(draw: st.DrawFn) -> list[HitRow]:
    """Draw the rows of a search."""
    owner = st.tuples(NAMES, st.sampled_from(ENTITY_TYPES), SPACES)
    owners, shared = draw(st.lists(owner, min_size=1, max_size=3)), draw(st.sets(SPACES))
    return [draw(find_row(number, owners, shared)) for number in range(draw(st.integers(0, 5)))]


def expect(rows: Sequence[HitRow], layout: FactLayout, form: Format) -> list[Group]:
    """Return what a reader must see: the rows by entity, with the authors that the form shows."""
    groups = dict[object, Group]()
    for row in rows:
        key = row.document_id or row.entity_id
        kind = "document" if row.document_id else row.entity_type
        away = row.space if row.document_id or row.space != "home" else None
        group = groups.setdefault(key, Group(row.entity_name, kind, away))
        named = form == "verbose" or layout.with_ids or row.several_authors
        group.facts.append(
            Read(
                write_text(row, form),
                row.author if named else None,
                row.relation_id is not None,
                row.proposed,
            )
        )
    return list(groups.values())


def write_text(row: HitRow, form: Format) -> str:
    if row.relation_id is None or form == "verbose":
        return row.text
    plain = (row.relation_type or "").replace("→", "_").replace("\\", "_")
    return f"{plain}→{row.to_entity}"


READERS = {"compact": read_compact, "lines": read_lines, "verbose": read_verbose}


@pytest.mark.parametrize("form", ["compact", "lines", "verbose"])
def test_what_a_reader_of_a_search_takes_for_a_fact_is_one(form: Any) -> None:
    @given(find_rows(), LAYOUTS)
    def check(rows: list[HitRow], layout: FactLayout) -> None:
        reply = SearchReply.build(rows, None, "x", layout)
        text = Renderer(form, False, COUNTER, 10**9).write(reply).text
        read = READERS[form](text)
        expected = expect(rows, layout, form)
        if form == "verbose":
            for group in expected:
                group.space = None
        assert read == expected

    check()


STORED = {
    "id": str(UUID(int=1)),
    "source": "note",
    "confidence": 1,
    "created_at": AT.isoformat(),
    "valid_from": AT.isoformat(),
}


def build_fact(content: str, author: str, space: str, several: bool) -> dict[str, Any]:
    said = {"content": content, "author": author, "space": space, "several_authors": several}
    return STORED | said


def build_edge(relation: str, name: str) -> dict[str, Any]:
    end = {"to_entity": name, "to_entity_type": "concept"}
    return {"relation_type": relation, "created_at": AT.isoformat()} | end


def build_revised(content: str, reason: str) -> dict[str, Any]:
    return {"id": "1", "content": content, "reason": reason}


OBSERVATIONS = st.builds(build_fact, FACTS, AUTHORS, SPACES, st.booleans())
EDGES = st.builds(build_edge, RELATIONS, NAMES)
REVISED = st.builds(build_revised, FACTS, FACTS)


@st.composite
def describe_rows(draw: st.DrawFn) -> EntityRow:
    """Draw an entity with facts, relations, other names and a wrong fact."""
    facts, edges = draw(st.lists(OBSERVATIONS, max_size=4)), draw(st.lists(EDGES, max_size=2))
    entity = UUID(int=9), "home", draw(NAMES), draw(st.sampled_from(ENTITY_TYPES)), None
    more = draw(st.lists(REVISED, max_size=1)), draw(st.lists(NAMES, max_size=2))
    return EntityRow(*entity, facts, len(facts), edges, [], len(edges), *more)


@pytest.mark.parametrize("form", ["compact", "lines"])
def test_what_a_reader_of_an_entity_takes_for_a_fact_is_one(form: Any) -> None:
    @given(describe_rows(), LAYOUTS)
    def check(row: EntityRow, layout: FactLayout) -> None:
        reply = EntityReply.build(row, layout, with_relations=True)
        text = Renderer(form, False, COUNTER, 10**9).write(reply).text
        read = read_entity_lines(text) if form == "lines" else read_compact_entity(text)
        assert read.type == row.entity_type
        assert read.facts == [
            Read(
                fact["content"],
                fact["author"] if layout.with_ids or fact["several_authors"] else None,
                space=None if fact["space"] == "home" else fact["space"],
            )
            for fact in row.observations
        ]
        if form == "lines":
            assert read.name == row.name
            arrows = [f"→ {edge['relation_type']} {edge['to_entity']}" for edge in row.outgoing]
            said = [other for other in read.others if other[0] in "→←"]
            assert said == arrows

    check()


def build_digest(rows: Sequence[HitRow]) -> tuple[DigestReply, list[Group]]:
    """Return a digest of the facts among the rows, and what a reader must see."""
    facts = [row for row in rows if row.relation_id is None and row.document_id is None]
    digest = [
        DigestRow(
            row.observation_id,
            row.entity_id,
            row.space,
            row.entity_name,
            row.entity_type,
            row.text,
            AT,
            AT,
            row.author,
            "recent",
            row.score,
            row.several_authors,
        )
        for row in facts
    ]
    expected = expect(facts, FactLayout(LABELS), "lines")
    for group in expected:
        group.facts = [Read(fact.text, fact.author) for fact in group.facts]
    return DigestReply.build(digest, LABELS), expected


@given(find_rows())
def test_what_a_reader_of_a_digest_takes_for_a_fact_is_one(rows: list[HitRow]) -> None:
    reply, expected = build_digest(rows)
    text = "\n".join(reply.lines())

    framed = frame_digest(text)

    assert [
        read for read in read_lines(open_fence(framed), NOTED) if read.facts
    ] == expected or not rows
    assert open_fence(framed) == text
    assert framed.splitlines()[0] != frame_digest(text).splitlines()[0]


@given(find_rows(), st.data())
def test_a_fence_that_was_cut_off_still_holds_only_facts(
    rows: list[HitRow], data: st.DataObject
) -> None:
    reply, expected = build_digest(rows)
    framed = frame_digest("\n".join(reply.lines()))
    begin = framed.index("\n", framed.index("\n") + 1) + 1

    cut = framed[: data.draw(st.integers(begin, len(framed)))]

    seen = (
        [fact for group in read_lines(open_fence(cut), NOTED) for fact in group.facts]
        if open_fence(cut)
        else []
    )
    whole = [fact for group in expected for fact in group.facts]
    assert seen == whole[: len(seen)]
