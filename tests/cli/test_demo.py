"""`textrawl demo`: the real thing, twice."""

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.types import TextContent

from tests.conftest import Connect
from tests.support.commands import FACT, HELLO, Launch, Run
from textrawl.cli.demo import read_material, write_reply
from textrawl.connect.clients import find_command, find_script
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.environment import default_data_dir
from textrawl.tools.memory.entity_reply import EntityReply
from textrawl.tools.memory.search_replies import SearchReply
from textrawl.wire.token_counter import choose_counter

Postmasters = Callable[[], list[int]]

# The right answer to each question of the demonstration, in its order.
FIRST = [
    ("Andrew Kane (person)", "brought embeddings into Postgres by creating pgvector"),
    (
        "Andres Freund (person)",
        "uncovered the backdoor in the xz compression library in March 2024",
    ),
    (
        "Release cadence (preference)",
        "each major version receives fixes for five years, then one last update",
    ),
    (
        "Slonik (fact)",
        "the blue elephant of the logo; the word is Russian for a little elephant",
    ),
    (
        "PostgreSQL 18 (project)",
        "external: came out on 25 September 2025 with asynchronous I/O, so reads from disk need "
        "not wait one by one",
    ),
    (
        "BRIN (concept)",
        "works best on huge tables whose rows lie in natural order, for example by date",
    ),
    ("pgvector (project)", "adds a column type for embeddings and operators for their distance"),
]


def read_first(lines: str) -> tuple[str, str]:
    """The entity and the fact that an answer begins with."""
    entity, fact, *_ = lines.splitlines()
    return entity, re.sub(r"^\d+ ", "", fact)


@pytest.mark.slow
def test_it_works_twice_in_a_row_without_regard_to_settings(
    launch: Launch, home: Path, tmp_path: Path, postmasters: Postmasters
) -> None:
    foreign = {
        "DATABASE_URL": "postgresql://127.0.0.1:1/memory",
        "EMBEDDING_PROVIDER": "openai",
        "COMPACT_RESPONSES": "false",
    }
    (tmp_path / ".env").write_text("TEXTRAWL_DATABASE_URL=postgresql://127.0.0.1:1/memory", "utf-8")
    folder, material = home / "data", read_material()

    first = launch("demo", "--data-dir", str(folder), **foreign).end()
    second = launch("demo", "--data-dir", str(folder), **foreign).end()

    for outcome in (first, second):
        assert (outcome.code, outcome.err) == (0, "")
        flat = " ".join(outcome.out.split())
        assert [question for question in material.questions if question not in flat] == []
        assert f"\n{shlex.join(find_script())} connect " in outcome.out
        shown = outcome.out.partition("Connect a client")[0]
        assert max(map(len, shown.splitlines())) <= 80
    assert first.out.startswith("Stored 296 facts and 107 relations about PostgreSQL in ")
    assert second.out.startswith("Stored 0 facts and 0 relations about PostgreSQL in ")
    assert "296 facts and 107 relations exist from an earlier run" in " ".join(second.out.split())
    assert postmasters() == []
    look = f"TEXTRAWL_DATA_DIR={folder} {shlex.join(find_script())} explore"
    assert second.out.rstrip().endswith(look)
    assert anyio.run(ask_history, folder) == (
        ["ada", "ben", "codex"], ["default", "handbook", "team"], True, 7, 2, 1, 1, 0,
    )  # fmt: skip


async def ask_history(folder: Path) -> tuple[Any, ...] | None:
    """Return the counts of the history of a team, which is the second space of the demo."""
    async with run_embedded(folder) as cluster:
        with psycopg.connect(cluster.dsn(OWNER)) as owner:
            owner.execute("set search_path = textrawl, textrawl_content, public")
            return owner.execute(
                "select array(select distinct a.name from fact f join actor a on a.id = f.author_id"
                " join space s on s.id = f.space_id where s.name = 'team' order by 1),"
                " array(select name from space order by 1),"
                " (select now() - min(created_at) > interval '60 days' from fact),"
                " (select count(*) from fact where replaced_by is not null),"
                " (select count(*) from revision),"
                " (select count(*) from proposal where decision is null),"
                " (select count(*) from chunk), (select count(*) from embedding_pending)"
            ).fetchone()


def test_it_tells_scripts_everything(run: Run, data_dir: Path) -> None:
    outcome = run("demo", "--json", "--data-dir", str(data_dir))
    assert outcome.code == 0, outcome.err
    report = json.loads(outcome.out)

    material, counter = read_material(), choose_counter()
    assert report["stored"]["new_facts"] == report["stored"]["facts"] == len(material.facts)
    assert report["stored"]["new_relations"] == len(material.relations)
    assert [scene["asked"] for scene in report["scenes"][:6]] == material.questions
    for scene in report["scenes"]:
        cost = scene["cost"]
        assert cost["compact"] == counter.count(scene["text"])
        assert cost["lines"] < cost["compact"] < cost["pretty"]
        assert cost["compact"] < cost["verbose"]
    assert all(json.loads(scene["text"])["n"] == 3 for scene in report["scenes"][:6])
    assert [read_first(scene["lines"]) for scene in report["scenes"]] == FIRST
    assert len(json.loads(report["scenes"][6]["text"])["o"]) >= 5


@pytest.mark.anyio
async def test_what_it_counts_is_what_a_server_in_that_format_sends(connect: Connect) -> None:
    full = await connect()
    await full.call_tool("build_knowledge", {"facts": read_material().facts[:20]})
    for form in ("compact", "lines", "verbose"):
        other = await connect(compact_responses=form, structured_content="off")
        question = {"query": "who wrote the Postgres of Berkeley?", "limit": 3}
        look_up = {"entityName": "PostgreSQL"}

        asked, found = await ask_both(full, other, question)
        looked_up, profile = await ask_both(full, other, look_up)

        search = SearchReply.read(asked, str(question["query"]))
        counter = choose_counter()
        assert write_reply(search, form, counter) == found
        assert write_reply(EntityReply.model_validate(looked_up), form, counter) == profile


async def ask_both(
    full: Client, other: Client, arguments: dict[str, Any]
) -> tuple[dict[str, Any], str]:
    """Structured content of one and text of the other, once nothing changes in between.

    Upkeep may refresh the statistics that scores depend on.
    """
    before = None
    while True:
        [sent] = (await other.call_tool("query_memory", arguments)).content
        after = (await full.call_tool("query_memory", arguments)).structured_content
        if before is not None and before == after:
            assert isinstance(sent, TextContent)
            return before, sent.text
        before = after


@pytest.mark.slow
def test_a_memory_that_is_somebodys_own_is_left_alone(
    run: Run, launch: Launch, data_dir: Path
) -> None:
    server = launch("serve", DATA_DIR=data_dir)
    server.say(HELLO)
    server.hear()
    server.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    server.say(
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "remember_fact", "arguments": FACT},
        },
    )
    server.hear()
    server.end()

    outcome = run("demo", "--data-dir", str(data_dir))

    assert outcome.code == 1
    assert outcome.complaint == (
        f"{data_dir} holds a memory that is not the demonstration's (it has 'Ada'); nothing "
        "was stored. Choose another folder with --data-dir"
    )
    assert json.loads(run("stats", "--json", DATA_DIR=data_dir).out)["facts"] == 1


@pytest.mark.slow
def test_its_own_folder_of_another_version_is_set_aside_and_made_anew(
    run: Run, home: Path, data_dir: Path
) -> None:
    folder, own = data_dir.rename(home / "textrawl-demo"), {"DATA_DIR": home / "textrawl"}

    with start_blocking_portal() as portal:
        running = portal.wrap_async_context_manager(run_embedded(folder))
        with running as cluster:
            with psycopg.connect(cluster.dsn(OWNER)) as owner:
                owner.execute("update textrawl.migration set hash = repeat('0', 64)")
            used = run("demo", **own)
    refused = run("demo", "--json", "--data-dir", str(folder))
    outcome = run("demo", "--json", **own)

    assert (used.code, f"the memory in {folder} open" in used.complaint) == (1, True)
    assert (refused.code, "another text of" in refused.complaint) == (1, True)
    assert json.loads(outcome.out)["stored"]["new_facts"] == len(read_material().facts)
    assert f"The old one is {folder}-1." in outcome.err
    assert (home / "textrawl-demo-1").is_dir()


def test_the_folder_of_your_memory_is_never_taken(run: Run, home: Path) -> None:
    own = home / "memory"
    for folder in (default_data_dir(), own):
        outcome = run("demo", "--data-dir", str(folder), TEXTRAWL_DATA_DIR=own)

        assert outcome.code == 2
        assert "holds your own memory: choose another folder" in outcome.complaint


def test_a_folder_that_cannot_be_used_is_one_line(run: Run, home: Path) -> None:
    (home / "file").write_text("", encoding="utf-8")

    outcome = run("demo", "--data-dir", str(home / "file" / "data"))

    assert outcome.code == 1
    assert str(home / "file") in outcome.complaint
    assert "Set TEXTRAWL_DATA_DIR" in outcome.complaint


def test_the_command_it_shows_starts_this_installation() -> None:
    command = find_command()
    done = subprocess.run([*command, "--version"], cwd="/", capture_output=True, check=False)

    assert Path(command[0]).is_absolute()
    assert done.stdout.decode() == f"textrawl {version('textrawl')}\n"
    assert command[-2:-1] in ([], ["--env-file"])  # of the checkout
