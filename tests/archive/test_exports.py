"""`textrawl export` and `textrawl import`: the content, line by line, and nothing twice."""

import json
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from tests.archive.conftest import AWKWARD, create_empty, list_names, succeed, write_export
from tests.archive.material import ENTITY, FACT, NOW, SAID, SPACE, fetch, number, tell, write_file
from tests.conftest import Databases
from tests.support.commands import Outcome, Run
from textrawl.embedded.postmaster import APP, OWNER


def read_lines(raw: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in raw.splitlines()]


@pytest.mark.parametrize("more", [(), ("--with-vectors",)], ids=["without", "with vectors"])
def test_an_export_of_an_import_is_the_same_file(
    run: Run, url: str, fresh: str, tmp_path: Path, more: tuple[str, ...]
) -> None:
    tell(
        url,
        "select pin_fact(e.name, f.id::text) from fact f join entity e on e.id = f.entity_id"
        " where f.evidence is not null limit 1",
    )
    first = write_export(run, url, tmp_path / "first.jsonl", *more)

    outcome = succeed(run, "import", str(tmp_path / "first.jsonl"), DATABASE_URL=fresh)

    assert write_export(run, fresh, tmp_path / "second.jsonl", *more) == first
    kinds = [line.get("kind") for line in read_lines(first)]
    facts = fetch(url, "select count(*) from fact")[0][0]
    assert (kinds.count("space"), kinds.count("fact"), kinds.count("relation")) == (2, facts, 1)
    assert kinds.count("pin") == 1
    assert f"{facts} facts, 1 relation" in outcome.out
    said = [line for line in read_lines(first) if line.get("text") == AWKWARD]
    assert [(line["evidence"], line["evidence_start"]) for line in said] == [(AWKWARD, 7)]
    assert any(line.get("replaced_by") for line in read_lines(first))
    assert list_names(tmp_path) == ["first.jsonl", "second.jsonl"]
    vectors = fetch(fresh, "select to_regclass('embedding_1')::text")
    assert vectors == [("embedding_1" if more else None,)]
    if more:
        query = (
            "select observation_id, vector::text from embedding_1 v"
            " join fact f on f.id = v.observation_id"
        )
        assert fetch(fresh, query) == fetch(url, query) != []
        pending = "select count(*) from embedding_pending p join fact f on f.id = p.observation_id"
        assert fetch(fresh, pending) == [(facts - 1,)]


def test_a_second_import_adds_nothing(run: Run, url: str, fresh: str, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    before = write_export(run, url, file)
    succeed(run, "import", str(file), DATABASE_URL=fresh)
    events = fetch(fresh, "select count(*) from event")

    again = [succeed(run, "import", str(file), DATABASE_URL=target) for target in (fresh, url)]

    for outcome in again:
        assert outcome.out.startswith("Added 0 spaces, 0 entities, 0 facts, 0 relations")
        assert "Bad lines" not in outcome.out
    assert fetch(fresh, "select count(*) from event") == events
    for target in (fresh, url):
        assert write_export(run, target, tmp_path / "again.jsonl", "--force") == before


def test_an_imported_memory_is_found_and_its_facts_wait_for_vectors(
    run: Run, url: str, fresh: str, tmp_path: Path
) -> None:
    write_export(run, url, tmp_path / "memory.jsonl")
    fetch(fresh, "select register_embedding_model('test:four', 4); commit")

    succeed(run, "import", str(tmp_path / "memory.jsonl"), DATABASE_URL=fresh)

    (found,) = fetch(fresh, "select content from search_memory('coffee')")[0]
    assert found == "likes coffee"
    stored = fetch(fresh, "select count(*) from observation")  # facts and statements
    assert fetch(fresh, "select count(*) from embedding_pending") == stored


def test_vectors_of_another_model_are_left_out_and_said_to_be(
    run: Run, url: str, fresh: str, tmp_path: Path
) -> None:
    write_export(run, url, tmp_path / "memory.jsonl", "--with-vectors")
    fetch(fresh, "select register_embedding_model('test:four', 4); commit")

    outcome = succeed(run, "import", str(tmp_path / "memory.jsonl"), DATABASE_URL=fresh)

    assert "this memory uses test:four, but the file uses test:three" in outcome.err
    stored = fetch(fresh, "select count(*) from observation")  # facts and statements
    assert fetch(fresh, "select count(*) from embedding_pending") == stored


def test_an_export_has_the_rows_of_all_spaces_or_of_those_asked_for(
    run: Run, url: str, tmp_path: Path
) -> None:
    whole = read_lines(write_export(run, url, tmp_path / "all.jsonl"))
    team = read_lines(write_export(run, url, tmp_path / "team.jsonl", "--space", "team"))

    counts = dict(
        fetch(url, "select s.name, count(*) from fact o join space s on s.id = space_id group by 1")
    )
    assert {space: sum(line.get("space") == space for line in whole if line.get("kind") == "fact")
            for space in counts} == counts  # fmt: skip
    assert set(counts) == {"default", "team"}
    assert {line["space"] for line in team if "space" in line and "kind" in line} == {"team"}
    assert team[-1]["fact"] == counts["team"]
    assert "No space nowhere" in run("export", "--space", "nowhere", DATABASE_URL=url).complaint


def test_others_than_the_owner_neither_export_nor_import(
    run: Run, url: str, tmp_path: Path
) -> None:
    theirs = make_conninfo(url, user=APP)
    for command in (("export", "-"), ("import", write_file(tmp_path, SPACE))):
        outcome = run(*command, DATABASE_URL=theirs)
        assert outcome.code == 1
        assert "does not own this memory" in outcome.complaint


def test_facts_go_to_the_entity_that_has_the_name_and_known_ones_are_not_told_twice(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    fetch(fresh, "select remember_fact('ADA', 'concept', 'likes tea.'); commit")
    [(entity, tea)] = fetch(fresh, "select entity_id, id from fact")
    old = FACT | {
        "id": number(2, 3), "text": "likes milk", "replaced_by": FACT["id"], "valid_until": NOW,
    }  # fmt: skip
    other = ENTITY | {"id": number(1, 9), "name": "Atlas"}
    edge = SAID | {
        "kind": "relation", "id": number(3, 1), "from_entity": ENTITY["id"],
        "relation": "Works at", "to_entity": other["id"], "strength": 0.5,
    }  # fmt: skip
    file = write_file(tmp_path, SPACE, ENTITY, other, old, FACT, edge)

    outcome = succeed(run, "import", file, DATABASE_URL=fresh)

    assert "Added 0 spaces, 1 entity, 1 fact, 1 relation" in outcome.out
    facts = fetch(
        fresh, "select entity_id, entity_type, content, replaced_by from fact order by content"
    )
    assert facts == [
        (entity, "concept", "likes milk", tea),
        (entity, "concept", "likes tea.", None),
    ]
    edges = "select from_entity, relation_type, to_entity::text, strength from relation"
    assert fetch(fresh, edges) == [(entity, "works_at", other["id"], 0.5)]


def test_a_dry_run_says_the_same_and_changes_nothing(
    run: Run, url: str, fresh: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "memory.jsonl")
    write_export(run, url, Path(file), "--with-vectors")
    before = write_export(run, fresh, tmp_path / "before.jsonl")

    dry = succeed(run, "import", file, "--dry-run", DATABASE_URL=fresh)

    assert write_export(run, fresh, tmp_path / "after.jsonl") == before
    assert fetch(fresh, "select count(*) from event") == [(0,)]
    real = succeed(run, "import", file, DATABASE_URL=fresh)
    assert real.out.startswith(dry.out.strip().replace("Would add", "Added"))
    assert dry.out.split(" Known ")[1].strip() in real.out.split(" Known ")[1]


def test_an_import_is_a_line_of_the_trail_and_no_undo_takes_its_facts_back(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    file = write_file(tmp_path, SPACE, ENTITY, FACT)
    succeed(run, "import", file, DATABASE_URL=fresh)
    rows = fetch(
        fresh,
        "select a.name, e.tool, e.action, e.detail from event e join actor a on a.id = e.actor_id",
    )
    assert rows == [(OWNER, "import", "imported", {"entities": 1, "facts": 1, "relations": 0})]
    logged = json.loads(succeed(run, "log", "--json", DATABASE_URL=fresh).out)
    assert [row["action"] for row in logged] == ["imported"]
    fetch(fresh, "select remember_fact('Ada', 'person', 'likes tea'); commit")

    for author in ("ana", OWNER):
        outcome = run("undo", "--by", author, "--since", "1d", "--yes", DATABASE_URL=fresh)
        assert outcome.code == 0, outcome.err

    assert fetch(fresh, "select content from fact") == [("likes tea",)]


def test_what_an_undo_keeps_is_not_brought_back_by_an_import(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    fetch(fresh, "select remember_fact('Ada', 'person', 'nonsense'); commit")
    write_export(run, fresh, tmp_path / "memory.jsonl")
    succeed(run, "undo", "--by", OWNER, "--since", "1d", "--yes", DATABASE_URL=fresh)

    outcome = run("import", str(tmp_path / "memory.jsonl"), DATABASE_URL=fresh)

    assert outcome.code == 1
    assert "an undo took it back" in outcome.err
    assert fetch(fresh, "select content from fact") == []


@pytest.mark.slow
def test_an_embedded_memory_is_exported_to_a_pipe(
    launch: Any, data_dir: Path, home: Path, tmp_path: Path
) -> None:
    file = write_file(tmp_path, SPACE, ENTITY, FACT)
    imported: Outcome = launch("import", file, DATA_DIR=home / "other").end()
    exported: Outcome = launch("export", DATA_DIR=home / "other").end()
    assert (imported.code, exported.code) == (0, 0), imported.err + exported.err
    assert [line.get("text") for line in read_lines(exported.out.encode())][3] == "likes tea"
    assert exported.err == "Exported 1 space, 1 entity, 1 fact, 0 relations.\n"


@pytest.mark.slow
def test_a_reader_that_goes_away_is_told_in_one_line(launch: Any, url: str) -> None:
    big = "update entity set metadata = jsonb_build_object('x', repeat('x', 1000000)) returning id"
    assert fetch(url, big)
    process = launch("export", DATABASE_URL=url).popen
    process.stdout.close()
    text = process.stderr.read()
    assert process.wait(timeout=60) == 1
    assert text == "textrawl: The export is incomplete: Broken pipe on stdout\n"
    process.stdout = None


def test_postgres_16_takes_an_export_of_18(
    run: Run, url: str, postgres_16: Databases, tmp_path: Path
) -> None:
    first = write_export(run, url, tmp_path / "first.jsonl", "--with-vectors")
    with create_empty(postgres_16) as name:
        older = postgres_16.cluster.dsn(OWNER, name)
        succeed(run, "migrate", DATABASE_URL=older)
        succeed(run, "import", str(tmp_path / "first.jsonl"), DATABASE_URL=older)
        assert write_export(run, older, tmp_path / "second.jsonl", "--with-vectors") == first
