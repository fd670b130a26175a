"""How to connect a client to this very installation."""

import json
import shlex
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

_ENVIRONMENT = {"STRUCTURED_CONTENT": "off"}


def write_snippets(console: Console) -> None:
    """What to type for Claude Code, and the configuration that other clients take."""
    command = find_command()
    claude = ["claude", "mcp", "add", "--scope", "user"]
    claude += [f"--env={name}={value}" for name, value in _ENVIRONMENT.items()]
    entry = {"command": command[0], "args": command[1:], "env": _ENVIRONMENT}
    console.print("\n[bold]Connect a client[/], which gets a memory of its own, empty at first.\n")
    console.print("Claude Code:")
    _write(console, shlex.join([*claude, "textrawl", "--", *command]))
    console.print("\nClaude Desktop, Cursor and others that read mcpServers:")
    _write(console, json.dumps({"mcpServers": {"textrawl": entry}}, indent=2))
    console.print(
        "\nSTRUCTURED_CONTENT=off leaves the text alone: clients such as Claude Code show their "
        "model only the structured half where there are both, and that is not compact."
    )


def find_command() -> list[str]:
    """The words that start the server, whatever the client's PATH and folder are."""
    script = Path(sys.executable).with_name("textrawl")
    if script.is_file():
        return [str(script), "serve"]
    return [sys.executable, "-m", "textrawl", "serve"]


def _write(console: Console, text: str) -> None:
    # Never wrapped: it is there to be copied.
    console.print(Text(text, style="cyan"), soft_wrap=True)
