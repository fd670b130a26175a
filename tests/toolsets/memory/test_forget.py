"""forget_entity: who must agree, what goes, and what stays of it."""

from typing import Any

import psycopg
import pytest
from mcp import Client
from mcp.types import ElicitRequestParams, ElicitResult

from tests.attacks.site import issue
from tests.conftest import Connect, Era
from tests.support.tool_calls import (
    ask,
    count,
    forget,
    keep,
    read,
    read_tables,
    refuse,
    relate,
    remember,
)

pytestmark = pytest.mark.anyio


class User:
    """A person whose client passes questions on: answers `action` and keeps what was asked."""

    def __init__(self, action: Any, content: Any = None) -> None:
        self.result = ElicitResult(action=action, content=content)
        self.asked: list[str] = []

    async def __call__(self, _: object, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        return self.result


async def fill(client: Client) -> None:
    await remember(client, "Jeff", "likes tea")
    await remember(client, "Jeff", "lives in Oslo")
    await remember(client, "Ada", "likes coffee")
    await relate(client, "Jeff", "works_at", "Acme")
    await relate(client, "Ada", "manages", "Jeff")
    await relate(client, "Ada", "works_at", "Acme")


async def test_an_entity_goes_with_its_facts_vectors_and_relations_both_ways(
    client: Client, owner: psycopg.Connection
) -> None:
    await fill(client)

    assert (await forget(client, "jeff", confirm=True))["ok"]

    assert await ask(client, entityName="Jeff") == {"found": False}
    assert (count(owner, "fact"), count(owner, "relation")) == (1, 1)
    assert count(owner, "embedding_1") == count(owner, "observation") == 2  # one is a statement
    assert "r" in await ask(client, entityName="Ada")
    found = await ask(client, query="tea")
    assert [entity["n"] for entity in found["e"]] in ([], ["Ada"])


async def test_pending_work_goes_too(connect: Connect, era: Era, owner: psycopg.Connection) -> None:
    await fill(await connect(era))  # registers the model of the local embedder
    client = await connect(era, embedding_provider="none")
    await remember(client, "Later", "waits for a vector")
    assert count(owner, "embedding_pending") == 1

    await forget(client, "Later", confirm=True)

    assert count(owner, "embedding_pending") == 0


async def test_what_remains_is_a_trail_without_content(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Zaphod", "has a secretword")
    await relate(client, "Zaphod", "owns", "Ship")

    await forget(client, "Zaphod", confirm=True)

    everything = str(read_tables(owner)).lower()
    assert "secretword" not in everything
    assert "zaphod" not in everything
    [row] = owner.execute(
        "select entity_id is not null, detail from event where action = 'forgotten'"
    ).fetchall()
    assert row == (True, {"facts": 1, "relations": 1})


async def test_one_fact_can_be_forgotten(client: Client) -> None:
    for kind in ("prefix", "id", "text"):
        await fill(client)
        shown = await client.call_tool("query_memory", {"entityName": "Jeff"})
        reply: Any = shown.structured_content
        whole = next(o["id"] for o in reply["observations"] if o["content"] == "likes tea")
        reference = {"prefix": whole[:8], "id": whole, "text": "Likes tea."}[kind]

        answer = await forget(client, "Jeff", fact=reference, confirm=True)

        assert answer == {"ok": True, "obs": whole[:8]}, kind
        left = await ask(client, entityName="Jeff")
        assert left["o"] == ["lives in Oslo"]
        assert left["r"] == {"out": ["works_at→Acme"], "in": ["Ada→manages"]}


async def test_a_fact_that_is_not_there_is_an_error_and_nothing_goes(
    client: Client, owner: psycopg.Connection
) -> None:
    await fill(client)
    before = read_tables(owner)

    title, fix = await refuse(
        client, "forget_entity", entityName="Jeff", fact="likes coffee", confirm=True
    )

    assert (title, fix.split(":")[0]) == ("Fact not found", "fact")
    assert read_tables(owner) == before


async def test_a_dry_run_counts_and_deletes_nothing(
    client: Client, owner: psycopg.Connection
) -> None:
    await fill(client)
    for number in range(4):
        await remember(client, "Jeff", f"owns boat {number}")
    before = read_tables(owner)

    whole = await client.call_tool("forget_entity", {"entityName": "Jeff", "dryRun": True})
    one = await forget(client, "Jeff", dryRun=True, confirm=True, fact="likes tea")

    sample = ["owns boat 3", "owns boat 2", "owns boat 1"]
    assert read(whole) == {"ok": True, "dry": True, "facts": 6, "rel": 2, "sample": sample}
    assert whole.structured_content == {
        "success": True,
        "message": "Would forget Jeff (facts 6, relations 2); nothing was deleted",
        "dryRun": True,
        "facts": 6,
        "relations": 2,
        "sample": sample,
    }
    assert one == {"ok": True, "dry": True, "facts": 1, "rel": 0, "sample": ["likes tea"]}
    assert await keep(client, "Nobody", dryRun=True) == {"ok": False, "err": "not_found"}
    assert read_tables(owner) == before


async def test_without_a_confirmation_nothing_goes(
    client: Client, owner: psycopg.Connection
) -> None:
    await fill(client)
    before = read_tables(owner)
    asks = "This would forget Jeff (facts 2, relations 2). Ask the user"

    for confirm in (False, "false", None, "null"):
        refused = await keep(client, "Jeff", confirm=confirm)
        unknown = await keep(client, "Jef", confirm=confirm)

        assert refused["err"] == "confirm", confirm
        assert refused["fix"].startswith(asks)
        assert unknown == {"ok": False, "err": "not_found", "fix": "Did you mean Jeff?"}
    assert read_tables(owner) == before


async def test_a_user_who_agrees_is_asked_once_and_told_how_much_goes(
    connect: Connect, era: Era
) -> None:
    user = User("accept", {"confirm": True})
    client = await connect(era, callback=user)
    await fill(client)

    assert (await forget(client, "jeff"))["ok"]

    assert user.asked == ["Forget Jeff (facts 2, relations 2)? This cannot be undone."]
    assert await ask(client, entityName="Jeff") == {"found": False}


async def test_a_user_is_asked_about_one_fact(connect: Connect, era: Era) -> None:
    user = User("accept", {"confirm": True})
    client = await connect(era, callback=user)
    await fill(client)

    await forget(client, "Jeff", fact="likes tea")

    assert user.asked == ["Forget one fact about Jeff? This cannot be undone."]
    assert (await ask(client, entityName="Jeff"))["o"] == ["lives in Oslo"]


async def test_a_user_who_does_not_agree_keeps_everything(
    connect: Connect, era: Era, owner: psycopg.Connection
) -> None:
    await fill(await connect(era))
    before = read_tables(owner)

    for user in (User("decline"), User("cancel"), User("accept", {"confirm": False})):
        client = await connect(era, callback=user)
        assert (await keep(client, "Jeff"))["err"] == "declined"
        assert user.asked
    assert read_tables(owner) == before


async def test_a_caller_who_may_not_read_is_told_what_to_do_and_nothing_else(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(access_token=issue(owner, "eve", "default", "forget"))

    assert await keep(client, "Jeff") == {
        "ok": False,
        "err": "confirm",
        "fix": "Ask the user, then call again with confirm true once the user agrees",
    }


async def test_a_user_is_not_asked_where_there_is_nothing_to_ask(
    connect: Connect, era: Era
) -> None:
    user = User("accept", {"confirm": True})
    client = await connect(era, callback=user)
    await fill(client)

    assert await keep(client, "Nobody") == {"ok": False, "err": "not_found"}
    assert (await forget(client, "Jeff", dryRun=True))["dry"]
    assert (await keep(client, "Jeff", confirm=False))["err"] == "confirm"
    assert (await forget(client, "Jeff", confirm=True))["ok"]
    assert user.asked == []


async def test_an_answer_that_is_no_answer_deletes_nothing(
    connect: Connect, era: Era, owner: psycopg.Connection
) -> None:
    client = await connect(era, callback=User("accept", {"confirm": "perhaps"}))
    await fill(client)
    before = read_tables(owner)

    title, fix = await refuse(client, "forget_entity", entityName="Jeff")

    assert title
    assert "confirm" in fix
    assert read_tables(owner) == before
