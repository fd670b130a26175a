"""The page of toolsets shows what each of them costs and answers."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.docs.test_readme import keep_up_to_date
from tests.support.pages import ROOT, rewrite_generated, rewrite_talks, write_table
from textrawl.server.definition_costs import write_definition
from textrawl.tools.catalogue import find_toolsets
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.anyio

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
TEXTS = {
    "JWT": "Use JWT tokens for authentication in all new APIs",
    "standup": "The standup is at half past nine this week",
    "contract": "Remember: the contract with Acme ends in June",
}
STRENGTHS = {"JWT": 1.0, "standup": 1.0, "contract": 1.5}
TAGS = {"JWT": ["security", "jwt"], "standup": ["team"], "contract": ["acme"]}


class Week:
    """The memories by name, and the actions of the days."""

    def __init__(self, owner: psycopg.Connection[Any]) -> None:
        self._owner = owner
        self._ids: dict[str, Any] = {}

    def _ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._owner.execute(query, values).fetchall()  # pyright: ignore[reportArgumentType]

    def save(self, moment: datetime) -> None:
        for name, text in TEXTS.items():
            [(self._ids[name],)] = self._ask(
                "select memory_id from save_memory(to_jsonb(%s::text), tags => %s,"
                " strength => %s, moment => %s)",
                text,
                TAGS[name],
                STRENGTHS[name],
                moment,
            )

    def observe(self, moment: datetime) -> None:
        self._ask(
            "select reinforce_memories(array[%s], '{api,backend}', review => true, moment => %s)",
            self._ids["JWT"],
            moment,
        )

    def touch(self, moment: datetime) -> None:
        self._ask(
            "select reinforce_memories(array[%s], moment => %s)", self._ids["contract"], moment
        )

    def wait(self, moment: datetime) -> None:
        """Let time pass."""

    def collect(self, moment: datetime) -> None:
        self._ask(
            "select forget_faded(array(select memory_id from fading_memories(moment => %s)),"
            " moment => %s)",
            moment,
            moment,
        )

    def read_scores(self, moment: datetime) -> list[str]:
        rows = self._ask(
            "select observation_id, status, decay_score(use_count, last_used, strength,"
            " moment => %s) from retention",
            moment,
        )
        scores = {own: f"{score:.2f}" if kept == "active" else kept for own, kept, score in rows}
        return [scores[self._ids[name]] for name in TEXTS]


def write_week(owner: psycopg.Connection[Any]) -> str:
    """Play the week, and return the table of the scores after each day."""
    week = Week(owner)
    days: list[tuple[int, str, Callable[[datetime], None]]] = [
        (0, "`save_memory` saves the three memories", week.save),
        (
            1,
            "`observe_memory_usage`: JWT helped with `api`, `backend`: another domain",
            week.observe,
        ),
        (3, "`touch_memory`: contract", week.touch),
        (7, "nobody uses any of them", week.wait),
        (48, "still nobody: `gc` takes nothing", week.collect),
        (49, "the score of the standup is below 0.05: `gc` takes it", week.collect),
    ]
    rows = list[list[str]]()
    for day, story, act in days:
        moment = MONDAY + timedelta(days=day)
        act(moment)
        rows.append([str(day), story, *week.read_scores(moment)])
    return write_table(["day", "", *TEXTS], rows)


INDEX = ROOT / "docs" / "toolsets.md"
PAGES = sorted((ROOT / "docs" / "toolsets").glob("*.md"))
COUNTER = choose_counter()
NINE = 9


def write_toolsets() -> str:
    """The toolsets, a row each, with links to their pages."""
    rows = list[list[str]]()
    for toolset in find_toolsets().values():
        tools = [spec.build(structured=False) for spec in toolset.tools.values()]
        tokens = sum(
            COUNTER.count(write_definition(tool.name, tool.description, tool.parameters))
            for tool in tools
        )
        page = "tools.md" if toolset.name == "memory" else f"toolsets/{toolset.name}.md"
        link = f"[`{toolset.name}`]({page})"
        rows.append([link, str(len(tools)), f"{tokens:,}", toolset.purpose])
    return write_table(["toolset", "tools", "tokens", ""], rows)


def write_tools(name: str) -> str:
    """The tools of a toolset, a row each. The nine of the reference are described elsewhere."""
    specs = list(find_toolsets()[name].tools.values())[NINE if name == "graph" else 0 :]
    rows = list[list[str]]()
    for spec in specs:
        tool = spec.build(structured=False)
        cost = COUNTER.count(write_definition(tool.name, tool.description, tool.parameters))
        sentence = tool.description.split(" Example:")[0]
        rows.append([f"`{tool.name}`", str(cost), sentence])
    return write_table(["tool", "tokens", "what it is for, as models read it"], rows)


def create_graphs(owner: psycopg.Connection[Any]) -> None:
    owner.execute("select create_space('team')")
    owner.execute("select grant_access('ada', 'team', array['read', 'write'])")
    for name, tier in (("work", "public"), ("book-notes", "personal")):
        owner.execute("select create_space(%s, tier => %s)", (name, tier))
        owner.execute("select grant_access('ada', %s, array['read', 'write', 'forget'])", (name,))


def test_each_toolset_has_a_page_and_a_row_of_the_index() -> None:
    written = rewrite_generated(INDEX.read_text(encoding="utf-8"), {"toolsets": write_toolsets})

    assert {page.stem for page in PAGES} == set(find_toolsets()) - {"memory"}
    keep_up_to_date(INDEX, written)


async def test_the_page_of_each_toolset_shows_what_it_answers_and_costs(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    create_graphs(owner)
    clients = {"compact": await connect(toolsets=["graph"])}
    writers = {name: partial(write_tools, name) for name in find_toolsets()}

    async def ask(name: str) -> Client:
        """The client of a block with the name of a toolset, which also has the memory tools."""
        if name not in clients:
            clients[name] = await connect(toolsets=["memory", name])
        return clients[name]

    for page in PAGES:
        text = await rewrite_talks(page.read_text(encoding="utf-8"), ask)
        written = rewrite_generated(text, {**writers, "week": partial(write_week, owner)})
        keep_up_to_date(page, written)
