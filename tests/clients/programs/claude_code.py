"""Anthropic's Claude Code."""

from pathlib import Path

from tests.clients.programs.program import Place, Program, locate_binary, write_server


class ClaudeCode(Program):
    """Configured by a file as .mcp.json, which `claude mcp add --scope project` writes."""

    def configure(self, place: Place) -> None:
        """Write its servers, and that its first questions were answered."""
        place.write("mcp.json", {"mcpServers": {"textrawl": write_server(place.server)}})
        place.write(".claude.json", {"hasCompletedOnboarding": True})

    def locate(self, installed: Path) -> list[str]:
        """Return the command that is `claude` in a shell."""
        return locate_binary(installed, "@anthropic-ai/claude-code", "claude")

    def write_command(self, place: Place) -> list[str]:
        """Return the command for one prompt."""
        return [
            *super().write_command(place),
            "--mcp-config", str(place.home / "mcp.json"), "--strict-mcp-config",
            "--allowedTools", "mcp__textrawl", "ToolSearch",
        ]  # fmt: skip

    def write_environment(self, place: Place) -> dict[str, str]:
        """Add the stand-in's address."""
        return {
            **super().write_environment(place),
            "ANTHROPIC_BASE_URL": place.model, "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
        }  # fmt: skip


CLAUDE_CODE = ClaudeCode(
    "Claude Code",
    "2.1.330",
    ("@anthropic-ai/claude-code@2.1.330",),
    shows="structured",
    instructions=True,
    user="says no by itself",
    deferred=True,
)
