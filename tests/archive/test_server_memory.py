"""`textrawl import --from server-memory` and `export --to`: the reference memory server's file."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.archive.conftest import AWKWARD, succeed
from tests.archive.material import fetch, tell
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
    """The lines of an export, without the times, which differ from run to run."""
    out = Path("graph.jsonl")
    succeed(run, "export", "--to", "server-memory", str(out), "--force", *more, DATABASE_URL=url)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return [{key: line[key] for key in line if key != "saidAt"} for line in lines]


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
        ("leads",), ("works_at",)
    ]  # fmt: skip


def test_a_second_import_of_a_graph_adds_nothing(run: Run, fresh: str, tmp_path: Path) -> None:
    file = write_graph(tmp_path / "memory.jsonl", GRAPH)
    import_graph(run, fresh, file)

    again = import_graph(run, fresh, file)

    assert again.code == 0
    assert again.out.startswith("Added 0 spaces, 0 entities, 0 facts, 0 relations")
    assert again.out.endswith("3 entities, 4 facts, 2 relations.\n")
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
    {"type": "note"},
    "7",
    {"type": "entity", "entityType": "x", "observations": []},
    {"type": "entity", "name": "Long", "observations": ["kept", None, " "]},
    {"type": "relation", "from": "Ada", "relationType": "knows"},
    {"type": "relation", "from": "Ada", "to": "Ada", "relationType": "knows"},
    {"type": "entity", "name": ["n"], "entityType": "x", "observations": []},
    '{"type": "entity", "name": "Cut", "observ',
    "<<<<<<< HEAD",
    "",
]


def test_lines_that_cannot_be_used_are_told_by_number_and_all_others_kept(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    file = write_graph(tmp_path / "memory.jsonl", BAD)
    file.write_bytes(file.read_bytes() + b'{"name": "caf\xe9"}')

    outcome = import_graph(run, fresh, file)

    assert outcome.code == 1
    lines = sorted(line for line in outcome.err.splitlines() if line.startswith("line "))
    assert lines == [
        "line 10: is not JSON",
        "line 11: is not JSON",
        "line 12: is not UTF-8",
        "line 2: is not JSON",
        "line 3: name must be text",
        "line 4: is not a JSON object",
        "line 5: name must be text",
        "line 6: observation 2 is empty",
        "line 6: observation 3 is empty",
        "line 7: to must be text",
        "line 9: name must be text",
    ]
    assert read_graph(run, fresh) == [
        ADA, {"type": "entity", "name": "Long", "entityType": "Generic", "observations": ["kept"]},
        {"type": "relation", "from": "Ada", "to": "Ada", "relationType": "knows"},
    ]  # fmt: skip


def write_shape(number: int, **more: Any) -> dict[str, Any]:
    """Two entities with three observations and a relation, with names that no other shape has."""
    ada, acme = f"Ada {number}", f"Acme {number}"
    return {
        "entities": [
            {"name": ada, "entityType": "person", "observations": ["likes tea", "is 41"]},
            {"name": acme, "entityType": "company", "observations": ["sells öl"]},
        ],
        "relations": [{"from": ada, "to": acme, "relationType": "worksAt"}],
        **more,
    }


def write_lines(number: int, **kinds: str) -> str:
    """The same as lines, with a `type` if `kinds` has one."""
    shape = write_shape(number)
    lines = [(kinds.get("entity"), item) for item in shape["entities"]]
    lines += [(kinds.get("relation"), item) for item in shape["relations"]]
    return "\n".join(
        json.dumps({"type": kind, **item} if kind else item, ensure_ascii=False)
        for kind, item in lines
    )


TYPED = {"entity": "entity", "relation": "relation"}
LONG_NAME = "The committee for the naming of committees " * 6  # 258 characters
LONG_LABEL = "is responsible for everything that happens in the whole organization of "  # 72
SENTENCES = "It was quiet again. " * 1_100  # 22,000 characters: a text of 20,000 and one of 2,000
SHAPES: dict[str, tuple[bytes, tuple[int, int, int]]] = {
    "utf-8 with a byte order mark": (b"\xef\xbb\xbf" + write_lines(1, **TYPED).encode(), (2, 3, 1)),
    "utf-16 of PowerShell": (write_lines(2, **TYPED).encode("utf-16"), (2, 3, 1)),
    "utf-16 without a mark": (write_lines(3, **TYPED).encode("utf-16-le"), (2, 3, 1)),
    "one object": (json.dumps(write_shape(4)).encode(), (2, 3, 1)),
    "one object, indented": (json.dumps(write_shape(5), indent=2).encode(), (2, 3, 1)),
    "two indented objects": (
        "\n".join(json.dumps(write_shape(number), indent=2) for number in (6, 7)).encode(),
        (4, 6, 2),
    ),
    "an object of another program": (
        json.dumps({"result": {"graph": write_shape(8, version=2)}}).encode(), (2, 3, 1),
    ),
    "an array": (
        json.dumps([*write_shape(9)["entities"], *write_shape(9)["relations"]], indent=1).encode(),
        (2, 3, 1),
    ),
    "lines without a type": (write_lines(11).encode(), (2, 3, 1)),
    "lines with _type": (write_lines(21, **TYPED).replace('"type"', '"_type"').encode(), (2, 3, 1)),
    "an entity with the time of its creation": (
        b"""{"type": "entity", "name": "Ada 22", "entityType": "person", "version": 1,
        "createdAt": "2024-05-02T10:00:00Z", "observations": ["was here"]}""",
        (1, 1, 0),
    ),
    "lines with crlf": (write_lines(12).replace("\n", "\r\n").encode(), (2, 3, 1)),
    "two records on a line": (write_lines(13, **TYPED).replace("\n", " ").encode(), (2, 3, 1)),
    "other keys": (
        b"""{"entity_name": "Ada 14", "entity_type": "person", "facts": ["likes tea", "is 41"]}
        {"Name": "Acme 14", "type": "company", "observations": "sells oil"}
        {"from_entity": "Ada 14", "to_entity": "Acme 14", "relation_type": "worksAt"}
        {"source": "Ada 14", "target": {"name": "Acme 14"}, "type": "owns"}
        {"subject": "Ada 14", "predicate": "left", "object": "Acme 14"}""",
        (2, 3, 3),
    ),
    "nodes with ids, and edges": (
        b"""{"nodes": [{"id": "n1", "label": "Ada 15", "description": "likes tea"}, {"id": 2,
        "label": "Acme 15"}], "edges": [{"from": "n1", "to": 2, "label": "worksAt"}]}""",
        (2, 1, 1),
    ),
    "entities by name": (
        b"""{"entities": {"Ada 16": {"entityType": "person", "observations": ["likes tea"]},
        "Acme 16": "sells oil"}}""",
        (2, 2, 0),
    ),
    "observations as objects, numbers and a text": (
        b"""{"name": "Ada 17", "observations": [
        {"text": "likes tea", "timestamp": "2024-05-01T10:00Z"},
        {"content": "is 41", "createdAt": 1714557600}, {"shoe size": 38}, 42, true, 1.5,
        {"text": "was built", "date": "2016"}]}
        {"name": "Acme 17", "observations": "sells oil"}""",
        (2, 8, 0),
    ),
    "relations within entities": (
        b"""{"name": "Ada 18", "relations": [{"to": "Acme 18", "relationType": "worksAt"}]}""",
        (2, 0, 1),
    ),
    "ends without a line": (
        b"""{"from": "kubectl 19", "to": "cluster 19", "relationType": "controls"}
        {"from": "Kubectl 19", "to": "kubectl 19", "relationType": "calls"}""",
        (2, 0, 2),
    ),
    "too long": (
        json.dumps({
            "entities": [{"name": LONG_NAME, "observations": [SENTENCES]},
                         {"name": LONG_NAME + "again", "entityType": LONG_NAME}],
            "relations": [
                {"from": LONG_NAME, "to": LONG_NAME + "again", "relationType": LONG_LABEL * 2},
                {"from": "Ada 20", "to": LONG_NAME + "no more", "relationType": "likes"},
            ],
        }).encode(),
        # Facts: 11 parts of the long text, the whole names, the type, and the relation.
        (4, 11 + 3 + 1 + 1, 2),
    ),
}  # fmt: skip


# Files whose format has to be named.
UNKNOWN = ("other keys", "nodes with ids, and edges")
IMPORTED_AGAIN = ("one object, indented", "observations as objects, numbers and a text", "too long")


def test_a_file_in_any_usual_shape_is_imported_whole_and_again_adds_nothing(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    faults = list[str]()
    for shape, (content, counts) in SHAPES.items():
        file = tmp_path / "memory.json"
        file.write_bytes(content)
        for expected in (counts, (0, 0, 0)) if shape in IMPORTED_AGAIN else (counts,):
            named = ("--from", "server-memory") if shape in UNKNOWN else ()
            outcome = run("import", str(file), *named, DATABASE_URL=fresh)
            _, *found = map(int, re.findall(r"[0-9]+", outcome.out)[:4])
            if (outcome.code, outcome.err, tuple(found)) != (0, "", expected):
                faults.append(f"{shape}: expected {expected}: {outcome}")

    assert faults == []
    said = "select content, said_at::date::text from observation where said_at < '2025-01-01'"
    assert sorted(fetch(fresh, said)) == [
        ("is 41", "2024-05-01"), ("likes tea", "2024-05-01"), ("was built", "2016-01-01"),
        ("was here", "2024-05-02"),
    ]  # fmt: skip
    ends = "select name, entity_type, type_guessed from entity where name like '%uster 19'"
    assert fetch(fresh, ends) == [("cluster 19", "concept", True)]
    whole = "select count(*) from observation where content like 'The committee%no more'"
    assert fetch(fresh, whole) == [(1,)]


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


def test_the_times_of_facts_survive_the_file_of_the_reference(
    run: Run, fresh: str, tmp_path: Path
) -> None:
    said = [{"text": "likes tea", "saidAt": "2024-05-01T10:00:00Z"}, "leads QA"]
    import_graph(run, fresh, write_graph(tmp_path / "memory.jsonl", [ADA | {"observations": said}]))
    times = "select content, said_at, valid_from from fact order by 1"
    before = fetch(fresh, times)
    read_graph(run, fresh)
    tell(fresh, "delete from observation returning 1", "delete from entity returning 1")

    assert import_graph(run, fresh, Path("graph.jsonl")).code == 0

    assert fetch(fresh, times) == before


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
