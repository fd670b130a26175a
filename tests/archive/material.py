"""Lines of an export, and files of them."""

import json
from pathlib import Path
from typing import Any, LiteralString

import psycopg

NOW = "2026-01-02T03:04:05.000006+00:00"
SPACE = {"kind": "space", "name": "default", "created_at": NOW}
ENTITY = {
    "kind": "entity", "space": "default", "id": "00000000-0000-4000-8000-000000000001",
    "name": "Ada", "entity_type": "person", "created_at": NOW, "updated_at": NOW,
}  # fmt: skip
SAID: dict[str, Any] = {
    "space": "default", "valid_from": NOW, "created_at": NOW, "author": "ana", "tool": "sql",
}  # fmt: skip
FACT: dict[str, Any] = SAID | {
    "kind": "fact", "id": "00000000-0000-4000-8000-000000000002", "entity": ENTITY["id"],
    "text": "likes tea", "source": "note", "confidence": 1,
}  # fmt: skip


def number(kind: int, place: int) -> str:
    return f"00000000-0000-4000-800{kind}-{place:012d}"


def write_file(folder: Path, *lines: dict[str, Any] | bytes, end: bool = True) -> str:
    """A file of these lines, between a first and a last one."""
    kinds = [line.get("kind") for line in lines if isinstance(line, dict)]
    counts = {kind: kinds.count(kind) for kind in ("space", "entity", "relation")}
    counts["fact"] = len(lines) - sum(counts.values())
    parts = [{"textrawl": "export", "version": 1}, *lines]
    if end:
        parts.append({"textrawl": "end", **counts})
    raw = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in parts]
    (folder / "lines.jsonl").write_bytes(b"\n".join(raw) + b"\n")
    return str(folder / "lines.jsonl")


def fetch(url: str, query: Any) -> list[Any]:
    with psycopg.connect(url) as owner:
        owner.execute("set search_path = textrawl, public")
        return owner.execute(query).fetchall()


def tell(url: str, *queries: LiteralString) -> None:
    """Run statements that change the memory, in this order."""
    for query in queries:
        fetch(url, query)
