"""Files of a release, run as users run them: with uv, this Python, and nothing of the checkout."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from mcp import Client, StdioServerParameters

from textrawl.settings import read_foreign_environment

FIVE = ["query_memory", "remember_fact", "build_knowledge", "relate_entities", "forget_entity"]
_OURS = {"VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME"}


def build_environment(folder: Path, **more: str | Path) -> dict[str, str]:
    """The environment of a user whose memory is in `folder`."""
    kept = {name: value for name, value in read_foreign_environment().items() if name not in _OURS}
    own = {
        "UV_PYTHON": sys.executable,
        "TEXTRAWL_DATA_DIR": folder / "memory",
        "TEXTRAWL_EMBEDDING_PROVIDER": "local",
        **more,
    }
    return kept | {name: str(value) for name, value in own.items()}


def run(*words: str | Path, cwd: Path, env: Mapping[str, str]) -> str:
    """The output of a program that succeeds."""
    done = subprocess.run(
        words, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def try_server(command: str, arguments: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Store a fact through a server over stdio, and return the names of its tools."""
    server = StdioServerParameters(command=command, args=list(arguments), env=dict(env))
    fact = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
    async with Client(server) as client:
        listed = await client.list_tools()
        stored = await client.call_tool("remember_fact", fact)
    assert not stored.is_error
    return [tool.name for tool in listed.tools]
