"""Snapshots of identity files: taking, listing and restoring them."""

import re
from typing import Any

import anyio
import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.tool_calls import A_MOMENT, read, refuse
from tests.toolsets.identity.conftest import Ask

pytestmark = pytest.mark.anyio

FILE = {"category": "self", "filename": "my_identity.md"}
ID = re.compile(r"self/my_identity_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z")


async def test_a_snapshot_is_taken_of_every_file_that_has_a_text(me: Client, ask: Ask) -> None:
    for category, name in (("user", "user_life"), ("self", "my_identity"), ("custom", "blank")):
        text = "" if name == "blank" else f"text of {name}"
        await ask("identity_write", category=category, filename=f"{name}.md", content=text)

    result = await me.call_tool("snapshot_create", {})

    created: dict[str, Any] = result.structured_content or {}
    first, second = created["snapshots"]
    assert created["message"] == "I took a snapshot of 2 files."
    assert ID.fullmatch(first)
    assert second.startswith("user/user_life_")
    listed = (await me.call_tool("snapshot_list", {"category": "self"})).structured_content
    assert listed == {
        "success": True,
        "snapshots": [
            {
                "id": first,
                **FILE,
                "timestamp": A_MOMENT,
                "date": first[17:27],
                "reason": "manual",
                "source": "snapshot_create",
            }
        ],
    }
    assert await ask("snapshot_get", snapshotId=first) == {"ok": True, "c": "text of my_identity"}


async def test_snapshots_are_listed_newest_first_of_exactly_the_file_that_was_asked_for(
    ask: Ask,
) -> None:
    for name in ("my_identity.md", "my_identity_x.md"):
        for text in ("one", "two", "three"):
            await ask("identity_write", category="self", filename=name, content=text)

    listed = (await ask("snapshot_list", filename="my_identity.md"))["snaps"]

    texts = [(await ask("snapshot_get", snapshotId=one["id"]))["c"] for one in listed]
    assert texts == ["two", "one"]
    assert len((await ask("snapshot_list"))["snaps"]) == 4
    assert (await ask("snapshot_list", category="user"))["snaps"] == []
    assert (await ask("snapshot_list", filename="my_identity_x.md"))["snaps"] != listed


async def test_a_restore_keeps_the_text_that_it_replaces(ask: Ask, look: Ask) -> None:
    await ask("identity_write", **FILE, content="one\r\n")
    snapshot = (await ask("identity_write", **FILE, content="two"))["snap"]

    restored = await ask("snapshot_restore", snapshotId=snapshot)

    assert await look("self", "my_identity.md") == "one\r\n"
    assert await ask("snapshot_get", snapshotId=restored["snap"]) == {"ok": True, "c": "two"}
    await ask("snapshot_restore", snapshotId=restored["snap"])
    assert await look("self", "my_identity.md") == "two"


async def test_a_snapshot_that_does_not_exist_is_a_failure(me: Client) -> None:
    for tool in ("snapshot_get", "snapshot_restore"):
        name = "self/my_identity_2026-05-12T09-30-00-000Z"
        result = await me.call_tool(tool, {"snapshotId": name})
        assert result.is_error
        assert result.structured_content == {
            "success": False,
            "message": f"There is no snapshot {name}: snapshot_list shows all.",
        }
        for wrong in ("", "../../etc/passwd", "self/a\0", "self/" + "x" * 300):
            _, fix = await refuse(me, tool, snapshotId=wrong)
            assert "there is no snapshot with the id" in fix


async def test_snapshots_of_one_file_at_the_same_time_have_different_ids(
    connect: Connect, ask: Ask, owner: psycopg.Connection[Any]
) -> None:
    await ask("identity_write", **FILE, content="one")
    clients = [await connect(toolsets=["identity"]) for _ in range(4)]
    created = list[str]()

    async def take(client: Client) -> None:
        for _ in range(5):
            created.extend(read(await client.call_tool("snapshot_create", {}))["snaps"])

    async with anyio.create_task_group() as group:
        for client in clients:
            group.start_soon(take, client)
    take_old = "select id from create_snapshots(moment => '2026-05-12T09:30Z')"
    same = [row for _ in range(3) for row in owner.execute(take_old).fetchall()]

    assert len({*created}) == 20
    assert [name for (name,) in same] == [
        f"self/my_identity_2026-05-12T09-30-00-00{number}Z" for number in range(3)
    ]


async def test_pinned_snapshots_say_so(ask: Ask, owner: psycopg.Connection[Any]) -> None:
    await ask("identity_write", **FILE, content="one")
    [pinned] = (await ask("snapshot_create", pinned=True))["snaps"]
    [other] = (await ask("snapshot_create"))["snaps"]

    listed = (await ask("snapshot_list"))["snaps"]
    assert [(one["id"], one.get("pin")) for one in listed] == [(other, None), (pinned, True)]
    assert owner.execute("select pin_snapshot(%s)", (other,)).fetchone() == (True,)
    assert owner.execute("select pin_snapshot(%s, false)", (pinned,)).fetchone() == (True,)
    assert owner.execute("select pin_snapshot('no such')").fetchone() == (False,)
    listed = (await ask("snapshot_list"))["snaps"]
    assert [(one["id"], one.get("pin")) for one in listed] == [(other, True), (pinned, None)]
