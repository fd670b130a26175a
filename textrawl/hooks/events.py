"""The events of client programs: names, kinds, forms of output, and the JSON they send.

This table is the only description of the clients. The hooks, the plugins, the configuration of
`textrawl connect` and the tables of docs/hooks.md are made from it.

An event is here only if the documents of the client say that a hook can do its part then. For
example, Cursor runs hooks at each prompt, but does not document how they add text to the prompt.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

Kind = Literal["start", "prompt", "compact", "stop", "end"]
"""The kind of an event. A session starts, the user sends a prompt, the conversation is compacted, a
turn of the agent stops, or the session ends."""

Form = Literal["nested", "flat", "snake", "block", "followup", "none"]
"""The form of the output. `none`: the client does not show the model anything from this event."""


class Event(NamedTuple):
    """An event under the name that the client gives it.

    `seconds` is the time limit that the configuration of the client names.
    """

    name: str
    kind: Kind
    form: Form = "none"
    seconds: int = 5


class Fields(NamedTuple):
    """The names that a client gives to values of its JSON."""

    session: str = "session_id"
    folder: str = "cwd"
    transcript: str = "transcript_path"


class HookClient(NamedTuple):
    """A client program. `page` is the address of its documents about hooks.

    If `reminds_at_prompt`, the reminder to store facts comes with a prompt, because the client has
    no event at the end of a turn that can add text.
    """

    name: str
    title: str
    page: str
    events: tuple[Event, ...]
    fields: Fields = Fields()
    reminds_at_prompt: bool = False

    def find(self, name: str) -> Event | None:
        """Return the event with this name."""
        return next((event for event in self.events if event.name == name), None)


_STORING = 10  # seconds that an event may take if it stores texts of the session

CLAUDE_CODE = HookClient(
    "claude-code",
    "Claude Code",
    "https://code.claude.com/docs/en/hooks",
    (
        Event("SessionStart", "start", "nested"),
        Event("UserPromptSubmit", "prompt", "nested"),
        Event("PreCompact", "compact", seconds=_STORING),
        Event("Stop", "stop", "nested"),
        Event("SessionEnd", "end", seconds=_STORING),
    ),
)
CODEX = HookClient(
    "codex",
    "Codex",
    "https://developers.openai.com/codex/hooks",
    (
        Event("SessionStart", "start", "nested"),
        Event("UserPromptSubmit", "prompt", "nested"),
        Event("PreCompact", "compact", seconds=_STORING),
        Event("Stop", "stop", "block"),
        Event("SessionEnd", "end", seconds=_STORING),
    ),
)
CURSOR = HookClient(
    "cursor",
    "Cursor",
    "https://cursor.com/docs/hooks",
    (
        Event("sessionStart", "start", "snake"),
        Event("preCompact", "compact", seconds=_STORING),
        Event("stop", "stop", "followup"),
        Event("sessionEnd", "end", seconds=_STORING),
    ),
    Fields("conversation_id", "workspace_roots", "transcript_path"),
)
GEMINI_CLI = HookClient(
    "gemini-cli",
    "Gemini CLI",
    "https://geminicli.com/docs/hooks/reference",
    (
        Event("SessionStart", "start", "nested"),
        Event("BeforeAgent", "prompt", "nested"),
        Event("SessionEnd", "end", seconds=_STORING),
    ),
    reminds_at_prompt=True,
)
COPILOT_CLI = HookClient(
    "copilot-cli",
    "Copilot CLI",
    "https://docs.github.com/en/copilot/reference/hooks-reference",
    (
        Event("sessionStart", "start", "flat"),
        Event("userPromptSubmitted", "prompt", "flat"),
        Event("preCompact", "compact", seconds=_STORING),
        Event("agentStop", "stop", "block"),
        Event("sessionEnd", "end", seconds=_STORING),
    ),
    Fields("sessionId", "cwd", "transcriptPath"),
)

CLIENTS = {client.name: client for client in (CLAUDE_CODE, CODEX, CURSOR, GEMINI_CLI, COPILOT_CLI)}
"""Every client, by the name that `textrawl hook` takes."""


def write_output(event: Event, text: str) -> dict[str, Any]:
    """Return the JSON with which a hook gives `text` to the model at `event`."""
    match event.form:
        case "nested":
            detail = {"hookEventName": event.name, "additionalContext": text}
            return {"hookSpecificOutput": detail}
        case "flat":
            return {"additionalContext": text}
        case "snake":
            return {"additional_context": text}
        case "block":
            return {"decision": "block", "reason": text}
        case "followup":
            return {"followup_message": text}
        case "none":
            return {}


MOST_BYTES = 32 << 20  # a prompt can hold a pasted log


class Payload(NamedTuple):
    """The values that a hook needs from the client's JSON. Missing values are empty.

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


def read_payload(client: HookClient, raw: bytes, working: Path) -> Payload:
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
