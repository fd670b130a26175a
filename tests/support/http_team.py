"""A server that tells who it takes its caller for, behind every guard that a real one has."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.mcpserver.context import Context
from starlette.requests import Request

from tests.conftest import Era
from textrawl.access.principal import Principal, Space
from textrawl.access.request import find_principal, find_request_id, find_space
from textrawl.errors import DatabaseUnavailable
from textrawl.server.http.application import build_http_app
from textrawl.server.http.authentication import Lookup
from textrawl.server.http.listening import listen, serve_app
from textrawl.server.http.metrics import Metrics
from textrawl.server.logs import request_id
from textrawl.settings import Settings, read_settings

ANA, BEN, ROOT = "trl_Ana", "trl_Ben", "trl_Root"
LATE, AWAY, METER = "trl_Late", "trl_Away", "trl_Meter"

ACCEPT = {"accept": "application/json, text/event-stream"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


def _enrol(token: int, actor: str, *scopes: str, **changes: Any) -> Principal:
    spaces = (Space(1, "team", frozenset(scopes)),)
    return Principal(b"", token, actor, 1, spaces, **changes)


PRINCIPALS = {
    ANA: _enrol(1, "ana", "read", "write"),
    BEN: _enrol(2, "ben", "read"),
    ROOT: _enrol(3, "root", "admin"),
    METER: _enrol(5, "meter", "metrics"),
    LATE: _enrol(4, "late", "read", expires_at=datetime.now(UTC) - timedelta(seconds=2)),
}


async def look_up(bearer: str) -> Principal | None:
    if bearer == AWAY:
        raise DatabaseUnavailable
    return PRINCIPALS.get(bearer)


@dataclass
class Team:
    """Where the server listens, and what it has counted; `opened` holds calls back."""

    port: int = 0
    metrics: Metrics = field(default_factory=lambda: Metrics(["introduce", "wait"]))
    opened: anyio.Event = field(default_factory=anyio.Event)
    waiting: int = 0
    cancelled: int = 0
    ready: str | None = None

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def mcp(self) -> str:
        return f"{self.root}/mcp"

    @asynccontextmanager
    async def connect(self, token: str, era: Era, path: str = "/mcp") -> AsyncGenerator[Client]:
        """An MCP client with a token."""
        async with (
            httpx2.AsyncClient(headers=bear(token), timeout=30) as http,
            Client(
                streamable_http_client(f"{self.root}{path}", http_client=http), mode=era
            ) as client,
        ):
            yield client

    async def check_readiness(self) -> tuple[bool, dict[str, object]]:
        return self.ready is None, {"status": self.ready or "ready"}


def bear(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def introduce(context: Context[Any, Any]) -> dict[str, str | None]:
    """Who the caller is."""
    request: Request | None = context.request_context.request
    assert request is not None
    principal = find_principal(request)
    return {
        "actor": principal.actor if principal else None,
        "space": find_space(request),
        "request": find_request_id(request),
        "logged": request_id.get(),
    }


def create_echo(team: Team) -> MCPServer[Any]:
    """A server with three tools that need no memory."""

    async def wait() -> str:
        """Waits until the test says so."""
        team.waiting += 1
        try:
            await team.opened.wait()
        except anyio.get_cancelled_exc_class():
            team.cancelled += 1
            raise
        return "done"

    async def report(context: Context[Any, Any]) -> str:
        """Begins its answer, then waits."""
        await context.report_progress(1)
        return await wait()

    server = MCPServer[Any]("echo")
    for tool in (introduce, wait, report):
        server.add_tool(tool)
    return server


@asynccontextmanager
async def gather(
    *,
    lookup: Lookup | None = look_up,
    **settings: Any,
) -> AsyncGenerator[Team]:
    """A team's server that listens; `settings` replace what is usual."""
    given: Settings = read_settings(**{"http_port": 0, **settings})
    team = Team()
    app = build_http_app(
        create_echo(team),
        given,
        lookup=lookup,
        metrics=team.metrics,
        check_readiness=team.check_readiness,
    )
    with listen("127.0.0.1", given.http_port) as listener:
        team.port = listener.getsockname()[1]
        async with anyio.create_task_group() as group:
            listener.listen()
            group.start_soon(serve_app, app, listener)
            yield team
            team.opened.set()
            group.cancel_scope.cancel()


def call(name: str, number: int = 2) -> dict[str, Any]:
    """A call of the legacy era."""
    params: dict[str, Any] = {"name": name, "arguments": {}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def call_modern(name: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Headers and body of a call of the 2026-07-28 era."""
    version = "2026-07-28"
    headers = {
        **ACCEPT, "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": name
    }  # fmt: skip
    body = call(name)
    body["params"]["_meta"] = {
        "progressToken": 1,
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    }
    return headers, body


async def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    with anyio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110 - another process wakes nobody
            await anyio.sleep(0.01)
