"""The documented output of a hook, as JSON schemas. Each client's page is named in `events`.

They are written from these pages and, for Claude Code and Codex, from the checks that the programs
2.1.330 and 0.169.0 contain. An event that is missing here shows the model nothing.
"""

from typing import Any

import jsonschema

Json = dict[str, Any]

_TEXT: Json = {"type": "string", "minLength": 1}
_FLAG: Json = {"type": "boolean"}
_COMMON: Json = {
    "continue": _FLAG, "suppressOutput": _FLAG, "stopReason": _TEXT, "systemMessage": _TEXT
}  # fmt: skip


def _closed(properties: Json, required: tuple[str, ...] = ()) -> Json:
    """An object without other members."""
    return {
        "type": "object", "properties": properties, "required": [*required],
        "additionalProperties": False,
    }  # fmt: skip


def _nested(event: str) -> Json:
    context = {"hookEventName": {"const": event}, "additionalContext": _TEXT}
    return _closed(
        {**_COMMON, "hookSpecificOutput": _closed(context, ("hookEventName",))},
        ("hookSpecificOutput",),
    )


def _block(common: Json) -> Json:
    return _closed({**common, "decision": {"const": "block"}, "reason": _TEXT}, ("reason",))


SCHEMAS: dict[str, dict[str, Json]] = {
    "claude-code": {name: _nested(name) for name in ("SessionStart", "UserPromptSubmit", "Stop")},
    "codex": {
        **{name: _nested(name) for name in ("SessionStart", "UserPromptSubmit")},
        "Stop": _block(_COMMON),
    },
    "cursor": {
        "sessionStart": _closed({"env": {"type": "object"}, "additional_context": _TEXT}),
        "stop": _closed({"followup_message": _TEXT}),
    },
    "gemini-cli": {name: _nested(name) for name in ("SessionStart", "BeforeAgent")},
    "copilot-cli": {
        "sessionStart": _closed({"additionalContext": _TEXT}),
        "userPromptSubmitted": _closed({"additionalContext": _TEXT, "modifiedPrompt": _TEXT}),
        "agentStop": _block({}),
    },
}
"""The schema of each event that can show something to the model, by client and event."""


def check(client: str, event: str, output: Json) -> None:
    """Raise ValidationError unless the client's documents allow this output."""
    jsonschema.validate(output, SCHEMAS[client][event])
