"""`textrawl import --from server-memory` and `export --to`: the reference memory server's file."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.archive.conftest import AWKWARD, succeed
from tests.archive.material import fetch
from tests.support.commands import Run

ADA = {
    "type": "entity", "name": "Ada", "entityType": "Engineer",
    "observations": ["leads QA", AWKWARD, "likes tea"],
}  # fmt: skip
ACME: dict[str, Any] = {
    "type": "entity",
    "name": "Acme Corp",
    "entityType": "organization",
    "observations": [],
}
ATLAS = {"type": "entity", "name": "Atlas", "entityType": "Proyecto", "observations": ["is late"]}
WORKS = {"type": "relation", "from": "Ada", "to": "Acme Corp", "relationType": "worksAt"}
LEADS = {"type": "relation", "from": "Ada", "to": "Atlas", "relationType": "leads"}
GRAPH = [ADA, ACME, ATLAS, WORKS, LEADS]


def write_graph(file: Path, lines: list[Any]) -> Path:
    text = "\n".join(
        line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines
    )
    file.write_text(text, encoding="utf-8")  # as the reference does: no line end after the last
    return file


def read_graph(run: Run, url: str, *more: str) -> list[Any]:
    out = Path("graph.jsonl")
    succeed(run, "export", "--to", "server-memory", str(out), "--force", *more, DATABASE_URL=url)
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def import_graph(run: Run, url: str, file: Path, *more: str) -> Any:
    return run("import", "--from", "server-memory", str(file), *more, DATABASE_URL=url)


def test_a_graph_comes_back_as_it_went(run: Run, fresh: str, tmp_path: Path) -> None:
    file = write_graph(tmp_path / "memory.jsonl", GRAPH)

    outcome = import_graph(run, fresh, file)

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("Added 0 spaces, 3 entities, 4 facts, 2 relations")
    assert read_graph(run, fresh) == GRAPH
    types = fetch(fresh, "select name, entity_type from entity order by name")
    assert types == [("Acme Corp", "organization"), ("Ada", "person"), ("Atlas", "project")]
    assert fetch(fresh, "select distinct relation_type from relation order by 1") == [
        ("leads",), ("worksat",)
    ]  # fmt: skip


def test_a_second_import_of_a_graph_adds_nothing(run: Run, fresh: str, tmp_path: Path) -> None:
    file = write_graph(tmp_path / "memory.jsonl", GRAPH)
    import_graph(run, fresh, file)

    again = import_graph(run, fresh, file)

    assert again.code == 0
    assert again.out.startswith("Added 0 spaces, 0 entities, 0 facts, 0 relations")
    assert "3 entities, 4 facts, 2 relations. Bad lines: 0" in again.out
    assert read_graph(run, fresh) == GRAPH


def test_relations_may_come_first_and_name_what_is_in_the_memory_already(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    import_graph(run, fresh, write_graph(tmp_path / "first.jsonl", [ACME]))
    later = write_graph(tmp_path / "later.jsonl", [WORKS, ADA])

    assert import_graph(run, fresh, later).code == 0
    assert read_graph(run, fresh) == [ACME, ADA, WORKS]


BAD: list[Any] = [
    ADA,
    "{not json",
    {"type": "note", "name": "x"},
    "[]",
    {"type": "entity", "entityType": "x", "observations": []},
    {"type": "entity", "name": "Long", "observations": ["x" * 20_001, "kept", 7]},
    {"type": "relation", "from": "Ada", "to": "Nobody", "relationType": "knows"},
    {"type": "relation", "from": "Ada", "to": "Ada", "relationType": "knows"},
    {"type": "entity", "name": "n" * 201, "entityType": "x", "observations": []},
    "",
]


def test_lines_that_cannot_be_used_are_told_by_number_and_all_others_kept(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    file = write_graph(tmp_path / "memory.jsonl", BAD)

    outcome = import_graph(run, fresh, file)

    assert outcome.code == 1
    lines = sorted(line for line in outcome.err.splitlines() if line.startswith("line "))
    assert lines == [
        "line 2: is not JSON",
        "line 3: type is neither entity nor relation",
        "line 4: is not a JSON object",
        "line 5: name must be text",
        "line 6: observation 1 is longer than 20000 characters",
        "line 6: observation 3 must be text",
        "line 7: there is no entity Nobody",
        "line 9: name is longer than 200 characters",
    ]
    assert read_graph(run, fresh) == [
        ADA, {"type": "entity", "name": "Long", "entityType": "Generic", "observations": ["kept"]},
        {"type": "relation", "from": "Ada", "to": "Ada", "relationType": "knows"},
    ]  # fmt: skip


def test_a_graph_belongs_to_the_space_that_is_named(run: Run, url: str, tmp_path: Path) -> None:
    before = read_graph(run, url)
    file = write_graph(tmp_path / "memory.jsonl", [ATLAS])

    assert import_graph(run, url, file, "--space", "team").code == 0
    assert read_graph(run, url, "--space", "team")[-1] == ATLAS
    assert read_graph(run, url) == before
    for command in (("import", "--from", "server-memory", str(file)),
                    ("export", "--to", "server-memory", "-")):  # fmt: skip
        outcome = run(*command, "--space", "nowhere", DATABASE_URL=url)
        assert outcome.code == 1
        assert "No space nowhere" in outcome.err


def test_one_file_has_one_graph(run: Run, url: str) -> None:
    outcome = run(
        "export", "--to", "server-memory", "--space", "team", "--space", "default", DATABASE_URL=url
    )
    assert outcome.code == 1
    assert "More than one space" in outcome.err


@pytest.mark.parametrize("more", [(), ("--with-vectors",)])
def test_the_spelling_of_types_and_relations_survives_an_export(
    run: Run, fresh: str, empty: str, tmp_path: Path, more: tuple[str, ...]
) -> None:
    import_graph(run, fresh, write_graph(tmp_path / "memory.jsonl", GRAPH))
    file = str(tmp_path / "export.jsonl")
    succeed(run, "export", file, *more, DATABASE_URL=fresh)
    succeed(run, "migrate", DATABASE_URL=empty)
    succeed(run, "import", file, DATABASE_URL=empty)

    assert read_graph(run, empty) == GRAPH


LONG: dict[str, Any] = {
    "type": "entity", "name": "Log", "entityType": "log",
    "observations": ["came first", "It was quiet again.  " * 400 + "The end", "x" * 20_000],
}  # fmt: skip


@pytest.mark.parametrize("more", [(), ("--with-vectors",)])
def test_long_observations_survive_both_kinds_of_file(
    run: Run, fresh: str, empty: str, tmp_path: Path, more: tuple[str, ...]
) -> None:
    graph = write_graph(tmp_path / "memory.jsonl", [LONG])
    assert import_graph(run, fresh, graph).code == 0
    again = import_graph(run, fresh, graph)
    assert again.out.startswith("Added 0 spaces, 0 entities, 0 facts, 0 relations")
    assert read_graph(run, fresh) == [LONG]

    file = str(tmp_path / "export.jsonl")
    succeed(run, "export", file, *more, DATABASE_URL=fresh)
    succeed(run, "migrate", DATABASE_URL=empty)
    succeed(run, "import", file, DATABASE_URL=empty)

    assert read_graph(run, empty) == [LONG]
    assert fetch(empty, "select max(char_length(content)) from observation") == [(2000,)]
