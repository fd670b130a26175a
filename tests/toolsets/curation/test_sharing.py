"""share_memories: facts for the people of another space."""

import psycopg
import pytest

from tests.conftest import Connect
from tests.support.tool_calls import A_SHORT_ID, read, remember, text_of

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.ordinary("these spaces are in different cells"),
]


@pytest.fixture
def team(owner: psycopg.Connection) -> None:
    owner.execute("select create_space('team')")
    owner.execute("select grant_access('ada', 'team', array['read', 'write', 'forget'])")


@pytest.mark.usefixtures("team")
async def test_a_fact_is_copied_after_a_dry_run_and_then_moved(connect: Connect) -> None:
    client = await connect(toolsets=["memory", "curation"])
    await remember(client, "Jeff", "drinks tea")
    share = {"entityName": "Jeff", "toSpace": "team"}

    plan = read(await client.call_tool("share_memories", {**share, "dryRun": True}))
    copied = read(await client.call_tool("share_memories", share))
    moved = read(await client.call_tool("share_memories", {**share, "move": True}))

    assert plan == {"ok": True, "dry": True, "facts": 1, "rel": 0, "sample": ["drinks tea"]}
    assert copied == {"ok": True, "entity": A_SHORT_ID, "facts": 1, "rel": 0}
    assert moved == {"ok": True, "entity": A_SHORT_ID, "facts": 0, "dup": 1, "rel": 0, "moved": 1}
    jeff = {"mode": "entity", "entityName": "Jeff"}
    [fact] = read(await client.call_tool("query_memory", jeff))["o"]
    assert fact == {"c": "drinks tea", "sp": "team"}


@pytest.mark.usefixtures("team")
async def test_a_refused_share_says_what_to_do(connect: Connect) -> None:
    client = await connect(toolsets=["memory", "curation"])
    await remember(client, "Jeff", "drinks tea")
    for change, says in (
        ({"toSpace": "moon"}, "Spaces that ada may use: default, team"),
        ({"toSpace": "default"}, "Both spaces are the same"),
        ({"entityName": "Nobody"}, "Nobody"),
        ({"facts": ["drinks milk"]}, "names no fact"),
        ({"fromSpace": "team"}, "Both spaces are the same"),
    ):
        refused = await client.call_tool(
            "share_memories", {"entityName": "Jeff", "toSpace": "team"} | change
        )

        assert refused.is_error
        assert says in text_of(refused)
