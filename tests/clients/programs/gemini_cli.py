"""Google's Gemini CLI."""

from pathlib import Path

from tests.clients.programs.program import Place, Program, locate_script, write_server


class GeminiCli(Program):
    """Configured in ~/.gemini/settings.json, as `gemini mcp add -s user` does."""

    def configure(self, place: Place) -> None:
        """Write its settings: a key instead of a login, nothing sent home."""
        entry = write_server(place.server)
        if place.server.url:
            entry = {"httpUrl": place.server.url}
        place.write(".gemini/settings.json", {
            "mcpServers": {"textrawl": {**entry, "trust": True}},
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False, "disableUpdateNag": True},
            "ide": {"enabled": False},
        })  # fmt: skip
        folder = str(Path(place.work).resolve())
        place.write(".gemini/trustedFolders.json", {folder: "TRUST_FOLDER"})

    def locate(self, installed: Path) -> list[str]:
        """Return the command that is `gemini` in a shell."""
        return locate_script(installed, "@google/gemini-cli/bundle/gemini.js")

    def write_command(self, place: Place) -> list[str]:
        """Return the command for one prompt."""
        return [*super().write_command(place), "--yolo", "-m", "gemini-2.5-flash"]

    def write_environment(self, place: Place) -> dict[str, str]:
        """Add the stand-in's address."""
        return {
            **super().write_environment(place),
            "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": place.model,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }  # fmt: skip


GEMINI_CLI = GeminiCli(
    "Gemini CLI",
    "0.61.0",
    ("@google/gemini-cli@0.61.0",),
    shows="text",
    instructions=True,
    user="cannot be asked",
)
