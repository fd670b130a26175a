"""The hand-over of stdin and stdout from the thread of the start to the event loop."""

import os
import socket
from collections.abc import Callable

import anyio
import pytest
from mcp.server import MCPServer

from textrawl.server.early_reader import EarlyReader
from textrawl.server.stdio_session import serve_stdio

pytestmark = pytest.mark.anyio

GREETING = b'{"jsonrpc":"2.0","id":0,"result":{}}\n'


async def serve(early_reader: EarlyReader, ask: Callable[[], None]) -> None:
    """Serve until `ask` has closed the client's end."""
    early_reader.start()
    async with anyio.create_task_group() as group:
        early_reader.take_over()
        early_reader.unwritten += GREETING
        group.start_soon(serve_stdio, MCPServer("late"), early_reader)
        with anyio.fail_after(60):
            await anyio.to_thread.run_sync(ask, abandon_on_cancel=True)
    early_reader.output.close()


async def test_a_greeting_that_the_thread_left_unwritten_reaches_the_client() -> None:
    questions, ask = os.pipe()
    hear, answers = os.pipe()

    def read() -> None:
        assert os.read(hear, 1000) == GREETING
        os.close(ask)

    await serve(EarlyReader(questions, answers), read)
    for descriptor in (questions, hear, answers):
        os.close(descriptor)


async def test_a_socket_whose_client_leaves_without_reading_ends_the_server() -> None:
    server, client = socket.socketpair()
    with server:
        await serve(EarlyReader(server.fileno(), server.fileno()), client.close)
