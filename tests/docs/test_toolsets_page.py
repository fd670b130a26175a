"""docs/toolsets.md and the page of each toolset: examples run, tables come from the code."""

from functools import partial
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.docs.test_readme import keep_up_to_date
from tests.docs.week import write_week
from tests.support.pages import ROOT, rewrite_generated, rewrite_talks, write_table
from textrawl.server.definition_costs import write_definition
from textrawl.tools.catalogue import find_toolsets
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.anyio

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
