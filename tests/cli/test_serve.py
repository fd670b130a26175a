"""`textrawl serve` as clients meet it: a process, its streams, its end."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.support.commands import FACT, HELLO, PING, Launch, Run, read_address, wait_for
from tests.support.hosts import end_hosts, find_hosts, read_logs
from textrawl.cli.foreground import run_foreground
from textrawl.settings import read_foreign_environment
from textrawl.tools.catalogue import find_toolsets

pytestmark = pytest.mark.slow

Postmasters = Callable[[], list[int]]

TOOLS = ["query_memory", "remember_fact", "build_knowledge", "relate_entities", "forget_entity"]


def describe(*arguments: str, **environment: object) -> StdioServerParameters:
    values = {name: str(value) for name, value in environment.items()}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "textrawl", *arguments],
        env=read_foreign_environment() | values,
    )


@pytest.mark.anyio
@pytest.mark.parametrize("arguments", [[], ["serve"]], ids=["alone", "serve"])
async def test_a_client_that_starts_it_can_remember_and_recall(
    data_dir: Path, era: Any, arguments: list[str], postmasters: Postmasters
) -> None:
    async with Client(describe(*arguments, DATA_DIR=data_dir), mode=era) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        stored = await client.call_tool("remember_fact", FACT)
        found = await client.call_tool("query_memory", {"query": "who likes tea?"})

    assert tools == TOOLS
    assert not stored.is_error
    assert found.structured_content is not None
    assert found.structured_content["entities"][0]["entityName"] == "Ada"
    end_hosts(data_dir)
    assert postmasters() == []


def test_stdout_carries_answers_and_nothing_else(launch: Launch, data_dir: Path) -> None:
    process = launch("serve", DATA_DIR=data_dir, LOG_LEVEL="DEBUG")

    process.say(HELLO)
    answer = process.hear()
    outcome = process.end()

    assert (answer["id"], answer["result"]["serverInfo"]["name"]) == (1, "textrawl")
    assert (outcome.code, outcome.out) == (0, "")


def test_the_end_of_stdin_ends_it_and_its_host_stops_postgres_when_nobody_comes(
    launch: Launch, data_dir: Path, postmasters: Postmasters
) -> None:
    process = launch("serve", DATA_DIR=data_dir, HOST_IDLE=0.01)
    process.open()
    assert len(postmasters()) == 1

    outcome = process.end()

    assert (outcome.code, outcome.err) == (0, "")
    wait_for(lambda: not [*find_hosts(data_dir)])
    assert postmasters() == []
    assert read_logs(data_dir) == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_though_stdin_stays_open_and_its_host_goes_on(
    launch: Launch, data_dir: Path, postmasters: Postmasters, number: signal.Signals
) -> None:
    process = launch("serve", DATA_DIR=data_dir)
    process.open()

    outcome = process.end(number)
    [host] = find_hosts(data_dir)

    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert len(postmasters()) == 1
    host.send_signal(number)
    assert host.wait(60) is None or not host.is_running()
    assert postmasters() == []


def test_a_signal_while_postgres_starts_leaves_none_behind(
    launch: Launch, data_dir: Path, postmasters: Postmasters
) -> None:
    process = launch("serve", DATA_DIR=data_dir)
    wait_for(postmasters)

    outcome = process.end(signal.SIGTERM)
    end_hosts(data_dir)

    assert (outcome.code, outcome.out) == (0, "")
    assert postmasters() == []


def test_of_two_that_share_a_postgres_the_last_one_out_stops_it(
    launch: Launch, data_dir: Path, postmasters: Postmasters
) -> None:
    # With the same settings they would share the host too.
    first, second = (
        launch("serve", DATA_DIR=data_dir, HOST_IDLE=0.01, **more)
        for more in ({}, {"CLOSE_FACTS": "off"})
    )
    for process in (first, second):
        process.open()
    assert len([*find_hosts(data_dir)]) == 2

    assert first.end().code == 0
    wait_for(lambda: len([*find_hosts(data_dir)]) == 1)
    assert len(postmasters()) == 1
    assert second.end(signal.SIGTERM).code == 0
    wait_for(lambda: not [*find_hosts(data_dir)])
    assert postmasters() == []


def test_requests_may_come_from_a_file(data_dir: Path, tmp_path: Path) -> None:
    requests = tmp_path / "requests"
    requests.write_text(json.dumps(HELLO), encoding="utf-8")  # the last line need not end
    environment = read_foreign_environment() | {"DATA_DIR": str(data_dir)}

    with requests.open() as stdin:
        done = subprocess.run(
            [sys.executable, "-m", "textrawl"],
            stdin=stdin,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            env=environment,
        )

    assert json.loads(done.stdout)["id"] == 1


def test_a_long_request_in_many_pieces_is_read_whole(launch: Launch, data_dir: Path) -> None:
    process = launch("serve", DATA_DIR=data_dir)
    padded = {**HELLO, "params": {**HELLO["params"], "_meta": {"padding": "x" * 300_000}}}

    process.say(padded)

    assert process.hear()["id"] == 1
    assert process.end().code == 0


@pytest.mark.anyio
async def test_with_memory_off_no_postgres_is_made(home: Path) -> None:
    data_dir = home / "data"

    async with Client(describe(DATA_DIR=data_dir, ENABLE_MEMORY="off")) as client:
        tools = (await client.list_tools()).tools
        made = [one.name async for one in anyio.Path(data_dir).iterdir()]

    assert (tools, made) == ([], ["resident"])


def test_a_database_without_a_memory_is_refused_before_anything_is_served(
    launch: Launch, postgres: Any
) -> None:
    with postgres.create() as name:
        process = launch("serve", DATABASE_URL=postgres.cluster.dsn("textrawl_owner", name))
        process.say(HELLO)
        process.say(PING)
        outcome = process.end()

    reason = "This database has no memory yet: run `textrawl migrate`"
    assert (outcome.code, outcome.err) == (1, f"textrawl: {reason}\n")
    assert json.loads(outcome.out.splitlines()[-1])["error"]["message"].endswith(reason)


def test_an_unknown_toolset_is_refused(launch: Launch, home: Path) -> None:
    process = launch("serve", TOOLSETS="memory,poetry", DATA_DIR=home / "data")
    process.say(HELLO)
    outcome = process.end()

    assert outcome.code == 1
    known = ", ".join([*find_toolsets(), "all"])
    reason = f"TEXTRAWL_TOOLSETS: there is no toolset 'poetry'; known: {known}"
    assert outcome.err == f"textrawl: {reason}\n"


def test_an_address_that_others_can_reach_is_refused_before_postgres_is_started(
    run: Run, home: Path
) -> None:
    outcome = run("serve", "--http", "--host", "0.0.0.0", DATA_DIR=home / "data")  # noqa: S104

    assert outcome.code == 1
    assert outcome.complaint.startswith("TEXTRAWL_HTTP_HOST: other machines can reach 0.0.0.0")
    assert "set TEXTRAWL_PUBLIC_URL" in outcome.complaint
    assert list(home.iterdir()) == []


def test_without_tokens_no_address_that_others_can_reach_is_listened_on(
    run: Run, home: Path
) -> None:
    outcome = run(
        "serve",
        "--http",
        "--insecure",
        "--host",
        "0.0.0.0",  # noqa: S104
        DATA_DIR=home / "data",
        PUBLIC_URL="https://memory.example.com",
    )

    assert outcome.code == 1
    assert outcome.complaint.startswith("--insecure: other machines can reach 0.0.0.0")
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("option", [["--insecure"], ["--port", "1"], ["--host", "::1"]])
def test_options_of_http_need_http(run: Run, option: list[str]) -> None:
    outcome = run("serve", *option)

    assert outcome.code == 2
    assert "--host, --port and --insecure need --http" in outcome.complaint


@pytest.mark.parametrize(
    "url", ["memory.example.com", "https://memory.example.com/mcp", "https://a@b", "ftp://x", "*"]
)
def test_a_public_address_that_is_none_is_refused(run: Run, url: str) -> None:
    outcome = run("serve", "--http", PUBLIC_URL=url)

    assert outcome.code == 1
    assert outcome.complaint.startswith("Settings cannot be used: PUBLIC_URL must be an address")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.anyio
async def test_over_http_it_serves_until_a_signal_comes_and_then_stops_its_postgres(
    launch: Launch, data_dir: Path, era: Any, postmasters: Postmasters, number: signal.Signals
) -> None:
    process = launch("serve", "--http", "--insecure", "--port", "0", DATA_DIR=data_dir)
    address = read_address(process)

    async with Client(address, mode=era) as client:
        await client.call_tool("remember_fact", FACT)
        found = await client.call_tool("query_memory", {"query": "tea"})
    outcome = process.end(number)

    assert found.structured_content is not None
    assert found.structured_content["totalMemories"] == 1
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert postmasters() == []


def test_the_loop_of_a_server_is_uvloop() -> None:
    async def find_loop() -> str:
        return type(asyncio.get_running_loop()).__module__

    assert run_foreground(find_loop, use_uvloop=True) == "uvloop"
    assert run_foreground(find_loop).startswith("asyncio")


@pytest.mark.parametrize("level", ["DEBUG", "ERROR"])
def test_every_line_on_stderr_is_an_object_where_logs_are_json(launch: Launch, level: str) -> None:
    process = launch(
        "serve",
        "--http",
        "--insecure",
        "--port",
        "0",
        ENABLE_MEMORY="off",
        LOG_FORMAT="json",
        LOG_LEVEL=level,
    )
    assert process.popen.stderr is not None
    lines = [json.loads(process.popen.stderr.readline())]
    while not lines[-1]["message"].startswith("listens on "):
        lines.append(json.loads(process.popen.stderr.readline()))
    outcome = process.end(signal.SIGTERM)

    lines += [json.loads(line) for line in outcome.err.splitlines()]
    assert all({"time", "level", "logger", "message"} <= set(line) for line in lines)
    assert [line["level"] for line in lines][-1] == "NOTICE"
    warned = [line for line in lines if line["message"].startswith("--insecure: ")]
    assert [line["level"] for line in warned] == (["WARNING"] if level == "DEBUG" else [])


def test_a_database_that_is_away_is_told_without_its_password(launch: Launch, home: Path) -> None:
    process = launch(
        "serve",
        DATABASE_URL="postgresql://ana:canary@127.0.0.1:1/x",
        LOG_LEVEL="DEBUG",
        DATA_DIR=home,
    )
    process.open()
    outcome = process.end()
    log = read_logs(home)

    assert "textrawl WARNING The database cannot be reached yet" in log
    assert "canary" not in log + outcome.err


def test_a_port_that_is_taken_is_one_line_and_starts_no_postgres(
    launch: Launch, home: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        outcome = launch("serve", "--http", "--port", str(port), DATA_DIR=home / "data").end()

    assert outcome.code == 1
    assert outcome.complaint.startswith("TEXTRAWL_HTTP_PORT: ")
    assert f"127.0.0.1:{port}" in outcome.complaint
    assert outcome.complaint.endswith(": choose another with --port")
    assert not list(home.iterdir())


def test_no_process_of_its_own_outlives_the_host(launch: Launch, data_dir: Path) -> None:
    process = launch("serve", DATA_DIR=data_dir)
    process.open()
    [host] = find_hosts(data_dir)
    children = host.children(recursive=True)

    process.end()
    end_hosts(data_dir)

    assert [child for child in children if child.is_running()] == []
