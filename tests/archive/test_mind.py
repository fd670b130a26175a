"""Nodes and edges of the mind tools travel with their entities and relations."""

import json
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from tests.archive.conftest import succeed
from tests.archive.material import fetch
from tests.archive.test_exports import write_export
from tests.support.commands import Run

_STATES: LiteralString = """
    select to_jsonb(s) from (
        select 0 as turn, to_jsonb(n) as s from node_states(1) n
        union all select 1, to_jsonb(e) from edge_states(1) e) s order by s.turn, s.s
"""


def _write(url: str) -> None:
    """Write nodes and edges with all fields, of which some were changed and deleted."""
    nodes = [
        {"label": "Mercury", "type": "person", "description": "sings", "confidence": 0.7,
         "properties": {"born": 1946, "none": None}, "memory": "daily-1",
         "first_learned_at": "2026-01-02T00:00:00Z"},
        {"label": "Mercury", "type": "planet"}, {"label": "gone", "type": "topic"},
    ]  # fmt: skip
    edges = [
        {"from": "Mercury", "to": "gone", "type": "nearTo", "evidence": "a map",
         "properties": {"au": 0.4}, "occurred_at": "2026-01-02T00:00:00Z"},
        {"from": "gone", "to": "Mercury", "type": "far", "valid_until": "2030-01-01T00:00:00Z"},
    ]  # fmt: skip
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("set search_path = textrawl, public")
        owner.execute(
            "select write_graph(%s, %s, instance => 'laptop')",
            (json.dumps(nodes), json.dumps(edges)),
        )
        change = "select update_node(id, %s) from entity where name = 'Mercury'"
        owner.execute(change, (json.dumps({"label": "Freddie", "description": "sang"}),))
        owner.execute("select delete_edge(edge_id) from find_edges(type => 'far')")
        owner.execute("select delete_node(id) from entity where name = 'gone'")


def test_a_graph_comes_back_as_it_was(run: Run, url: str, fresh: str, tmp_path: Path) -> None:
    _write(url)
    before = fetch(url, _STATES)
    file = tmp_path / "memory.jsonl"
    written = write_export(run, url, file)

    succeed(run, "import", str(file), DATABASE_URL=fresh)
    again = succeed(run, "import", str(file), DATABASE_URL=fresh)

    states: list[Any] = fetch(fresh, _STATES)
    assert states == before
    assert any("Freddie" in json.dumps(state) and "sang" in json.dumps(state) for state in states)
    assert "Bad lines" not in again.out
    assert write_export(run, fresh, tmp_path / "again.jsonl") == written
