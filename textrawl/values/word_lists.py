"""Values of settings that are lists of words."""

import re
from collections.abc import Sequence
from typing import Literal, get_args

HookPart = Literal["digest", "recall", "remind", "capture"]
"""Send the digest at the start, recall at a prompt, remind the agent to store facts, and store the
texts of the session in the journal."""

SecretMode = Literal["mask", "refuse", "allow"]
"""The treatment of a text with a secret: store it masked, refuse it, or store it as it is."""

HOOKS: tuple[HookPart, ...] = ("digest", "recall", "remind")
RECALL_TOKENS = 200
LEAST_SCORE = 0.7

PROGRAM = "textrawl/program"  # the key in `_meta` of requests of textrawl's own programs

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


def read_mode(text: str | None) -> SecretMode:
    """Return the treatment of secrets in hooks. Raises ValueError."""
    for mode in get_args(SecretMode):
        if (text or "mask").lower() == mode:
            return mode
    raise ValueError(f"secrets is one of {', '.join(get_args(SecretMode))}")


ALL, MEMBERS = "all", "members"
EVERYBODY = (ALL,)


def read_authors(value: str | list[str]) -> list[str]:
    """Return the words of a list with commas. Raises ValueError for a list that has no meaning."""
    given = value.split(",") if isinstance(value, str) else value
    words = [word.strip() for word in given if word.strip()]
    if not words:
        raise ValueError("names nobody: use all, members, or names of authors")
    words = [word.lower() if word.lower() in (ALL, MEMBERS) else word for word in words]
    if len(words) > 1 and (ALL in words or MEMBERS in words):
        raise ValueError("all and members stand alone, without names of authors")
    return list(dict.fromkeys(words))


def includes_everybody(authors: Sequence[str]) -> bool:
    """Return whether no fact is left out."""
    return list(authors) == [ALL]


def build_filter(authors: Sequence[str]) -> dict[Literal["authors", "members"], object]:
    """Return the arguments of SQL functions for this choice. They are empty for all authors."""
    if includes_everybody(authors):
        return {}
    return {"members": True} if list(authors) == [MEMBERS] else {"authors": list(authors)}


_HOST = re.compile(r"([a-z0-9][a-z0-9.-]*|\[[0-9a-f:.]+\])(?::([1-9][0-9]{0,4}))?", re.ASCII)
_MOST_PORT = 65_535
_LOCAL = ("localhost", "127.0.0.1", "[::1]")


def read_hosts(value: str | list[str]) -> list[str]:
    """Return the hosts of a list with commas, in lower case. Raises ValueError."""
    given = value.split(",") if isinstance(value, str) else value
    hosts = [word.strip().lower() for word in given if word.strip()]
    for host in hosts:
        found = _HOST.fullmatch(host)
        if found is None or int(found[2] or 1) > _MOST_PORT:
            raise ValueError(f"not a host, or a host and a port: {host}")
    return list(dict.fromkeys(hosts))


def list_destinations(hosts: Sequence[str]) -> list[str]:
    """Return each host with its port, as the database has it (`webhook.host`).

    A host without a port stands for port 443, and on this machine also for port 80.
    """
    found: list[str] = []
    for host in hosts:
        if host.endswith("]") or ":" not in host:
            found.append(f"{host}:443")
            found += [f"{host}:80"] if host in _LOCAL else []
        else:
            found.append(host)
    return found
