"""The migrate tool: a file of the reference memory server, from one folder alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Connect
from tests.toolsets.graph.reference import ask, call, text_of

pytestmark = pytest.mark.anyio

LINES = [
    json.dumps({"type": "relation", "from": "A", "to": "B", "relationType": "early"}),
    json.dumps({"type": "entity", "name": "A", "entityType": "Proyecto", "observations": ["a", 7]}),
    json.dumps({"type": "entity", "name": "B", "entityType": "x", "observations": []}),
    "{broken",
    json.dumps({"type": "note"}),
    json.dumps({"type": "relation", "from": "A", "to": "B", "relationType": "feeds"}),
]


async def test_a_file_is_read_line_by_line_and_again_adds_nothing(
    connect: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "import/memory.jsonl"
    file.parent.mkdir()
    file.write_text("\n".join(LINES))
    client = await connect(toolsets=["graph"], data_dir=tmp_path)

    first = await ask(client, "migrate", source_path="memory.jsonl")
    answer = await ask(client, "read_graph")
    again = await ask(client, "migrate", source_path=str(file))
    third = await ask(client, "migrate", source_path="memory.jsonl")

    assert first == {"entities_imported": 2, "relations_imported": 1, "errors": 1, "skipped": 3}
    feeds = {"from": "A", "to": "B", "relationType": "feeds"}
    nodes: list[dict[str, Any]] = [
        {"name": "A", "entityType": "Proyecto", "observations": ["a"]},
        {"name": "B", "entityType": "x", "observations": []},
    ]
    assert answer == {"entities": nodes, "relations": [feeds]}
    # By the second time, the ends of the first line are there.
    assert again["relations_imported"] == 1
    assert third == {"entities_imported": 2, "relations_imported": 0, "errors": 1, "skipped": 4}
    whole = await ask(client, "read_graph")
    assert whole == {"entities": nodes, "relations": [feeds, {**feeds, "relationType": "early"}]}


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "", "absent.jsonl", "link"])
async def test_nothing_outside_the_folder_is_read(
    connect: Connect, tmp_path: Path, path: str
) -> None:
    folder = tmp_path / "import"
    folder.mkdir()
    (tmp_path / "secret").write_text(LINES[1])
    (folder / "link").symlink_to(tmp_path / "secret")
    client = await connect(toolsets=["graph"], data_dir=tmp_path)

    result = await call(client, "migrate", source_path=path)
    assert result.is_error
    assert "the name of a file in the server's import folder" in text_of(result)
    assert (await ask(client, "read_graph"))["entities"] == []


async def test_without_a_folder_no_file_is_read(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "memory.jsonl").write_text("\n".join(LINES))
    client = await connect(toolsets=["graph"], data_dir=tmp_path)

    result = await call(client, "migrate", source_path=str(tmp_path / "memory.jsonl"))
    assert result.is_error
    assert str(tmp_path) not in text_of(result)
