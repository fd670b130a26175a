"""promote_memory and search_unified: memories and the notes of a folder."""

import os
import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from mcp import Client
from mcp.types import CallToolResult

from tests.conftest import Connect
from tests.support.tool_calls import read, structured, text_of

pytestmark = pytest.mark.anyio

TEA = "Ada prefers green tea over coffee"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def fields_of(result: CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None
    return result.structured_content


async def save(client: Client, content: str, **more: Any) -> str:
    return read(await client.call_tool("save_memory", {"content": content, **more}))["id"]


async def promote(client: Client, **arguments: Any) -> Any:
    return await structured(client, "promote_memory", **arguments)


async def search(client: Client, **arguments: Any) -> list[Any]:
    return (await structured(client, "search_unified", **arguments))["results"]


def list_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def age(owner: psycopg.Connection[Any], days: float) -> None:
    owner.execute(
        "update retention set last_used = last_used - make_interval(hours => %s)",
        [round(days * 24)],
    )


async def test_a_promoted_memory_is_a_note_with_front_matter(
    connect: Connect, owner: psycopg.Connection[Any], vault: Path
) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    memory = await save(
        client, TEA, tags=["drinks"], entities=["Ada"], context="a: [tricky] # context"
    )

    answer = await promote(client, memory_id=memory)

    [name] = list_files(vault)
    _, front, body = (vault / name).read_text(encoding="utf-8").split("---\n", 2)
    fields = yaml.safe_load(front)
    assert name == f"textrawl/default/{TEA} {memory[:8]}.md"
    assert body.strip() == TEA
    assert (fields["title"], fields["memory_id"], fields["tags"]) == (TEA, memory, ["drinks"])
    assert (fields["entities"], fields["context"]) == (["Ada"], "a: [tricky] # context")
    assert answer["promoted_ids"] == [memory]
    assert (answer["candidates_found"], answer["promoted_count"]) == (1, 1)
    assert answer["message"] == "Promoted 1 memories to obsidian"
    assert answer["candidates"][0]["reason"] == "High score (1.37 >= 0.65)"
    assert owner.execute("select status, promoted_to from retention").fetchall() == [
        ("promoted", name)
    ]
    assert owner.execute("select count(*) from event where action = 'promoted'").fetchone() == (1,)


async def test_a_promoted_memory_cannot_be_promoted_again(connect: Connect, vault: Path) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    memory = await save(client, TEA)
    await promote(client, memory_id=memory)

    result = await client.call_tool("promote_memory", {"memory_id": memory, "force": True})

    assert result.is_error
    answer = fields_of(result)
    assert (answer["success"], answer["promoted_to"]) == (False, list_files(vault)[0])
    assert len(list_files(vault)) == 1


async def test_a_faded_memory_does_not_qualify_and_can_be_forced(
    connect: Connect, owner: psycopg.Connection[Any], vault: Path
) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    memory = await save(client, TEA, strength=1)
    age(owner, 7)

    result = await client.call_tool("promote_memory", {"memory_id": memory})
    refused = list_files(vault)
    forced = await promote(client, memory_id=memory, force=True)

    assert result.is_error
    assert fields_of(result)["score"] == pytest.approx(0.293, abs=0.001)
    assert refused == []
    assert forced["candidates"][0]["reason"] == "forced"


async def test_uses_within_two_weeks_qualify_a_memory(
    connect: Connect, owner: psycopg.Connection[Any], vault: Path
) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    memory = await save(client, TEA, strength=1)
    for uses, days, qualifies in ((5, 13, True), (4, 13, False), (5, 15, False)):
        owner.execute(
            "update retention set use_count = %s, last_used = now() - interval '30 days'", [uses]
        )
        owner.execute(
            "update observation set created_at = now() - make_interval(days => %s)", [days]
        )

        result = await client.call_tool("promote_memory", {"memory_id": memory, "dry_run": True})

        assert result.is_error is not qualifies
        if qualifies:
            [candidate] = fields_of(result)["candidates"]
            assert candidate["reason"] == "Used 5 times in 13.0 days (>= 5 within 14)"
        assert list_files(vault) == []


async def test_all_memories_that_qualify_are_detected_and_a_dry_run_promotes_none(
    connect: Connect, owner: psycopg.Connection[Any], vault: Path
) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    await save(client, "an old memory")
    age(owner, 60)
    ids = {await save(client, f"memory number {n}") for n in range(12)}

    preview = await promote(client, auto_detect=True, dry_run=True)
    nothing = list_files(vault)
    done = await promote(client, auto_detect=True)
    again = await promote(client, auto_detect=True)

    assert (preview["candidates_found"], preview["promoted_count"]) == (12, 0)
    assert preview["message"] == "Would promote 12 memories to obsidian"
    assert len(preview["candidates"]) == 10
    assert nothing == []
    assert set(done["promoted_ids"]) == ids
    assert len(list_files(vault)) == 12
    assert again["candidates_found"] == 0


async def test_a_wrong_call_promotes_nothing(connect: Connect, vault: Path) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    await save(client, TEA)
    for arguments in (
        {},
        {"auto_detect": True, "memory_id": "00000000-0000-4000-8000-000000000000"},
        {"auto_detect": True, "target": "notion"},
        {"memory_id": "abc"},
        {"memory_id": "00000000-0000-4000-8000-000000000000"},
    ):
        result = await client.call_tool("promote_memory", arguments)

        assert result.is_error
        assert list_files(vault) == []


async def test_an_existing_note_is_never_overwritten(connect: Connect, vault: Path) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    memory = await save(client, TEA)
    folder = vault / "textrawl" / "default"
    folder.mkdir(parents=True)
    (folder / f"{TEA} {memory[:8]}.md").write_text("mine", encoding="utf-8")

    await promote(client, memory_id=memory)

    assert (folder / f"{TEA} {memory[:8]}.md").read_text(encoding="utf-8") == "mine"
    assert TEA in (folder / f"{TEA} {memory[:8]} 2.md").read_text(encoding="utf-8")


async def test_the_note_of_a_promotion_that_was_cut_off_is_used(
    connect: Connect, owner: psycopg.Connection[Any], vault: Path
) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    memory = await save(client, TEA)
    await promote(client, memory_id=memory)
    owner.execute("update retention set status = 'active', promoted_to = null")

    answer = await promote(client, memory_id=memory)

    assert answer["promoted_count"] == 1
    assert len(list_files(vault)) == 1


async def test_no_text_names_a_file_outside_of_its_folder(
    connect: Connect, vault: Path, tmp_path: Path
) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    for content in (
        "../../../etc/passwd",
        "/etc/cron.d/x",
        "..",
        "CON",
        ".hidden",
        'a/b\\c:d*e?"<>|',
        "[[link]] # ^ |",
        "x" * 3000,
        "日本語のメモ" * 90,
        "line\nline: two",
    ):
        before = set(list_files(tmp_path))
        memory = await save(client, content, entities=["../x"], source="../y")
        await promote(client, memory_id=memory)

        [name] = set(list_files(tmp_path)) - before
        assert name.startswith("vault/textrawl/default/")
        assert name.endswith(f"{memory[:8]}.md")
        assert len(Path(name).name.encode()) <= 255
        found = await search(client, query=content[:20], verbose=True)
        assert memory in [one["memory_id"] for one in found]


@contextmanager
def small_disk() -> Generator[None]:
    """Let no file of this process grow, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_changes_nothing(
    connect: Connect, owner: psycopg.Connection[Any], vault: Path
) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    memory = await save(client, TEA)

    with small_disk():
        result = await client.call_tool("promote_memory", {"memory_id": memory})

    assert result.is_error
    assert "Vault not available" in text_of(result)
    assert list_files(vault) == []
    assert owner.execute("select status from retention").fetchall() == [("active",)]


def break_vault(vault: Path, outside: Path, fault: str) -> None:
    """Make the folder one that cannot be used."""
    match fault:
        case "missing":
            vault.rmdir()
        case "a file":
            vault.rmdir()
            vault.write_text("x", encoding="utf-8")
        case "linked folder":
            (vault / "textrawl").symlink_to(outside)
        case "linked space":
            (vault / "textrawl").mkdir()
            (vault / "textrawl" / "default").symlink_to(outside)
        case "read-only":
            vault.chmod(0o500)
        case _:
            pass


FAULTS = ["unset", "missing", "a file", "linked folder", "linked space"]
if os.geteuid() != 0:  # root may write into every folder
    FAULTS.append("read-only")


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_vault_that_cannot_be_used_changes_nothing(
    connect: Connect, owner: psycopg.Connection[Any], vault: Path, tmp_path: Path, fault: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    break_vault(vault, outside, fault)
    client = await connect(toolsets=["decay"], vault=None if fault == "unset" else vault)
    memory = await save(client, TEA)

    result = await client.call_tool("promote_memory", {"memory_id": memory})

    assert result.is_error
    assert text_of(result).startswith("Vault not available.")
    assert "nothing was changed" in text_of(result)
    assert str(tmp_path) not in text_of(result)
    assert list_files(outside) == []
    assert owner.execute("select status from retention").fetchall() == [("active",)]


async def test_memories_and_notes_are_found_together_and_a_promoted_text_once(
    connect: Connect, vault: Path
) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    (vault / "Drinks.md").write_text(
        "---\ntags: [Drinks]\n---\nGreen tea is steeped at 80 °C.", encoding="utf-8"
    )
    memory = await save(client, TEA, strength=1)
    await promote(client, memory_id=memory)

    found = await search(client, query="TEA green", verbose=True)
    result = await client.call_tool("search_unified", {"query": "green tea"})

    assert [(one["source"], one["content"]) for one in found] == [
        ("stm", TEA),
        ("ltm", "Green tea is steeped at 80 °C."),
    ]
    assert found[0]["score"] == pytest.approx(1, abs=0.001)
    assert found[1]["score"] == pytest.approx(0.7 / 3, abs=0.001)
    assert (found[1]["path"], found[1]["tags"]) == ("Drinks.md", ["drinks"])
    assert text_of(result) == (
        f"[stm 1.00] {TEA}\n[ltm 0.23] Drinks: Green tea is steeped at 80 °C. #drinks"
    )


async def test_a_note_is_rated_by_its_title_and_its_body(connect: Connect, vault: Path) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    for title, body in (("tea", "tea"), ("tea two", "milk"), ("juice", "not tea")):
        (vault / f"{title}.md").write_text(f"{body} {title[:1]}", encoding="utf-8")

    scores = {one["title"]: one["score"] for one in await search(client, query="tea")}
    every = {one["score"] for one in await search(client, ltm_weight=2)}

    assert scores == {"tea": 0.7, "tea two": pytest.approx(0.4667), "juice": pytest.approx(0.2333)}
    assert every == {1.0}


async def test_a_note_that_changes_is_read_again_and_one_that_is_deleted_is_gone(
    connect: Connect, vault: Path
) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    note = vault / "folder" / "Note.md"
    note.parent.mkdir()
    note.write_text("first words", encoding="utf-8")
    assert len(await search(client, query="first")) == 1

    note.write_text("other words", encoding="utf-8")
    assert await search(client, query="first") == []
    assert len(await search(client, query="other")) == 1

    note.unlink()
    assert await search(client, query="other") == []


async def test_links_and_hidden_files_and_other_files_are_no_notes(
    connect: Connect, vault: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("the secret tea", encoding="utf-8")
    (vault / "link.md").symlink_to(outside / "secret.md")
    (vault / "folder").symlink_to(outside)
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian" / "x.md").write_text("hidden tea", encoding="utf-8")
    (vault / "tea.txt").write_text("tea", encoding="utf-8")
    (vault / "big.md").write_text("tea " * 300_000, encoding="utf-8")
    os.mkfifo(vault / "pipe.md")
    (vault / "bad.md").write_bytes(b"---\ntags: [[[\n---\n\xff tea of a broken note")
    client = await connect(toolsets=["decay"], vault=vault)

    found = await search(client, query="tea")

    assert [one["title"] for one in found] == ["bad"]


async def test_without_its_folder_a_search_still_finds_memories(
    connect: Connect, vault: Path
) -> None:
    break_vault(vault, vault, "missing")
    client = await connect(toolsets=["decay"], vault=vault)
    await save(client, TEA)

    result = await client.call_tool("search_unified", {"query": "tea"})

    answer = fields_of(result)
    assert answer["count"] == 1
    assert answer["note"].startswith(
        "Notes were not searched: the folder in TEXTRAWL_VAULT is missing"
    )


async def test_filters_of_memories_and_tags_of_both(
    connect: Connect, owner: psycopg.Connection[Any], vault: Path
) -> None:
    client = await connect(toolsets=["decay"], vault=vault)
    await save(client, "old tea", tags=["a"], strength=1)
    age(owner, 10)
    await save(client, "new tea", tags=["b"], strength=1)
    (vault / "n.md").write_text("---\ntags: '#b, c'\n---\nnoted tea", encoding="utf-8")

    async def find(**arguments: Any) -> list[str]:
        return [one["content"] for one in await search(client, query="tea", **arguments)]

    assert await find() == ["new tea", "noted tea", "old tea"]
    assert await find(window_days=5) == ["new tea", "noted tea"]
    assert await find(min_score=0.5) == ["new tea", "noted tea"]
    assert await find(tags=["b"]) == ["new tea", "noted tea"]
    assert await find(tags=["A"]) == ["old tea"]
    assert await find(limit=1) == ["new tea"]
    assert await find(stm_weight=0.1) == ["noted tea", "new tea", "old tea"]


async def test_a_promoted_note_of_another_space_is_not_shown(connect: Connect, vault: Path) -> None:
    for space in ("default", "team"):
        (vault / "textrawl" / space).mkdir(parents=True)
        (vault / "textrawl" / space / "x.md").write_text(f"tea of {space}", encoding="utf-8")
    client = await connect(toolsets=["decay"], vault=vault)

    assert [one["content"] for one in await search(client, query="tea")] == ["tea of default"]
