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
