"""The odd inputs of `tests/toolsets/memory/test_every_way_in.py`, through an import."""

import json
from pathlib import Path

import psycopg

from tests.support.commands import Run
from tests.support.odd_inputs import find_differences, write_entities, write_relations


def test_an_import_stores_odd_inputs_as_the_tools_do(run: Run, fresh: str, tmp_path: Path) -> None:
    file = tmp_path / "memory.json"
    content = {"entities": write_entities("file"), "relations": write_relations("file")}
    file.write_text(json.dumps(content))

    outcome = run("import", "--from", "server-memory", str(file), DATABASE_URL=fresh)

    assert (outcome.code, outcome.err) == (0, "")
    with psycopg.connect(fresh) as owner:
        owner.execute("set search_path = textrawl")
        assert find_differences(owner, "file") == {}


def test_an_import_says_how_many_texts_were_cleaned(run: Run, fresh: str, tmp_path: Path) -> None:
    line = {"type": "entity", "name": "A\u200bda", "entityType": "person"}
    (tmp_path / "memory.json").write_text(json.dumps({**line, "observations": ["a\u00adb", "c"]}))
    memory = {
        "id": "1",
        "content": "soft\u00adhyphen",
        "created_at": 1_700_000_000,
        "last_used": 1_700_000_000,
    }
    (tmp_path / "memories.jsonl").write_text(json.dumps(memory) + "\n")
    plain = run("export", str(tmp_path / "plain.jsonl"), DATABASE_URL=fresh)

    reference = run(
        "import", "--from", "server-memory", str(tmp_path / "memory.json"), DATABASE_URL=fresh
    )
    faded = run("import", "--from", "cortexgraph", str(tmp_path), DATABASE_URL=fresh)
    export = tmp_path / "odd.jsonl"
    assert run("export", str(export), DATABASE_URL=fresh).code == 0
    odd = export.read_text().replace('"softhyphen"', '"soft\\u200bhyphen"')
    export.write_text(odd)
    exported = run("import", str(export), DATABASE_URL=fresh)
    unchanged = run("import", str(tmp_path / "plain.jsonl"), DATABASE_URL=fresh)

    assert plain.code == 0
    assert "Stored without hidden characters: 2 texts." in reference.out
    assert "Stored without hidden characters: 1 text." in faded.out
    assert "Stored without hidden characters: 1 text." in exported.out
    assert "hidden" not in unchanged.out
