"""The language of a space is kept by exports, imports, backups and restores."""

from pathlib import Path

from tests.archive.conftest import create_empty, succeed, write_backup
from tests.archive.material import SPACE, fetch, write_file
from tests.conftest import Databases
from tests.support.commands import Run
from textrawl.embedded.postmaster import OWNER

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
