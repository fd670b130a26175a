"""Made-up memories of other systems, with odd cases, in the forms that these write."""

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

AT = "2026-03-01T10:00:00Z"


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def write_json(file: Path, value: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), encoding="utf-8")
    return file


def write_vault(folder: Path, text: str) -> Path:
    """Links, embeds, aliases, properties, tags, fields, code, an empty note, settings."""
    ada = (
        "---\naliases: [Countess]\ntags: [person, maths]\nborn: 1815\n"
        f"employer: '[[Acme Corp|Acme]]'\nrole: {text}\n---\n"
        "Met [[Babbage#Engine|Charles]] and ![[portrait.png]] #history/uk\n"
        "mood:: calm\nfriend:: [[Babbage]]\n- knows [[Mary Somerville]]\n"
        "```\n[[not a link]] #no\n```\n"
    )
    return write_files(
        folder, {
            "Ada.md": ada, "people/Babbage.md": "See [Ada](../Ada.md).\n", "Empty.md": "",
            ".obsidian/app.json": "{}", ".trash/Old.md": "gone",
        }
    )  # fmt: skip


def write_basic_memory(folder: Path, text: str) -> Path:
    """Categories, tags, contexts, relations with and without a type, a checkbox, a same title."""
    coffee = (
        "---\ntitle: Coffee\ntype: guide\npermalink: drinks/coffee\ntags: [drink]\nrating: 5\n---\n"
        f"# Coffee\n\n- [method] {text} #brew (from Ben)\n- [tip] Warm the cup\n- [ ] buy beans\n"
        "- requires [[Kettle]] (for water)\n- [[Tea]]\n"
    )
    return write_files(
        folder, {"coffee.md": coffee, "kettle.md": "---\ntitle: Kettle\npermalink: kettle\n---\n"}
    )


def write_mem0(file: Path, text: str) -> Path:
    """Rows of users and agents, categories, a row without a text, a relation."""
    row = {"hash": "x", "metadata": {"category": "home"}, "created_at": AT, "updated_at": AT}
    relation = {"source": "ada", "relationship": "feeds", "destination": "cat"}
    return write_json(file / "mem0.json", {"relations": [relation], "results": [
        row | {"id": "1", "memory": text, "user_id": "ada", "categories": ["food"]},
        row | {"id": "2", "memory": "Has a cat", "user_id": "ada", "run_id": "r7"},
        row | {"id": "3", "memory": "Answers briefly", "agent_id": "helper", "updated_at": None},
        row | {"id": "4", "memory": "", "user_id": "ada"},
    ]})  # fmt: skip


def write_plugin(file: Path, text: str) -> Path:
    blocks = "".join(
        f"---\nid: {key}\ncreated_at: {AT}\ntype: decision\nconfidence: 0.9\nbranch: main\n"
        f"categories: build, ci\n---\n{said}\n\n"
        for key, said in (("a", text), ("b", "Line one\n---\nLine two"))
    )
    return (
        write_files(file, {"mem0-export-app-2026-03-01.md": blocks})
        / "mem0-export-app-2026-03-01.md"
    )


def write_openmemory(folder: Path, text: str) -> Path:
    """A zip of a backup: archived and deleted memories."""
    row = {"user": {"user_id": "ada"}, "created_at": AT}
    rows = [
        row | {"id": "m1", "content": text, "state": "active"},
        row | {"id": "m2", "content": "Lived in Rome", "state": "archived",
               "archived_at": "2026-04-01T00:00:00Z"},
        row | {"id": "m3", "content": "secret", "state": "deleted"},
    ]  # fmt: skip
    packed = gzip.compress("".join(f"{json.dumps(row)}\n" for row in rows).encode())
    return write_zip(folder / "export.zip", {"memories.json": b"{}", "memories.jsonl.gz": packed})


def write_zip(file: Path, files: dict[str, bytes]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    file.write_bytes(content.getvalue())
    return file


def write_hindsight(folder: Path, text: str) -> Path:
    """Facts with and without entities, a fact of a period, an observation with its proofs."""
    facts: list[dict[str, Any]] = [
        {"text": text, "fact_type": "world", "mentioned_at": AT, "entities": ["Ada", "Acme"],
         "tags": ["job"], "occurred_start": "2020-01-01T00:00:00Z",
         "occurred_end": "2024-01-01T00:00:00Z"},
        {"text": "Met Ben", "fact_type": "experience", "mentioned_at": AT, "entities": ["Ada"],
         "occurred_start": AT, "occurred_end": AT},
        {"text": "It rained", "fact_type": "world", "entities": []},
        {"text": "", "fact_type": "world"},
    ]  # fmt: skip
    document = {"id": "d1", "original_text": "Ada said so.", "created_at": AT, "facts": facts}
    proofs = [{"document_id": "d1", "fact_index": 0}, {"document_id": "gone", "fact_index": 9}]
    observation = {"text": "Ada has a career", "proof_count": 2, "sources": proofs}
    files = {
        "manifest.json": {"schema_version": "1", "source_bank_id": "work", "archive_type": "bank"},
        "documents/000001.json": document, "observations.json": [observation],
    }  # fmt: skip
    return write_zip(
        folder / "bank.zip", {name: json.dumps(one).encode() for name, one in files.items()}
    )


def write_memory_service(folder: Path, text: str) -> Path:
    memories: list[dict[str, Any]] = [
        {"content": text, "content_hash": "h1", "tags": ["proj:atlas", "decision"],
         "created_at": 1_770_000_000.5, "memory_type": "note", "metadata": {}},
        {"content": "x" * 4_100, "content_hash": "h2", "tags": [], "created_at": 1_770_000_000.5},
        {"content": "no hash", "tags": []},
    ]  # fmt: skip
    metadata = {"source_machine": "m", "total_memories": 3, "exporter_version": "12.4"}
    return write_json(folder / "memories.json", {"export_metadata": metadata, "memories": memories})


def write_graphiti(folder: Path, text: str) -> Path:
    """Periods, an expired edge, an edge to a missing node, an episode."""
    nodes = [
        {"uuid": "n1", "name": "Ada", "labels": ["Entity", "Person"], "created_at": AT,
         "summary": "A person"},
        {"uuid": "n2", "name": "Acme", "labels": ["Entity"], "created_at": AT, "summary": ""},
    ]  # fmt: skip
    edge = {"group_id": "g", "source_node_uuid": "n1", "target_node_uuid": "n2", "created_at": AT}
    edges = [
        edge | {"uuid": "e1", "name": "WORKS_AT", "fact": text, "valid_at": AT, "invalid_at": None},
        edge | {"uuid": "e2", "name": "OWNS", "fact": "Ada owned Acme",
                "valid_at": "2020-01-01T00:00:00Z", "invalid_at": "2021-01-01T00:00:00Z"},
        edge | {"uuid": "e3", "name": "LIKES", "fact": "", "valid_at": None,
                "expired_at": "2026-05-01T00:00:00Z"},
        edge | {"uuid": "e4", "name": "X", "fact": "lost", "target_node_uuid": "missing"},
    ]  # fmt: skip
    episodes = [{"uuid": "p1", "name": "talk", "content": "Ada: hello", "valid_at": AT}]
    return write_json(folder / "graph.json", {"nodes": nodes, "edges": edges, "episodes": episodes})


def write_letta(folder: Path, text: str) -> Path:
    """Blocks of an agent, a block of nobody, messages with a tool's."""
    agent = {
        "id": "agent-0", "name": "Scout", "block_ids": ["b1", "b2"], "description": "Finds things",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hello"}], "created_at": AT},
            {"role": "tool", "content": [{"type": "text", "text": "no"}], "created_at": AT},
            {"role": "assistant", "content": "Hi", "created_at": AT},
        ],
    }  # fmt: skip
    blocks = [
        {"id": "b1", "label": "human", "value": f"{text}\n\n- Lives in Oslo"},
        {"id": "b2", "label": "persona", "value": ""},
        {"id": "b3", "label": "shared", "value": "Be kind"},
    ]  # fmt: skip
    return write_json(folder / "scout.af", {"agents": [agent], "blocks": blocks, "metadata": {}})


def write_rules(folder: Path, text: str) -> Path:
    """Headings, lists, paragraphs over two lines, code, an import, rules of an editor."""
    claude = (
        f"# Atlas\n\nA paragraph\nof two lines.\n\n## Tests\n- {text}\n- Be quick\n"
        "```\n- no\n```\n@docs/x.md\n"
    )
    rule = "---\ndescription: Style\nglobs: '*.py'\nalwaysApply: true\n---\n- Use tabs\n"
    return write_files(folder / "atlas", {"CLAUDE.md": claude, ".cursor/rules/style.mdc": rule})


SAMPLES = {
    # entities, facts, relations, aliases, documents, faults
    "obsidian": (write_vault, (4, 4, 5, 1, 2, 0)),
    "basic-memory": (write_basic_memory, (3, 4, 2, 0, 1, 0)),
    "mem0": (write_mem0, (3, 3, 1, 0, 0, 1)),
    "mem0 plugin": (write_plugin, (1, 2, 0, 0, 0, 0)),
    "mem0 backup": (write_openmemory, (1, 2, 0, 0, 0, 0)),
    "hindsight": (write_hindsight, (3, 4, 0, 0, 1, 1)),
    "mcp-memory-service": (write_memory_service, (2, 4, 0, 0, 0, 1)),
    "graphiti": (write_graphiti, (2, 2, 3, 0, 1, 1)),
    "letta": (write_letta, (2, 3, 0, 0, 1, 0)),
    "rules": (write_rules, (1, 4, 0, 0, 0, 0)),
}
