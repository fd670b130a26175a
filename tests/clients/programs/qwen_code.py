"""Alibaba's Qwen Code."""

from pathlib import Path

from tests.clients.programs.program import Place, Program, locate_script, write_server


class QwenCode(Program):
    """Configured in ~/.qwen/settings.json, as `qwen mcp add -s user` does."""

    def configure(self, place: Place) -> None:
        """Write its settings: a key instead of a login, nothing sent home."""
        entry = write_server(place.server)
        if place.server.url:
            entry = {"httpUrl": place.server.url}
        place.write(".qwen/settings.json", {
            "mcpServers": {"textrawl": {**entry, "trust": True}},
            "security": {"auth": {"selectedType": "openai"}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False, "disableUpdateNag": True},
        })  # fmt: skip

    def locate(self, installed: Path) -> list[str]:
        """Return the command that is `qwen` in a shell."""
        return locate_script(installed, "@qwen-code/qwen-code/cli.js")

    def write_command(self, place: Place) -> list[str]:
        """Return the command for one prompt."""
        return [*super().write_command(place), "--yolo"]

    def write_environment(self, place: Place) -> dict[str, str]:
        """Add the stand-in's address."""
        return {
            **super().write_environment(place),
            "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{place.model}/v1",
            "OPENAI_MODEL": "stand-in",
        }  # fmt: skip


QWEN_CODE = QwenCode(
    "Qwen Code",
    "0.24.4",
    ("@qwen-code/qwen-code@0.24.4",),
    shows="both",
    instructions=True,
    user="cannot be asked",
    deferred=True,
)
