"""tools/list has the tools that the scopes of its caller allow, and no others."""

from collections.abc import Callable, Sequence

import anyio
import psycopg
import pytest

from tests.attacks.site import Site, issue, open_site
from tests.attacks.test_null_characters import build
from tests.conftest import Connect
from tests.support.tool_calls import text_of
from textrawl import Settings
from textrawl.tools.catalogue import find_toolsets

pytestmark = pytest.mark.anyio

SCOPES = [
    ("read",), ("propose", "read"), ("write",), ("read", "write"), ("read", "write", "forget"),
    ("review",), ("admin",), ("metrics",),
]  # fmt: skip
NOT_ALLOWED = ("Not allowed", "Only proposals")
PROPOSING = {"revise_fact": {"pin": True}}
"""Arguments with which a tool that writes only proposes."""


@pytest.mark.parametrize(
    "toolset",
    [
        pytest.param(name, marks=() if name in ("memory", "graph") else pytest.mark.slow)
        for name in find_toolsets()
    ],
)
async def test_a_tool_is_listed_if_a_call_of_it_is_allowed(
    connect: Connect, owner: psycopg.Connection, toolset: str
) -> None:
    every = (await (await connect(toolsets=[toolset])).list_tools()).tools
    for scopes in SCOPES:
        token = issue(owner, "-".join(scopes), "default", *scopes)
        client = await connect(access_token=token, toolsets=[toolset], embedding_provider="none")
        listed = [tool.name for tool in (await client.list_tools()).tools]
        allowed: list[str] = []
        for tool in every:
            given = build(tool.input_schema) | PROPOSING.get(tool.name, {})
            answer = await client.call_tool(tool.name, given)
            refused = answer.is_error and text_of(answer).startswith(NOT_ALLOWED)
            allowed += [] if refused else [tool.name]
        assert {*allowed} <= {*listed}, scopes
        # Without `read`, the database refuses some calls that their own scope allows.
        assert listed == allowed or "read" not in scopes, scopes


async def list_names(site: Site, token: str) -> list[str]:
    answer = await site.ask(token, "tools/list", {})
    return [tool["name"] for tool in answer.json()["result"]["tools"]]


async def test_persons_of_one_server_get_lists_of_their_own(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    expected: dict[str, Sequence[str]] = {
        issue(owner, "ana", "default", "read"): ["query_memory"],
        issue(owner, "ben", "default", "read", "write"): [
            "query_memory", "remember_fact", "build_knowledge", "relate_entities"
        ],
        issue(owner, "cy", "default", "read", "forget"): ["query_memory", "forget_entity"],
    }  # fmt: skip
    async with open_site(settings()) as site:

        async def ask(token: str) -> None:
            for _ in range(5):
                assert await list_names(site, token) == expected[token]

        async with anyio.create_task_group() as group:
            for token in expected:
                group.start_soon(ask, token)
