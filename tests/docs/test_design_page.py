"""contributing/design.md: drawings show imports. A traced search enters only the listed modules."""

from collections.abc import Callable

import pytest
from mcp import Client

from tests.docs.imports import (
    PACKAGE,
    draw,
    find_reachable,
    name_module,
    read_imports,
    read_layers,
    reduce_graph,
)
from tests.docs.test_readme import keep_up_to_date
from tests.support.pages import ROOT, rewrite_generated
from tests.support.tracing import trace
from textrawl import Settings, create_server

PAGE = ROOT / "docs" / "contributing" / "design.md"
WALK = {
    "server.server": "checks who calls and what the caller may do",
    "wire.arguments": "repairs arguments of a wrong type",
    "tools.toolset": "passes the call to the tool",
    "tools.memory.query_memory": "the tool",
    "memory.facts": "calls the SQL functions",
    "memory.store": "has the database and the model",
    "models.local": "makes the vector of the query",
    "postgres.database": "runs search_memory(…)",
    "tools.memory.search_replies": "makes a reply from rows",
    "wire.replies": "writes the reply as text",
    "wire.token_counter": "counts the tokens of the text",
}
"""The modules to read if you want to follow a search. Each has a label that says what it does."""
MOST_ON_THE_WALK, MOST_ENTERED, MOST_AT_THE_TOP = 12, 20, 8
DRIVERS = {"cluster", "embedded", "postgres"}


def write_layers() -> str:
    return draw(reduce_graph(read_layers()))


def write_walk() -> str:
    graph = {
        module: find_reachable(read_imports(), module, WALK) & WALK.keys() - {module}
        for module in WALK
    }
    labels = {module: f"{module}<br/>{what}" for module, what in WALK.items()}
    return draw(reduce_graph(graph), labels)


def test_the_drawings_of_the_page_are_made_from_the_imports() -> None:
    writers = {"layers": write_layers, "walk": write_walk}
    keep_up_to_date(PAGE, rewrite_generated(PAGE.read_text(encoding="utf-8"), writers))


def test_no_package_imports_one_that_imports_it() -> None:
    layers = read_layers()
    rings = [name for name in layers if name in find_reachable(layers, name)]

    assert rings == []


def test_no_module_imports_one_that_imports_it() -> None:
    """Imports inside functions count: they only hide a circle."""
    modules = {name: others - {""} for name, others in read_imports().items()}
    del modules["__init__"]  # it only names what it loads on demand
    rings = [name for name in modules if name in find_reachable(modules, name)]

    assert rings == []


def test_few_modules_are_outside_of_a_package() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_AT_THE_TOP


def test_only_three_packages_import_psycopg() -> None:
    importing = {
        name_module(path).partition(".")[0]
        for path in PACKAGE.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(("import psycopg", "from psycopg"))
    }

    assert importing == DRIVERS


@pytest.mark.anyio
async def test_a_search_enters_few_modules_and_all_of_the_walk(
    settings: Callable[..., Settings],
) -> None:
    fact = {"entityName": "Ada", "entityType": "person", "observation": "prefers tea"}
    question = {"mode": "search", "query": "what does Ada like to drink"}
    async with Client(create_server(settings(embedding_provider="local"))) as client:
        await client.call_tool("remember_fact", fact)
    # The upkeep of a server that writes could run just then.
    reading = settings(embedding_provider="local", read_only=True)
    async with Client(create_server(reading)) as client:
        await client.call_tool("query_memory", question | {"query": "warm"})
        with trace() as found:
            await client.call_tool("query_memory", question)
    entered = set(found.modules)

    assert len(WALK) <= MOST_ON_THE_WALK
    assert WALK.keys() - entered == set()
    assert len(entered) <= MOST_ENTERED, " ".join(sorted(entered))
