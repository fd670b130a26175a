"""Old snapshots and replaced versions are deleted while a server runs."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.attacks.site import issue
from tests.conftest import Connect
from tests.support.tool_calls import read
from tests.support.upkeep import open_desk
from textrawl import Settings

pytestmark = pytest.mark.anyio


@pytest.fixture
def old(owner: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """A file whose first text was replaced 31 days ago, and whose second text 29 days ago."""
    for text, days in (("one", 40), ("two", 31), ("three", 29)):
        owner.execute("select write_identity('self', 'a.md', %s)", (text,))
        owner.execute(
            "update document_version set created_at = now() - make_interval(days => %s)"
            " where content = %s",
            (days, text),
        )
        owner.execute(
            "update identity_snapshot set created_at = now() - make_interval(days => %s)"
            " where created_at > now() - interval '1 day'",
            (days,),
        )
    return owner


def look(owner: psycopg.Connection[Any]) -> tuple[list[Any], list[Any]]:
    """The texts and the texts of snapshots."""
    texts = owner.execute("select content from document_version order by version").fetchall()
    kept = owner.execute("select content from list_snapshots(texts => true)").fetchall()
    return [text for (text,) in texts], [text for (text,) in kept]


async def test_a_round_of_upkeep_deletes_what_is_older_than_the_retention(
    settings: Callable[..., Settings], old: psycopg.Connection[Any]
) -> None:
    async with open_desk(settings(embedding_provider="none")) as desk:
        assert look(old) == (["one", "two", "three"], ["two", "one"])

        await desk.upkeep.do_round()

    assert look(old) == (["two", "three"], ["two"])


async def test_a_snapshot_deletes_what_is_older_than_the_setting(
    connect: Connect, old: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["identity"], snapshot_retention_days=10)

    read(await client.call_tool("snapshot_create", {}))

    assert look(old) == (["three"], ["three"])


async def test_a_caller_without_the_right_to_forget_deletes_nothing(
    connect: Connect, old: psycopg.Connection[Any]
) -> None:
    token = issue(old, "sam", "default", "read", "write")
    client = await connect(toolsets=["identity"], snapshot_retention_days=1, access_token=token)

    read(await client.call_tool("snapshot_create", {"pinned": True}))

    assert look(old)[0] == ["one", "two", "three"]
