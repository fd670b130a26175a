"""The server around the tools: what it offers, refuses, records, and needs to start."""

import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, LiteralString

import anyio
import psycopg
import pytest
from mcp import Client, MCPError
from mcp.types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolResult,
    Implementation,
    TextContent,
)
from psycopg.conninfo import make_conninfo
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.conftest import ACTOR, Connect, Era
from tests.support.commands import serve_over_stdio
from tests.support.folders import open_folder
from tests.support.gateway import Gateway
from tests.support.listening import listen
from textrawl import Settings, create_server
from textrawl.access.principal import Directory, Principal
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import SUPERUSER, find_postmaster
from textrawl.errors import StartRefused
from textrawl.server.lifespan import open_app

pytestmark = pytest.mark.anyio

FACT = {"entityName": "Ada", "entityType": "person", "observation": "keeps a canary fact"}
WRITES = {
    "remember_fact": FACT,
    "build_knowledge": {"facts": [{**FACT, "observation": "writes long letters"}]},
    "relate_entities": {"fromEntity": "Ada", "relation": "knows", "toEntity": "Grace"},
    "forget_entity": {"entityName": "Grace", "confirm": True},
}

Transport = Literal["memory", "http", "stdio"]


def read(result: CallToolResult) -> str:
    [text] = result.content
    assert isinstance(text, TextContent)
    return text.text


class CountingDirectory(Directory):
    """Notes how often it is asked."""

    asked = 0

    async def find(self, credential: bytes | None) -> Principal | None:
        self.asked += 1
        return await super().find(credential)


async def test_who_calls_is_found_out_once_a_call(settings: Callable[..., Settings]) -> None:
    async with open_app(settings(embedding_provider="none")) as app:
        directory = CountingDirectory(app.store.database)
        app.identity = replace(app.identity, directory=directory)
        async with Client(create_server(settings(), app=app)) as client:
            for _ in range(2):
                await client.call_tool("query_memory", {"mode": "list"})

    assert directory.asked == 3  # and once for the list of tools, which the client asks for


async def test_instructions_say_when_to_use_the_memory_and_how_to_read_it(client: Client) -> None:
    text = client.instructions or ""
    assert "query_memory" in text
    assert "never as instructions" in text
    assert len(text.encode()) < 2048  # clients cut the rest


async def test_what_a_toolset_lacks_is_not_advertised_and_an_unknown_method(
    connect: Connect, era: Era
) -> None:
    mind = await connect(era, toolsets=["mind"])

    capabilities = mind.server_capabilities.model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    assert capabilities.pop("tools") == {"listChanged": False}
    assert not any(capabilities.values())
    for call in (
        mind.list_prompts, mind.list_resources, mind.list_resource_templates,
        partial(mind.get_prompt, "recall"), partial(mind.read_resource, "memory://stats"),
    ):  # fmt: skip
        with pytest.raises(MCPError) as refused:
            await call()
        assert refused.value.error.code == METHOD_NOT_FOUND


async def test_lists_come_in_one_order_and_say_how_long_they_may_be_kept(connect: Connect) -> None:
    first, second = await connect("auto"), await connect("auto")
    for name in ("list_tools", "list_prompts", "list_resource_templates", "list_resources"):
        one, other = [await getattr(client, name)() for client in (first, second)]
        assert one == other
        assert (one.ttl_ms, one.cache_scope) == (
            0 if name == "list_resources" else 300_000,
            "private",
        )


async def test_an_unknown_tool_is_a_protocol_error(client: Client) -> None:
    for name in ("drop_everything", "", "x" * 500, "query_memory\u202e"):
        with pytest.raises(MCPError) as caught:
            await client.call_tool(name, {})
        assert caught.value.error.code == INVALID_PARAMS


async def test_memory_that_is_off_says_how_to_turn_it_on_and_needs_no_database(
    connect: Connect, era: Era
) -> None:
    client = await connect(era, enable_memory=False, database_url="postgresql://nowhere.invalid/x")
    assert (await client.list_tools()).tools == []
    result = await client.call_tool("query_memory", {"mode": "list"})
    assert result.is_error
    assert "ENABLE_MEMORY=true" in read(result)


async def test_a_read_only_server_offers_no_tool_that_changes_anything(
    connect: Connect, era: Era, owner: psycopg.Connection
) -> None:
    client = await connect(era, read_only=True)
    assert [tool.name for tool in (await client.list_tools()).tools] == ["query_memory"]
    for tool, arguments in WRITES.items():
        result = await client.call_tool(tool, arguments)
        assert result.is_error
        assert "READ_ONLY" in read(result)
    await client.call_tool("query_memory", {"mode": "search", "query": "canary"})
    for table in ("observation", "event", "recall", "embedding_model"):
        assert owner.execute(f"select count(*) from {table}").fetchone() == (0,)  # noqa: S608 # pyright: ignore[reportArgumentType, reportCallIssue]


def test_an_unknown_toolset_is_refused_by_name(settings: Callable[..., Settings]) -> None:
    with pytest.raises(
        StartRefused, match="TEXTRAWL_TOOLSETS: there is no toolset 'magic'; known: memory"
    ):
        create_server(settings(toolsets=["memory", "magic"]))


async def test_a_defect_is_logged_without_content_and_told_without_a_traceback(
    client: Client, owner: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    owner.execute("alter table observation add check (content not like '%canary%')")
    result = await client.call_tool("remember_fact", FACT)
    assert result.is_error
    assert read(result).startswith("Internal error. ")
    assert "remember_fact failed: CheckViolation 23514" in caplog.text
    assert "canary" not in caplog.text + read(result)


@pytest.mark.ordinary("the schema of one Postgres is changed")
@pytest.mark.parametrize(
    ("change", "state"),
    [
        ("alter type origin add attribute former integer", "CannotCoerce 42846"),
        ("alter table entity rename column name to title", "UndefinedColumn 42703"),
    ],
)
async def test_a_schema_of_another_version_is_told_with_what_to_do(
    client: Client,
    owner: psycopg.Connection,
    caplog: pytest.LogCaptureFixture,
    change: LiteralString,
    state: str,
) -> None:
    owner.execute(change)
    result = await client.call_tool("remember_fact", FACT)
    assert result.is_error
    assert read(result).startswith("The schema of the database does not fit this version")
    assert "administrator to run `textrawl doctor`" in read(result)
    assert "retry once" not in read(result).lower()
    assert f"remember_fact failed: {state}" in caplog.text


@pytest.fixture(params=["memory", "http", "stdio"])
def transport(request: pytest.FixtureRequest) -> Transport:
    return request.param


@pytest.fixture
async def named(
    transport: Transport, era: Era, settings: Callable[..., Settings], database_url: str
) -> AsyncIterator[Client]:
    """A client that says who it is, through each transport and in each era."""
    who = Implementation(name="quill", version="7.1")
    async with AsyncExitStack() as stack:
        if transport == "http":
            target: Any = (await stack.enter_async_context(listen(settings()))).mcp
        elif transport == "stdio":
            target = serve_over_stdio(database_url)
        else:
            target = create_server(settings())
        yield await stack.enter_async_context(Client(target, mode=era, client_info=who))


async def test_every_write_records_who_wrote_it_when_and_through_what(
    named: Client, owner: psycopg.Connection
) -> None:
    for tool, arguments in WRITES.items():
        assert not (await named.call_tool(tool, arguments)).is_error
    events = owner.execute(
        "select a.name, client, tool, action, now() - at < interval '1 minute' "
        "from event join actor a on a.id = actor_id order by event.id"
    ).fetchall()
    me = ACTOR
    assert events == [
        (me, "quill 7.1", "remember_fact", "created", True),
        (me, "quill 7.1", "remember_fact", "remembered", True),
        (me, "quill 7.1", "build_knowledge", "remembered", True),
        (me, "quill 7.1", "relate_entities", "created", True),
        (me, "quill 7.1", "relate_entities", "related", True),
        (me, "quill 7.1", "forget_entity", "forgotten", True),
    ]
    for table in ("observation", "relation"):
        rows = owner.execute(
            f"select distinct a.name, client from {table} join actor a on a.id = author_id"  # noqa: S608 # pyright: ignore[reportArgumentType, reportCallIssue]
        ).fetchall()
        assert rows in ([(me, "quill 7.1")], [])
    assert owner.execute("select distinct tool from observation order by 1").fetchall() == [
        ("build_knowledge",),
        ("remember_fact",),
    ]


async def test_the_trail_holds_nothing_of_what_was_said(
    client: Client, owner: psycopg.Connection
) -> None:
    for arguments in (
        FACT,
        {**FACT, "source": "note"},
        {**FACT, "observation": "canary two", "replaces": "keeps a canary fact"},
    ):
        await client.call_tool("remember_fact", arguments)
    await client.call_tool("forget_entity", {"entityName": "Ada", "confirm": True})
    trail = str(owner.execute("select event::text from event").fetchall())
    assert trail.count("Ada") == trail.count("canary") == trail.count("letters") == 0
    actions = owner.execute("select action from event order by id").fetchall()
    assert [action for (action,) in actions] == [
        "created", "remembered", "updated", "replaced", "forgotten",
    ]  # fmt: skip


async def test_a_database_that_is_away_at_the_start_serves_once_it_is_there(
    connect: Connect, gateway: Gateway, era: Era
) -> None:
    await gateway.close()
    client = await connect(era, database_url=gateway.conninfo, database_timeout=1)
    with anyio.fail_after(60):
        result = await client.call_tool("query_memory", {"mode": "list"})
    assert result.is_error
    assert "Database unavailable. " in read(result)

    await gateway.open()
    async for attempt in AsyncRetrying(stop=stop_after_delay(60)):  # a second is little
        with attempt:
            assert not (await client.call_tool("remember_fact", FACT)).is_error


async def test_a_database_that_comes_later_and_does_not_fit_says_what_to_run(
    connect: Connect, gateway: Gateway, owner: psycopg.Connection
) -> None:
    owner.execute("update code set fingerprint = 'of another version'")
    await gateway.close()
    client = await connect(database_url=gateway.conninfo)
    await gateway.open()
    result = await client.call_tool("remember_fact", FACT)
    assert "textrawl migrate" in read(result)
    assert owner.execute("select count(*) from observation").fetchone() == (0,)


async def test_no_call_fails_because_postgres_was_restarted_before_it(
    connect: Connect, gateway: Gateway, era: Era
) -> None:
    client = await connect(era, database_url=gateway.conninfo)
    for number in range(5):
        fact = {**FACT, "observation": f"canary number {number}"}
        assert not (await client.call_tool("remember_fact", fact)).is_error
        await gateway.cut()
    result = await client.call_tool("query_memory", {"mode": "entity", "entityName": "Ada"})
    assert read(result).count("canary number") == 5


async def test_a_login_that_is_refused_keeps_the_server_from_starting(
    settings: Callable[..., Settings], database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = make_conninfo(database_url, user="nobody_here", password="sesame")
    with caplog.at_level(logging.DEBUG), pytest.raises(StartRefused) as caught:
        async with create_server(settings(database_url=url)).open():
            pass
    assert "nobody_here" in str(caught.value)
    assert "sesame" not in str(caught.value) + caplog.text


async def test_the_password_of_the_database_is_in_no_log_and_no_answer(
    connect: Connect, gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url = make_conninfo(gateway.conninfo, password="sesame")
    client = await connect(database_url=url, database_timeout=1)
    answers = [read(await client.call_tool("remember_fact", FACT))]
    await gateway.close()
    answers.append(read(await client.call_tool("query_memory", {"mode": "list"})))
    assert "Database unavailable" in answers[1]
    assert "sesame" not in caplog.text + str(answers)


@pytest.fixture
def memory_folder() -> Iterator[Path]:
    """The folder of an embedded Postgres. Name it first, so that it is removed last."""
    with open_folder() as folder:
        yield folder


async def test_two_servers_share_the_memory_of_one_folder(
    memory_folder: Path, connect: Connect
) -> None:
    one, two = [
        await connect(database_url=None, access_token=None, data_dir=memory_folder)
        for _ in range(2)
    ]
    await one.call_tool("remember_fact", FACT)
    found = await two.call_tool("query_memory", {"mode": "search", "query": "canary"})
    assert "keeps a canary fact" in read(found)


async def test_an_embedded_postgres_that_dies_is_started_again_for_those_who_use_it(
    memory_folder: Path, connect: Connect
) -> None:
    client = await connect(
        database_url=None, access_token=None, data_dir=memory_folder, database_timeout=60
    )
    await client.call_tool("remember_fact", FACT)
    postmaster = find_postmaster(memory_folder / "postgres-18")
    assert postmaster is not None
    os.kill(postmaster, 9)
    found = await client.call_tool("query_memory", {"mode": "search", "query": "canary"})
    if found.is_error:  # the call was under way when its connection broke
        found = await client.call_tool("query_memory", {"mode": "search", "query": "canary"})
    assert "keeps a canary fact" in read(found)


async def test_an_index_of_vectors_that_a_killed_build_left_comes_back_under_a_server(
    memory_folder: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textrawl.memory.embedded_opening._INDEX_INTERVAL", 0.1)
    client = await connect(database_url=None, access_token=None, data_dir=memory_folder)
    await client.call_tool("remember_fact", FACT)
    async with (
        run_embedded(memory_folder) as cluster,
        await psycopg.AsyncConnection.connect(cluster.dsn(SUPERUSER), autocommit=True) as superuser,
    ):
        left = await superuser.execute("""
            update pg_index set indisvalid = false
            where indexrelid = 'textrawl.embedding_1_vector_idx'::regclass returning indexrelid""")
        [broken] = await left.fetchall()

        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.05)):
            with attempt:
                made = await superuser.execute(
                    "select valid and to_regclass('textrawl.' || name)::oid <> %s"
                    " from textrawl.vector_index(1)",
                    broken,
                )
                assert await made.fetchone() == (True,)
