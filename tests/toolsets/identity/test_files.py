"""Identity files and their snapshots: reading, replacing, adding, deleting and restoring them."""

import re
import unicodedata
from typing import Any

import anyio
import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.odd_inputs import CLEANED
from tests.support.tool_calls import A_MOMENT, count, read, refuse, text_of
from tests.toolsets.identity.conftest import Ask

pytestmark = pytest.mark.anyio

USUAL = {
    "self": ["my_identity", "my_persona", "my_personhood", "my_wants", "my_mechanics"],
    "user": [
        "user_identity", "user_life", "user_beliefs", "user_preferences", "user_patterns",
        "user_notes",
    ],
    "relationship": ["relationship_dynamics", "relationship_history", "relationship_notes"],
}  # fmt: skip
MINE = {"category": "self", "filename": "my_identity.md"}


async def test_files_are_listed_by_category_in_their_usual_order(ask: Ask) -> None:
    names = [(category, name) for category, usual in USUAL.items() for name in usual]
    names += [("custom", "beta"), ("custom", "alpha"), ("self", "aside")]
    for category, name in reversed(names):
        await ask("identity_write", category=category, filename=f"{name}.md", content=name)

    answer = await ask("identity_get_all")

    found = {category: [file["f"] for file in files] for category, files in answer.items()}
    expected = USUAL | {"self": [*USUAL["self"], "aside"], "custom": ["alpha", "beta"]}
    assert list(found) == ["self", "user", "relationship", "custom"]
    assert found == {key: [f"{name}.md" for name in names] for key, names in expected.items()}


async def test_each_file_has_its_text_and_a_prompt_label(client: Client, ask: Ask) -> None:
    await ask("identity_write", **MINE, content="I am Iris.")

    result = await client.call_tool("identity_get_all", {})

    assert result.structured_content == {
        "self": [
            {"filename": "my_identity.md", "content": "I am Iris.", "promptLabel": "my_identity"}
        ],
        "user": [],
        "relationship": [],
        "custom": [],
    }


async def test_a_new_identity_has_its_first_files_which_are_blank(ask: Ask) -> None:
    answer = await ask("identity_get_all")
    labels = await ask("identity_get_meta", category="self")

    blank = {
        category: [{"f": f"{name}.md", "c": "", "l": name} for name in names]
        for category, names in USUAL.items()
    }
    assert answer == {**blank, "custom": []}
    assert list(labels["meta"].values()) == USUAL["self"]
    assert await ask("identity_get_meta") == {"ok": True, "meta": {}}
    assert await ask("snapshot_list") == {"ok": True, "snaps": []}


@pytest.mark.parametrize(
    ("tool", "change", "text"),
    [
        ("identity_update_section", {"section": "Rules", "content": "- ask"}, "## Rules\n- ask\n"),
        ("identity_append", {"content": "I am Iris."}, "I am Iris."),
        ("identity_set_meta", {"promptLabel": "me"}, ""),
    ],
)  # fmt: skip
async def test_a_first_file_can_be_changed_like_any_other(
    ask: Ask, tool: str, change: dict[str, str], text: str
) -> None:
    await ask(tool, **MINE, **change)

    answer = await ask("identity_get_all")
    assert [(file["f"], file["c"]) for file in answer["self"]] == [("my_identity.md", text)]
    assert answer["user"] == []


async def test_a_replaced_text_stays_as_a_snapshot(client: Client, ask: Ask, look: Ask) -> None:
    created = await client.call_tool("identity_write", {**MINE, "content": "one"})
    replaced = await ask("identity_write", **MINE, content="two", instanceId="desk")

    snapshot = await ask("snapshot_get", snapshotId=replaced["snap"])
    [listed] = (await ask("snapshot_list"))["snaps"]

    message = "I created self/my_identity.md."
    assert created.structured_content == {"success": True, "message": message}
    assert await look("self", "my_identity.md") == "two"
    assert snapshot == {"ok": True, "c": "one"}
    assert listed == {"id": replaced["snap"], "r": "pre-replace", "by": "desk"}


async def test_a_blank_text_is_replaced_without_a_snapshot(ask: Ask) -> None:
    for blank in ("", " \r\n\t"):
        await ask("identity_write", **MINE, content=blank)
    assert "snap" not in await ask("identity_write", **MINE, content="one")
    assert (await ask("snapshot_list"))["snaps"] == []


async def test_a_text_is_stored_to_the_byte(ask: Ask, look: Ask) -> None:
    for text in ("a\r\nb\r\n", "no end", "", "\n\n", " spaced \t", "e\u0301 or \u00e9", "a\rb"):
        await ask("identity_write", **MINE, content=text)

        assert await look("self", "my_identity.md") == text


async def test_an_addition_is_one_blank_line_away_from_the_text(ask: Ask, look: Ask) -> None:
    cases: tuple[tuple[str, str | None, str, str], ...] = (
        ("identity_append", None, "  new \n", "new"),
        ("identity_append", "old", "new", "old\n\nnew"),
        ("identity_append", "old\n\n\n", "\nnew\n", "old\n\nnew\n"),
        ("identity_append", "a\r\nold\r\n", "new", "a\r\nold\r\n\r\nnew\r\n"),
        ("identity_append", " \n", "new", "new"),
        ("identity_prepend", None, "new", "new"),
        ("identity_prepend", "old\n", "new\n", "new\n\nold\n"),
        ("identity_prepend", "\n\n    code\r\n", "new", "new\r\n\r\n    code\r\n"),
    )
    for number, (tool, before, addition, after) in enumerate(cases):
        file = {"category": "self", "filename": f"file{number}.md"}
        if before is not None:
            await ask("identity_write", **file, content=before)

        answer = await ask(tool, **file, content=addition)

        assert answer == {"ok": True}
        assert await look("self", file["filename"]) == after
    assert (await ask("snapshot_list"))["snaps"] == []


async def test_only_custom_files_can_be_deleted_and_a_snapshot_brings_them_back(
    client: Client, ask: Ask, look: Ask
) -> None:
    await ask("identity_write", category="custom", filename="garden.md", content="Roses.\r\n")
    await ask("identity_write", **MINE, content="I am Iris.")

    deleted = await ask("identity_delete_custom", filename="garden.md")
    again = await client.call_tool("identity_delete_custom", {"filename": "garden.md"})
    other = await client.call_tool("identity_delete_custom", {"filename": "my_identity.md"})

    failures = [one.structured_content for one in (again, other) if one.is_error]
    assert failures == [
        {"success": False, "message": "I have no file custom/garden.md."},
        {"success": False, "message": "I have no file custom/my_identity.md."},
    ]
    assert await look("custom", "garden.md") is None
    await ask("snapshot_restore", snapshotId=deleted["snap"])
    assert await look("custom", "garden.md") == "Roses.\r\n"


async def test_labels_are_listed_if_they_were_set_or_for_a_whole_category(
    client: Client, ask: Ask
) -> None:
    for name in ("my_identity.md", "my_wants.md"):
        await ask("identity_write", category="self", filename=name, content="x")
    await ask("identity_write", category="user", filename="user_life.md", content="x")

    message = (
        await client.call_tool("identity_set_meta", {**MINE, "promptLabel": "who_i_am"})
    ).content
    await ask("identity_write", **MINE, content="another text")

    assert text_of(await client.call_tool("identity_set_meta", {**MINE, "promptLabel": "me"}))
    assert message
    assert await ask("identity_get_meta") == {"ok": True, "meta": {"self/my_identity.md": "me"}}
    assert (await ask("identity_get_meta", category="self"))["meta"] == {
        "self/my_identity.md": "me",
        "self/my_wants.md": "my_wants",
    }
    [file, _] = (await ask("identity_get_all"))["self"]
    assert file == {"f": "my_identity.md", "c": "another text", "l": "me"}


async def test_a_file_that_does_not_exist_cannot_be_labelled(client: Client) -> None:
    await client.call_tool("identity_write", {**MINE, "filename": "other.md", "content": "text"})
    result = await client.call_tool("identity_set_meta", {**MINE, "promptLabel": "me"})

    assert result.is_error
    assert result.structured_content == {
        "success": False,
        "message": "I have no file self/my_identity.md: create it with identity_write.",
    }


async def test_a_wrong_filename_is_refused(client: Client, owner: psycopg.Connection[Any]) -> None:
    for filename in (
        "", "../../etc/passwd", "a/b.md", "a\\b.md", "a\0.md", "a.txt", ".md", "a.md\n", "ä.md",
        "a b.md", "..", "a.md.md", "A.MD", "x" * 297 + ".md",
    ):  # fmt: skip
        for tool, more in (
            ("identity_write", {"category": "self"}),
            ("identity_delete_custom", {}),
        ):
            content = {"content": "x"} if more else {}
            title, fix = await refuse(client, tool, filename=filename, **more, **content)
            assert title == "Invalid argument"
            assert "letters, digits, _ and - with .md at the end" in fix

        assert count(owner, "document") == 0


async def test_wrong_arguments_are_named_and_change_nothing(
    client: Client, owner: psycopg.Connection[Any]
) -> None:
    for arguments, reason in (
        ({"category": "others"}, "must be one of self, user, relationship, custom"),
        ({"content": "a\ud800"}, "must be text"),
        ({"content": "x" * 1_000_001}, "must be text of at most 1000000 characters"),
        ({"instanceId": "a b"}, "must be letters, digits and ._:@-"),
        ({"filename": None}, "required"),
    ):
        given = {**MINE, "content": "x", **arguments}
        title, fix = await refuse(client, "identity_write", **{k: v for k, v in given.items() if v})

        assert title == "Invalid argument"
        assert reason in fix
        assert count(owner, "document") == 0


async def test_a_file_cannot_grow_beyond_a_million_characters(
    client: Client, ask: Ask, look: Ask
) -> None:
    text = "x" * 999_990
    await ask("identity_write", **MINE, content=text)

    refusals = [
        await refuse(client, tool, **MINE, content="y" * 20, **more)
        for tool, more in (
            ("identity_append", {}),
            ("identity_prepend", {}),
            ("identity_update_section", {"section": "Notes"}),
        )
    ]

    title = "self/my_identity.md would have more than 1,000,000 characters"
    assert refusals == [(title, "shorten it; nothing was changed")] * 3
    assert await look("self", "my_identity.md") == text


async def test_nothing_is_added_by_a_blank_text(client: Client) -> None:
    for tool in ("identity_append", "identity_prepend"):
        _, fix = await refuse(client, tool, **MINE, content=" \n")
        assert fix.endswith("must not be empty")


async def test_a_long_identity_names_the_files_that_its_answer_leaves_out(ask: Ask) -> None:
    words = "the quarterly report needs another chapter about the harbour of Lisbon\n" * 1700
    for name in ("my_identity.md", "my_persona.md", "my_wants.md"):
        await ask("identity_write", category="self", filename=name, content=words)

    answer = await ask("identity_get_all")

    assert [file["f"] for file in answer["self"]] == ["my_identity.md"]
    assert answer["cut"] == ["self/my_persona.md", "self/my_wants.md"]
    assert answer["note"] == "read one file with category and filename"
    alone = await ask("identity_get_all", category="self", filename="my_wants.md")
    assert alone["self"][0]["c"] == words


async def test_a_file_loses_the_same_characters_as_a_fact(ask: Ask) -> None:
    """But it keeps white space at its ends, CR, and the composition of its characters."""
    plain = {text: clean for text, clean in CLEANED.items() if "\r" not in text}
    stored: dict[str, str] = {}
    for text in plain:
        await ask("identity_write", **MINE, content=text)
        [file] = (await ask("identity_get_all"))["self"]
        stored[text] = unicodedata.normalize("NFC", file["c"].strip())

    assert stored == plain


FILE = {"category": "self", "filename": "my_identity.md"}
ID = re.compile(r"self/my_identity_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z")


async def test_a_snapshot_is_taken_of_every_file_that_has_a_text(client: Client, ask: Ask) -> None:
    for category, name in (("user", "user_life"), ("self", "my_identity"), ("custom", "blank")):
        text = "" if name == "blank" else f"text of {name}"
        await ask("identity_write", category=category, filename=f"{name}.md", content=text)

    result = await client.call_tool("snapshot_create", {})

    created: dict[str, Any] = result.structured_content or {}
    first, second = created["snapshots"]
    assert created["message"] == "I took a snapshot of 2 files."
    assert ID.fullmatch(first)
    assert second.startswith("user/user_life_")
    listed = (await client.call_tool("snapshot_list", {"category": "self"})).structured_content
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


async def test_a_snapshot_that_does_not_exist_is_a_failure(client: Client) -> None:
    for tool in ("snapshot_get", "snapshot_restore"):
        name = "self/my_identity_2026-05-12T09-30-00-000Z"
        result = await client.call_tool(tool, {"snapshotId": name})
        assert result.is_error
        assert result.structured_content == {
            "success": False,
            "message": f"There is no snapshot {name}: snapshot_list shows all.",
        }
        for wrong in ("", "../../etc/passwd", "self/a\0", "self/" + "x" * 300):
            _, fix = await refuse(client, tool, snapshotId=wrong)
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
