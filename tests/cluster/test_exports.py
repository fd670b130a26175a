"""An export carries a memory to a cluster and back."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg

from tests.archive.conftest import fill
from tests.support.cluster import ClusterMemory
from textrawl.embedded.postmaster import OWNER

PROGRAM = Path(sys.executable).parent / "textrawl"


def run(url: str, *words: str) -> str:
    """What a command says that has to succeed."""
    done = subprocess.run(
        [PROGRAM, *words],
        env=os.environ | {"TEXTRAWL_DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def read_lines(url: str, file: Path) -> list[dict[str, Any]]:
    """The lines of an export, without the first, which tells when and where it was made."""
    run(url, "export", str(file), "--with-vectors")
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()[1:]]
    for line in lines:
        if line.get("kind") == "space" and line["name"] == "default":
            del line["created_at"]  # each memory has this space from its own beginning
    return lines


def sort(lines: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(line, sort_keys=True) for line in lines)


def test_an_export_of_a_cluster_is_that_of_one_postgres(
    memory: ClusterMemory, owner: psycopg.Connection, tmp_path: Path
) -> None:
    plain, cluster = owner.info.dsn, memory.dsn(OWNER)
    fill(plain)
    before = read_lines(plain, tmp_path / "plain.jsonl")

    said = run(cluster, "import", str(tmp_path / "plain.jsonl"))
    after = read_lines(cluster, tmp_path / "cluster.jsonl")
    again = run(cluster, "import", str(tmp_path / "cluster.jsonl"))

    assert len(before) > 8, said
    assert sort(after) == sort(before)
    assert sort(read_lines(cluster, tmp_path / "again.jsonl")) == sort(before), again
