"""What hooks may do, and the defaults of their settings.

`settings` and `hooks` both read these values, and `hooks` cannot wait until pydantic is loaded.
"""

from typing import Literal, get_args

HookPart = Literal["digest", "recall", "remind", "capture"]
"""Send the digest at the start, recall at a prompt, remind the agent to store facts, and store the
texts of the session in the journal."""

HOOKS: tuple[HookPart, ...] = ("digest", "recall", "remind")
RECALL_TOKENS = 200
LEAST_SCORE = 0.6

_NONE = ("", "off", "none", "false")


def read_hooks(text: str) -> list[str]:
    """Return the names in a list with commas. `off` is an empty list. Raises ValueError."""
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    if not names or names in ([word] for word in _NONE):
        return []
    unknown = [name for name in names if name not in get_args(HookPart)]
    if unknown:
        raise ValueError(f"unknown: {', '.join(unknown)}")
    return list(dict.fromkeys(names))
