"""docs/toolsets.md: its examples run, its tables written from the code."""

import pytest
from mcp import Client

from tests.conftest import Connect
from tests.docs.test_readme import keep_up_to_date
from tests.support.pages import ROOT, rewrite_generated, rewrite_talks, write_table
from textrawl.server.definition_costs import write_definition
from textrawl.toolsets.catalogue import find_toolsets
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.anyio

PAGE = ROOT / "docs" / "toolsets.md"
COUNTER = choose_counter()
NINE = 9


def write_toolsets() -> str:
    rows = list[list[str]]()
    for toolset in find_toolsets().values():
        tools = [spec.build(structured=False) for spec in toolset.tools.values()]
        tokens = sum(
            COUNTER.count(write_definition(tool.name, tool.description, tool.parameters))
            for tool in tools
        )
        rows.append([f"`{toolset.name}`", str(len(tools)), f"{tokens:,}", toolset.purpose])
    return write_table(["toolset", "tools", "tokens", ""], rows)


def write_beyond() -> str:
    rows = list[list[str]]()
    for spec in list(find_toolsets()["graph"].tools.values())[NINE:]:
        tool = spec.build(structured=False)
        cost = COUNTER.count(write_definition(tool.name, tool.description, tool.parameters))
        sentence = tool.description.split(" Example:")[0]
        rows.append([f"`{tool.name}`", str(cost), sentence])
    return write_table(["tool", "tokens", "what it is for, as models read it"], rows)


async def test_the_page_about_toolsets_shows_what_they_answer_and_cost(connect: Connect) -> None:
    client = await connect(toolsets=["graph"])

    async def ask(name: str) -> Client:
        del name
        return client

    text = await rewrite_talks(PAGE.read_text(encoding="utf-8"), ask)
    written = rewrite_generated(text, {"toolsets": write_toolsets, "graph": write_beyond})

    keep_up_to_date(PAGE, written)
