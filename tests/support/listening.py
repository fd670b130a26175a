"""Servers that listen: in this process, on a free port, until the test is over."""

import secrets
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio
import httpx2
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from textrawl import Settings, create_server
from textrawl.server.http.application import serve_http
from textrawl.server.http.metrics import Metrics


@dataclass(frozen=True)
class Address:
    """A server that listens; `stop` ends it."""

    port: int
    stop: Callable[[], None]

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def mcp(self) -> str:
        return f"{self.root}/mcp"


def find_port() -> int:
    """Return a free port below those that a system gives to whoever names none (from 32768 on)."""
    while True:
        port = 10_000 + secrets.randbelow(22_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


async def wait_for_answer(url: str) -> None:
    async with httpx2.AsyncClient() as http:
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.02)):
            with attempt:
                await http.get(url)


@asynccontextmanager
async def listen(settings: Settings, port: int | None = None) -> AsyncGenerator[Address]:
    """A server of `settings` in this process, which asks nobody for a token."""
    given = settings.model_copy(update={"http_port": port or find_port()})
    async with anyio.create_task_group() as group:
        address = Address(given.http_port, group.cancel_scope.cancel)

        async def serve() -> None:
            await serve_http(create_server(given), given, lookup=None, metrics=Metrics())

        group.start_soon(serve)
        await wait_for_answer(f"{address.root}/healthz")
        yield address
        group.cancel_scope.cancel()
