"""Programs on the TypeScript SDKs go on after a restart of the server."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.to_thread import run_sync

from tests.clients.installing import find_node, install
from tests.clients.programs.program import DRIVERS
from tests.support.listening import find_port, listen
from textrawl import Settings

pytestmark = [
    pytest.mark.anyio, pytest.mark.clients, pytest.mark.timeout(900),
    pytest.mark.usefixtures("uncovered"),
]  # fmt: skip

SDKS = {
    "v1": ("@modelcontextprotocol/sdk@1.32.2",),
    "v2": ("@modelcontextprotocol/client@2.4.0",),
}
FACT = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
STEPS: list[dict[str, Any]] = [
    {"name": "remember_fact", "arguments": FACT},
    {"name": "query_memory", "arguments": {"query": "tea"}},
    {"name": "forget_entity", "arguments": {"entityName": "Ada"}},
]


@pytest.mark.parametrize("version", SDKS)
async def test_a_program_goes_on_after_each_restart_of_the_server(
    version: str, settings: Callable[..., Settings], tmp_path: Path
) -> None:
    installed = await run_sync(install, "npm", SDKS[version])
    script = tmp_path / "restarts.mjs"
    script.write_bytes((DRIVERS / script.name).read_bytes())
    (tmp_path / "node_modules").symlink_to(installed / "node_modules")
    port, given = find_port(), settings(embedding_provider="none")
    command = [str(find_node().program), str(script), version, f"http://127.0.0.1:{port}/mcp"]
    answers = list[dict[str, Any]]()
    async with await anyio.open_process(command, stderr=None) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        lines = BufferedByteReceiveStream(program.stdout)
        try:
            for step in STEPS:
                async with listen(given, port=port):
                    await program.stdin.send(f"{json.dumps(step)}\n".encode())
                    answers.append(json.loads(await lines.receive_until(b"\n", 10_000)))
        finally:
            program.kill()

    assert answers == [{"failed": None, "error": False, "asked": asked} for asked in (0, 0, 1)], (
        answers
    )
