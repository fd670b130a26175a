"""The tools of reviewers, and what authors see of their own proposals."""

from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.attacks.site import issue
from tests.conftest import Connect
from tests.support.tool_calls import A_SHORT_ID, read, remember, text_of

pytestmark = pytest.mark.anyio

TOOLS = ["memory", "review"]
ADA: dict[str, Any] = {"entityName": "Ada", "entityType": "person"}


async def open_clients(connect: Connect, owner: psycopg.Connection) -> tuple[Client, Client]:
    """An agent who proposes, and a reviewer, in the space team."""
    owner.execute("select create_space('team')")
    agent = issue(owner, "agent", "team", "read", "propose")
    rita = issue(owner, "rita", "team", "read", "write", "review")
    return (
        await connect(access_token=agent, toolsets=TOOLS),
        await connect(access_token=rita, toolsets=TOOLS),
    )


async def test_a_proposal_counts_for_others_once_a_reviewer_accepts_it(
    connect: Connect, owner: psycopg.Connection
) -> None:
    agent, rita = await open_clients(connect, owner)
    question = {"query": "what does Ada like", "includeIds": True}

    proposed = read(await agent.call_tool("remember_fact", {**ADA, "observation": "likes tea"}))
    before = read(await rita.call_tool("query_memory", question))
    listed = read(await rita.call_tool("list_proposals", {}))
    decision = {"ids": [proposed["proposal"]], "decision": "accept"}
    plan = read(await rita.call_tool("decide_proposals", {**decision, "dryRun": True}))
    decided = read(await rita.call_tool("decide_proposals", decision))
    after = read(await rita.call_tool("query_memory", question))

    assert proposed == {"ok": True, "proposal": A_SHORT_ID}
    assert before == {"n": 0, "e": [], "no": ["Ada", "like"], "note": "every fact was searched"}
    [proposal] = listed["p"]
    assert (proposal["n"], proposal["c"], proposal["by"]) == ("Ada", "likes tea", "agent")
    assert plan["plan"] == [
        {"id": proposed["proposal"], "n": "Ada", "c": "likes tea", "would": "new"}
    ]
    assert decided == {"ok": True, "p": [{"id": proposed["proposal"], "obs": A_SHORT_ID}]}
    [fact] = after["e"][0]["m"]
    assert (fact["c"], fact["by"], fact["id"]) == ("likes tea", "agent", decided["p"][0]["obs"])


async def test_an_author_finds_and_lists_their_proposal_and_reads_why_it_was_rejected(
    connect: Connect, owner: psycopg.Connection
) -> None:
    agent, rita = await open_clients(connect, owner)
    proposed = read(await agent.call_tool("remember_fact", {**ADA, "observation": "likes tea"}))

    found = read(await agent.call_tool("query_memory", {"query": "does Ada like tea"}))
    shown = read(await agent.call_tool("query_memory", {"mode": "entity", "entityName": "Ada"}))
    rejection = {"ids": [proposed["proposal"]], "decision": "reject", "reason": "she likes coffee"}
    await rita.call_tool("decide_proposals", rejection)
    listed = read(await agent.call_tool("list_proposals", {"state": "rejected"}))
    later = read(await agent.call_tool("query_memory", {"query": "does Ada like tea"}))

    [fact] = found["e"][0]["m"]
    assert (fact["c"], fact["proposed"]) == ("likes tea", True)
    assert shown == {"found": False, "proposed": [{"id": A_SHORT_ID, "c": "likes tea"}]}
    assert [(row["state"], row["why"]) for row in listed["p"]] == [("rejected", "she likes coffee")]
    assert (later["e"], later["no"]) == ([], ["Ada", "like", "tea"])


async def test_lines_mark_a_proposal(connect: Connect, owner: psycopg.Connection) -> None:
    owner.execute("select create_space('team')")
    token = issue(owner, "agent", "team", "read", "propose")
    agent = await connect(access_token=token, toolsets=TOOLS, compact_responses="lines")
    await agent.call_tool("remember_fact", {**ADA, "observation": "likes tea"})

    found = text_of(await agent.call_tool("query_memory", {"query": "does Ada like tea"}))
    shown = text_of(await agent.call_tool("query_memory", {"mode": "entity", "entityName": "Ada"}))

    assert found.endswith(" likes tea (proposed)")
    assert shown == "not found\nlikes tea (proposed)"


async def test_a_batch_and_a_relation_answer_with_their_proposals(
    connect: Connect, owner: psycopg.Connection
) -> None:
    agent, rita = await open_clients(connect, owner)
    edge = {"fromEntity": "Ada", "relation": "knows", "toEntity": "Bo"}

    batch = read(
        await agent.call_tool(
            "build_knowledge",
            {"facts": [{**ADA, "observation": "swims"}], "relations": [edge]},
        )
    )
    again = read(await agent.call_tool("relate_entities", edge))
    ended = await agent.call_tool("relate_entities", {**edge, "ended": True})
    ids = batch["proposals"]
    decided = read(await rita.call_tool("decide_proposals", {"ids": ids, "decision": "accept"}))

    assert batch == {"ok": True, "proposals": [A_SHORT_ID, A_SHORT_ID]}
    assert again["proposal"] == ids[1]
    assert "can only propose" in text_of(ended)
    assert [sorted(part) for part in decided["p"]] == [["id", "obs"], ["id", "rel"]]


async def test_who_does_not_review_decides_nothing_and_learns_what_is_missing(
    connect: Connect, owner: psycopg.Connection
) -> None:
    agent, rita = await open_clients(connect, owner)
    proposed = read(await agent.call_tool("remember_fact", {**ADA, "observation": "likes tea"}))
    decision = {"ids": [proposed["proposal"]], "decision": "accept"}

    refused = await agent.call_tool("decide_proposals", decision)
    reasonless = await rita.call_tool("decide_proposals", {**decision, "decision": "reject"})
    unknown = await rita.call_tool("decide_proposals", {**decision, "ids": ["00000000"]})

    assert "needs the scope review" in text_of(refused)
    assert "Missing reason" in text_of(reasonless)
    assert "No proposal 00000000 is pending" in text_of(unknown)


async def test_proposals_that_do_not_fit_into_the_budget_are_counted(
    connect: Connect, owner: psycopg.Connection
) -> None:
    agent, _ = await open_clients(connect, owner)
    token = issue(owner, "rob", "team", "read", "write", "review")
    rob = await connect(access_token=token, toolsets=TOOLS, max_response_tokens=200)
    facts = [{**ADA, "observation": f"knows word {place} of tea"} for place in range(20)]
    ids = read(await agent.call_tool("build_knowledge", {"facts": facts}))["proposals"]

    decision = {"ids": ids, "decision": "accept"}
    plan = read(await rob.call_tool("decide_proposals", {**decision, "dryRun": True}))
    decided = read(await rob.call_tool("decide_proposals", decision))

    assert 0 < len(plan["plan"]) == 20 - plan["cut"]
    assert 0 < len(decided["p"]) == 20 - decided["cut"]


ASKED: dict[str, list[dict[str, Any]]] = {
    "query_memory": [
        {"query": "what does Ada like", "includeIds": True}, {"query": "green"},
        {"mode": "entity", "entityName": "Ada"}, {"mode": "entity", "entityName": "Cleo"},
        {"mode": "list"},
    ],
    "memory_stats": [{}], "read_graph": [{}], "search_nodes": [{"query": "green"}],
    "list_proposals": [{}], "forget_entity": [{"entityName": "Cleo", "dryRun": True}],
}  # fmt: skip


async def test_a_proposal_changes_no_answer_of_a_reader(
    connect: Connect, owner: psycopg.Connection
) -> None:
    agent, _ = await open_clients(connect, owner)
    reader = await connect(
        access_token=issue(owner, "ben", "team", "read", "write"), toolsets=["all"]
    )
    await remember(reader, "Ada", "likes tea")
    await remember(reader, "Bo", "lives in Oslo")
    owner.execute("select refresh_search_statistics()")

    async def ask() -> list[str]:
        return [
            text_of(await reader.call_tool(tool, arguments))
            for tool, several in ASKED.items()
            for arguments in several
        ]

    before = await ask()
    for entity, text in (("Ada", "likes green tea"), ("Cleo", "paints green walls")):
        fact = {"entityName": entity, "entityType": "person", "observation": text}
        await agent.call_tool("remember_fact", fact)
    owner.execute("select refresh_search_statistics()")

    assert await ask() == before
    assert owner.execute("select count(*) from proposal").fetchone() == (2,)
    assert not [text for text in before if "proposed" in text]
