"""The JSON that a client writes to the stdin of a hook."""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple, cast

from textrawl.hooks.events import Client

MOST_BYTES = 32 << 20  # a prompt can hold a pasted log


class Payload(NamedTuple):
    """What a hook needs from the client's JSON. Missing values are empty.

    `key` is a short hash of the input without its time. `compacted` is true if the session goes on
    after its conversation was compacted. `continued` is true if the agent goes on because a hook
    asked for it.
    """

    session: str
    folder: Path
    key: str
    prompt: str = ""
    transcript: str = ""
    compacted: bool = False
    continued: bool = False


class PayloadInvalid(ValueError):
    """The input of a hook is not a JSON object, or it names no session."""


def read_payload(client: Client, raw: bytes, working: Path) -> Payload:
    """Return the values of the client's JSON. Raises PayloadInvalid.

    `working` is the folder of the session if the JSON has none.
    """
    try:
        data: object = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise PayloadInvalid("The input is not JSON") from error
    if not isinstance(data, dict):
        raise PayloadInvalid("The input is not a JSON object")
    values = cast("dict[str, Any]", data)
    session = _read_text(values, client.fields.session) or _read_text(values, "session_id")
    if not session:
        raise PayloadInvalid(f"The input has no {client.fields.session}")
    return Payload(
        session,
        _read_folder(values, client.fields.folder) or working,
        _digest(values),
        _read_text(values, "prompt"),
        _read_text(values, client.fields.transcript),
        compacted=values.get("source") == "compact",
        continued=values.get("stop_hook_active") is True or _is_repeated(values),
    )


def _digest(values: dict[str, Any]) -> str:
    timeless = {name: value for name, value in values.items() if name != "timestamp"}
    return hashlib.sha256(json.dumps(timeless, sort_keys=True).encode()).hexdigest()[:16]


def _is_repeated(values: dict[str, Any]) -> bool:
    """Return whether Cursor counts earlier messages of hooks in this conversation."""
    count = values.get("loop_count")
    return isinstance(count, int) and count > 0


def _read_text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _read_folder(values: dict[str, Any], name: str) -> Path | None:
    """Return the folder of the session, which is the first of Cursor's workspaces."""
    value = values.get(name)
    if isinstance(value, list):
        roots = cast("list[object]", value)
        value = roots[0] if roots else None
    return Path(value) if isinstance(value, str) and value else None
