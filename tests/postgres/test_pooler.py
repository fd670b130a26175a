"""Everything through a real PgBouncer that nobody configured for textrawl."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
import httpx2
import psycopg
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.cli.test_serve import read_address
from tests.conftest import TOKEN, Connect, Databases, Era
from tests.support.commands import Launch, Run, launch, run, serve_over_stdio
from tests.support.folders import open_folder
from tests.support.pgbouncer import PoolMode, find_pgbouncer, run_pgbouncer
from tests.support.providers import EmbeddingServer
from textrawl import errors
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.postgres.database import Database
from textrawl.settings import read_foreign_environment

__all__ = ["launch", "run"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(find_pgbouncer() is None, reason="there is no pgbouncer on this machine"),
]

ANALYST_LOGIN = "ana_of_the_pooler"
FACT = {"entityName": "Ada", "entityType": "person", "observation": "plays the theremin"}

Pooled = Callable[[str], str]


@dataclass(frozen=True)
class Slept:
    sleep: float


@pytest.fixture(params=["transaction", "session"])
def mode(request: pytest.FixtureRequest) -> PoolMode:
    """How long PgBouncer lends a session."""
    return request.param


@pytest.fixture
def pooled(postgres: Databases, database: str, mode: PoolMode) -> Iterator[Pooled]:
    """Conninfo of the fresh database through PgBouncer, for a role."""
    users = [APP, OWNER, SUPERUSER, ANALYST_LOGIN]
    conninfo = postgres.cluster.dsn(APP, database)
    with open_folder() as folder, run_pgbouncer(folder, conninfo, mode, users) as url:
        yield lambda role: make_conninfo(url, user=role)


def add_sleep(conninfo: str) -> None:
    """Add a function that a server may call and that takes as long as it is asked to."""
    with psycopg.connect(conninfo, autocommit=True) as superuser:
        superuser.execute(
            "create function textrawl.sleep(seconds float) returns float language sql security "
            "definer as 'select $1 from pg_sleep($1)'; "
            "grant execute on function textrawl.sleep to textrawl_app"
        )


async def use_five_tools(client: Client) -> None:
    """Calls each often enough for a statement to be prepared, were it a direct connection."""
    tools = {tool.name for tool in (await client.list_tools()).tools}
    for number in range(7):
        name = f"Ada {number}"
        calls: dict[str, dict[str, Any]] = {
            "remember_fact": {**FACT, "entityName": name},
            "build_knowledge": {"facts": [{**FACT, "entityName": name, "observation": "is kind"}]},
            "relate_entities": {"fromEntity": name, "relation": "knows", "toEntity": "Ben"},
            "query_memory": {"query": "theremin", "entityName": name},
            "forget_entity": {"entityName": name, "confirm": True},
        }
        assert calls.keys() == tools
        for tool, arguments in calls.items():
            answer = await client.call_tool(tool, arguments)
            assert not answer.is_error, (tool, answer.content)


async def test_all_tools_answer_from_a_server_over_stdio(pooled: Pooled) -> None:
    async with Client(serve_over_stdio(pooled(APP))) as client:
        await use_five_tools(client)


async def test_all_tools_answer_from_a_server_over_http(pooled: Pooled, launch: Launch) -> None:
    process = launch("serve", "--http", "--port", "0", DATABASE_URL=pooled(APP))
    address = await anyio.to_thread.run_sync(read_address, process)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        await use_five_tools(client)


async def test_many_callers_at_once_mix_nothing_up(
    pooled: Pooled, connect: Connect, era: Era, owner: psycopg.Connection
) -> None:
    clients = [await connect(era, database_url=pooled(APP)) for _ in range(3)]

    async def tell(number: int) -> None:
        fact = {**FACT, "observation": f"owns thing {number}"}
        answer = await clients[number % 3].call_tool("remember_fact", fact)
        assert not answer.is_error, answer.content

    async with anyio.create_task_group() as group:
        for number in range(60):
            group.start_soon(tell, number)

    assert owner.execute("select count(*) from observation").fetchone() == (60,)


async def test_a_call_ends_at_its_time_limit_and_leaves_none_to_others(
    pooled: Pooled, postgres: Databases, database: str
) -> None:
    add_sleep(postgres.cluster.dsn(SUPERUSER, database))
    limited = Database(pooled(APP), timeout=0.5)
    await limited.open()
    try:
        assert await limited.call("sleep", Slept, seconds=0.0) == [Slept(0)]
        with pytest.raises(
            errors.DatabaseUnavailable, match="longer than TEXTRAWL_DATABASE_TIMEOUT"
        ):
            await limited.call("sleep", Slept, seconds=30.0)
        assert await limited.call("sleep", Slept, seconds=0.0) == [Slept(0)]
    finally:
        await limited.close()
    with psycopg.connect(pooled(APP), autocommit=True) as next_client:
        for name in ("statement_timeout", "lock_timeout"):
            shown = next_client.execute(sql.SQL("show {}").format(sql.Identifier(name)))
            assert shown.fetchone() == ("0",)
        assert next_client.execute("select name from pg_prepared_statements").fetchall() == []


async def test_calls_that_are_cancelled_do_not_end_it(
    pooled: Pooled, postgres: Databases, database: str
) -> None:
    add_sleep(postgres.cluster.dsn(SUPERUSER, database))
    impatient = Database(pooled(APP), timeout=30)
    await impatient.open()
    try:
        for number in range(20):
            with anyio.move_on_after(0.02 * number):
                await impatient.call("sleep", Slept, seconds=30.0)
        assert await impatient.call("sleep", Slept, seconds=0.0) == [Slept(0)]
    finally:
        await impatient.close()


async def test_a_model_is_changed_through_it(
    pooled: Pooled, connect: Connect, launch: Launch, owner: psycopg.Connection
) -> None:
    client = await connect(database_url=pooled(APP))
    await client.call_tool("remember_fact", FACT)
    with EmbeddingServer(dimensions=384) as provider:
        given = {"DATABASE_URL": pooled(OWNER), "OLLAMA_BASE_URL": provider.url}
        for words in (("start", "--provider", "ollama", "--model", "wide"), ("switch",)):
            changing = launch("embed", *words, **given)
            outcome = await anyio.to_thread.run_sync(changing.end)
            assert outcome.code == 0, outcome.err

    rows = owner.execute("select name, status from embedding_models()").fetchall()
    assert rows[-1] == ("ollama:wide", "active")
    assert owner.execute("select valid from vector_index(2)").fetchone() == (True,)
    assert owner.execute("select pid from vector_index_claim").fetchone() == (None,)


def test_a_database_is_brought_up_to_date_through_it(
    postgres: Databases, mode: PoolMode, run: Run
) -> None:
    with postgres.create() as database, open_folder() as folder:
        with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database)) as superuser:
            superuser.execute("create extension vector")
        conninfo = postgres.cluster.dsn(OWNER, database)
        with run_pgbouncer(folder, conninfo, mode, [OWNER]) as url:
            for text in ("Applied", "Up to date already"):
                outcome = run("migrate", DATABASE_URL=url)
                assert outcome.code == 0, outcome.err
                assert outcome.out.startswith(text)


def test_an_analyst_is_made_and_reads_through_it(
    pooled: Pooled, run: Run, owner: psycopg.Connection
) -> None:
    owner.execute("select remember_fact('Ada', 'person', 'plays the theremin')")
    words = ("analyst", "create", ANALYST_LOGIN, "--space", "default")
    try:
        made = run(*words, DATABASE_URL=pooled(SUPERUSER))
        assert made.code == 0, made.err
        question = "select content from memory_observations"
        seen = run_psql(pooled(SUPERUSER), "--as", ANALYST_LOGIN, "-Atc", question)
        assert seen.stdout == "plays the theremin\n", seen.stderr
        seen = run_psql(pooled(ANALYST_LOGIN), "-Atc", question)
        assert seen.stdout == "plays the theremin\n", seen.stderr
        changed = run_psql(pooled(ANALYST_LOGIN), "-c", "create temp table mine ()")
        assert "read-only transaction" in changed.stderr
    finally:
        owner.execute("update actor set role_name = null")
        with psycopg.connect(pooled(SUPERUSER), autocommit=True) as superuser:
            superuser.execute(f"drop role if exists {ANALYST_LOGIN}")


def test_an_owner_is_not_let_into_psql_where_nothing_would_keep_them_to_reading(
    pooled: Pooled,
) -> None:
    refused = run_psql(pooled(OWNER), "-c", "select 1")

    assert refused.returncode == 1
    assert "leads through a pooler" in refused.stderr
    assert "textrawl psql --as NAME" in refused.stderr


def run_psql(url: str, *words: str) -> subprocess.CompletedProcess[str]:
    """`textrawl psql` in a process of its own, since psql writes past Python."""
    return subprocess.run(
        [sys.executable, "-m", "textrawl", "psql", *words],
        env=read_foreign_environment() | {"DATABASE_URL": url},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


async def test_the_trail_is_followed_through_it(
    pooled: Pooled, launch: Launch, connect: Connect
) -> None:
    watching = launch("log", "--follow", "--json", DATABASE_URL=pooled(APP), ACCESS_TOKEN=TOKEN)
    client = await connect(database_url=pooled(APP))
    numbers = iter(range(1000))
    heard: list[str] = []

    def listen() -> None:
        assert watching.popen.stdout is not None
        heard.append(watching.popen.stdout.readline())

    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, listen)
        while not heard:  # it tells what happens after it began to look
            fact = {**FACT, "observation": f"owns thing {next(numbers)}"}
            await client.call_tool("remember_fact", fact)

    assert heard[0], watching.end().err
    assert json.loads(heard[0])["action"] == "remembered"


def test_content_leaves_and_comes_back_through_it(
    pooled: Pooled, run: Run, owner: psycopg.Connection, tmp_path: Path
) -> None:
    owner.execute("select remember_fact('Ada', 'person', 'plays the theremin')")
    exported = run("export", DATABASE_URL=pooled(OWNER))
    assert exported.code == 0, exported.err
    file = tmp_path / "memory.jsonl"
    file.write_text(exported.out, encoding="utf-8")
    owner.execute("select forget_entity('Ada')")

    imported = run("import", str(file), DATABASE_URL=pooled(OWNER))

    assert imported.code == 0, imported.err
    assert owner.execute("select content from observation").fetchall() == [("plays the theremin",)]


def test_a_backup_needs_a_session_of_its_own(
    pooled: Pooled, mode: PoolMode, run: Run, tmp_path: Path
) -> None:
    outcome = run("backup", str(tmp_path / "memory.dump"), DATABASE_URL=pooled(OWNER))

    if mode == "session":
        assert outcome.code == 0, outcome.err
    else:
        assert outcome.code == 1
        assert "use the address of Postgres itself" in outcome.err
    with psycopg.connect(pooled(OWNER)) as next_client:
        assert cast("tuple[str]", next_client.execute("show search_path").fetchone())[0] != ""
