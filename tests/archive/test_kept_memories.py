"""Memories with content of every toolset, as older versions made them, come to this version whole.

`kept/content.py` made them. Each folder has a memory's tables with their rows, and its export.
"""

import json
import re
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from tests.archive.conftest import succeed, write_export
from tests.support.commands import Run

KEPT = Path(__file__).parent / "kept"
BEFORE_SQUASH, AFTER_SQUASH = KEPT / "404fb95", KEPT / "squashed"
# An import gives these their own numbers, or makes them again from the content.
_OWN = {
    "entity": ["updated_at"], "document": ["changed", "version"], "document_version": ["version"],
    "identity_snapshot": ["version"],
    "observation": [
        *("ordinal", "closed_at", "content_hash", "fts", "claim", "period", "origin", "repository"),
        "anchors",
    ],
    "chunk": ["observation_id"],
    "relation": ["closed_at", "relation_type"],
}  # fmt: skip
_OWN_OF_PARTS = ("id", "created_at", "valid_from")
_CONTENT = (
    "entity", "entity_alias", "observation", "relation", "revision", "reflection", "retention",
    "memory_link", "instance", "document", "document_version", "journal_entry", "source", "chunk",
    "identity_snapshot", "graph_node", "graph_edge",
)  # fmt: skip

# Fields of items, which memories have since then, with their values in other lines.
_OF_ITEMS: dict[str, object] = {
    "namespace": None, "key": None, "position": None, "expires_at": None,
    "exact": False, "attributes": {}, "lost": False,
}  # fmt: skip


def load(conninfo: str, folder: Path) -> None:
    """Make the memory of a folder."""
    with psycopg.connect(conninfo) as owner:
        owner.execute((folder / "memory.sql").read_bytes())


def read_rows(conninfo: str, table: str) -> list[str]:
    """The rows of a table as JSON, with names for the numbers of spaces and actors."""
    query = sql.SQL("""
        select to_jsonb(t) - %s::text[] - 'actor_id' || jsonb_strip_nulls(jsonb_build_object(
            'space_id', (select s.name from textrawl.space s where s.id = t.space_id),
            'author_id', (select a.name from textrawl.actor a where a.id = coalesce(
                to_jsonb(t) ->> 'author_id', to_jsonb(t) ->> 'actor_id')::int)))
        from textrawl.{} t""")
    with psycopg.connect(conninfo) as owner:
        rows = owner.execute(query.format(sql.Identifier(table)), (_OWN.get(table, []),)).fetchall()
    for (row,) in rows:
        move_begin(row)
        if row.get("part") and row["entity_type"] == "concept":  # the facts of a document
            for name in _OWN_OF_PARTS:
                del row[name]
    lines = (json.dumps(row, sort_keys=True) for (row,) in rows)
    return sorted(re.sub(r"'~s\d+'", "", line) for line in lines)


def read_lines(export: bytes) -> list[Any]:
    lines = [json.loads(line) for line in export.splitlines()]
    for line in lines:
        move_begin(line)
        for field, without in _OF_ITEMS.items():
            if line.get(field, ...) == without:
                del line[field]
        line.pop("relation", None)  # types of relations are compared in another form since then
    return lines


def move_begin(row: dict[str, Any]) -> None:
    """Let a fact begin when it was said. In older memories it began when it was stored.

    They have neither sentences nor origins nor repositories of facts.
    """
    row.pop("confirmed_at", None)
    row.pop("origin", None)
    for name in ("repository", "anchors"):
        row.pop(name, None)
    for name in ("evidence", "evidence_start"):
        if row.get(name) is None:
            row.pop(name, None)
    if row.get("said_at"):
        wrong = row["valid_from"] == row["valid_until"]
        row["valid_from"] = min(row["valid_from"], row["said_at"])
        row["valid_until"] = row["valid_from"] if wrong else row["valid_until"]


def test_a_memory_from_before_the_squash_is_refused_and_its_export_brings_all_content(
    run: Run, empty: str, fresh: str
) -> None:
    load(empty, BEFORE_SQUASH)
    refused = run("migrate", DATABASE_URL=empty)
    assert refused.code == 1
    assert re.search(r"worktree add \S+ 404fb95.* export .*textrawl import", refused.complaint)

    succeed(run, "import", str(BEFORE_SQUASH / "memory.jsonl"), DATABASE_URL=fresh)

    kept, moved = ({table: read_rows(url, table) for table in _CONTENT} for url in (empty, fresh))
    assert moved == kept
    assert all(kept.values())


def test_the_kept_memory_is_migrated_with_all_its_content(
    run: Run, empty: str, tmp_path: Path
) -> None:
    load(empty, AFTER_SQUASH)

    succeed(run, "migrate", DATABASE_URL=empty)

    assert "Up to date" in succeed(run, "migrate", DATABASE_URL=empty).out
    export = write_export(run, empty, tmp_path / "memory.jsonl")
    [now, then] = map(read_lines, (export, (AFTER_SQUASH / "memory.jsonl").read_bytes()))
    assert now[-1].pop("dismissal") == now[-1].pop("pin") == now[-1].pop("ciphertext") == 0
    assert now == then
    assert all(read_rows(empty, table) for table in _CONTENT)
    with psycopg.connect(empty) as owner:
        found = owner.execute("""
            select count(*), count(*) filter (where content_hash = textrawl.fact_hash(content))
            from textrawl.observation""").fetchone()
        assert found is not None
        assert found[0] == found[1] > 0
        query = """
            select count(*), count(*) filter (where relation_type = k.key) from textrawl.relation
            cross join lateral textrawl.relation_key(coalesce(label, relation_type)) as k (key)"""
        found = owner.execute(query).fetchone()
        assert found is not None
        assert found[0] == found[1] > 0
