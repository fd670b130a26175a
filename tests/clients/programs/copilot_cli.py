"""GitHub's Copilot CLI, with a model of one's own."""

from pathlib import Path

from tests.clients.programs.program import Place, Program, locate_script, write_server


class CopilotCli(Program):
    """Configured in ~/.copilot/mcp-config.json, as `copilot mcp add` does."""

    def configure(self, place: Place) -> None:
        """Write its servers."""
        entry = {"type": "local", **write_server(place.server), "tools": ["*"]}
        place.write(".copilot/mcp-config.json", {"mcpServers": {"textrawl": entry}})

    def locate(self, installed: Path) -> list[str]:
        """Return the command that is `copilot` in a shell."""
        return locate_script(installed, "@github/copilot/npm-loader.js")

    def write_command(self, place: Place) -> list[str]:
        """Return the command for one prompt."""
        return [*super().write_command(place), "--allow-all-tools", "--no-color"]

    def write_environment(self, place: Place) -> dict[str, str]:
        """Add the stand-in's address."""
        return {
            **super().write_environment(place),
            "COPILOT_PROVIDER_BASE_URL": f"{place.model}/v1", "COPILOT_MODEL": "stand-in",
            "COPILOT_OFFLINE": "true",
        }  # fmt: skip


COPILOT_CLI = CopilotCli(
    "Copilot CLI",
    "1.0.102",
    ("@github/copilot@1.0.102",),
    shows="both",
    instructions=False,
    user="says no by itself",
)
