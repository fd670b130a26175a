"""What the README says about connecting, written from the table of clients."""

import json
import re

from textrawl.connect.clients import CLIENTS, OTHER, ClientProgram, LocalServer
from textrawl.connect.connection import write_entry

CHECKOUT = "/path/to/textrawl"
COMMAND = (f"{CHECKOUT}/.venv/bin/textrawl",)


def write_folds() -> str:
    """Return the entry of every client behind a fold, and one for other clients."""
    return "\n\n".join(map(_write_fold, [*CLIENTS.values(), OTHER]))


def _write_fold(client: ClientProgram) -> str:
    [addition] = client.list_additions(LocalServer(COMMAND), client.find_file())
    language = "toml" if client.format == "toml" else "json"
    text = write_entry(addition)
    if language == "json":
        text = re.sub(r"\[\s[^][]*?\]", _join_list, text)
    return (
        f"<details>\n<summary>{client.title}{_name_files(client)}</summary>\n\n"
        f"```{language}\n{text}\n```\n\n</details>"
    )


def _join_list(match: re.Match[str]) -> str:
    return json.dumps(json.loads(match[0]))


def _name_files(client: ClientProgram) -> str:
    """Return the places of the file, as on a page."""
    if client.name == "other":
        return ", which read <code>mcpServers</code>"
    folder = client.folder
    places = [f"~/{folder.linux}/{client.files[0]}".replace("//", "/")]
    if folder.macos:
        places.append(f"on macOS ~/{folder.macos}/{client.files[0]}")
    return f", in <code>{'</code>, <code>'.join(places)}</code>".replace(
        "<code>on macOS ", "on macOS <code>"
    )
