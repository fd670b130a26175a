"""The migrate tool: a file of the reference memory server, from one folder alone."""

import json
from pathlib import Path

import pytest

from tests.conftest import Connect
from tests.toolsets.graph.reference import ask, call, text_of

pytestmark = pytest.mark.anyio

LINES = [
    json.dumps({"type": "relation", "from": "A", "to": "B", "relationType": "early"}),
    json.dumps({"type": "entity", "name": "A", "entityType": "Proyecto", "observations": ["a", 7]}),
    json.dumps({"name": "B", "entityType": "x", "observations": []}),
    "{broken",
    json.dumps({"type": "note"}),
    json.dumps({"type": "relation", "from": "A", "to": "C", "relationType": "feeds"}),
]


async def test_a_file_is_read_whole_and_again_adds_nothing(
    connect: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "import/memory.jsonl"
    file.parent.mkdir()
    file.write_text("\n".join(LINES))
    client = await connect(toolsets=["graph"], data_dir=tmp_path)

    first = await ask(client, "migrate", source_path="memory.jsonl")
    answer = await ask(client, "read_graph")
    again = await ask(client, "migrate", source_path=str(file))

    assert first == {"entities_imported": 2, "relations_imported": 2, "errors": 1, "skipped": 2}
    assert again == {"entities_imported": 2, "relations_imported": 0, "errors": 1, "skipped": 4}
    assert await ask(client, "read_graph") == answer
    assert answer == {
        "entities": [
            {"name": "A", "entityType": "Proyecto", "observations": ["a", "7"]},
            {"name": "B", "entityType": "x", "observations": []},
            {"name": "C", "entityType": "Generic", "observations": []},
        ],
        "relations": [
            {"from": "A", "to": "B", "relationType": "early"},
            {"from": "A", "to": "C", "relationType": "feeds"},
        ],
    }


async def test_nothing_outside_the_folder_is_read(connect: Connect, tmp_path: Path) -> None:
    folder = tmp_path / "import"
    folder.mkdir()
    (tmp_path / "secret").write_text(LINES[1])
    (folder / "link").symlink_to(tmp_path / "secret")
    client = await connect(toolsets=["graph"], data_dir=tmp_path)
    for path in ("../secret", "/etc/passwd", "", "absent.jsonl", "link"):
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
