"""memory_create, memory_read, memory_update and memory_delete: entries and their keys."""

from typing import Any, LiteralString

import psycopg
import pytest
from mcp import Client

from tests.support.tool_calls import A_MOMENT, count, refuse
from tests.toolsets.journal.entries import DAY, delete, keep, look_up, miss, record, update

pytestmark = pytest.mark.anyio

_TABLES: tuple[LiteralString, ...] = (
    "document", "document_version", "journal_entry", "observation", "entity", "embedding_pending"
)  # fmt: skip


async def test_an_entry_is_read_back_with_all_that_is_known_of_it(client: Client) -> None:
    created = await record(client, "- Met Ben [chat:7] [via:laptop]", chatIds=["7"])

    assert created == {
        "ok": True, "id": "daily-2026-05-12", "at": "daily/2026-05-12/laptop", "v": 1, "new": True
    }  # fmt: skip
    assert await look_up(client) == {
        "id": "daily-2026-05-12",
        "granularity": "daily",
        "date": DAY,
        "content": "- Met Ben [chat:7] [via:laptop]",
        "chatIds": ["7"],
        "sourceInstance": "laptop",
        "participatingInstances": ["laptop"],
        "version": 1,
        "createdAt": A_MOMENT,
        "updatedAt": A_MOMENT,
        "editedBy": "laptop",
    }


async def test_each_granularity_has_its_date_and_its_path(client: Client) -> None:
    for granularity, date, slug, path in (
        ("daily", "2028-02-29", None, "daily/2028-02-29/laptop"),
        ("weekly", "2026-W19", None, "weekly/2026-W19"),
        ("weekly", "2026-W53", None, "weekly/2026-W53"),
        ("monthly", "2026-05", None, "monthly/2026-05"),
        ("yearly", "2026", None, "yearly/2026"),
        ("significant", DAY, "first-conversation", "significant/2026-05-12/first-conversation"),
        ("significant", DAY, None, "significant/2026-05-12"),
    ):
        key = {"granularity": granularity, "date": date} | ({"slug": slug} if slug else {})

        created = await record(client, "- It happened", **key)

        assert created["at"] == path
        assert (await look_up(client, **key))["content"] == "- It happened"


async def test_a_date_that_does_not_exist_or_fit_is_refused_by_every_tool(
    client: Client, owner: psycopg.Connection[Any]
) -> None:
    for granularity, date in (
        ("daily", "2026-02-29"), ("daily", "2026-13-01"), ("daily", "2026-04-31"),
        ("daily", "2026-W19"), ("daily", "2026-05"), ("daily", "0000-01-01"),
        ("significant", "2026-00-10"), ("weekly", "2025-W53"), ("weekly", "2026-W00"),
        ("weekly", "2026-W54"), ("weekly", DAY), ("monthly", "2026-13"), ("monthly", "2026-00"),
        ("monthly", "2026"), ("yearly", "2026-05"), ("yearly", "0000"),
    ):  # fmt: skip
        key = {"granularity": granularity, "date": date}

        for tool, more in (
            ("memory_create", {"content": "x", "instanceId": "laptop"}),
            ("memory_update", {"content": "x", "instanceId": "laptop"}),
            ("memory_read", {}),
            ("memory_delete", {"instanceId": "laptop"}),
        ):
            title, fix = await refuse(client, tool, **key, **more)
            assert title == (
                f"Wrong key of a journal entry: {date} is no date of a {granularity} entry"
            )
            assert "2026-W19" in fix
        tables: tuple[LiteralString, ...] = (
            "document",
            "instance",
            "entity",
            "event",
            "document_clock",
        )
        assert [count(owner, table) for table in tables] == [0] * len(tables)


async def test_a_date_of_no_known_form_is_refused(client: Client) -> None:
    for date in ("12.05.2026", "2026-5-12", "2026-05-12T10:00", "٢٠٢٦", "", "20261"):
        title, fix = await refuse(client, "memory_read", granularity="daily", date=date)

        assert (title, "date" in fix) == ("Invalid argument", True)


async def test_instances_have_an_entry_of_a_day_each_and_the_first_says_that_there_are_more(
    client: Client,
) -> None:
    await record(client, "- On the laptop")
    await record(client, "- On the phone", instanceId="phone")
    await record(client, "- In the car", instanceId="Car.2")

    first = await look_up(client)

    assert first["content"] == "- On the laptop"
    assert first["others"] == ["daily/2026-05-12/phone", "daily/2026-05-12/Car.2"]
    assert (await look_up(client, instanceId="phone"))["content"] == "- On the phone"
    assert "others" not in await look_up(client, instanceId="Car.2")
    assert await miss(client, instanceId="tv") == {
        "ok": False, "err": "No daily entry of 2026-05-12; memory_list shows entries"
    }  # fmt: skip


async def test_a_write_registers_its_instance(
    client: Client, owner: psycopg.Connection[Any]
) -> None:
    await record(client, "- One", instanceId="laptop")
    await record(client, "A week", granularity="weekly", date="2026-W19", instanceId="phone")

    rows = owner.execute("select id, instance_type, last_sync from instance order by 1").fetchall()
    assert rows == [("laptop", "other", None), ("phone", "other", None)]


async def test_an_instance_id_of_another_form_is_refused(client: Client) -> None:
    for instance in ("", "my laptop", "-x", "a/b", "é", "x" * 101):
        _, fix = await refuse(
            client, "memory_create", granularity="daily", date=DAY, content="x", instanceId=instance
        )

        assert "instanceId" in fix


async def test_a_slug_of_another_form_is_refused(client: Client) -> None:
    for slug in ("First", "two words", "a--b", "-a", "../x", "x" * 101):
        _, fix = await refuse(client, "memory_read", granularity="significant", date=DAY, slug=slug)

        assert "slug" in fix


async def test_only_a_significant_entry_has_a_slug(client: Client) -> None:
    title, _ = await refuse(
        client,
        "memory_create",
        granularity="daily",
        date=DAY,
        content="x",
        instanceId="a",
        slug="b",
    )

    assert title == "Wrong key of a journal entry: only a significant entry has a slug"


async def test_a_text_of_10_megabytes_is_refused_and_200_000_characters_are_stored(
    client: Client, owner: psycopg.Connection[Any]
) -> None:
    key = {"granularity": "yearly", "date": "2026", "instanceId": "laptop"}

    _, fix = await refuse(client, "memory_create", **key, content="x" * 10_000_000)
    _, empty = await refuse(client, "memory_create", **key, content="")
    assert ("200000" in fix.replace(",", ""), "content" in empty) == (True, True)
    assert owner.execute("select from document").fetchall() == []
    text = "# 2026\n\n" + "It was a year. " * 13_332
    await record(client, text.strip(), **key)

    [(length, parts, longest)] = owner.execute(
        "select (select char_length(content) from document_version), count(*),"
        " max(char_length(content)) from fact"
    ).fetchall()
    assert (length > 199_900, parts >= 100, longest <= 2000) == (True, True, True)


async def test_a_day_that_would_grow_too_long_stays_as_it_is(client: Client) -> None:
    await record(client, "- " + "x" * 150_000)

    title, fix = await refuse(
        client,
        "memory_create",
        granularity="daily",
        date=DAY,
        instanceId="laptop",
        content="y" * 60_000,
    )

    assert title == "The entry would have 210004 characters"
    assert "nothing was changed" in fix
    assert (await look_up(client))["version"] == 1


async def test_an_entry_that_is_no_day_is_replaced_by_a_second_text(client: Client) -> None:
    key = {"granularity": "weekly", "date": "2026-W19"}
    await record(client, "- A week [chat:1]", **key)

    again = await record(client, "- Another week [chat:1]", **key, instanceId="phone")

    entry = await look_up(client, **key)
    assert (again["v"], entry["content"]) == (2, "- Another week [chat:1]")
    assert (entry["sourceInstance"], entry["participatingInstances"]) == ("phone", ["phone"])


async def test_an_update_replaces_the_text_and_keeps_what_is_known_of_it(client: Client) -> None:
    await record(
        client, "- Met Bem [chat:7]", chatIds=["7"], participatingInstances=["laptop", "phone"]
    )
    before = await look_up(client)

    updated = await update(client, "- Met Ben [chat:7]", editedBy="Ada Lovelace")

    after = await look_up(client)
    assert (updated["v"], updated["at"]) == (2, "daily/2026-05-12/laptop")
    assert {key for key in after if after[key] != before[key]} == {
        "content", "version", "updatedAt", "editedBy"
    }  # fmt: skip
    assert (after["content"], after["editedBy"]) == ("- Met Ben [chat:7]", "Ada Lovelace")


async def test_an_update_creates_what_is_missing(client: Client) -> None:
    await update(client, "A good year", granularity="yearly", date="2026", editedBy="human")
    title, _ = await refuse(
        client, "memory_update", granularity="daily", date=DAY, content="Somebody's day"
    )

    assert (await look_up(client, "yearly", "2026"))["sourceInstance"] == "human"
    assert title == "Wrong key of a journal entry: a daily entry needs an instance"


async def test_an_update_that_fits_two_entries_changes_neither(client: Client) -> None:
    await record(client, "- On the laptop")
    await record(client, "- On the phone", instanceId="phone")
    key = {"granularity": "daily", "date": DAY, "content": "Mine"}

    title, fix = await refuse(client, "memory_update", **key)

    assert (title, "instanceId" in fix) == ("2 entries have this key", True)
    await update(client, "- Mine", instanceId="phone")
    assert (await look_up(client))["content"] == "- On the laptop"
    assert (await look_up(client, instanceId="phone"))["content"] == "- Mine"


async def test_a_deletion_leaves_nothing_but_the_key(
    client: Client, owner: psycopg.Connection[Any]
) -> None:
    await record(client, "- A secret of Ben's")
    await update(client, "- Another secret")

    deleted = await delete(client)

    assert deleted == {"ok": True, "msg": "Deleted daily/2026-05-12/laptop"}
    tables: tuple[LiteralString, ...] = (
        "document",
        "document_version",
        "journal_entry",
        "observation",
        "entity",
    )
    assert [count(owner, table) for table in tables] == [0] * len(tables)
    events = owner.execute("select action, detail::text from event").fetchall()
    assert [action for action, _ in events] == ["written", "written", "erased"]
    assert not any("secret" in detail for _, detail in events)
    assert owner.execute("select kind, path from document_tombstone").fetchall() == [
        ("journal", "daily/2026-05-12/laptop")
    ]


async def test_a_deletion_needs_the_whole_key(client: Client) -> None:
    await record(client, "- A day")
    event = {"granularity": "significant", "date": DAY}
    await record(client, "- An event", **event, slug="first-conversation")

    title, _ = await refuse(client, "memory_delete", granularity="daily", date=DAY)
    missed = await keep(client, **event)
    other = await keep(client, granularity="daily", date=DAY, instanceId="phone")

    assert title == "Wrong key of a journal entry: a daily entry needs an instance"
    assert missed["err"] == "There is no entry significant/2026-05-12; nothing was deleted"
    assert other["err"] == "There is no entry daily/2026-05-12/phone; nothing was deleted"
    await delete(client, **event, slug="first-conversation")
    assert (await look_up(client))["content"] == "- A day"


async def test_a_deleted_entry_can_be_written_again(
    client: Client, owner: psycopg.Connection[Any]
) -> None:
    await record(client, "- Before")
    await delete(client)

    again = await record(client, "- After")

    assert (again["v"], (await look_up(client))["content"]) == (1, "- After")
    assert owner.execute("select from document_tombstone").fetchall() == []
