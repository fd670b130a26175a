"""Bars in a terminal: of backups, restores, imports and ingests, and of the vectors that follow."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.archive.conftest import create_empty
from tests.conftest import Databases
from tests.support.commands import Launch, Run, wait_for
from textrawl.embedded.postmaster import OWNER
from textrawl.settings import read_foreign_environment

_ASKING = """
    select 1 from pg_stat_activity
    where query like '%embedding_progress%' and pid <> pg_backend_pid()
      and datname = current_database()
"""


def watch(*arguments: str, **environment: str) -> str:
    """What a command writes in a terminal, without colours."""
    ours, theirs = pty.openpty()
    written = b""
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "textrawl", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            env=read_foreign_environment() | {"COLUMNS": "120", "TERM": "xterm"} | environment,
        )
        os.close(theirs)
        while piece := _read(ours):
            written += piece
        assert process.wait(timeout=60) == 0
    finally:
        os.close(ours)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode(errors="replace"))


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.slow
def test_backup_restore_and_import_show_bars_and_an_import_says_that_vectors_follow(
    postgres: Databases, database: str, owner: psycopg.Connection, tmp_path: Path, run: Run
) -> None:
    owner.execute(
        "select remember_fact('E' || n, 'person', 'fact ' || n) from generate_series(1, 500) n"
    )
    url, dump, lines = postgres.cluster.dsn(OWNER, database), tmp_path / "dump", tmp_path / "lines"
    assert run("export", str(lines), DATABASE_URL=url).code == 0

    backing = watch("backup", str(dump), DATABASE_URL=url)
    with create_empty(postgres) as name:
        restoring = watch("restore", str(dump), DATABASE_URL=postgres.cluster.dsn(OWNER, name))
    with create_empty(postgres) as name:
        other = postgres.cluster.dsn(OWNER, name)
        assert run("migrate", DATABASE_URL=other).code == 0
        importing = watch("import", str(lines), DATABASE_URL=other)

    assert "Checking rows" in backing
    assert "Restoring the backup" in restoring
    size = lines.stat().st_size
    assert re.search(rf"Importing .*{size / 1000:.1f}/{size / 1000:.1f} kB", importing)
    assert "Without a vector: 500 facts." in " ".join(importing.split())


def test_the_status_of_vectors_can_be_watched_until_no_fact_waits(
    postgres: Databases, database: str, owner: psycopg.Connection, launch: Launch
) -> None:
    owner.execute("select register_embedding_model('test:model', 3)")
    owner.execute("select remember_fact('Ada', 'person', 'likes tea')")
    url = postgres.cluster.dsn(OWNER, database)
    waiting = launch("embed", "status", "--watch", DATABASE_URL=url)
    wait_for(lambda: owner.execute(_ASKING).fetchone())
    assert waiting.popen.poll() is None

    owner.execute("select forget_entity('Ada')")

    assert waiting.end().code == 0
