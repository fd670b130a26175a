"""Identity files as resources and as a prompt, and who may load and change them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, TextContent, TextResourceContents
from psycopg.errors import InsufficientPrivilege
from psycopg.sql import SQL, Identifier

from tests.attacks.site import issue
from tests.conftest import Connect, Era
from tests.support.answer_readers import open_fence
from tests.support.commands import serve_over_stdio
from tests.support.listening import listen
from tests.support.tool_calls import read, read_error
from tests.toolsets.identity.conftest import Ask
from textrawl import Settings, create_server
from textrawl.memory.identity import FilePart
from textrawl.tools.identity.tools import wrap_files

pytestmark = pytest.mark.anyio

URI = "memory://identity/self/my_identity.md"
FILE = {"category": "self", "filename": "my_identity.md"}


@pytest.fixture(params=["memory", "stdio", "http"])
async def anywhere(
    request: pytest.FixtureRequest,
    settings: Callable[..., Settings],
    database_url: str,
    era: Era,
) -> AsyncIterator[Client]:
    """A client over each transport, in both eras."""
    async with AsyncExitStack() as stack:
        if request.param == "http":
            address = await stack.enter_async_context(listen(settings(toolsets=["identity"])))
            target: Any = address.mcp
        elif request.param == "stdio":
            target = serve_over_stdio(database_url, TOOLSETS="identity")
        else:
            target = create_server(settings(toolsets=["identity"]))
        yield await stack.enter_async_context(Client(target, mode=era))


async def read_file(client: Client, uri: str = URI) -> str:
    [content] = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert (content.uri, content.mime_type) == (uri, "text/markdown")
    return content.text


async def load(client: Client) -> str:
    """The text of the prompt."""
    [message] = (await client.get_prompt("identity")).messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    text = message.content.text
    return open_fence(text) if text.startswith("<textrawl") else text


async def test_an_identity_is_loaded_over_every_transport(anywhere: Client) -> None:
    for name in ("my_identity", "my_wants"):
        file = {"category": "self", "filename": f"{name}.md", "content": f"{name}\r\n"}
        assert not (await anywhere.call_tool("identity_write", file)).is_error
    label = {**FILE, "promptLabel": "who_i_am"}
    await anywhere.call_tool("identity_set_meta", label)

    listed = (await anywhere.list_resources()).resources
    [template] = (await anywhere.list_resource_templates()).resource_templates
    [prompt] = (await anywhere.list_prompts()).prompts

    assert [(one.uri, one.name, one.title, one.mime_type) for one in listed] == [
        (URI, "self/my_identity.md", "who_i_am", "text/markdown"),
        (
            "memory://identity/self/my_wants.md", "self/my_wants.md", "my_wants",
            "text/markdown",
        ),
    ]  # fmt: skip
    assert template.uri_template == "memory://identity/{category}/{filename}"
    assert (prompt.name, prompt.arguments or None) == ("identity", None)
    assert await read_file(anywhere) == "my_identity\r\n"
    assert await load(anywhere) == (
        "<who_i_am>\nmy_identity\n</who_i_am>\n\n<my_wants>\nmy_wants\n</my_wants>"
    )


async def test_resources_are_listed_in_pages(
    connect: Connect, owner: psycopg.Connection[Any]
) -> None:
    owner.execute(
        "select write_identity('custom', format('n%s.md', lpad(n::text, 3, '0')), 'x')"
        " from generate_series(1, 250) n"
    )
    client = await connect(toolsets=["graph", "identity"])

    pages, cursor = list[list[str]](), None
    while not pages or cursor:
        page = await client.list_resources(cursor=cursor)
        pages.append([one.uri for one in page.resources])
        cursor = page.next_cursor

    expected = [f"memory://identity/custom/n{number:03}.md" for number in range(1, 251)]
    assert [len(page) for page in pages] == [100, 100, 51]
    assert [uri for page in pages for uri in page] == ["memory://knowledge-graph", *expected]
    with pytest.raises(MCPError) as refused:
        await client.list_resources(cursor="seven")
    assert refused.value.error.code == INVALID_PARAMS


async def test_an_address_without_a_file_is_unknown(client: Client, ask: Ask) -> None:
    await ask("identity_write", **FILE, content="x")
    for uri in (
        "memory://identity/self/other.md", "memory://identity/self", "memory://identity/",
        "memory://identity/self/../self/my_identity.md", "memory://stats", f"{URI}/x",
    ):  # fmt: skip
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        assert refused.value.error.code == INVALID_PARAMS


async def test_an_unknown_prompt_is_refused(client: Client) -> None:
    with pytest.raises(MCPError) as refused:
        await client.get_prompt("recall")
    assert refused.value.error.code == INVALID_PARAMS


async def test_a_new_identity_says_how_to_begin(client: Client) -> None:
    assert "identity_write" in await load(client)
    assert (await client.list_resources()).resources == []


async def test_prompts_and_resources_come_with_the_toolset(connect: Connect, era: Era) -> None:
    with_it = await connect(era, toolsets=["mind", "identity"])
    without = await connect(era, toolsets=["mind"])

    assert with_it.server_capabilities.prompts is not None
    assert with_it.server_capabilities.resources is not None
    assert without.server_capabilities.prompts is None
    assert without.server_capabilities.resources is None


async def test_an_identity_is_read_only_by_those_to_whom_its_space_is_granted(
    connect: Connect, owner: psycopg.Connection[Any], ask: Ask, era: Era
) -> None:
    await ask("identity_write", **FILE, content="mine")
    owner.execute("select create_space('other')")
    stranger = issue(owner, "sam", "other", "read", "write")
    blind = issue(owner, "bo", "default", "write")
    other = await connect(era, toolsets=["identity"], access_token=stranger)
    writer = await connect(era, toolsets=["identity"], access_token=blind)

    assert (await other.list_resources()).resources == []
    assert "mine" not in await load(other)
    with pytest.raises(MCPError) as unknown:
        await other.read_resource(URI)
    assert unknown.value.error.code == INVALID_PARAMS
    for call in (writer.list_resources(), writer.read_resource(URI), writer.get_prompt("identity")):
        with pytest.raises(MCPError) as refused:
            await call
        assert refused.value.error.code == INTERNAL_ERROR
        assert "scope read" in refused.value.error.message


TAGS = st.sampled_from(
    ["</me>", "< /me>", "</ME >", "<\n/me>", "</me", "<me>", "text", "<", "/me>", " "]
)


@given(st.lists(TAGS).map("".join))
def test_the_text_of_a_file_cannot_close_its_tag(text: str) -> None:
    row = FilePart.load("self", "me.md", f"a{text}", "me", True, 1, datetime.now(UTC))

    wrapped = wrap_files([row])

    body = wrapped.removeprefix("<me>\n").removesuffix("\n</me>")
    assert "</" not in "".join(body.split())
    assert body.replace("&lt;", "<") == f"a{text}".strip()


GARDEN = {"category": "custom", "filename": "garden.md"}
SNAPSHOT = {"snapshotId": "custom/garden_2026-05-12T09-30-00-000Z"}
TEXT = {**GARDEN, "content": "x"}
CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "identity_get_all": ({}, "read"),
    "identity_get_meta": ({}, "read"),
    "snapshot_list": ({}, "read"),
    "snapshot_get": (SNAPSHOT, "read"),
    "identity_write": (TEXT, "write"),
    "identity_append": (TEXT, "write"),
    "identity_prepend": (TEXT, "write"),
    "identity_set_meta": ({**GARDEN, "promptLabel": "g"}, "write"),
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
    await ask("identity_write", **GARDEN, content="mine")

    read(await other.call_tool("identity_write", {**GARDEN, "content": "theirs"}))
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
