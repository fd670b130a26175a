"""compose.yaml as Compose reads it, and the commands of the pages that go through it."""

import re
import shlex
from typing import Any

import yaml

from tests.support.pages import ROOT, read_commands

OWNER_PASSWORD, APP_PASSWORD = "TEXTRAWL_OWNER_PASSWORD", "TEXTRAWL_APP_PASSWORD"
TEAM, OPERATIONS = ROOT / "docs/team.md", ROOT / "docs/operations.md"

_VARIABLE = re.compile(r"\$\{(\w+)(?::([?-])([^}]*))?\}")
_ADMIN = "docker compose run --rm admin "


def read_composition(**environment: str) -> dict[str, Any]:
    """The file with its variables filled in. Raises KeyError for one that has to be set."""

    def fill(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        if kind == "-":
            return environment.get(name) or rest
        return environment[name]

    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(_VARIABLE.sub(fill, text))


def find_variables() -> set[str]:
    """Variables that the file cannot do without."""
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    return {name for name, kind, _ in _VARIABLE.findall(text) if kind == "?"}


def read_administration() -> list[list[str]]:
    """What the pages tell the service admin, in their order."""
    lines = [line for page in (TEAM, OPERATIONS) for line in read_commands(page)]
    return [shlex.split(line.removeprefix(_ADMIN)) for line in lines if line.startswith(_ADMIN)]


def read_programs(name: str) -> list[list[str]]:
    """What the pages run of Postgres' programs called `name`, without what the shell does."""
    found = list[list[str]]()
    for line in read_commands(OPERATIONS):
        words = shlex.split(re.split(r" [<>] ", line)[0])
        if name in words and "exec" in words:
            found.append(words[words.index(name) + 1 :])
    return found
