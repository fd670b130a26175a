"""Scopes, spaces and row-level security of identity files."""

from typing import Any

import psycopg
import pytest
from mcp import Client
from psycopg.errors import InsufficientPrivilege
from psycopg.sql import SQL, Identifier

from tests.attacks.site import issue
from tests.conftest import Connect
from tests.support.tool_calls import read, read_error
from tests.toolsets.identity.conftest import Ask

pytestmark = pytest.mark.anyio

FILE = {"category": "custom", "filename": "garden.md"}
SNAPSHOT = {"snapshotId": "custom/garden_2026-05-12T09-30-00-000Z"}
TEXT = {**FILE, "content": "x"}
CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "identity_get_all": ({}, "read"),
    "identity_get_meta": ({}, "read"),
    "snapshot_list": ({}, "read"),
    "snapshot_get": (SNAPSHOT, "read"),
    "identity_write": (TEXT, "write"),
    "identity_append": (TEXT, "write"),
    "identity_prepend": (TEXT, "write"),
    "identity_set_meta": ({**FILE, "promptLabel": "g"}, "write"),
    "snapshot_create": ({}, "write"),
    "snapshot_restore": (SNAPSHOT, "write"),
    "identity_delete_custom": ({"filename": "garden.md"}, "forget"),
}


@pytest.fixture
def garden(owner: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """The default space with a file and a snapshot of it."""
    owner.execute("select write_identity('custom', 'garden.md', 'Roses.')")
    owner.execute("select create_snapshots(pinned => true, moment => '2026-05-12T09:30Z')")
    return owner


def look(owner: psycopg.Connection[Any]) -> list[Any]:
    """Everything that is stored of documents."""
    return [
        owner.execute(
            SQL("select t::text from {} t order by 1").format(Identifier(table))
        ).fetchall()
        for table in ("document", "document_version", "identity_snapshot", "event")
    ]


async def test_each_tool_needs_its_scope_and_changes_nothing_without_it(
    connect: Connect, garden: psycopg.Connection[Any]
) -> None:
    for held in ("read", "write", "forget", "admin"):
        token = issue(garden, "sam", "default", held)
        client = await connect(toolsets=["identity"], access_token=token)
        for tool, (arguments, needed) in CALLS.items():
            before = look(garden)
            result = await client.call_tool(tool, arguments)
            if needed == held:
                assert not result.is_error, (tool, result)
            else:
                title, fix = read_error(result)
                assert (title, f"scope {needed}" in fix) == ("Not allowed", True), tool
                assert look(garden) == before


async def test_a_section_is_changed_by_somebody_who_reads_and_writes(
    connect: Connect, garden: psycopg.Connection[Any]
) -> None:
    token = issue(garden, "sam", "default", "read", "write")
    client = await connect(toolsets=["identity"], access_token=token)
    for tool in ("identity_update_section", "identity_rewrite_section"):
        read(await client.call_tool(tool, {**TEXT, "section": "Beds"}))


async def test_each_space_has_an_identity_of_its_own(
    connect: Connect, owner: psycopg.Connection[Any], ask: Ask
) -> None:
    owner.execute("select create_space('other')")
    token = issue(owner, "sam", "other", "read", "write", "forget")
    other = await connect(toolsets=["identity"], access_token=token)
    await ask("identity_write", **FILE, content="mine")

    read(await other.call_tool("identity_write", {**FILE, "content": "theirs"}))
    [snapshot] = read(await other.call_tool("snapshot_create", {}))["snaps"]

    assert (await ask("identity_get_all"))["custom"][0]["c"] == "mine"
    assert (await ask("snapshot_list"))["snaps"] == []
    for tool in ("snapshot_get", "snapshot_restore"):
        assert (await _fail(ask, tool, snapshot)).startswith("There is no snapshot")


async def _fail(ask: Ask, tool: str, snapshot: str) -> str:
    with pytest.raises(AssertionError) as refused:
        await ask(tool, snapshotId=snapshot)
    return str(refused.value).partition('"err":"')[2]


def test_an_analyst_reads_only_the_files_of_granted_spaces(
    owner: psycopg.Connection[Any], garden: psycopg.Connection[Any], database_url: str
) -> None:
    del garden
    with psycopg.connect(database_url, autocommit=True) as server:
        assert server.execute("select * from textrawl.read_identity()").fetchall() == []
        for statement in (
            "select * from textrawl.document_version",
            "select * from textrawl.identity_snapshot",
            "select textrawl.keep_snapshot(null, 'manual', null, false, now(), null)",
        ):
            with pytest.raises(InsufficientPrivilege):
                server.execute(statement)  # pyright: ignore[reportArgumentType]


async def test_a_read_only_server_has_only_the_tools_that_read(connect: Connect) -> None:
    client: Client = await connect(toolsets=["identity"], read_only=True)
    names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == ["identity_get_all", "identity_get_meta", "snapshot_list", "snapshot_get"]
