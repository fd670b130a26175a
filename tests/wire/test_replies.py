"""Replies in their formats, and the lines that no text may imitate."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from mcp.types import TextContent
from pydantic import PrivateAttr

from textrawl.errors import QueryMissing
from textrawl.memory.fact_rows import EntityRow, HitRow, ListRow
from textrawl.tools.memory.entity_reply import EntityReply
from textrawl.tools.memory.search_replies import ListReply, SearchReply
from textrawl.wire.replies import Renderer, Reply
from textrawl.wire.token_counter import Counter, choose_counter

COUNTER = choose_counter()
JEFF, SETUP = UUID(int=1), UUID(int=2)
START = datetime(2026, 1, 5, 10, tzinfo=UTC)


def write(reply: Reply, form: Any, budget: int = 2_000) -> str:
    [block] = Renderer(form, True, COUNTER, budget).render(reply).content
    assert isinstance(block, TextContent)
    return block.text


def make_search() -> SearchReply:
    rows = [
        HitRow(
            UUID(int=9),
            owner,
            "default",
            name,
            kind,
            content,
            "conversation",
            START,
            START,
            "jeff",
            score,
        )
        for owner, name, kind, content, score in (
            (JEFF, "Jeff", "person", "prefers TypeScript over JavaScript", 0.92),
            (SETUP, "Development Setup", "preference", "dark mode enabled by default", 0.78),
            (JEFF, "Jeff", "person", "uses VS Code as primary editor", 0.7),
        )
    ]
    return SearchReply.build(rows, None, "preferences")


def test_a_list_has_a_total_in_lines_and_descriptions_in_structured_content() -> None:
    entities = [
        {"id": str(JEFF), "name": "Jeff", "entity_type": "person", "description": None,
         "space": "default", "updated_at": "2026-01-05T10:00:00+00:00"},
        {"id": str(SETUP), "name": "Acme Corp", "entity_type": "organization", "space": "default",
         "description": "maker of rockets", "updated_at": "2026-01-04T15:30:00+00:00"},
    ]  # fmt: skip
    reply = ListReply.build(ListRow(45, entities), 0)

    assert write(reply, "lines") == "45\nJeff (person)\nAcme Corp (organization)"
    assert reply.structured()["entityList"][1]["description"] == "maker of rockets"


def make_entity(total: int = 7) -> EntityReply:
    facts = [
        {"id": str(UUID(int=number)), "content": content, "source": "conversation",
         "confidence": 1, "author": "jeff", "space": "default",
         "created_at": f"2026-01-0{9 - number}T00:00:00+00:00"}
        for number, content in enumerate(
            ("prefers dark mode in IDEs", "uses TypeScript for most projects"))
    ]  # fmt: skip
    row = EntityRow(
        JEFF, "default", "Jeff", "person", None, facts, total,
        [{"relation_type": "works_at", "to_entity": "Acme Corp", "to_entity_type": "organization",
          "created_at": "2026-01-01T00:00:00+00:00"}],
        [{"relation_type": "manages", "from_entity": "Sarah", "from_entity_type": "person",
          "created_at": "2026-01-02T00:00:00+00:00"}], 2,
    )  # fmt: skip
    return EntityReply.build(row, with_relations=True)


def test_the_oldest_items_of_an_entity_go_first_and_more_does_not_count_them() -> None:
    whole = make_entity()
    assert whole.keep(2).compact() == {
        "t": "person",
        "o": ["prefers dark mode in IDEs", "uses TypeScript for most projects"],
        "more": 5,
        "cut": 2,
    }
    assert whole.keep(1).structured()["hasMore"] is True
    assert whole.keep(0).compact() == {"t": "person", "o": [], "more": 5, "cut": 4}
    assert whole.keep(-1).compact() == whole.keep(0).compact()  # it has no summary
    assert whole.keep(-2).compact() == {"o": [], "cut": 4}


def test_nothing_found_is_said_in_lines_too() -> None:
    assert write(SearchReply.build([], None, "x"), "lines") == "nothing found"
    assert write(SearchReply.build([], None, "x"), "compact") == '{"n":0,"e":[]}'
    assert write(EntityReply.report_missing([]), "lines") == "not found"
    assert (
        write(EntityReply.report_missing(["Jeff", "Jess"]), "lines")
        == "not found; like: Jeff, Jess"
    )


@pytest.mark.parametrize("form", ["compact", "lines", "verbose"])
def test_beside_structured_content_the_text_of_an_error_is_a_sentence(form: Any) -> None:
    result = Renderer(form, True, COUNTER, 2_000).render_error(QueryMissing())

    [block] = result.content
    assert isinstance(block, TextContent)
    assert block.text == "Missing query. Provide query."
    assert result.is_error
    assert result.structured_content is None


@pytest.mark.parametrize(("form", "lines"), [("compact", 1), ("lines", 1), ("verbose", 4)])
def test_an_error_is_text_alone(form: Any, lines: int) -> None:
    result = Renderer(form, False, COUNTER, 2_000).render_error(QueryMissing())

    [block] = result.content
    assert isinstance(block, TextContent)
    assert json.loads(block.text) == {"error": "Missing query", "fix": "Provide query"}
    assert len(block.text.splitlines()) == lines
    assert result.is_error
    assert result.structured_content is None


class Numbers(Reply):
    """Seven numbers, the best first."""

    numbers: list[int] | None
    used_tokens: int | None = None
    _all: list[int] = PrivateAttr(default_factory=lambda: list(range(7)))
    spared = (("numbers",),)

    def size(self) -> int:
        return 7

    def choose(self, count: int) -> "Numbers":
        return self.model_copy(update={"numbers": self._all[:count]})


@pytest.mark.parametrize("kept", [0, 2, 4])
def test_as_many_items_stay_as_fit(kept: int) -> None:
    renderer = Renderer("verbose", True, COUNTER, 2_000)
    whole = Numbers(numbers=list(range(7)))
    shortened = whole.keep(kept).model_copy(update={"used_tokens": 99})
    budget = renderer.measure(renderer.render(shortened))

    result = renderer.render(whole, budget)

    assert result.structured_content == {"numbers": list(range(kept)), "usedTokens": budget}


@pytest.mark.parametrize(("structured", "channels"), [(True, 2), (False, 1)])
def test_an_answer_that_fits_is_counted_once_a_channel(structured: bool, channels: int) -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return COUNTER.count(text)

    renderer = Renderer("lines", structured, Counter("noting", True, count), 2_000)
    written = renderer.write(make_search())

    assert len(counted) == channels
    assert written.tokens == sum(map(COUNTER.count, counted))
    assert (written.budget, written.items, written.dropped) == (2_000, 3, 0)


def test_what_was_cut_is_handed_on_with_its_cost() -> None:
    renderer = Renderer("compact", True, COUNTER, 2_000)

    written = renderer.write(make_search(), 100)

    answer: Any = written.content.build_result().structured_content
    assert written.tokens == answer["usedTokens"] <= written.budget == 100
    assert (written.items, written.dropped) == (answer["totalMemories"], answer["dropped"])
    assert written.items + written.dropped == 3


def test_a_budget_below_everything_spares_all_that_may_go() -> None:
    result = Renderer("compact", True, COUNTER, 2_000).render(Numbers(numbers=[0]), 1)

    answer: Any = result.structured_content
    assert answer.keys() == {"usedTokens"}


def test_close_names_that_do_not_fit_are_counted_as_cut() -> None:
    reply = EntityReply.report_missing(["Jeff", "Jess"])

    assert reply.keep(1).compact() == {"found": False, "like": ["Jeff"], "cut": 1}
    assert reply.keep(0).compact() == {"found": False, "cut": 2}
    assert EntityReply.report_missing([]).keep(0).compact() == {"found": False}
