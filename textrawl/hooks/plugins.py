"""The files of `plugins/`, and of the catalogues (marketplaces) that list the plugins.

Everything about hooks comes from `events`. A test compares the files with this module; with
UPDATE_SNAPSHOTS=1 it writes them.

A plugin is copied when it is installed, so it cannot know where textrawl is. Its commands look for
`textrawl` in the PATH, and say nothing if it is not there.
"""

import json
from collections.abc import Mapping
from typing import Any

from textrawl import __version__
from textrawl.hooks.configuration import write_entry
from textrawl.hooks.events import (
    CLAUDE_CODE,
    CLIENTS,
    CODEX,
    COPILOT_CLI,
    CURSOR,
    GEMINI_CLI,
    Client,
)
from textrawl.hooks.plugin_texts import COMMANDS, DESCRIPTION, SKILL, write_readme

Json = Mapping[str, Any]

_AUTHOR = {"name": "The textrawl authors"}
_ABOUT: Json = {
    "name": "textrawl",
    "version": __version__,
    "description": DESCRIPTION,
    "author": _AUTHOR,
    "license": "MIT",
    "keywords": ["memory", "mcp", "postgres"],
}
_SERVER: Json = {"command": "textrawl", "args": [], "env": {"TEXTRAWL_STRUCTURED_CONTENT": "off"}}
_SERVERS: Json = {"mcpServers": {"textrawl": _SERVER}}


def list_files() -> dict[str, str]:
    """Return the content of each file by its path from the root of the checkout."""
    files = {
        f"plugins/{client.name}/{path}": content
        for client, write in _PLUGINS
        for path, content in write(client).items()
    }
    return {**files, **_list_catalogues()}


def _write_claude_code(client: Client) -> dict[str, str]:
    return {
        ".claude-plugin/plugin.json": _dump(_ABOUT),
        ".mcp.json": _dump(_SERVERS),
        "hooks/hooks.json": _dump({"hooks": _list_hooks(client)}),
        **_list_texts(client, "$ARGUMENTS"),
    }


def _write_codex(client: Client) -> dict[str, str]:
    interface = {
        "displayName": "textrawl",
        "shortDescription": DESCRIPTION,
        "developerName": _AUTHOR["name"],
        "category": "Productivity",
    }
    parts = {"skills": "./skills/", "mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json"}
    texts = _list_texts(client, "")
    return {
        ".codex-plugin/plugin.json": _dump({**_ABOUT, **parts, "interface": interface}),
        ".mcp.json": _dump(_SERVERS),
        "hooks/hooks.json": _dump({"hooks": _list_hooks(client)}),
        **{path: text for path, text in texts.items() if not path.startswith("commands/")},
    }


def _write_cursor(client: Client) -> dict[str, str]:
    return {
        ".cursor-plugin/plugin.json": _dump(_ABOUT),
        "mcp.json": _dump(_SERVERS),
        "hooks/hooks.json": _dump({"version": 1, "hooks": _list_hooks(client)}),
        **_list_texts(client, ""),
    }


def _write_gemini_cli(client: Client) -> dict[str, str]:
    about = {name: _ABOUT[name] for name in ("name", "version", "description")}
    commands = {
        f"commands/{name}.toml": f'description = "{summary}"\nprompt = """\n{text}\n"""\n'.replace(
            "{arguments}", "{{args}}"
        )
        for name, (summary, _, text) in COMMANDS.items()
    }
    texts = _list_texts(client, "")
    return {
        "gemini-extension.json": _dump({**about, **_SERVERS}),
        "hooks/hooks.json": _dump({"hooks": _list_hooks(client)}),
        **{path: text for path, text in texts.items() if not path.startswith("commands/")},
        **commands,
    }


def _write_copilot_cli(client: Client) -> dict[str, str]:
    parts = {
        "skills": "skills/", "commands": "commands/", "hooks": "hooks.json",
        "mcpServers": ".mcp.json",
    }  # fmt: skip
    return {
        "plugin.json": _dump({**_ABOUT, **parts}),
        ".mcp.json": _dump(_SERVERS),
        "hooks.json": _dump({"version": 1, "hooks": _list_hooks(client)}),
        **_list_texts(client, "$ARGUMENTS"),
    }


_PLUGINS = (
    (CLAUDE_CODE, _write_claude_code),
    (CODEX, _write_codex),
    (CURSOR, _write_cursor),
    (GEMINI_CLI, _write_gemini_cli),
    (COPILOT_CLI, _write_copilot_cli),
)


def _list_hooks(client: Client) -> dict[str, list[Json]]:
    """Return the entries of all events of a client."""
    return {
        event.name: [
            write_entry(
                client,
                event,
                "command -v textrawl >/dev/null 2>&1 || exit 0; "
                f"exec textrawl hook {client.name} {event.name}",
            )
        ]
        for event in client.events
    }


def _list_texts(client: Client, arguments: str) -> dict[str, str]:
    """Return the skill, the slash commands and the page of a plugin."""
    commands = {
        f"commands/{name}.md": (
            f"---\nname: {name}\ndescription: {summary}\n"
            + (f'argument-hint: "{hint}"\n' if hint else "")
            + f"---\n\n{text.replace('{arguments}', arguments)}\n"
        )
        for name, (summary, hint, text) in COMMANDS.items()
    }
    return {"README.md": write_readme(client), "skills/memory/SKILL.md": SKILL, **commands}


def _list_catalogues() -> dict[str, str]:
    entry = {"name": "textrawl", "description": DESCRIPTION, "version": __version__}
    owner: Json = {"name": "textrawl", "owner": _AUTHOR}
    described = {**owner, "metadata": {"description": DESCRIPTION, "version": __version__}}
    sources = {name: f"./plugins/{name}" for name in CLIENTS}
    codex = {
        "name": "textrawl",
        "source": {"source": "local", "path": sources["codex"]},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    named = {"name": "textrawl", "interface": {"displayName": "textrawl"}, "plugins": [codex]}
    return {
        ".claude-plugin/marketplace.json": _dump(
            {**owner, "description": DESCRIPTION}
            | {"plugins": [{**entry, "source": sources["claude-code"]}]}
        ),
        ".agents/plugins/marketplace.json": _dump(named),
        ".cursor-plugin/marketplace.json": _dump(
            {**described, "plugins": [{**entry, "source": sources["cursor"]}]}
        ),
        ".github/plugin/marketplace.json": _dump(
            {**described, "plugins": [{**entry, "source": sources["copilot-cli"]}]}
        ),
    }


def _dump(content: Json) -> str:
    return json.dumps(content, indent=2) + "\n"
