"""What each program says of textrawl after `textrawl connect`: a row of the table each."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.clients.catalogue import (
    CLAUDE_CODE,
    CODEX,
    COPILOT_CLI,
    GEMINI_CLI,
    OPENCODE,
    QWEN_CODE,
)
from tests.clients.programs.program import Program
from tests.support.pages import write_table
from textrawl.connect.clients import CLIENTS


@dataclass(frozen=True)
class Case:
    """A program, its names, and what it says of a server that is connected.

    `file` has some content before. `asks` is whether the program talks to the server for its
    answer. The others say only that they know it.
    """

    name: str
    command: str
    program: Program
    file: str
    content: str
    words: Sequence[str]
    says: str
    asks: bool = True


_USER = "0123456789abcdef" * 4  # Claude Code makes a user up and writes it, unless there is one
_KNOWN = f'{{"hasCompletedOnboarding": true, "userID": "{_USER}"}}'
_LIST = ("mcp", "list")
_COMMENTED = '{\n  // mine\n  "mcpServers": {}\n}\n'
CASES = [
    Case("claude-code", "claude", CLAUDE_CODE, ".claude.json", _KNOWN,
         ("mcp", "get", "textrawl"), r"Status: \S+ Connected"),
    Case("codex", "codex", CODEX, ".codex/config.toml", '# mine\r\nmodel = "x" # the best\r\n',
         ("mcp", "get", "textrawl"), r"enabled: true", asks=False),
    Case("gemini-cli", "gemini", GEMINI_CLI, ".gemini/settings.json", _COMMENTED, _LIST,
         r"textrawl: .* - Connected"),
    Case("opencode", "opencode", OPENCODE, ".config/opencode/opencode.jsonc",
         '{\n\t// mine\n\t"share": "disabled",\n}', _LIST, r"textrawl \S*connected"),
    Case("copilot-cli", "copilot", COPILOT_CLI, ".copilot/mcp-config.json", _COMMENTED,
         ("mcp", "get", "textrawl"), r"Status: Enabled", asks=False),
    Case("qwen-code", "qwen", QWEN_CODE, ".qwen/settings.json", _COMMENTED, _LIST,
         r"textrawl: .* - Connected"),
]  # fmt: skip

_TOKENS = {
    "command": "a command that prints it",
    "file": "a reference to its file",
    "reference": "a reference to an environment variable",
}


def write_results() -> str:
    """Return the table of the page: what the tests of these programs found."""
    titles = ["command", "version", "the program's own command", "it says", "a token over HTTP"]
    return write_table(titles, [_write_row(case) for case in CASES])


def _write_row(case: Case) -> list[str]:
    said = "that it is connected" if case.asks else "that it knows the server; it does not try it"
    words = f"`{case.command} {' '.join(case.words)}`"
    token = _TOKENS[CLIENTS[case.name].credential_way]
    return [f"`connect {case.name}`", case.program.version, words, said, token]
