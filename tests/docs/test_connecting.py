"""What pages and `connect` say about connecting works: entries parse, commands start and answer."""

import json
import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import Tool
from tenacity import retry, stop_after_attempt

from tests.conftest import TOKEN, Databases
from tests.support.commands import Run, find_socket_folder
from tests.support.hosts import IDLE, note_folder
from tests.support.pages import PAGES, ROOT, read_blocks, read_commands
from tests.values.test_repository import make_repository
from textrawl.connect.clients import CLIENTS, OTHER, ClientProgram, LocalServer
from textrawl.connect.connection import write_entry
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.tools.catalogue import choose_tools

pytestmark = pytest.mark.anyio

CHECKOUT = "/path/to/textrawl"  # as the pages name it
ADDS = r"(claude|codex|gemini|copilot|qwen) mcp add "  # the snippets' test starts what is added
FIVE = ["query_memory", "remember_fact", "build_knowledge", "relate_entities", "forget_entity"]


@dataclass(frozen=True)
class Entry:
    """A server as a client's configuration names it: a command or an address."""

    where: str
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    url: str


def read_entries() -> list[Entry]:
    """Every server that `connect` writes, or in JSON, TOML and `mcp add` commands of the pages."""
    entries = [_read_written(client) for client in (*CLIENTS.values(), OTHER)]
    for page in PAGES:
        for block in read_blocks(page):
            entries += [
                _make_entry(page.name, definition)
                for definition in _parse(block.language, block.body)
            ]
        entries += [
            entry for line in read_commands(page) for entry in _read_addition(page.name, line)
        ]
    return entries


def _parse(language: str, body: str) -> Iterator[dict[str, Any]]:
    definition: dict[str, Any] = {}
    if language == "json":
        definition = json.loads(body)
    elif language == "toml":
        definition = tomllib.loads(body)
    for key in ("mcpServers", "servers", "mcp_servers", "mcp", "context_servers"):
        yield from definition.get(key, {}).values()


def _read_written(client: ClientProgram) -> Entry:
    server = LocalServer((f"{CHECKOUT}/.venv/bin/textrawl",))
    [addition] = client.list_additions(server, client.find_file())
    language = "toml" if client.format == "toml" else "json"
    [definition] = _parse(language, write_entry(addition))
    return _make_entry(client.name, definition)


def _make_entry(where: str, definition: dict[str, Any]) -> Entry:
    program: Any = definition.get("command", [])  # opencode has the arguments in the same list
    words: list[str] = (
        [program, *definition.get("args", [])] if isinstance(program, str) else program
    )
    pairs: dict[str, str] = definition.get("env", definition.get("environment", {}))
    return Entry(where, tuple(words), tuple(pairs.items()), definition.get("url", ""))


def _read_addition(where: str, line: str) -> Iterator[Entry]:
    if line.startswith("claude mcp add --transport http "):
        yield Entry(where, (), (), line.rsplit(maxsplit=1)[-1])
    elif re.match(ADDS, line):
        options, command = re.split(r" -- | textrawl (?=/)", line, maxsplit=1)
        pairs = re.findall(r"(?:--env|-e)[ =](\w+)=(\S+)", options)
        yield Entry(where, tuple(shlex.split(command)), tuple(pairs), "")


ENTRIES = read_entries()
OURS = ("TEXTRAWL_DATABASE_URL", "TEXTRAWL_ACCESS_TOKEN")  # those of a snippet give way to ours
COMMANDS = sorted(
    {
        (entry.command, tuple(pair for pair in entry.environment if pair[0] not in OURS))
        for entry in ENTRIES
        if entry.command
    }
)


@pytest.fixture
def environment(database_url: str) -> dict[str, str]:
    """The environment of a client, with a database of the test's own."""
    note_folder(find_socket_folder())
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    ours = dict(zip(OURS, (database_url, TOKEN), strict=True))
    place = {"TEXTRAWL_DATA_DIR": find_socket_folder()}
    return {**kept, **ours, **place, **IDLE, "HF_HUB_OFFLINE": "1"}


def place(words: Sequence[str]) -> list[str]:
    """Return a command of the pages as it is on this machine."""
    [program, *arguments] = [word.replace(CHECKOUT, str(ROOT)) for word in words]
    return [str(ROOT / program), *arguments]


def test_the_readme_has_a_command_for_every_client_and_an_entry_for_others() -> None:
    commands = [f".venv/bin/textrawl connect {name}" for name in CLIENTS]
    entries = {entry.where: entry for entry in ENTRIES if not entry.where.endswith(".md")}

    assert [line for line in read_commands(ROOT / "README.md") if line in commands] == commands
    assert entries.keys() == {*CLIENTS, OTHER.name}
    [others, over_http] = [entry for entry in ENTRIES if entry.where == "README.md"]
    assert others == replace(entries[OTHER.name], where="README.md")
    assert over_http.url


@pytest.mark.parametrize(
    ("command", "given"),
    COMMANDS,
    ids=[" ".join(name for name, _ in env) or "plain" for _, env in COMMANDS],
)
async def test_the_command_of_every_snippet_starts_and_lists_its_tools(
    command: tuple[str, ...], given: tuple[tuple[str, str], ...], environment: dict[str, str]
) -> None:
    [program, *arguments] = place(command)
    settings = {**dict(given), **environment}
    server = StdioServerParameters(command=program, args=arguments, env=settings, cwd=ROOT.anchor)

    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        answer = await client.call_tool("query_memory", {"mode": "list"})

    chosen = choose_tools(settings.get("TEXTRAWL_TOOLSETS", "memory").split(","))
    always = [name for name, spec in chosen.items() if spec.refuse is None]
    assert [tool.name for tool in tools] == always
    assert [*chosen][: len(FIVE)] == FIVE
    whole = settings.get("TEXTRAWL_STRUCTURED_CONTENT") != "off"
    assert all((tool.output_schema is not None) == whole for tool in tools)
    assert (answer.structured_content is not None) == whole
    assert not answer.is_error


@retry(stop=stop_after_attempt(3), reraise=True)
async def list_tools(url: str) -> list[Tool]:
    """The tools; asked again where the machine has too much else to do for the client's taste."""
    with anyio.fail_after(30):
        async with Client(url) as client:
            return (await client.list_tools()).tools


async def test_the_address_of_every_snippet_is_the_one_that_http_listens_on(
    environment: dict[str, str],
) -> None:
    command = place((".venv/bin/textrawl", "serve", "--http", "--insecure", "--port", "0"))
    async with await anyio.open_process(command, env=environment) as process:
        assert process.stderr is not None
        text = await BufferedByteReceiveStream(process.stderr).receive_until(b"/mcp", 10_000)
        url = text.decode().split()[-1] + "/mcp"
        tools = await list_tools(url)
        process.terminate()

    assert [tool.name for tool in tools] == FIVE
    usual = re.sub(r":\d+/", ":8000/", url)
    public = "https://memory.example.com/mcp"
    assert {entry.url for entry in ENTRIES if entry.url} == {usual, public}


_PREPARED = "python3 -m venv .uv && .uv/bin/pip install -q uv && .uv/bin/uv run "
ELSEWHERE = {
    f"{_PREPARED}textrawl demo": "test_newcomer; tests/cli/test_demo.py",
    f"{_PREPARED}--group dev pytest": "test_newcomer; .ci/run",
    ".ci/first": ".ci/run",
    ".venv/bin/pytest -m slow": ".ci/run",
    ".venv/bin/textrawl serve --http --insecure": "the test above",
    ".venv/bin/textrawl serve --http --port 8000 --insecure": "the test above",
    ".venv/bin/ruff format && .venv/bin/ruff check": "test_linters",
    ".venv/bin/pyright": "test_linters",
    "UPDATE_PAGES=1 .venv/bin/pytest tests/docs/test_readme.py": "test_readme, but for the writing",
    ".uv/bin/uv build --wheel && .uv/bin/uvx --from dist/*.whl textrawl demo": "test_wheel",
    ".venv/bin/python deploy/mcpb/build.py bundle": "test_release, test_bundle",
}
ASKS = r".venv/bin/textrawl cost \""  # there is no memory here yet: tests/cli/test_cost.py
READS = r".venv/bin/textrawl (psql|analyst|stats --html) ?"  # tests/cli/test_analyst_commands.py
# tests/docs/test_scale_page.py
SCALES = r"pg_(basebackup|ctl) |psql -d textrawl -c \"select citus_|TEXTRAWL_DATABASE_URL="
OWN = r"psql -d postgres |TEXTRAWL_DATABASE_URL='|sudo "  # tests/docs/test_own_postgres.py
DOCUMENTS = (
    r".venv/bin/textrawl (space create handbook|ingest|import docs)\b"  # test_programs_of_pages.py
)
CONNECTS = r".venv/bin/textrawl (connect|disconnect) ?"  # tests/connect; it changes files
# test_commands_page.py
DAILY = r".venv/bin/textrawl (search|show|remember|revise|entity|forget|me|pin) "
# tests/docs/test_curation_page.py
ACTORS = r".venv/bin/textrawl (token create|space create|grant set) (--actor )?(scout|ben|ana)"
COMPOSE = r"docker compose |\(umask |git pull$"  # no engine here: test_compose, test_team_pages
CLUSTER = r"kubectl "  # no cluster here: test_kubernetes.py
EXPLORES = r".venv/bin/textrawl explore$"  # it does not end: tests/explorer
TRIED = "|".join(
    (ASKS, ACTORS, EXPLORES, ADDS, CONNECTS, READS, OWN, SCALES, DOCUMENTS, DAILY, COMPOSE, CLUSTER)
)


def test_no_page_expects_uv_on_the_path_or_installs_into_a_guarded_python() -> None:
    lines = {line for page in [*PAGES, ROOT / "CONTRIBUTING.md"] for line in read_commands(page)}
    starts = [part.split()[0] for line in lines for part in line.split(" && ")]

    assert [word for word in starts if word in {"uv", "uvx", "pip", "pip3", "python"}] == []
    assert [command for command, _ in COMMANDS if not command[0].startswith(("/", "docker"))] == []


def find_commands(program: str) -> list[str]:
    """Commands of the pages with a program that no other test runs."""
    lines = {line for page in [*PAGES, ROOT / "CONTRIBUTING.md"] for line in read_commands(page)}
    tried = {line for line in lines if line in ELSEWHERE or re.match(TRIED, line)}
    return sorted(line for line in lines - tried if line.startswith(program))


def run_program(
    words: Sequence[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """A command of the pages, run in the checkout."""
    return subprocess.run(
        place(words),
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_every_command_of_the_pages_that_runs_tests_finds_some(environment: dict[str, str]) -> None:
    for line in find_commands(".venv/bin/pytest"):
        words = shlex.split(line, comments=True)
        # Folders with tests for each option, because collecting all tests takes long.
        [folder] = {"clients", "frameworks"}.intersection(words) or {"toolsets/memory"}

        done = run_program([*words, "--collect-only", f"tests/{folder}"], environment)

        assert done.returncode == 0, (line, done.stderr + done.stdout)


def test_every_other_command_of_the_pages_succeeds(
    environment: dict[str, str], run: Run, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("TEXTRAWL_SPACE=team\n", encoding="utf-8")  # for `trust .`
    make_repository(tmp_path, "https://github.com/acme/api")  # for `here`
    (tmp_path / "src").mkdir()
    (tmp_path / "src/parse.py").write_text("line\n" * 60)  # for `remember --at`
    for line in find_commands(".venv/bin/textrawl"):
        outcome = run(*shlex.split(line, comments=True)[1:], **environment)
        assert outcome.code == 0, (line, outcome.err + outcome.out)
    for line in find_commands(f"{CHECKOUT}/.venv/bin/textrawl"):
        done = run_program(shlex.split(line, comments=True), environment)
        assert done.returncode == 0, (line, done.stderr + done.stdout)


def test_the_tests_above_know_the_program_of_every_command() -> None:
    programs = (f"{CHECKOUT}/.venv/bin/textrawl", ".venv/bin/textrawl", ".venv/bin/pytest")
    assert [line for line in find_commands("") if not line.startswith(programs)] == []


def test_a_team_is_told_what_migrate_lacks_and_then_gets_its_schema(
    run: Run, postgres: Databases
) -> None:
    with postgres.create() as name:
        owner, superuser = (postgres.cluster.dsn(role, name) for role in (OWNER, SUPERUSER))
        refused = run("migrate", DATABASE_URL=owner)
        done = run("migrate", DATABASE_URL=superuser)
        with psycopg.connect(superuser) as connection:
            row = connection.execute("select count(*) from textrawl.migration").fetchone()

    assert refused.code == 1
    assert "`create extension vector` in this database as a superuser" in refused.err
    assert done.code == 0, done.err
    assert row is not None
    assert row[0] > 0


def test_the_container_is_given_what_it_copies_and_runs_as_nobody_special() -> None:
    recipe = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    context = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    copied = [
        word
        for line in re.findall(r"^COPY (.+) \S+$", recipe, re.MULTILINE)
        for word in line.split()
    ]

    assert copied
    assert [
        name for name in copied if not (ROOT / name).exists() or f"!{name}" not in context
    ] == []
    assert "ENCRYPTION_KEY=file:/data/" in recipe  # in the volume, as the memory
    assert re.search(r"^USER 1000:1000$", recipe, re.MULTILINE)
    assert re.search(r'^ENTRYPOINT \["tini", "--", "textrawl"\]$', recipe, re.MULTILINE)
