"""The program that made the kept memories: content of every toolset, its export and its dump.

Run `python tests/archive/kept/content.py FOLDER` in a checkout of any version. A new folder is
needed only for a version that is released. The kept files are never made again, because they stand
for memories that older versions made.
"""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import psycopg
from mcp import Client

from textrawl import create_server, read_settings
from textrawl.embedded.cluster import run_embedded

# Commands and headings that only psql and people read.
_ONLY_PSQL = re.compile(r"^\\(?:un)?restrict .*\n|^--\n-- .*\n--\n\n", re.MULTILINE)
_SPACES = (("team",), ("deutsch", "--language", "german"), ("library", "--tier", "public"))
_BY_OWNER = (
    "select create_token(sha256('ben'), 'trl_b', 'ben', 'team', '{read,write}')",
    "select create_token(sha256('pip'), 'trl_p', 'pip', 'team', '{read,propose}')",
    """select remember_fact('Rota', 'project', 'changes on Mondays', credential => sha256('ben'),
                            space => s.id, client => 'editor 2', tool => 'remember_fact')
       from space s where name = 'team'""",
    """select remember_fact('Rota', 'project', 'has a gap in May', credential => sha256('pip'),
                            space => s.id, client => 'editor 2', tool => 'remember_fact')
       from space s where name = 'team'""",
    """select remember_fact('Ausflug', 'project', 'ging über die Brücke', space => s.id)
       from space s where name = 'deutsch'""",
    "select register_embedding_model('test:three', 3, 0.1, 0.9, 0.5)",
    """select remember_fact('Ada', 'person', 'collects maps', said_at => '2026-01-02 03:04:05+00',
                            model => 1, embedding => '[1,0.5,0]')""",
    "select remember_fact('Noise', 'fact', 'is to be undone', credential => sha256('ben'))",
    "select undo_author('ben', (select max(at) from event))",
    "select refresh_search_statistics()",
)


# Calls of tools with their arguments, in this order.
_FACTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("build_knowledge", {
        "facts": [
            {"entityName": "Ada", "entityType": "person", "observation": "likes tea"},
            {"entityName": "Ada", "entityType": "person", "observation": "lives in Oslo",
             "saidAt": "2026-01-05", "validUntil": "2031-01-01", "confidence": 0.5,
             "source": "note"},
            {"entityName": "Ada L.", "entityType": "person", "observation": "plays chess"},
            {"entityName": "Ada L.", "entityType": "person", "observation": "likes tea"},
            {"entityName": "Atlas", "entityType": "project", "observation": "ships on Fridays"},
            {"entityName": "Straße 東京", "entityType": "location",
             "observation": "naïve \\N \\. “quoted” 'it''s' {\"a\": 1} 👩‍💻"},
        ],
        "relations": [
            {"fromEntity": "Ada", "relation": "works at", "toEntity": "Atlas"},
            {"fromEntity": "Ada L.", "relation": "knows", "toEntity": "Bo"},
            {"fromEntity": "Ada", "relation": "lives in", "toEntity": "Straße 東京"},
        ],
    }),
    ("remember_fact", {"entityName": "Ada", "entityType": "person", "replaces": "likes tea",
                       "observation": "likes coffee"}),
    ("relate_entities", {"fromEntity": "Ada", "relation": "lives in", "toEntity": "Straße 東京",
                         "ended": True}),
    ("revise_fact", {"entityName": "Atlas", "fact": "ships on Fridays",
                     "reason": "a typing error", "instead": "ships on Thursdays"}),
    ("share_memories", {"entityName": "Atlas", "toSpace": "team"}),
    ("name_entity", {"entityName": "Atlas", "alias": "Project A"}),
    ("merge_entities", {"entityName": "Ada", "other": "Ada L."}),
    ("create_entities", {"entities": [
        {"name": "Server", "entityType": "Machine",
         "observations": ["has two cores", "long " * 600]},
    ]}),
    ("create_relations", {"relations": [
        {"from": "Server", "to": "Atlas", "relationType": "runsOn"},
        {"from": "Server", "to": "Server", "relationType": "restarts"},
    ]}),
    ("add_reflection", {"target_type": "global", "content": "Tea comes up often.",
                        "author": "Bo", "mood": "insight"}),
    ("graph_write_transaction", {
        "instanceId": "laptop",
        "nodes": [
            {"type": "person", "label": "Mercury", "description": "sings", "confidence": 0.7,
             "properties": {"born": 1946, "none": None}},
            {"type": "topic", "label": "music"},
        ],
        "edges": [
            {"fromLabel": "Mercury", "toLabel": "music", "type": "loves", "weight": 0.9,
             "evidence": "a song", "occurredAt": "2026-01-02T00:00:00Z"},
        ],
    }),
)  # fmt: skip
_MEMORY = {
    "tags": ["deploy"], "entities": ["Atlas"], "source": "chat", "context": "a review",
    "strength": 1.2,
}  # fmt: skip
_SELF = {"category": "self", "filename": "self.md"}
_ENTRY = "# Entry\n\n- Ada moved the shelves. [via:laptop]\n"
_DAY = {"granularity": "daily", "date": "2026-05-04", "instanceId": "laptop"}
_DOCUMENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("identity_write", {**_SELF, "content": "# Me\n\nI am patient.\n", "instanceId": "laptop"}),
    ("snapshot_create", {"pinned": True}),
    ("identity_append", {**_SELF, "content": "I like maps.\n", "instanceId": "phone"}),
    ("identity_set_meta", {**_SELF, "promptLabel": "Self"}),
    ("identity_write", {"category": "custom", "filename": "gone.md", "content": "soon gone\n"}),
    ("identity_delete_custom", {"filename": "gone.md"}),
    ("memory_create", {**_DAY, "content": _ENTRY, "chatIds": ["c1"]}),
    ("memory_create", {**_DAY, "granularity": "weekly", "date": "2026-W19", "content": _ENTRY}),
    ("memory_create", {**_DAY, "granularity": "significant", "date": "2026-05-06",
                       "slug": "the-move", "content": _ENTRY}),
    ("memory_update", {**_DAY, "content": "# Entry\n\n- Two shelves.\n", "editedBy": "Ada"}),
    ("sync_push", {
        "instance": {"id": "phone", "type": "sby"},
        "identityChanges": [{"category": "user", "filename": "wants.md", "content": "a desk\n"}],
    }),
    ("sync_pull", {"instanceId": "laptop", "instanceType": "claude-code", "name": "Laptop"}),
    ("remember", {"text": "A shelf holds forty books. " * 30, "graphId": "library",
                  "label": "Shelves"}),
    ("query_memory", {"mode": "search", "query": "shelves"}),
)  # fmt: skip


async def fill(client: Client) -> None:
    """Write content with every toolset. Raises AssertionError if a call fails."""

    async def call(tool: str, arguments: dict[str, Any]) -> Any:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, (tool, result.content)
        return result.structured_content

    for tool, arguments in _FACTS:
        await call(tool, arguments)
    nodes = (await call("graph_node_list", {}))["nodes"]
    ids = {node["label"]: node["id"] for node in nodes}
    await call("graph_node_update", {"id": ids["Mercury"], "description": "sang"})
    await call("graph_node_delete", {"id": ids["music"]})
    texts = ("the pipeline runs at ten", "the pipeline runs at eleven")
    one, other = [
        (await call("save_memory", _MEMORY | {"content": text}))["memory_id"] for text in texts
    ]
    await call("touch_memory", {"memory_id": one})
    await call("observe_memory_usage", {"memory_ids": [one], "context_tags": ["tea"]})
    link = {"relation_type": "contradicts", "strength": 0.5, "metadata": {"why": "the time"}}
    await call("create_relation", {"from_memory_id": one, "to_memory_id": other, **link})
    for tool, arguments in _DOCUMENTS:
        await call(tool, arguments)


def find_toolsets() -> list[str]:
    """Return the names of all toolsets. Older versions have them in another package."""
    for place in ("textrawl.tools.catalogue", "textrawl.toolsets.catalogue"):
        try:
            return list(import_module(place).find_toolsets())
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError("this version has no catalogue of toolsets")


def run(data_dir: Path, *words: str) -> None:
    """Run a command of textrawl on the embedded memory."""
    given = {"TEXTRAWL_DATA_DIR": str(data_dir), "TEXTRAWL_EMBEDDING_PROVIDER": "none"}
    subprocess.run([sys.executable, "-m", "textrawl", *words], check=True, env=os.environ | given)


async def make(data_dir: Path, folder: Path) -> None:
    """Fill a new embedded memory, and write its export and its dump without code."""
    settings = read_settings(data_dir=data_dir, embedding_provider="none", toolsets=find_toolsets())
    async with Client(create_server(settings)) as client:
        await client.call_tool("memory_stats", {})
    for words in _SPACES:
        run(data_dir, "space", "create", *words)
    async with Client(create_server(settings)) as client:
        await fill(client)
    async with run_embedded(data_dir) as cluster:
        dsn = cluster.dsn("textrawl_owner")
        with psycopg.connect(dsn, autocommit=True) as owner:
            owner.execute("set search_path = textrawl, public")
            for statement in _BY_OWNER:
                owner.execute(statement)
        run(data_dir, "export", str(folder / "memory.jsonl"), "--force")
        with psycopg.connect(dsn, autocommit=True) as owner:
            await drop_code(dsn)
            owner.execute("update textrawl.code set fingerprint = 'of the kept memory'")
        dump = write_dump(cluster.bin_path / "pg_dump", dsn)
        (folder / "memory.sql").write_text(dump, encoding="utf-8")


def write_dump(program: Path, dsn: str) -> str:
    """Return the tables with their rows, as SQL that any client can run."""
    words = [
        "--schema=textrawl",
        "--no-owner",
        "--no-acl",
        "--no-comments",
        "--enable-row-security",
        "--inserts",
        "--rows-per-insert=100",
        # Migrations make these rows. They would be more than half of the file.
        "--exclude-table-data=textrawl.word_form",
    ]
    done = subprocess.run([program, *words, dsn], check=True, capture_output=True, text=True)
    return _ONLY_PSQL.sub("", done.stdout)


async def drop_code(dsn: str) -> None:
    """Drop views and functions. A migration makes them again."""
    from textrawl.postgres import sql_files  # noqa: PLC0415 - psycopg is enough for all else

    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        await connection.execute("set search_path = textrawl, public")
        await sql_files.drop_code(connection)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="textrawl-kept-") as scratch:
        anyio.run(make, Path(scratch), target)
