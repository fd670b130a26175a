"""Two other memory servers over stdio, installed from PyPI into environments of their own."""

import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_MEM0 = """\
import sys
from mcp.server import MCPServer
from mem0 import Memory

store = {"path": f"{sys.argv[1]}/vectors", "on_disk": True}
memory = Memory.from_config({
    "vector_store": {"provider": "qdrant", "config": store},
    "history_db_path": f"{sys.argv[1]}/history.db",
})
server = MCPServer("mem0")


@server.tool()
def add(text: str) -> dict:
    return memory.add(text, user_id="me")


@server.tool()
def search(query: str) -> dict:
    return memory.search(query, filters={"user_id": "me"})


server.run("stdio")
"""

# Neither sends anything: there is no provider at this address, and no telemetry.
_OFFLINE = {
    "HF_HUB_OFFLINE": "1", "MEM0_TELEMETRY": "False",
    "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
}  # fmt: skip


class Missing(Exception):
    """A package cannot be installed. The message is the reason."""


class OtherServer(NamedTuple):
    """The command of a server, and what it needs in its environment."""

    command: list[str]
    environment: Mapping[str, str]


def install_mem0(folder: Path) -> OtherServer:
    """Install mem0, which has no server of its own, behind the shortest one. Raises Missing."""
    python = _install(folder, "mem0ai>=2.2,<3", "mcp>=2.3,<3")
    return OtherServer([str(python), "-c", _MEM0, str(folder)], _OFFLINE)


def install_memory_service(folder: Path) -> OtherServer:
    """Install mcp-memory-service. Raises Missing."""
    python = _install(folder, "mcp-memory-service>=12.4,<13")
    own = {
        "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec", "MCP_MEMORY_BASE_DIR": str(folder / "memory"),
        "MCP_MEMORY_SQLITE_PATH": str(folder / "memory.db"),
    }  # fmt: skip
    return OtherServer([str(python.with_name("memory")), "server"], {**_OFFLINE, **own})


def _install(folder: Path, *packages: str) -> Path:
    """Return the Python of a new environment with these packages. Raises Missing."""
    venv.create(folder / "environment", with_pip=True)
    python = folder / "environment" / "bin" / Path(sys.executable).name
    command = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(done.stderr.strip().splitlines()[-1])
    return python


OTHERS = {
    "mem0 2.2 behind the shortest MCP server": install_mem0,
    "mcp-memory-service 12.4": install_memory_service,
}
