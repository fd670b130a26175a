"""Nothing on the pages is out of date: examples run, tables come from the code, links lead.

UPDATE_PAGES=1 writes the pages anew instead of comparing them.
"""

import json
import os
import re
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from mcp import Client
from mcp.types import CallToolResult

from tests.conftest import Connect
from tests.support.installation import drop_preparation
from tests.support.pages import (
    PAGES,
    ROOT,
    describe_parameter,
    read_blocks,
    read_commands,
    rewrite_generated,
    rewrite_results,
    rewrite_talks,
    write_table,
)
from textrawl import __version__
from textrawl.embedded.postmaster import SUPERUSER
from textrawl.server.definition_costs import write_definition
from textrawl.tools.catalogue import find_toolsets
from textrawl.wire.replies import Key, Part, Renderer
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.anyio

FORMATS = ("lines", "compact", "verbose")
README, TOOLS, SQL = (ROOT / name for name in ("README.md", "docs/tools.md", "docs/sql.md"))
COUNTER = choose_counter()


def keep_up_to_date(page: Path, written: str) -> None:
    if os.environ.get("UPDATE_PAGES"):
        page.write_text(written, encoding="utf-8")
    assert written == page.read_text(encoding="utf-8"), "UPDATE_PAGES=1 writes the page anew"


async def load_demonstration(client: Client) -> list[str]:
    """Stores the demonstration as the demo does; returns its questions."""
    file = resources.files("textrawl.cli") / "postgresql.json"
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    facts, relations = data["facts"], data["relations"]
    for start in range(0, max(len(facts), len(relations)), 50):
        batch = {"facts": facts[start : start + 50], "relations": relations[start : start + 50]}
        result = await client.call_tool("build_knowledge", batch)
        assert not result.is_error, result.content
    return data["questions"]


def count_words(connection: psycopg.Connection) -> None:
    """Count the words as upkeep does every few seconds: scores depend on how rare words are."""
    connection.execute("select textrawl.refresh_search_statistics(force => true)")


def write_tools() -> str:
    """The tools of the default toolset, a row each, and what their definitions cost."""
    rows, tokens = list[list[str]](), 0
    for spec in find_toolsets()["memory"].tools.values():
        tool = spec.build(structured=False)
        sentence = tool.description.split(" Example:")[0].split(". ")[0].rstrip(".")
        hints = spec.annotations
        kind = "reads" if hints.read_only_hint else "deletes" if hints.destructive_hint else "adds"
        rows.append([f"`{tool.name}`", kind, sentence])
        tokens += COUNTER.count(write_definition(tool.name, tool.description, tool.parameters))
    table = write_table(["tool", "", "what it is for, as models read it"], rows)
    return f"{table}\n\nTheir definitions cost {tokens:,} tokens of a model's context (o200k)."


def write_parameters(name: str) -> str:
    """The parameters of a tool, a row each. Items of lists have those of other tools."""
    tool = find_toolsets()["memory"].every_tool[name].build(structured=False)
    properties, required = tool.parameters["properties"], tool.parameters.get("required", [])
    rows = [describe_parameter(key, schema, required) for key, schema in properties.items()]
    quoted = tool.description.replace(" Example:", "\n>\n> Example:")
    table = write_table(["parameter", "type", "default", "limits", ""], rows)
    return f"> {quoted}\n\n{table}"


async def write_costs(connect: Connect, question: str) -> str:
    """Tokens of the answer to one question in every format, for 3 and for 10 facts."""
    rows: dict[str, list[str]] = {name: [f"`{name}`"] for name in FORMATS}
    for limit in (3, 10):
        for structured in ("off", "full"):
            for name in FORMATS:
                client = await connect(compact_responses=name, structured_content=structured)
                asked = {"mode": "search", "query": question, "limit": limit}
                rows[name].append(str(_measure(await client.call_tool("query_memory", asked))))
    titles = ["tokens (o200k)", "3 facts", "3, structured too", "10 facts", "10, structured too"]
    return write_table(titles, list(rows.values()))


def _measure(result: CallToolResult) -> int:
    return Renderer("compact", structured=True, counter=COUNTER, budget=0).measure(result)


async def test_the_readme_shows_what_the_server_answers_and_what_it_costs(
    connect: Connect, owner: psycopg.Connection
) -> None:
    async def ask(name: str) -> Client:
        return await connect(compact_responses=name)

    [question, *_] = await load_demonstration(await connect())
    count_words(owner)
    costs = await write_costs(connect, question)

    text = await rewrite_talks(README.read_text(encoding="utf-8"), ask)
    writers = {"tools": write_tools, "costs": lambda: costs}
    written = rewrite_generated(text, writers)

    keep_up_to_date(README, written)


async def test_the_page_about_tools_shows_what_they_answer(
    connect: Connect, owner: psycopg.Connection
) -> None:
    clients = {name: await connect(compact_responses=name) for name in FORMATS}

    async def ask(name: str) -> Client:
        count_words(owner)
        return clients[name]

    text = await rewrite_talks(TOOLS.read_text(encoding="utf-8"), ask)
    tables = {
        name: lambda name=name: write_parameters(name)
        for name in find_toolsets()["memory"].every_tool
    }
    written = rewrite_generated(text, tables)

    keep_up_to_date(TOOLS, written)


async def test_every_statement_of_the_page_about_sql_runs(
    connect: Connect, postgres: Any, database: str
) -> None:
    await load_demonstration(await connect())
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database)) as connection:
        count_words(connection)
        text = rewrite_results(SQL.read_text(encoding="utf-8"), connection)
        tables = {name: lambda name=name: write_catalogue(connection, name) for name in CATALOGUE}
        written = rewrite_generated(text, tables)
        connection.execute("set local session authorization ana_psql")
        read = connection.execute("select count(*) from textrawl.memory_observations").fetchone()
        found = connection.execute("select * from textrawl.search_memory('pgvector')").fetchall()
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("select * from textrawl.forget_entity('pgvector')")
        connection.rollback()  # the analyst belongs to the page alone

    assert read is not None
    assert read[0] > len(found) > 0
    keep_up_to_date(SQL, written)


CATALOGUE = {
    "views": """
        select relname, obj_description(oid) from pg_class
        where relnamespace = 'textrawl'::regnamespace and relkind = 'v'
            and has_table_privilege('textrawl_analyst', oid, 'select')
        order by relname""",
    "functions": """
        select proname, obj_description(oid) from pg_proc
        where pronamespace = 'textrawl'::regnamespace and proname in
            ('search_memory', 'search_terms', 'describe_entity', 'list_entities', 'similar_names',
             'digest_memory', 'explain_search', 'memory_statistics', 'embedding_models',
             'pending_embeddings',
             'recall_costs', 'similar_to', 'entity_context', 'neighbours', 'path_between', 'as_of',
             'memory_diff', 'near_facts', 'memory_report', 'list_proposals')
        order by proname""",
}


def write_catalogue(connection: psycopg.Connection, name: str) -> str:
    """Views or functions with their comments, without examples and errors."""
    rows = connection.execute(CATALOGUE[name].encode()).fetchall()
    entries = [[f"`{key}`", re.split(" (?:Example|Errors):", comment)[0]] for key, comment in rows]
    return write_table([name[:-1], "what it is"], entries)


def test_every_link_leads_to_a_file() -> None:
    link = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")
    targets = [(page, target) for page in PAGES for target in link.findall(page.read_text("utf-8"))]
    assert len(targets) > 100
    assert [(page, to) for page, to in targets if not (page.parent / to).exists()] == []


def test_continuous_integration_runs_the_readmes_test_command() -> None:
    [command] = [line for line in read_commands(README) if "pytest" in line]
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")

    runs = [line for line in script.splitlines() if line.startswith((".ci/", ".uv/", "python3"))]
    slow = '-m "slow and not release"'
    assert runs == [
        ".ci/first",
        f"{command} || repeat_failed $?",
        f"{drop_preparation(command)} {slow} || repeat_failed $? {slow}",
    ]


def test_a_stage_passes_if_its_failed_tests_pass_alone_and_fails_if_they_fail_again(
    tmp_path: Path,
) -> None:
    function = re.search(
        r"^repeat_failed\(\) \{.*?^\}", (ROOT / ".ci/run").read_text(encoding="utf-8"), re.M | re.S
    )
    assert function is not None
    cache = tmp_path / ".pytest_cache/v/cache"
    cache.mkdir(parents=True)
    (tmp_path / ".uv/bin").mkdir(parents=True)
    for status, failed, alone in [(1, 1, 0), (1, 3, 0), (1, 1, 1), (1, 4, 0), (1, 0, 0), (2, 1, 0)]:
        (cache / "lastfailed").write_text(json.dumps(dict.fromkeys("abcd"[:failed], True)))
        program = tmp_path / ".uv/bin/uv"
        program.write_text(f"#!/bin/sh\nexit {alone}\n")
        program.chmod(0o755)
        script = f"stages=()\n{function[0]}\nrepeat_failed {status} -m slow"
        ended = subprocess.run(["bash", "-c", script], cwd=tmp_path, check=False)
        passes = status == 1 and 1 <= failed <= 3 and alone == 0
        assert (ended.returncode == 0) is passes, (status, failed, alone)


def test_the_first_stage_names_tests_that_are_there() -> None:
    script = (ROOT / ".ci/first").read_text(encoding="utf-8")
    named = re.findall(r"tests/[\w/]+\.py", script)

    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_the_changelog_begins_with_the_version_of_the_code() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[?([\d.]+)", changes, re.MULTILINE)[0] == __version__


def list_keys(value: Any) -> set[str]:
    """Every key in a JSON value."""
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value)
        return {*parts, *(key for part in parts.values() for key in list_keys(part))}
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return {key for item in items for key in list_keys(item)}


def find_short_keys() -> set[str]:
    """The short keys that the replies of the memory toolset declare."""
    find_toolsets()  # loads them
    parts, found = [Part], set[str]()
    while parts:
        part = parts.pop()
        parts += part.__subclasses__()
        if ".graph." not in part.__module__ and part.__module__.startswith("textrawl."):
            marks = [mark for field in part.model_fields.values() for mark in field.metadata]
            found |= {mark.name for mark in marks if isinstance(mark, Key)}
    return found


def read_legend() -> set[str]:
    """The short keys of the page about tools, and those at the end of the page of each toolset."""
    table = TOOLS.read_text(encoding="utf-8").split("## Short keys and lines")[1]
    keys = set(re.findall(r"^\| `(\w+)` \|", table.split("## Errors")[0], re.MULTILINE))
    for page in (ROOT / "docs" / "toolsets").glob("*.md"):
        _, _, legend = page.read_text(encoding="utf-8").partition("## Short keys\n")
        heads = re.findall(r"^- (`\w+`(?:, `\w+`)*):", legend, re.MULTILINE)
        keys |= {key for head in heads for key in re.findall(r"\w+", head)}
    return keys


def test_the_legends_have_every_short_key_and_no_other() -> None:
    declared, documented = find_short_keys(), read_legend()
    lines = [line for block in read_blocks(TOOLS) for line in block.body.splitlines()]
    shown = [list_keys(json.loads(line)) for line in lines if line.startswith('{"')]

    assert {"n", "c", "err"} <= declared
    assert declared | set[str]().union(*shown) <= documented
    assert documented - declared - set[str]().union(*shown) <= {"in", "like", "sp", "error"}
