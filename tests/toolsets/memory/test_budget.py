"""No answer costs more than its budget, whatever is stored, in any format and channel."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.types import CallToolResult

from tests.support.examples import EXAMPLES
from tests.support.tool_calls import text_of
from textrawl.memory.fact_rows import (
    BatchRow,
    EntityRow,
    FactRow,
    ForgottenRow,
    HitRow,
    ListRow,
    RelationRow,
)
from textrawl.tools.memory.entity_reply import EntityReply
from textrawl.tools.memory.search_replies import FactLayout, ListReply, SearchReply, SpaceLabels
from textrawl.tools.memory.write_replies import ForgetReply, RelateReply, RememberReply
from textrawl.tools.memory.writing import BuildReply
from textrawl.values.names import ENTITY_TYPES
from textrawl.values.text import clean_fact, clean_name
from textrawl.wire.replies import Renderer, Reply
from textrawl.wire.token_counter import choose_counter

COUNTER = choose_counter()
START = datetime(2026, 1, 1, tzinfo=UTC)

_LETTERS = st.sampled_from("abc ABC 0123 .,:\"'\\{}[]\n\t→← äßé 語東京 🦄👨‍👩‍👧 مرحبا<|endoftext|>")


def write_text(longest: int) -> st.SearchStrategy[str]:
    words = st.sampled_from(["cut 4", "more 5", "not found", "note x", "<|endoftext|>", "Jeff"])
    return st.one_of(words, st.text(_LETTERS, min_size=1, max_size=longest))


NAMES = write_text(200).map(clean_name).filter(bool)
FACTS = write_text(300).map(lambda text: text.replace("\u200d", "")).map(clean_fact).filter(bool)
TYPES = st.sampled_from(ENTITY_TYPES)
IDS = st.uuids(version=4)
SCORES = st.floats(0, 1)
COUNTS = st.integers(0, 10**6)
PLACES = st.lists(st.integers(0, 49), unique=True).map(sorted)


def moment(number: int) -> str:
    return (START + timedelta(seconds=number)).isoformat()


SPACES = st.sampled_from(["team", "home"])
LABELS = st.builds(SpaceLabels, st.sampled_from(["home", None]), st.booleans())
LAYOUTS = st.builds(FactLayout, LABELS, st.booleans(), st.booleans())


@st.composite
def write_search(draw: st.DrawFn) -> SearchReply:
    owners = draw(st.lists(st.tuples(IDS, NAMES, TYPES, SPACES), min_size=1, max_size=4))
    facts = draw(st.lists(st.tuples(IDS, st.sampled_from(owners), FACTS, SCORES), max_size=12))
    rows = [
        HitRow(
            id_,
            owner[0],
            owner[3],
            owner[1],
            owner[2],
            content,
            "note",
            START,
            START,
            "somebody",
            score,
        )
        for id_, owner, content, score in sorted(facts, key=lambda fact: -fact[3])
    ]
    for number, row in enumerate(rows):
        if draw(st.booleans()):  # a chunk of a document
            row.document_id, row.part, row.line = row.entity_id, number + 1, number + 7
            row.content = draw(st.sampled_from([row.content, None]))
    missing = draw(st.sampled_from([None, "embedding service not configured"]))
    return SearchReply.build(rows, missing, draw(FACTS), draw(LAYOUTS))


@st.composite
def write_entity(draw: st.DrawFn) -> EntityReply:
    facts = [
        {"id": str(id_), "content": content, "source": "note", "confidence": 1,
         "created_at": moment(number), "author": "somebody", "space": draw(SPACES)}
        for number, (id_, content) in enumerate(draw(st.lists(st.tuples(IDS, FACTS), max_size=8)))
    ]  # fmt: skip
    edges = draw(st.lists(st.tuples(st.booleans(), NAMES, TYPES), max_size=6))
    both: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for number, (out, name, kind) in enumerate(edges):
        end = "to_entity" if out else "from_entity"
        edge = {"relation_type": "knows", end: name, f"{end}_type": kind}
        both[out].append(edge | {"created_at": moment(2 * number)})
    row = EntityRow(
        draw(IDS),
        draw(SPACES),
        draw(NAMES),
        draw(TYPES),
        draw(st.none() | FACTS),
        facts[::-1],
        len(facts) + draw(st.integers(0, 9)),
        both[True][::-1],
        both[False][::-1],
        len(edges) + draw(st.integers(0, 9)),
    )
    return EntityReply.build(
        row, draw(LAYOUTS), with_relations=draw(st.booleans()), skipped=draw(st.integers(0, 9))
    )


@st.composite
def write_list(draw: st.DrawFn) -> ListReply:
    entities = [
        {"id": str(id_), "name": name, "entity_type": kind, "description": None,
         "updated_at": moment(1), "space": draw(SPACES)}
        for id_, name, kind in draw(st.lists(st.tuples(IDS, NAMES, TYPES), max_size=12))
    ]  # fmt: skip
    row = ListRow(len(entities) + draw(COUNTS), entities)
    return ListReply.build(row, draw(st.integers(0, 10**30)), draw(LABELS))


ANSWERS: dict[str, st.SearchStrategy[Any]] = {
    "search": write_search(),
    "entity": write_entity(),
    "list": write_list(),
    "missing": st.lists(NAMES, max_size=3).map(EntityReply.report_missing),
}


@st.composite
def write_relate(draw: st.DrawFn) -> RelateReply:
    row = RelationRow(
        draw(IDS),
        draw(st.booleans()),
        draw(IDS),
        draw(NAMES),
        draw(TYPES),
        draw(IDS),
        draw(NAMES),
        draw(TYPES),
        draw(st.none() | st.lists(NAMES, max_size=3)),
    )
    relation = draw(NAMES.map(lambda name: name[:100]))
    return RelateReply.build(row, relation, ended=draw(st.booleans()))


@st.composite
def write_forget(draw: st.DrawFn) -> ForgetReply:
    kind = draw(st.sampled_from(["gone", "dry"]))
    row = ForgottenRow(
        draw(IDS),
        draw(NAMES),
        draw(st.none() | IDS),
        draw(COUNTS),
        draw(COUNTS),
        draw(st.lists(FACTS, max_size=3)),
    )
    return ForgetReply.preview(row) if kind == "dry" else ForgetReply.build(row)


def write_close(**more: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"id": IDS.map(str), "content": FACTS, **more})


WRITTEN: dict[str, st.SearchStrategy[Any]] = {
    "remember": st.builds(
        RememberReply.build,
        st.builds(
            FactRow, IDS, NAMES, TYPES, IDS, st.booleans(), st.booleans(), st.none() | write_close()
        ),
        TYPES,
    ),
    "build": st.builds(
        BatchRow,
        COUNTS,
        COUNTS,
        COUNTS,
        PLACES,
        PLACES,
        st.lists(write_close(fact=COUNTS), max_size=10),
    ).map(BuildReply.build),
    "relate": write_relate(),
    "forget": write_forget(),
}

formats = pytest.mark.parametrize("form", ["compact", "verbose", "lines"])
channels = pytest.mark.parametrize("structured", [True, False], ids=["full", "off"])
budgets = st.one_of(st.integers(50, 400), st.integers(50, 25_000))
# With `--hypothesis-profile=thorough` these are more than 20,000 cases, and take some minutes.
few = settings(max_examples=EXAMPLES // 2)


def measure(result: CallToolResult) -> int:
    """What goes over the wire, counted without help of the code under test."""
    cost = COUNTER.count(text_of(result))
    if result.structured_content is not None:
        answer = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
        cost += COUNTER.count(answer)
    return cost


@formats
@channels
@pytest.mark.parametrize("kind", [*ANSWERS, *WRITTEN])
def test_no_result_costs_more_than_its_budget(form: Any, kind: str, *, structured: bool) -> None:
    @few
    @given((ANSWERS | WRITTEN)[kind], budgets)
    def check(reply: Reply, budget: int) -> None:
        renderer = Renderer(form, structured, COUNTER, budget)
        result = renderer.render(reply)
        assert measure(result) <= budget
        assert (
            renderer.render(reply)
            == result
            == Renderer(form, structured, COUNTER, 9).render(reply, budget)
        )
        answer: dict[str, Any] = result.structured_content or {}
        if "usedTokens" in answer:
            assert answer["usedTokens"] == measure(result)

    check()


def tell(reply: dict[str, Any]) -> dict[str, Any]:
    """What structured content says, as compact text would say it."""
    facts = [
        (entity["entityName"], entity["entityType"],
         [(fact["content"], fact["score"], fact.get("id", "")[:8], fact.get("createdAt", "")[:10])
          for fact in entity["memories"]])
        for entity in reply.get("entities", [])
    ]  # fmt: skip
    edges = reply.get("relations", {})
    out, into = edges.get("outgoing", []), edges.get("incoming", [])
    arrows = {
        "out": [f"{edge['relation_type']}→{edge['to_entity']}" for edge in out],
        "in": [f"{edge['from_entity']}→{edge['relation_type']}" for edge in into],
    }
    return {
        "facts": facts,
        "observations": [fact["content"] for fact in reply.get("observations", [])],
        "arrows": {key: value for key, value in arrows.items() if value},
        "listed": [(entity["name"], entity["type"]) for entity in reply.get("entityList", [])],
        "like": reply.get("like"),
        "count": reply.get("totalMemories", reply.get("total")),
        "cut": reply.get("dropped", 0),
        "note": reply.get("note"),
    }


def get_id(fact: dict[str, Any]) -> str:
    """The short id of a fact. Structured content names the id of a chunk chunkId."""
    return "" if ":" in fact.get("id", "") else fact.get("id", "")


def read_text(text: str) -> str:
    """The text of a fact. In compact text a backslash says that it is no relation."""
    return text[1:] if re.match(r"\\+[^\s→\\]+→", text) else text


def tell_compact(reply: dict[str, Any]) -> dict[str, Any]:
    rows = reply.get("e", [])
    return {
        "facts": [
            (e["n"], e["t"],
             [(read_text(f["c"]), f["s"], get_id(f), f.get("on", "")) for f in e["m"]])
            for e in rows if "m" in e
        ],
        "observations": [o if isinstance(o, str) else o["c"] for o in reply.get("o", [])],
        "arrows": reply.get("r", {}),
        "listed": [(e["n"], e["t"]) for e in rows if "m" not in e],
        "like": reply.get("like"),
        "count": reply.get("n"),
        "cut": reply.get("cut", 0),
        "note": reply.get("note"),
    }  # fmt: skip


def count_shown(answer: dict[str, Any]) -> int:
    arrows = sum(len(ends) for ends in answer["arrows"].values())
    facts = sum(len(facts) for *_, facts in answer["facts"])
    names = len(answer["observations"]) + len(answer["listed"]) + len(answer["like"] or [])
    return facts + arrows + names


@pytest.mark.parametrize("kind", [*ANSWERS])
def test_both_channels_tell_the_same_and_account_for_everything(kind: str) -> None:
    @few
    @given(ANSWERS[kind], budgets)
    def check(reply: Any, budget: int) -> None:
        result = Renderer("compact", True, COUNTER, budget).render(reply)
        compact = tell_compact(json.loads(text_of(result)))
        assert result.structured_content is not None
        assert compact == tell(result.structured_content)
        whole = tell(reply.structured())
        assert count_shown(compact) + compact["cut"] == count_shown(whole) + whole["cut"]
        assert result.structured_content.get("truncated", False) == (compact["cut"] > 0)

    check()


@pytest.mark.parametrize("kind", [*ANSWERS])
def test_verbose_text_says_what_structured_content_says(kind: str) -> None:
    @few
    @given(ANSWERS[kind], budgets)
    def check(reply: Any, budget: int) -> None:
        result = Renderer("verbose", True, COUNTER, budget).render(reply)
        answer: dict[str, Any] = dict(result.structured_content or {})
        mode = answer.pop("mode")
        answer.pop("usedTokens", None)
        if mode == "list" and "entityList" in answer:
            answer["entities"] = answer.pop("entityList")
        verbose = json.loads(text_of(result))
        verbose.pop("query", None)
        assert verbose == answer

    check()


@given(write_search())
@few
def test_no_fact_can_pass_for_a_line_of_another_kind(reply: SearchReply) -> None:
    lines = list(reply.lines())

    assert len([line for line in lines if line[0].isdecimal()]) == reply.size()
    assert len([line for line in lines if line.startswith("cut ")]) == (reply.dropped is not None)
    assert len([line for line in lines if line.startswith("note ")]) == (reply.note is not None)
    assert not any("\n" in line for line in lines)


def make_search(number: int) -> SearchReply:
    rows = [
        HitRow(UUID(int=i), UUID(int=i % 3), "home", f"N{i % 3}", "person", f"fact {i}", "note",
               START, START, "somebody", 1 - i / 100) for i in range(number)
    ]  # fmt: skip
    return SearchReply.build(rows, None, "fact")


def test_the_lowest_scored_facts_go_first_and_whole() -> None:
    result = Renderer("compact", False, COUNTER, 2000).render(make_search(20), 100)

    report = json.loads(text_of(result))
    shown = sorted(fact["c"] for entity in report["e"] for fact in entity["m"])
    assert 0 < len(shown) < 20
    assert shown == sorted(f"fact {i}" for i in range(len(shown)))
    assert report["n"] + report["cut"] == 20


@pytest.mark.parametrize("budget", [50, 75, 100, 200, 400])
def test_one_more_fact_would_not_have_fitted(budget: int) -> None:
    renderer = Renderer("compact", True, COUNTER, budget)
    reply = make_search(30)
    description: Any = renderer.render(reply).structured_content

    larger: Callable[..., Any] = reply.keep(description["totalMemories"] + 1).model_copy
    grown = Renderer("compact", True, COUNTER, 10**9).render(
        larger(update={"used_tokens": description["usedTokens"]})
    )

    assert measure(grown) > budget
