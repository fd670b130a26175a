"""Configuration that connects a client to this installation."""

import json
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

_CHECKOUT = Path(__file__).resolve().parents[2]
_ENVIRONMENT = {"TEXTRAWL_STRUCTURED_CONTENT": "off"}


def write_snippets(console: Console) -> None:
    """Write the command for Claude Code, and the configuration for other clients."""
    command = find_command()
    claude = ["claude", "mcp", "add", "--scope", "user"]
    claude += [f"--env={name}={value}" for name, value in _ENVIRONMENT.items()]
    entry = {"command": command[0], "args": command[1:], "env": _ENVIRONMENT}
    console.print("\n[bold]Connect a client[/]. Its memory is new and has no facts of the demo.\n")
    console.print("Claude Code:")
    _write(console, shlex.join([*claude, "textrawl", "--", *command]))
    console.print("\nCodex, in ~/.codex/config.toml:")
    _write(console, _write_table(command))
    console.print("\nClaude Desktop, Cursor and others that read mcpServers:")
    _write(console, json.dumps({"mcpServers": {"textrawl": entry}}, indent=2))
    console.print(
        "\nWith TEXTRAWL_STRUCTURED_CONTENT=off an answer has only text. Otherwise it also has "
        "structured content, which is longer than the text. Clients such as Claude Code then show "
        "their model only the structured content."
    )


def _write_table(command: Sequence[str]) -> str:
    """Return the part of Codex's configuration that describes the server.

    By default, Codex waits one second for a server, or ten seconds for a required server. That is
    too short for the first start, which creates the database.
    """
    pairs = ", ".join(f"{name} = {json.dumps(value)}" for name, value in _ENVIRONMENT.items())
    return (
        f"[mcp_servers.textrawl]\ncommand = {json.dumps(command[0])}\n"
        f"args = {json.dumps(command[1:])}\nenv = {{ {pairs} }}\n"
        "required = true\nstartup_timeout_sec = 60"
    )


def find_command() -> list[str]:
    """Return the words of a command that starts the server from any folder and with any PATH."""
    if uv := _find_uv():
        # A client starts the server in the user's project. A `.env` there is for other programs.
        return [uv, "run", "--directory", str(_CHECKOUT), "textrawl"]
    script = Path(sys.executable).with_name("textrawl")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "textrawl"]


def _find_uv() -> str | None:
    """Return the path of uv if textrawl runs from a checkout that uv installed, else None."""
    if Path(sys.prefix).resolve() != _CHECKOUT / ".venv":
        return None
    own = _CHECKOUT / ".uv/bin/uv"
    return str(own) if own.is_file() else shutil.which("uv")


def _write(console: Console, text: str) -> None:
    # Write the text without line breaks, so that users can copy it.
    console.print(Text(text, style="cyan"), soft_wrap=True)
