"""OpenAI's Codex CLI."""

import json
from dataclasses import dataclass
from pathlib import Path

from tests.clients.programs.program import PROMPT, Place, Program, Server, locate_script


@dataclass(frozen=True)
class Codex(Program):
    """Configured in ~/.codex/config.toml, with the README's `required` and time limit."""

    required: bool = True

    def configure(self, place: Place) -> None:
        """Write its settings: a provider of models that is the stand-in."""
        place.write(
            ".codex/config.toml",
            f"""\
model = "stand-in"
model_provider = "standin"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.standin]
name = "Stand-in"
base_url = "{place.model}/v1"
wire_api = "responses"

[mcp_servers.textrawl]
{_write_server(place.server)}
required = {json.dumps(self.required)}
startup_timeout_sec = 60
""",
        )

    def locate(self, installed: Path) -> list[str]:
        """Return the command that is `codex` in a shell."""
        return locate_script(installed, "@openai/codex/bin/codex.js")

    def write_command(self, place: Place) -> list[str]:
        """Return the command for one prompt."""
        return [*self.locate(place.installed), "exec", "--skip-git-repo-check", PROMPT]


def _write_server(server: Server) -> str:
    if server.url:
        return f'url = "{server.url}"'
    pairs = [f"{name} = {json.dumps(value)}" for name, value in server.environment.items()]
    return (
        f"command = {json.dumps(server.command)}\nargs = {json.dumps(server.arguments)}\n"
        f"env = {{ {', '.join(pairs)} }}"
    )


CODEX = Codex(
    "Codex",
    "0.169.0",
    ("@openai/codex@0.169.0",),
    shows="structured",
    instructions=True,
    user="says no by itself",
)
