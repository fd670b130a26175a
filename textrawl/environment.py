"""The few settings that are needed before `settings` is loaded, which takes too long for a client.

Only what is plain is read here. What takes one of the rules of `settings` to understand is left to
it, and so is everything as soon as `.env` may have a say.
"""

import os
from pathlib import Path

from textrawl.introduction import Introduction, introduce
from textrawl.offering import EVERY, TOOLSETS

_FILE = Path(".env")
_ON, _OFF = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


class Unclear(Exception):
    """Only `settings` can tell."""


def guess_introduction() -> Introduction:
    """The introduction of the server that the environment describes. Raises Unclear."""
    names = [name.strip() for name in (_read("toolsets") or TOOLSETS[0]).split(",")]
    enabled = (_read("enable_memory") or _ON[0]).lower()
    if enabled not in (*_ON, *_OFF) or not {*names} <= {*TOOLSETS, EVERY}:
        raise Unclear
    offered = TOOLSETS if EVERY in names else names
    return introduce(offered, enabled=enabled in _ON)


def _read(name: str) -> str | None:
    """The value of a setting, None if nothing sets it. Raises Unclear."""
    found = [value for key, value in os.environ.items() if key.lower() == name and value]
    if len(found) > 1 or _is_mentioned(name):
        raise Unclear
    return found[0] if found else None


def _is_mentioned(name: str) -> bool:
    """Whether `.env` may set it, in whatever encoding."""
    try:
        content = _FILE.read_bytes()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Unclear from error
    return name.encode() in content.replace(b"\0", b"").lower()
