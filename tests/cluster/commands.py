"""Commands of an administrator of a cluster, as a user runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.cluster import ClusterMemory
from textrawl.embedded.postmaster import SUPERUSER

PROGRAM = Path(sys.executable).parent / "textrawl"


def execute(url: str, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """The outcome of a command."""
    own = {"TEXTRAWL_DATABASE_URL": url, **environment}
    return subprocess.run(
        [PROGRAM, *words], env=os.environ | own, capture_output=True, text=True, check=False
    )


def run(memory: ClusterMemory, *words: str, role: str = SUPERUSER, code: int = 0) -> str:
    """What a command prints. It ends with `code`."""
    done = execute(memory.dsn(role), *words)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def list_cluster(memory: ClusterMemory) -> dict[str, Any]:
    """What `textrawl cluster list --json` prints."""
    return json.loads(run(memory, "cluster", "list", "--json"))


def find_space(memory: ClusterMemory, name: str) -> dict[str, Any]:
    """A space of this list."""
    [found] = [space for space in list_cluster(memory)["spaces"] if space["space"] == name]
    return found


def find_other_node(memory: ClusterMemory, name: str) -> str:
    """A worker that does not have this space."""
    listed = list_cluster(memory)
    here = find_space(memory, name)["node"]
    return next(node["node"] for node in listed["nodes"] if node["node"] != here)
