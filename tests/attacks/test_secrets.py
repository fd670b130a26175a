"""Logs, metrics, probes and errors contain no stored text, also if something goes wrong."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from tests.attacks.site import Site, issue
from tests.attacks.test_long_arguments import list_calls
from tests.conftest import Connect
from tests.support.http_team import bear
from tests.support.listening import find_port, wait_for_answer
from tests.support.providers import EmbeddingServer, Fault
from textrawl.tools.catalogue import find_toolsets

pytestmark = pytest.mark.anyio

PASSWORD, KEY = "canary-password-7", "sk-canary-key-0123456789"
REMOVES = ("delete_", "forget", "clear_", "pop_", "memory_delete", "graph_node_delete", "gc")
STORED = "the admin password is Tulpe!4242xQ"
SAID, ASKED = "canary fact of the heart", "canary question of the night"


@pytest.fixture
def provider() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as provider:
        yield provider


async def drive(site: Site, token: str, provider: EmbeddingServer) -> list[str]:
    """All that a server says beside answers to members, through good days and bad ones."""
    fact = {"entityName": "Ada", "entityType": "person", "observation": SAID}
    for fault in (None, Fault.KEY_REFUSED, Fault.BAD_JSON):
        provider.heal()
        if fault is not None:
            provider.fail(fault)
        await site.call(token, "remember_fact", {**fact, "observation": f"{SAID} {fault}"})
        await site.call(token, "query_memory", {"query": f"{ASKED} {fault}"})
    wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
    bearers = (wrong, f"{token} {token}", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.", None)
    answers = [await site.call(bearer, "query_memory", {"query": ASKED}) for bearer in bearers]
    said = [answer.text for answer in answers]
    said.append((await site.call(token, "forget_entity", {"entityName": "Nobody"})).text)
    said.append((await site.http.get(f"{site.root}/mcp?access_token={token}")).text)
    for path in ("healthz", "readyz", "metrics"):
        said.append((await site.http.get(f"{site.root}/{path}", headers=bear(token))).text)
        said.append((await site.http.get(f"{site.root}/{path}")).text)
    return said


async def be_refused(site: Site, token: str, owner: psycopg.Connection) -> str:
    """Return the answer for a row that Postgres refuses with an error that repeats the row."""
    owner.execute(
        "alter table observation add check (content not like '%heart%') not valid",
    )
    fact = {"entityName": "Ada", "entityType": "person", "observation": SAID}
    return (await site.call(token, "remember_fact", fact)).text


def start(port: int, environment: dict[str, str], folder: Path) -> "subprocess.Popen[bytes]":
    # The log is a file: nobody reads while the server runs, and a full pipe would stop it.
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "textrawl", "serve", "--http", "--port", str(port)],
            env=os.environ | environment, cwd=folder, stderr=log,
        )  # fmt: skip


SCOPES = ("read", "write", "admin", "metrics")


@pytest.mark.parametrize("log_format", ["text", "json"])
@pytest.mark.slow
async def test_planted_secrets_appear_nowhere(
    owner: psycopg.Connection,
    database_url: str,
    provider: EmbeddingServer,
    tmp_path: Path,
    log_format: str,
) -> None:
    token, own = (issue(owner, name, "default", *SCOPES) for name in ("ana", "it"))
    port = find_port()
    environment = {
        "DATABASE_URL": make_conninfo(database_url, password=PASSWORD), "ACCESS_TOKEN": own,
        "EMBEDDING_PROVIDER": "openai", "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": provider.openai_url, "LOG_LEVEL": "DEBUG", "LOG_FORMAT": log_format,
    }  # fmt: skip
    with start(port, environment, tmp_path) as server:
        try:
            async with httpx2.AsyncClient(timeout=30) as http:
                site = Site(f"http://127.0.0.1:{port}", http)
                await wait_for_answer(f"{site.root}/healthz")
                said = await drive(site, token, provider)
                refused = await be_refused(site, token, owner)
        finally:
            server.terminate()
    logged = (tmp_path / "log").read_text("utf-8")

    assert "Internal error" in refused
    assert "INFO" in logged
    secrets = (token, own, PASSWORD, KEY, SAID, ASKED, "heart", "night")
    whole = "\n".join([logged, refused, *said])
    assert [secret for secret in secrets if secret in whole] == []


async def test_a_stored_password_is_masked_where_nobody_asked_for_it(connect: Connect) -> None:
    client = await connect(secrets="allow")
    fact = {"entityName": "Router", "entityType": "concept", "observation": STORED}
    await client.call_tool("remember_fact", fact)
    question = {"mode": "search", "query": "what is the password of the router?"}
    hook: Any = {"textrawl/program": {"version": version("textrawl"), "client": "textrawl hook"}}

    asked = await client.call_tool("query_memory", question)
    pushed = await client.call_tool("query_memory", question, meta=hook)
    digest = await client.read_resource("memory://space/default/digest")

    assert "Tulpe!4242" in asked.model_dump_json()
    for text in (pushed.model_dump_json(), digest.model_dump_json()):
        assert "the admin" in text
        assert "Tulpe" not in text


PLACES = ("namespace", "key", "instance", "instanceId")  # a changed one would not be found again
TABLES = (
    "select table_name from information_schema.tables"
    " where table_type = 'BASE TABLE' and table_schema = 'textrawl'"
    " and table_name <> 'instance'"  # sync_pull, which reads, keeps the name of its program there
)


@pytest.mark.parametrize("toolset", list(find_toolsets()))
async def test_every_tool_that_stores_texts_masks_what_looks_like_a_secret(
    connect: Connect, owner: psycopg.Connection, toolset: str
) -> None:
    client = await connect(toolsets=[toolset], embedding_provider="none")
    silent: list[str] = []
    for tool in (await client.list_tools()).tools:
        assert tool.annotations is not None
        for arguments in list_calls(tool, STORED):
            if STORED in str([arguments.get(name) for name in PLACES]):
                continue
            result = await client.call_tool(tool.name, arguments)
            told = "(masked)" in result.model_dump_json()
            if not (result.is_error or told or tool.annotations.read_only_hint):
                silent.append(tool.name)

    tables = [name for (name,) in owner.execute(TABLES).fetchall()]
    found = [
        name
        for name in tables
        if owner.execute(
            SQL("select from {} t where t::text like '%Tulpe!4242%' limit 1").format(
                Identifier("textrawl", name)
            )
        ).fetchall()
    ]
    assert len(tables) > 20
    assert found == []
    assert [name for name in silent if not name.startswith(REMOVES)] == []
