"""docs/toolsets.md: its examples run, its tables written from the code."""

from collections.abc import Iterable
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
from textrawl.tools.toolset import ToolSpec
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
    return write_tools(list(find_toolsets()["graph"].tools.values())[NINE:])


def write_decay() -> str:
    return write_tools(find_toolsets()["decay"].tools.values())


def write_mind() -> str:
    return write_tools(find_toolsets()["mind"].tools.values())


def write_journal() -> str:
    return write_tools(find_toolsets()["journal"].tools.values())


def write_identity() -> str:
    return write_tools(find_toolsets()["identity"].tools.values())


def write_sync() -> str:
    return write_tools(find_toolsets()["sync"].tools.values())


def write_corpus() -> str:
    return write_tools(find_toolsets()["corpus"].tools.values())


def write_curation() -> str:
    return write_tools(find_toolsets()["curation"].tools.values())


def write_entities() -> str:
    return write_tools(find_toolsets()["entities"].tools.values())


def write_review() -> str:
    return write_tools(find_toolsets()["review"].tools.values())


def write_stats() -> str:
    return write_tools(find_toolsets()["stats"].tools.values())


def write_tools(specs: Iterable[ToolSpec]) -> str:
    rows = list[list[str]]()
    for spec in specs:
        tool = spec.build(structured=False)
        cost = COUNTER.count(write_definition(tool.name, tool.description, tool.parameters))
        sentence = tool.description.split(" Example:")[0]
        rows.append([f"`{tool.name}`", str(cost), sentence])
    return write_table(["tool", "tokens", "what it is for, as models read it"], rows)


TABLES = {
    "toolsets": write_toolsets,
    "graph": write_beyond,
    "decay": write_decay,
    "mind": write_mind,
    "journal": write_journal,
    "identity": write_identity,
    "sync": write_sync,
    "corpus": write_corpus,
    "curation": write_curation,
    "entities": write_entities,
    "review": write_review,
    "stats": write_stats,
}


def create_graphs(owner: psycopg.Connection[Any]) -> None:
    owner.execute("select create_space('team')")
    owner.execute("select grant_access('ada', 'team', array['read', 'write'])")
    for name, tier in (("work", "public"), ("book-notes", "personal")):
        owner.execute("select create_space(%s, tier => %s)", (name, tier))
        owner.execute("select grant_access('ada', %s, array['read', 'write', 'forget'])", (name,))


async def test_the_page_about_toolsets_shows_what_they_answer_and_cost(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    create_graphs(owner)
    clients = {
        "compact": await connect(toolsets=["graph"]),
        "corpus": await connect(toolsets=["corpus"]),
        "curation": await connect(toolsets=["memory", "curation"]),
        "entities": await connect(toolsets=["memory", "entities"]),
    }

    async def ask(name: str) -> Client:
        return clients[name]

    text = await rewrite_talks(PAGE.read_text(encoding="utf-8"), ask)
    written = rewrite_generated(text, {**TABLES, "week": partial(write_week, owner)})

    keep_up_to_date(PAGE, written)
