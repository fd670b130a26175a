"""Imports of other systems: documents that come, change and vanish; the language of a space."""

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.archive.conftest import create_empty, succeed, write_backup
from tests.archive.foreign import write_chatgpt, write_claude_code
from tests.archive.material import SPACE, fetch, write_file
from tests.conftest import ACTOR, TOKEN, Databases
from tests.support.commands import Run
from textrawl.embedded.postmaster import OWNER
from textrawl.settings import read_foreign_environment


@pytest.fixture
def given(database_url: str, owner: psycopg.Connection) -> dict[str, Any]:
    """The environment of a command, on a memory with the graph `handbook`."""
    owner.execute("select create_space('handbook', tier => 'personal')")
    scopes = ["read", "write", "forget", "admin"]
    owner.execute("select grant_access(%s, 'handbook', %s)", (ACTOR, scopes))
    return {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN, "EMBEDDING_PROVIDER": "local"}


def test_an_import_adds_updates_and_misses_and_is_taken_back_as_a_whole(
    run: Run, given: dict[str, Any], owner: psycopg.Connection, tmp_path: Path
) -> None:
    file = tmp_path / "conversations.json"
    write_chatgpt(file, {"a": "Tea is served at four.", "b": "Coffee is served at nine."})
    first = run("import", str(file), **given)
    again = run("import", str(file), **given)
    write_chatgpt(file, {"a": "Tea is served at five.", "c": "Milk comes in the morning."})
    owner.execute("delete from imported_item where source_id = 'a#1'")  # as in a copied memory
    changed = run("import", str(file), **given)

    assert "ChatGPT in handbook: 2 added. 2 chunks." in first.out
    assert "ChatGPT in handbook: 2 unchanged." in again.out
    assert "1 added, 1 changed, 1 no longer in the export." in changed.out
    assert "served at five" in run("search", "--documents", "tea served", **given).out

    assert "1 added, 1 changed" not in run("import", str(file), **given).out  # and no new run
    run("undo", "--import", "last", "--yes", **given)

    texts = owner.execute(
        "select content from document d join document_version v"
        " on v.document_id = d.id and v.version = d.version order by content"
    ).fetchall()
    assert [text.rpartition("\n")[2] for (text,) in texts] == [
        "Tea is served at four.",
        "Coffee is served at nine.",
    ]
    after = run("import", str(file), **given)
    assert "2 changed, 1 no longer in the export." in after.out, after.out + after.err


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "stored"), [("n", 0), ("y", 1)])
def test_on_a_terminal_the_plan_is_shown_and_asks(
    given: dict[str, Any], owner: psycopg.Connection, tmp_path: Path, answer: str, stored: int
) -> None:
    file = tmp_path / "conversations.json"
    write_chatgpt(file, {"a": "Tea is served at four."})
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "textrawl", "import", str(file)],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=read_foreign_environment() | given,
        )
        os.write(ours, f"{answer}\n".encode())
        _, output = process.communicate(timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)

    assert "1 conversation, 2 turns, 2023-11-14 to 2023-11-14.\nImport this?" in output
    assert process.returncode == (0 if stored else 130)
    assert owner.execute("select count(*) from document").fetchone() == (stored,)


def test_the_folder_of_a_program_is_found_and_a_dry_run_stores_nothing(
    run: Run, given: dict[str, Any], owner: psycopg.Connection, tmp_path: Path
) -> None:
    projects = write_claude_code(tmp_path)
    found = run("import", "--from", "claude-code", "--dry-run", CLAUDE_CONFIG_DIR=tmp_path, **given)

    assert found.err == (
        "-home-ada-tea/s2.jsonl, line 2: it is not a JSON object\n"
        f"Claude Code in {projects}: 3 conversations, 6 turns, 2026-03-01 to 2026-03-01.\n"
    )
    assert (found.code, found.out) == (1, "")
    assert owner.execute("select count(*) from document").fetchone() == (0,)


def test_an_import_masks_secrets_and_names_their_places(
    run: Run, given: dict[str, Any], owner: psycopg.Connection, tmp_path: Path
) -> None:
    file = tmp_path / "conversations.json"
    write_chatgpt(file, {"a": "Sure.\nYour password is Tulpe!42.", "b": "Tea is at four."})
    masked = run("import", str(file), **given)
    write_chatgpt(file, {"a": "Now the password is Anker?77.", "b": "Tea is at five."})
    refused = run("import", str(file), SECRETS="refuse", **given)

    assert "Secrets in 1 text were masked:" in masked.err
    assert "Served a, turn 2: password (line 2)" in masked.err
    assert "Served a, turn 2: password (line 1)" in refused.err
    assert "1 changed, 1 refused for a secret" in refused.out
    texts = owner.execute("select content from document_version").fetchall()
    assert sum("Your password is [masked password]." in text for (text,) in texts) == 1
    assert not any("Tulpe" in text or "Anker" in text for (text,) in texts)


LANGUAGES = [("default", "german"), ("equipo", "spanish")]
QUERY = "select content from search_memory('grüner Apfel', array[1])"


def write_german_memory(run: Run, url: str) -> None:
    """A memory with two languages and a fact, whose documents were all made anew."""
    fetch(url, "select remember_fact('Ada', 'person', 'mag grüne Äpfel')")
    succeed(run, "space", "language", "default", "german", DATABASE_URL=url)
    succeed(run, "space", "create", "equipo", "--language", "spanish", DATABASE_URL=url)
    while fetch(url, "select rebuild_documents()") == [(True,)]:
        pass


def read_languages(url: str) -> object:
    return fetch(url, "select name, language from space order by name")


def test_an_import_makes_spaces_of_the_language_of_the_export(
    run: Run, fresh: str, postgres: Databases, tmp_path: Path
) -> None:
    file = str(tmp_path / "memory.jsonl")
    write_german_memory(run, fresh)
    succeed(run, "export", file, DATABASE_URL=fresh)
    with postgres.create("migrated") as name:
        other = postgres.cluster.dsn(OWNER, name)
        succeed(run, "import", file, DATABASE_URL=other)

        assert read_languages(other) == LANGUAGES
        assert fetch(other, QUERY) == [("mag grüne Äpfel",)]


def test_a_space_with_content_keeps_its_language_in_an_import(
    run: Run, fresh: str, postgres: Databases, tmp_path: Path
) -> None:
    file = str(tmp_path / "memory.jsonl")
    write_german_memory(run, fresh)
    succeed(run, "export", file, DATABASE_URL=fresh)
    with postgres.create("migrated") as name:
        other = postgres.cluster.dsn(OWNER, name)
        fetch(other, "select remember_fact('Bo', 'person', 'likes tea')")
        succeed(run, "import", file, DATABASE_URL=other)

        assert read_languages(other) == [("default", "english"), ("equipo", "spanish")]
        first = "select content from search_memory('grüne', max_rows => 1)"
        assert fetch(other, first) == [("mag grüne Äpfel",)]


def test_a_space_whose_language_this_postgres_lacks_is_a_bad_line(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    file = write_file(tmp_path, SPACE | {"name": "tlh", "language": "klingon"}, SPACE)

    outcome = run("import", file, DATABASE_URL=fresh)

    assert "no text search configuration of its language" in outcome.err
    assert read_languages(fresh) == [("default", "english")]


def test_a_backup_keeps_languages(
    run: Run, fresh: str, postgres: Databases, tmp_path: Path
) -> None:
    write_german_memory(run, fresh)
    dump = write_backup(run, fresh, tmp_path)
    with create_empty(postgres) as name:
        other = postgres.cluster.dsn(OWNER, name)
        succeed(run, "restore", str(dump), DATABASE_URL=other)

        assert read_languages(other) == LANGUAGES
        assert fetch(other, QUERY) == [("mag grüne Äpfel",)]
