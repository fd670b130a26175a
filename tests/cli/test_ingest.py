"""`textrawl ingest`: files of a folder become sources of a graph."""

import json
import os
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.conftest import ACTOR, TOKEN
from tests.support.commands import Launch, Run

GRANT = "select grant_access(%s, %s, %s)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three documents and a picture."""
    folder = tmp_path / "docs"
    (folder / "house").mkdir(parents=True)
    (folder / "tea.md").write_text("# Tea\n\nTea is served at four.\n", encoding="utf-8")
    (folder / "coffee.txt").write_text("Coffee is served at nine.", encoding="utf-8")
    (folder / "house" / "rules.html").write_text("<p>No shoes in the house.</p>", encoding="utf-8")
    (folder / "plan.png").write_bytes(b"\x89PNG")
    return folder


@pytest.fixture
def given(database_url: str, owner: psycopg.Connection) -> dict[str, Any]:
    """The environment of a command, on a memory with the graph `handbook`."""
    make_graph(owner, "handbook", "personal")
    return {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN, "EMBEDDING_PROVIDER": "local"}


def make_graph(owner: psycopg.Connection, name: str, tier: str, *scopes: str) -> None:
    owner.execute("select create_space(%s, tier => %s)", (name, tier))
    owner.execute(GRANT, (ACTOR, name, list(scopes or ("read", "write", "forget"))))


def look(owner: psycopg.Connection) -> list[tuple[Any, ...]]:
    return owner.execute(
        "select d.path, s.label, v.content, s.chunks, d.version = v.version"
        " from source s join document d on d.id = s.document_id"
        " join document_version v on v.document_id = d.id order by d.path, v.version"
    ).fetchall()


@pytest.mark.slow
def test_the_first_ingest_on_a_bare_machine_makes_a_memory_with_a_graph(
    launch: Launch, home: Path, folder: Path
) -> None:
    place = {"DATA_DIR": home / "data"}

    first = launch("ingest", str(folder), **place).end()
    second = launch("ingest", str(folder), **place).end()
    spaces = launch("space", "list", "--json", **place).end()

    assert (first.code, second.code) == (0, 0), first.err
    assert "Created the graph documents" in first.err
    assert "Files in documents: 3 added" in first.err
    assert "Files in documents: 3 unchanged" in second.err
    assert [(row["name"], row["tier"]) for row in json.loads(spaces.out)] == [
        ("default", None),
        ("documents", "personal"),
    ]


def test_a_folder_becomes_sources_with_vectors(
    run: Run, given: dict[str, Any], folder: Path, owner: psycopg.Connection
) -> None:
    done = run("ingest", str(folder), **given)

    assert (done.code, done.out) == (0, "")
    assert "Files in handbook: 3 added. 3 chunks in" in done.err
    assert "Left out 1 file, a link or of another kind each: docs/plan.png." in done.err
    counted = json.loads(run("stats", "--json", **given).out)
    assert (counted["documents"], counted["chunks"]) == (3, 3)
    assert look(owner) == [
        ("file/docs/coffee.txt", "docs/coffee.txt", "Coffee is served at nine.", 1, True),
        ("file/docs/house/rules.html", "docs/house/rules.html", "No shoes in the house.", 1, True),
        ("file/docs/tea.md", "docs/tea.md", "# Tea\n\nTea is served at four.\n", 1, True),
    ]
    assert owner.execute("table embedding_pending").fetchall() == []
    [found, *_] = owner.execute("select label from recall_chunks('when is tea served?')").fetchall()
    assert found == ("docs/tea.md",)


def test_a_folder_names_ten_of_the_files_that_it_left_out(
    run: Run, given: dict[str, Any], folder: Path
) -> None:
    for number in range(11):
        (folder / f"{number:02}.bin").touch()
    (folder / "house" / "more.md").symlink_to(folder / "tea.md")
    done = run("ingest", str(folder), **given)

    assert "Left out 13 files" in done.err
    assert "docs/00.bin, docs/01.bin" in done.err
    assert "docs/09.bin and 3 more." in done.err


def test_only_changed_files_are_stored_again(
    run: Run, given: dict[str, Any], folder: Path, owner: psycopg.Connection
) -> None:
    run("ingest", str(folder), **given)
    (folder / "tea.md").write_text("# Tea\n\nTea is served at five.\n", encoding="utf-8")

    again = json.loads(run("ingest", str(folder), "--json", **given).out)

    assert (again["changed"], again["unchanged"], again["added"], again["chunks"]) == (1, 2, 0, 1)
    versions = [row[2:] for row in look(owner) if row[0] == "file/docs/tea.md"]
    assert versions == [
        ("# Tea\n\nTea is served at four.\n", 1, False),
        ("# Tea\n\nTea is served at five.\n", 1, True),
    ]


def test_a_text_is_stored_once_also_under_another_name(
    run: Run, given: dict[str, Any], folder: Path, owner: psycopg.Connection
) -> None:
    (folder / "copy.md").write_bytes((folder / "tea.md").read_bytes())

    done = json.loads(run("ingest", str(folder), "--json", **given).out)

    assert (done["added"], done["repeated"]) == (3, 1)
    assert len(look(owner)) == 3


def test_a_refused_file_is_named_and_the_others_are_stored(
    run: Run, given: dict[str, Any], folder: Path, owner: psycopg.Connection
) -> None:
    (folder / "scan.pdf").write_bytes(b"%PDF-1.7")
    for name in ("empty.md", "hollow.md"):
        (folder / name).write_bytes(b"")

    done = run("ingest", str(folder), **given)

    assert done.code == 1
    assert "2 files, such as docs/empty.md, were not stored: it has no text" in done.err
    assert "docs/scan.pdf was not stored: it is not a PDF that can be read" in done.err
    assert len(look(owner)) == 3


def test_what_is_not_a_regular_file_is_named_and_not_read(
    run: Run, given: dict[str, Any], folder: Path, owner: psycopg.Connection
) -> None:
    os.mkfifo(folder / "pipe.md")

    done = run("ingest", str(folder), str(folder / "pipe.md"), "/dev/zero", **given)

    assert done.code == 1
    assert "pipe.md was not stored: it is a FIFO, not a regular file" in done.err
    assert "zero was not stored: it is a device, not a regular file" in done.err
    assert len(look(owner)) == 3


def test_a_file_whose_name_is_not_utf8_is_stored(
    run: Run, given: dict[str, Any], tmp_path: Path, owner: psycopg.Connection
) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / os.fsdecode(b"k\xe4se.md")).write_text("Tea at four.", encoding="utf-8")

    assert run("ingest", str(tmp_path / "odd"), **given).code == 0

    assert [row[1] for row in look(owner)] == ["odd/k\ufffdse.md"]


def test_a_named_file_is_stored_whatever_its_kind(
    run: Run, given: dict[str, Any], folder: Path, owner: psycopg.Connection
) -> None:
    (folder / "rules.cfg").write_text("shoes = no", encoding="utf-8")

    assert run("ingest", str(folder / "rules.cfg"), **given).code == 0

    assert [row[0] for row in look(owner)] == ["file/rules.cfg"]


def test_without_a_name_the_graph_must_be_clear(
    run: Run, given: dict[str, Any], folder: Path, owner: psycopg.Connection
) -> None:
    make_graph(owner, "diary", "public")
    make_graph(owner, "read", "public", "read")

    unclear = run("ingest", str(folder), **given)
    unknown = run("ingest", str(folder), "--graph", "read", **given)

    assert "choose diary or handbook as --graph" in unclear.complaint
    assert unknown.complaint.startswith("There is no graph read to write to: choose diary or")
    assert look(owner) == []


def test_without_a_graph_the_command_says_how_to_create_one(
    run: Run, database_url: str, folder: Path
) -> None:
    refused = run("ingest", str(folder), DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)

    assert refused.code == 1
    assert "`textrawl space create documents --tier personal`" in refused.complaint


def test_without_embeddings_the_files_are_stored_and_the_command_says_so(
    run: Run, given: dict[str, Any], folder: Path, owner: psycopg.Connection
) -> None:
    done = run("ingest", str(folder), **given | {"EMBEDDING_PROVIDER": "none"})

    assert done.code == 0
    assert "New chunks have no vectors yet (" in done.err
    assert len(look(owner)) == 3


def test_a_wrong_path_is_refused(run: Run, given: dict[str, Any]) -> None:
    for words in (["missing"], []):
        assert run("ingest", *words, **given).code == 2


def test_a_read_only_memory_is_not_changed(
    run: Run, given: dict[str, Any], folder: Path, owner: psycopg.Connection
) -> None:
    refused = run("ingest", str(folder), **given | {"READ_ONLY": "true"})

    assert refused.code == 1
    assert "TEXTRAWL_READ_ONLY" in refused.complaint
    assert look(owner) == []
