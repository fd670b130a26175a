"""Every client that `textrawl connect` knows, in the order of its list.

The places and shapes were checked in November 2026. For Claude Code 2.1.330, Codex 0.169.0, Gemini
CLI 0.61.0, opencode 1.18.33, Copilot CLI 1.0.102 and Qwen Code 0.24.4 the programs themselves were
used, and for the others their documentation. TEXTRAWL_STRUCTURED_CONTENT depends on the half of an
answer that the model sees: docs/clients.md has the table.
"""

from collections.abc import Mapping
from typing import Any

from textrawl.clients.client import Client, Folder
from textrawl.clients.servers import Program, write_headers, write_program

_TEXT_ONLY = {"TEXTRAWL_STRUCTURED_CONTENT": "off"}
_SERVERS = ("mcpServers",)


def _write_claude_address(url: str, command: str | None) -> dict[str, Any]:
    entry = {"type": "http", "url": url}
    if command is None:
        return entry
    # Claude Code runs the command at each connection, and adds the headers that it prints.
    line = f"""printf '{{"Authorization":"Bearer %s"}}' "$({command})\""""
    return {**entry, "headersHelper": line}


def _write_codex_program(program: Program) -> dict[str, Any]:
    # Codex waits one second for a server that is not required, and ten for one that is. The very
    # first start creates the database, and takes longer.
    extra = {"required": True, "startup_timeout_sec": 60}
    entry = write_program(program)
    environment = {"env": entry.pop("env")} if "env" in entry else {}
    return {**entry, **extra, **environment}


def _write_codex_address(url: str, token: str | None) -> dict[str, Any]:
    return {"url": url} if token is None else {"url": url, "bearer_token_env_var": token}


def _write_opencode_program(program: Program) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "local", "command": [*program.command]}
    return {**entry, "environment": {**program.settings}} if program.settings else entry


def _write_google_address(url: str, token: str | None) -> dict[str, Any]:
    return {"httpUrl": url, **write_headers(token)}


_CLIENTS = (
    Client(
        "claude-code", "Claude Code", ("claude",),
        Folder("", variable="CLAUDE_CONFIG_DIR"), (".claude.json",), "json", _SERVERS,
        lambda program: write_program(program, type="stdio"), _write_claude_address,
        credential_way="command", settings=_TEXT_ONLY, project_files=(".mcp.json",),
        signs=Folder(".claude", variable="CLAUDE_CONFIG_DIR"),
        hint="In a session, `/mcp` shows whether the server is connected.",
    ),
    Client(
        "claude-desktop", "Claude Desktop", ("claude-desktop",),
        Folder(".config/Claude", "Library/Application Support/Claude", xdg=True),
        ("claude_desktop_config.json",), "json", _SERVERS, write_program, None,
        hint="add it in Settings, Connectors",
    ),
    Client(
        "cursor", "Cursor", ("cursor",), Folder(".cursor"), ("mcp.json",), "jsonc", _SERVERS,
        write_program, lambda url, token: {"url": url, **write_headers(token)},
        credential_way="reference", reference="${{env:{name}}}", settings=_TEXT_ONLY,
        project_files=(".cursor/mcp.json",),
    ),
    Client(
        "vscode", "VS Code", ("code",),
        Folder(".config/Code/User", "Library/Application Support/Code/User", xdg=True),
        ("mcp.json",), "jsonc", ("servers",),
        lambda program: write_program(program, type="stdio"),
        lambda url, token: {"type": "http", "url": url, **write_headers(token)},
        credential_way="input", settings=_TEXT_ONLY, project_files=(".vscode/mcp.json",),
        hint="VS Code shows tools only in agent mode.",
    ),
    Client(
        "codex", "Codex", ("codex",), Folder(".codex", variable="CODEX_HOME"), ("config.toml",),
        "toml", ("mcp_servers",), _write_codex_program, _write_codex_address,
        credential_way="reference", reference="{name}", settings=_TEXT_ONLY,
        project_files=(".codex/config.toml",),
    ),
    Client(
        "gemini-cli", "Gemini CLI", ("gemini",), Folder(".gemini"), ("settings.json",), "jsonc",
        _SERVERS, write_program, _write_google_address, credential_way="reference",
        project_files=(".gemini/settings.json",),
        hint="Gemini CLI starts servers only in folders that it trusts.",
    ),
    Client(
        "opencode", "opencode", ("opencode",), Folder(".config/opencode", xdg=True),
        ("opencode.json", "opencode.jsonc"), "jsonc", ("mcp",), _write_opencode_program,
        lambda url, token: {"type": "remote", "url": url, **write_headers(token)},
        credential_way="file", reference="{{env:{name}}}",
        # opencode adds three tools to every request if a server offers resources.
        settings={"TEXTRAWL_RESOURCES": "false"},
        project_files=("opencode.json", "opencode.jsonc"),
    ),
    Client(
        "zed", "Zed", ("zed", "zeditor"), Folder(".config/zed", xdg=True), ("settings.json",),
        "jsonc", ("context_servers",), write_program,
        lambda url, token: {"url": url, **write_headers(token)},
    ),
    Client(
        "windsurf", "Windsurf", ("windsurf",), Folder(".codeium/windsurf"), ("mcp_config.json",),
        "jsonc", _SERVERS, write_program,
        lambda url, token: {"serverUrl": url, **write_headers(token)},
        credential_way="reference", reference="${{env:{name}}}", settings=_TEXT_ONLY,
        hint="Windsurf reads its file anew when you press Refresh in its list of servers.",
    ),
    Client(
        "copilot-cli", "Copilot CLI", ("copilot",), Folder(".copilot", variable="COPILOT_HOME"),
        ("mcp-config.json",), "jsonc", _SERVERS,
        lambda program: {**write_program(program, type="local"), "tools": ["*"]},
        lambda url, token: {"type": "http", "url": url, **write_headers(token), "tools": ["*"]},
        credential_way="reference", settings=_TEXT_ONLY,
    ),
    Client(
        "qwen-code", "Qwen Code", ("qwen",), Folder(".qwen", variable="QWEN_HOME"),
        ("settings.json",), "jsonc", _SERVERS, write_program, _write_google_address,
        credential_way="reference", settings=_TEXT_ONLY, project_files=(".qwen/settings.json",),
    ),
)  # fmt: skip

CLIENTS: Mapping[str, Client] = {client.name: client for client in _CLIENTS}
"""The clients by name."""


def describe_other() -> Client:
    """Return a client that is not in the table: most programs read `mcpServers` in some file."""
    return Client(
        "other",
        "Other clients",
        (),
        Folder(""),
        ("mcp.json",),
        "json",
        _SERVERS,
        write_program,
        lambda url, token: {"type": "http", "url": url, **write_headers(token)},
    )
