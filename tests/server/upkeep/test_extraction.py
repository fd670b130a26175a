"""Extraction from journal entries: queued with the write, done by the upkeep, never in its way."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from anyio import to_thread
from mcp import Client

from tests.conftest import Connect
from tests.support.commands import Process, name_memory
from tests.support.llm_server import LlmServer
from tests.support.provider_server import Fault, LlmFault
from tests.values.test_repository import make_repository
from textrawl import Settings, create_server
from textrawl.memory.opening import open_memory
from textrawl.memory.store import Store
from textrawl.server.lifespan import open_app
from textrawl.server.llm_upkeep import ExtractionUpkeep

pytestmark = pytest.mark.anyio

TEXT = "- Ben lives at the lake and builds boats there with his sister. " * 2
FOUND = {
    "nodes": [
        {"label": "Ben", "type": "person", "description": "Builds boats", "confidence": 0.9},
        {"label": "boats", "type": "topic", "description": "", "confidence": 0.8},
        {"label": "rain", "type": "topic", "description": "", "confidence": 0.6},
    ],
    "edges": [
        {"source": "Ben", "target": "Boats", "type": "builds", "weight": 0.9, "evidence": "boats"},
        {"source": "Ben", "target": "rain", "type": "likes", "weight": 0.9, "evidence": ""},
    ],
}


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(lambda _: json.dumps(FOUND)) as server:
        yield server


@pytest.fixture(params=["openai", "ollama"])
def given(
    request: pytest.FixtureRequest, settings: Callable[..., Settings], server: LlmServer
) -> Settings:
    """Settings with extraction, once in each protocol."""
    url = server.openai_url if request.param == "openai" else server.url
    return settings(
        toolsets=["journal", "mind"],
        enable_memory_extraction=True,
        llm_provider=request.param,
        llm_model="m",
        llm_base_url=url,
    )


async def record(settings: Settings, content: str = TEXT, **more: Any) -> None:
    """Store an entry through a client of a server without background work."""
    reading = settings.model_copy(update={"read_only": True})
    async with (
        open_memory(settings) as memory,
        open_app(reading, memory=memory) as app,
        Client(create_server(settings, app=app)) as client,
    ):
        arguments = {"granularity": "daily", "date": "2026-05-12", "instanceId": "laptop"}
        given = {"content": content, **arguments, **more}
        result = await client.call_tool("memory_create", given)
        assert not result.is_error, result.content


async def extract(settings: Settings, rounds: int = 1) -> Store:
    async with open_memory(settings) as memory:
        for _ in range(rounds):
            await ExtractionUpkeep(memory).do_round()
        return memory


def fetch(owner: psycopg.Connection, query: str) -> list[tuple[Any, ...]]:
    return owner.execute(query.encode()).fetchall()


def list_nodes(owner: psycopg.Connection) -> dict[str, tuple[str, float]]:
    """Type and confidence of each node that was extracted, by label."""
    rows = fetch(
        owner,
        "select label, node_type, round(confidence::numeric, 2)::float"
        " from node_states(default_space()) where memory is not null",
    )
    return {label: (kind, confidence) for label, kind, confidence in rows}


STATE = "select attempts_total, successes_total, nodes_created_total, edges_created_total, pending"


async def test_an_entry_becomes_nodes_and_edges_in_the_background(
    given: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    await record(given)
    assert server.requests == []
    assert fetch(owner, f"{STATE} from extraction_state()") == [(0, 0, 0, 0, 1)]

    await extract(given)

    assert list_nodes(owner) == {"Ben": ("person", 0.9), "boats": ("topic", 0.8)}
    assert fetch(owner, f"{STATE} from extraction_state()") == [(1, 1, 2, 1, 0)]
    assert fetch(owner, "select relation_type, strength from relation") == [("builds", 0.9)]
    assert fetch(
        owner,
        "select distinct a.name from event e join actor a on a.id = e.actor_id"
        " where tool = 'extraction'",
    ) == [("ada",)]
    assert fetch(owner, "select purpose, error from llm_use") == [("extract", None)]
    [request] = server.requests
    assert TEXT.strip() in request.user
    assert "json_schema" in request.options


async def test_an_entry_that_says_the_same_again_confirms_the_nodes(
    given: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    await record(given)
    await extract(given)
    better = {"label": "ben", "type": "Person", "description": "Sails", "confidence": 0.95}
    server.write = lambda _: json.dumps({"nodes": [better], "edges": []})
    await record(given, TEXT, date="2026-05-13")

    await extract(given)

    assert list_nodes(owner)["Ben"] == ("person", 0.95)
    assert fetch(owner, f"{STATE} from extraction_state()") == [(2, 2, 2, 1, 0)]


async def test_a_node_with_the_same_meaning_under_another_label_is_confirmed(
    given: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    told = "is the captain of the old wooden sailing boat in the harbour of the lake"

    def write(label: str, confidence: float) -> None:
        node = {"label": label, "type": "person", "description": told, "confidence": confidence}
        server.write = lambda _: json.dumps({"nodes": [node], "edges": []})

    write("Ben Lee", 0.8)
    await record(given, f"{TEXT} Ben Lee {told}.")
    await extract(given)
    write("Benjamin Lee", 0.9)
    await record(given, f"{TEXT} Benjamin Lee {told}.", date="2026-05-13")
    await extract(given)

    assert list_nodes(owner) == {"Ben Lee": ("person", 0.9)}


@pytest.mark.parametrize("content", ["- short", "- " + "x" * 97])
async def test_a_short_text_is_not_read(
    given: Settings, owner: psycopg.Connection, content: str
) -> None:
    await record(given, content)

    assert fetch(owner, "select count(*) from extraction_pending") == [(0,)]


async def test_a_fault_delays_the_entry_and_the_state_tells_it(
    given: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    await record(given)
    server.fail(Fault.MODEL_MISSING)
    await extract(given)
    [(error,)] = fetch(owner, "select last_error from extraction_state()")
    await extract(given)  # it is not due yet
    asked = len(server.requests)

    server.heal()
    owner.execute("update extraction_pending set next_attempt = now()")
    await extract(given)

    assert error.startswith("LLM_MODEL_MISSING: ")
    assert asked == 1
    assert fetch(owner, f"{STATE} from extraction_state()") == [(2, 1, 2, 1, 0)]
    assert fetch(owner, "select last_error from extraction_state()") == [(None,)]


async def test_an_entry_whose_answers_stay_unusable_is_given_up(
    given: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    await record(given)
    server.fail(LlmFault.BLANK)

    for _ in range(6):
        owner.execute("update extraction_pending set next_attempt = now()")
        await extract(given)

    assert fetch(owner, f"{STATE} from extraction_state()") == [(5, 0, 0, 0, 0)]


async def test_what_the_llm_invents_is_checked_like_the_arguments_of_a_caller(
    given: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    good = {"type": "topic", "description": "x" * 3_000, "confidence": 0.9}
    nodes = [
        {**good, "label": "te\u200ba"},
        {**good, "label": "x" * 300},
        {**good, "label": "loud", "confidence": 7},
        {**good, "label": "typed", "type": "t" * 200},
        {**good, "label": "hidden", "description": "is a\u202eb"},
    ]
    edges = [
        {"source": "tea", "target": "hidden", "type": "near", "weight": 9, "evidence": ""},
        {"source": "tea", "target": "Ada", "type": "near", "weight": 0.5, "evidence": ""},
    ]
    nodes += [{**good, "label": "coffee"}]  # the entry does not name it
    server.write = lambda _: json.dumps({"nodes": nodes, "edges": edges})
    await record(given, f"{TEXT} The tea was loud and typed. It stood near the door. Hidden is ab.")

    await extract(given)

    assert list_nodes(owner).keys() == {"tea", "hidden"}
    assert fetch(owner, "select count(*) from relation") == [(0,)]
    assert fetch(owner, "select content from observation where whole is null") == [("is ab",)]


async def test_an_entry_that_changes_meanwhile_is_read_again(
    given: Settings, owner: psycopg.Connection
) -> None:
    await record(given)
    [claimed] = fetch(owner, "select space_id, document_id, version from claim_extraction(60)")
    await record(given, f"{TEXT}\n- and then it rained all day long", chatIds=["2"])
    owner.execute("select store_extraction(%s, %s, %s, '[]', '[]')", claimed)

    assert fetch(owner, "select count(*) from extraction_pending") == [(1,)]


async def test_a_deleted_entry_is_not_read(
    given: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    await record(given)
    owner.execute("select delete_entry('daily', '2026-05-12', 'laptop', space => default_space())")

    await extract(given)

    assert server.requests == []


async def test_a_server_extracts_while_it_runs(given: Settings, server: LlmServer) -> None:
    await record(given)

    async with open_app(given):
        await to_thread.run_sync(server.wait_for_requests, 1)


ENTRY = {"granularity": "daily", "date": "2026-05-12", "instanceId": "laptop"}
SAID = {
    "entities": [
        {
            "name": "Ben",
            "type": "person",
            "observations": [
                "builds boats with his sister",
                "owns a castle",
                "builds boats there",
                "Builds boats there.",
            ],
        }
    ],
    "relations": [{"fromEntity": "Ben", "relation": "builds", "toEntity": "boats"}],
}
LISTED = "select entity_name, content, evidence, author_name, state from list_proposals"


@pytest.fixture
def proposing(given: Settings) -> Settings:
    """Settings that propose facts, without the graph."""
    return given.model_copy(update={"enable_memory_extraction": False, "propose_facts": True})


async def test_the_facts_of_an_entry_are_proposed_with_their_sentences_and_only_once(
    proposing: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    server.write = lambda _: json.dumps(SAID)
    await record(proposing)
    assert server.requests == []

    await extract(proposing)

    sentence = TEXT[: len(TEXT) // 2].removeprefix("- ").strip()
    assert fetch(owner, f"{LISTED}() order by content") == [
        ("Ben", content, f"- {sentence}", "ada", "pending")
        for content in ("builds boats", "builds boats there", "builds boats with his sister")
    ]
    assert fetch(owner, "select content from fact where tool <> 'memory_create'") == []
    assert list_nodes(owner) == {}
    assert fetch(owner, "select purpose, error from llm_use") == [("extract", None)]
    decide = "select decide_proposals(array[p.id::text], %s, %s) from list_proposals() p"
    owner.execute(f"{decide} where content = 'builds boats there'", ("accept", None))
    owner.execute(f"{decide} where content = 'builds boats with his sister'", ("reject", "no"))

    await record(proposing, f"{TEXT} Again.", date="2026-05-13")
    await extract(proposing)

    states = [row[-1] for row in fetch(owner, f"{LISTED}(decision => 'any')")]
    assert sorted(states) == ["accepted", "pending", "rejected"]
    assert len(server.requests) == 2


async def test_nothing_is_proposed_again_in_other_words_and_the_acceptance_is_counted(
    proposing: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    server.write = lambda _: json.dumps(SAID)
    await record(proposing)
    await extract(proposing)
    owner.execute("select decide_proposals(array_agg(id::text), 'reject', 'no') from proposal")

    # Another time is another fact.
    other = ["he builds boats with his sister", "BUILDS boats there", "used to build boats"]
    other += [f"he {other[-1]}"]
    said = {"name": "Ben", "type": "person", "observations": other}
    server.write = lambda _: json.dumps({"entities": [said], "relations": []})
    await record(proposing, f"{TEXT} Ben used to build boats.", date="2026-05-13")
    await extract(proposing)

    assert fetch(owner, "select content from list_proposals()") == [("used to build boats",)]
    owner.execute("select decide_proposals(array_agg(id::text), 'accept') from list_proposals()")
    [(llm,)] = fetch(owner, "select distinct model from llm_use")
    rate = "select author, llm, proposed, pending, accepted, rejected, acceptance, reasons"
    assert fetch(owner, f"{rate} from rate_proposals()") == [
        ("ada", llm, 4, 0, 1, 3, 0.25, {"no": 3})
    ]
    assert fetch(owner, "select jsonb_array_length(proposals) from memory_report()") == [(1,)]

    owner.execute("select name_entity('Ben', 'Benny')")
    said |= {"name": "Benny", "observations": other[:2]}
    await record(proposing, f"{TEXT} Benny builds boats there with his sister.", date="2026-05-14")
    await extract(proposing)
    assert fetch(owner, "select content from list_proposals()") == []


async def test_after_a_server_that_ended_before_the_last_step_nothing_is_proposed_twice(
    proposing: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    server.write = lambda _: json.dumps(SAID)
    await record(proposing)
    owner.execute("create table kept as select * from extraction_pending")
    await extract(proposing)
    owner.execute("insert into extraction_pending select * from kept")

    await extract(proposing)

    assert len(server.requests) == 2
    assert fetch(owner, "select count(*) from list_proposals(decision => 'any')") == [(3,)]
    assert fetch(owner, "select count(*) from event where action = 'proposed'") == [(3,)]


async def test_a_long_entry_is_read_in_parts_to_its_end(
    proposing: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    owner.execute("select remember_fact('Ada Lovelace', 'person', 'counts')")
    owner.execute("select name_entity('Ada Lovelace', 'Ada')")
    said = {"name": "Ada Lovelace", "type": "person", "observations": ["lives in Rome"]}
    server.write = lambda _: json.dumps({"entities": [said], "relations": []})
    await record(proposing, "- Nothing happened here. " * 1_300 + "Ada lives in Rome.")

    await extract(proposing)

    assert [len(request.user) < 31_000 for request in server.requests] == [True, True]
    assert fetch(owner, "select content, evidence from list_proposals()") == [
        ("lives in Rome", "Ada lives in Rome.")
    ]

    fetch(owner, "select decide_proposals(array(select id::text from list_proposals()), 'accept')")

    told = "select evidence, evidence_start from"
    stored = [("Ada lives in Rome.", len("- Nothing happened here. " * 1_300))]
    assert fetch(owner, f"{told} entity_history('Ada') where evidence <> ''") == stored
    assert (
        fetch(owner, f"{told} explain_search('where does Ada live') where evidence <> ''") == stored
    )
    assert fetch(owner, f"{told} export_facts(1) where text = 'lives in Rome'") == stored


async def test_an_unusable_answer_to_a_part_keeps_no_other_part_from_being_read(
    proposing: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    said = {"name": "Ada", "type": "person", "observations": ["lives in Rome"]}
    good = json.dumps({"entities": [said], "relations": []})
    server.write = lambda request: good if "Rome" in request.user else "no JSON"
    await record(proposing, "- Nothing happened here. " * 1_300 + "Ada lives in Rome.")
    fetch(owner, "select version from claim_extraction(60)")
    wait = "select next_attempt > now() + interval '3 minutes' from extraction_pending"
    assert fetch(owner, wait) == [(True,)]  # a claim lasts for all parts

    for pending in (1, 0):
        owner.execute("update extraction_pending set next_attempt = now()")
        await extract(proposing)
        assert fetch(owner, "select content from list_proposals()") == [("lives in Rome",)]
        assert fetch(owner, "select count(*) from extraction_pending") == [(pending,)]
        server.write = lambda _: good


async def test_without_the_switch_no_entry_is_sent_to_the_llm(
    given: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    off = given.model_copy(update={"enable_memory_extraction": False})

    await record(off)
    await extract(off)

    assert server.requests == []
    assert fetch(owner, f"{STATE} from extraction_state()") == [(0, 0, 0, 0, 0)]


async def test_a_fact_from_an_entry_says_when_its_sentence_is_no_longer_there(  # noqa: PLR0917 - each is a fixture
    proposing: Settings,
    owner: psycopg.Connection,
    server: LlmServer,
    connect: Connect,
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await store_from_entry(proposing, owner, server)
    client = await connect(toolsets=["memory", "journal"])

    async def read_change() -> str | None:
        question = {"mode": "entity", "entityName": "Ben"}
        found = await client.call_tool("query_memory", question)
        assert found.structured_content is not None
        [fact] = found.structured_content["observations"]
        return fact.get("change")

    changes = [await read_change()]
    for text in (f"A new beginning.\n\n{TEXT}", "Nothing of this was so, and nothing of it stays."):
        await client.call_tool("memory_update", {**ENTRY, "content": text})
        changes.append(await read_change())
    make_repository(tmp_path / "api", "https://github.com/acme/api")
    for folder in ("api", "."):  # a repository, and no repository
        monkeypatch.chdir(tmp_path / folder)
        checked = Process(["check-anchors"], name_memory(database_url)).end()
        shown = "daily/2026-05-12/laptop: source changed\tBen\tbuilds boats there\n"
        assert checked.out.endswith(shown), checked.err

    assert changes == [None, None, "source changed"]


async def test_a_rejected_finding_about_an_entry_comes_again_only_if_the_entry_changes_again(
    proposing: Settings,
    owner: psycopg.Connection,
    server: LlmServer,
    connect: Connect,
    database_url: str,
) -> None:
    await store_from_entry(proposing, owner, server)
    client = await connect(toolsets=["memory", "journal"])
    reject = "select decide_proposals(array[p.id::text], 'reject', 'no') from list_proposals() p"
    for text, proposed in (("Nothing of it stays.", 1), (None, 0), ("Nor of that.", 1)):
        if text:
            await client.call_tool("memory_update", {**ENTRY, "content": text})
        told = Process(["check-anchors", "--apply"], name_memory(database_url)).end().err
        assert f"Proposed: {proposed}." in told, text
        owner.execute(f"{reject} where finding = 'anchor'")


async def store_from_entry(
    settings: Settings, owner: psycopg.Connection, server: LlmServer
) -> None:
    """Take facts from an entry, and accept one of them."""
    server.write = lambda _: json.dumps(SAID)
    await record(settings)
    await extract(settings)
    accept = "select decide_proposals(array[p.id::text], 'accept') from list_proposals() p"
    owner.execute(f"{accept} where content = 'builds boats there'")
