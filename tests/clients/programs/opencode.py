"""opencode."""

from pathlib import Path

from tests.clients.programs.program import PROMPT, Place, Program, Server, locate_binary
from tests.clients.script import Json


class Opencode(Program):
    """Configured in ~/.config/opencode/opencode.json."""

    def configure(self, place: Place) -> None:
        """Write its settings: a provider of models that is the stand-in."""
        place.write(".config/opencode/opencode.json", {
            "model": "standin/stand-in", "small_model": "standin/stand-in",
            "autoupdate": False, "share": "disabled",
            "provider": {"standin": {
                "npm": "@ai-sdk/openai-compatible", "name": "Stand-in",
                "options": {"baseURL": f"{place.model}/v1", "apiKey": "none"},
                "models": {"stand-in": {"name": "Stand-in", "tool_call": True}},
            }},
            "mcp": {"textrawl": _write_server(place.server)},
        })  # fmt: skip

    def locate(self, installed: Path) -> list[str]:
        """Return the command that is `opencode` in a shell."""
        return locate_binary(installed, "opencode", "bin/opencode")

    def write_command(self, place: Place) -> list[str]:
        """Return the command for one prompt."""
        return [*self.locate(place.installed), "run", PROMPT]

    def write_environment(self, place: Place) -> dict[str, str]:
        """Add that no list of models is fetched."""
        return {
            **super().write_environment(place),
            "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1",
        }  # fmt: skip


def _write_server(server: Server) -> Json:
    if server.url:
        return {"type": "remote", "url": server.url}
    command = [server.command, *server.arguments]
    return {"type": "local", "command": command, "environment": {**server.environment}}


OPENCODE = Opencode(
    "opencode",
    "1.18.33",
    ("opencode-ai@1.18.33",),
    shows="text",
    instructions=True,
    user="cannot be asked",
)
