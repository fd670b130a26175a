"""query_memory beyond its examples: limits, pages, languages, documents, a conversation."""

import json
from collections import defaultdict
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any
from uuid import UUID

import psycopg
import pytest
from mcp import Client
from mcp.types import RequestParamsMeta

from benchmarks.support.long_prompts import KNOWN, Known, list_long_prompts
from tests.conftest import ACTOR, Connect, Era
from tests.support.providers import EmbeddingServer
from tests.support.sources import store
from tests.support.tool_calls import AN_ID, ask, read, refuse, relate, remember, structured, text_of
from textrawl.hooks.response import write_query
from textrawl.values.word_lists import LEAST_SCORE
from textrawl.wire.program import Program

pytestmark = pytest.mark.anyio


async def test_what_a_model_meant_is_understood(client: Client) -> None:
    await remember(client, "Jeff", "likes tea")
    for arguments, keys in (
        ({"query": "tea"}, ["n", "e"]),
        ({"query": "tea", "entityName": "Jeff"}, ["n", "e"]),
        ({"entityName": "Jeff"}, ["t", "o"]),
        ({}, ["n", "e"]),
        ({"mode": "", "query": "", "entityName": "Jeff"}, ["t", "o"]),
        ({"mode": None, "entity_name": "Jeff"}, ["t", "o"]),
        ({"mode": "Entity", "entityName": "Jeff", "limit": "", "asOf": "null"}, ["t", "o"]),
        ({"mode": "list", "entityTypes": '["person"]', "limit": "10", "offset": "0"}, ["n", "e"]),
        ({"mode": "list", "entityTypes": "Person", "includeIds": "true"}, ["n", "e"]),
        ({"mode": "entity", "entityName": "Jeff", "includeRelated": "false"}, ["t", "o"]),
    ):
        assert list(await ask(client, **arguments)) == keys


async def test_a_least_score_leaves_out_weaker_facts(client: Client) -> None:
    await remember(client, "Jeff", "drinks green tea in the harbour")
    await remember(client, "Ana", "drinks coffee")

    weak = await ask(client, query="green tea harbour", minScore=0)
    strong = await ask(client, query="green tea harbour", minScore=0.9)
    none = await ask(client, query="green tea harbour", minScore=1)

    assert [answer["n"] for answer in (weak, strong, none)] == [2, 1, 0]


async def remember_many(client: Client, numbers: range) -> None:
    facts = [
        {"entityName": f"N{i}", "entityType": "person", "observation": f"likes tea {i}"}
        for i in numbers
    ]
    read(await client.call_tool("build_knowledge", {"facts": facts}))


async def test_pages_of_a_list_follow_each_other_to_an_empty_one_and_limits_are_clamped(
    client: Client,
) -> None:
    await remember_many(client, range(5))
    pages = [await ask(client, mode="list", limit=2, offset=offset) for offset in (0, 2, 4)]
    names = [entity["n"] for page in pages for entity in page["e"]]
    assert sorted(names) == ["N0", "N1", "N2", "N3", "N4"]
    for offset in (5, 10**9, 10**30):
        beyond = await ask(client, mode="list", offset=offset)
        assert beyond == {"n": 5, "e": []}, offset

    for start in (0, 50, 100):
        await remember_many(client, range(start, start + 50))
    for limit, shown in ((0, 1), (-5, 1), (60, 60), (1000, 100)):
        answer = await ask(client, mode="list", limit=limit, maxTokens=25_000)
        assert (answer["n"], len(answer["e"])) == (150, shown), f"a list of {limit}"
    for limit, shown in ((0, 1), (-5, 1), (1, 1), (1000, 50), (50, 50)):
        answer = await ask(client, mode="search", query="tea", limit=limit, maxTokens=25_000)
        assert answer["n"] == shown, f"a search of {limit}"


async def test_types_filter_lists_and_searches(client: Client) -> None:
    await remember(client, "Jeff", "likes tea")
    await remember(client, "Tea House", "sells tea", "organization")
    await remember(client, "Oslo", "drinks tea", "location")

    types = ["organization", "location"]
    listed = await ask(client, mode="list", entityTypes=types)
    found = await ask(client, mode="search", query="tea", entityTypes=types)

    assert (listed["n"], {entity["t"] for entity in listed["e"]}) == (2, set(types))
    assert {entity["t"] for entity in found["e"]} == set(types)
    assert (await ask(client, mode="list", entityTypes=[]))["n"] == 3


async def test_ids_are_shown_when_asked_for_and_can_be_used_again(client: Client) -> None:
    stored = await remember(client, "Jeff", "likes tea")

    found = await client.call_tool("query_memory", {"query": "tea", "includeIds": True})
    looked_up = await ask(client, entityName="Jeff", includeIds=True)

    [entity] = read(found)["e"]
    origin = {"id": stored["obs"], "by": ACTOR, "on": datetime.now(UTC).date().isoformat()}
    assert entity["m"] == [{"c": "likes tea", "s": entity["m"][0]["s"], **origin}]
    answer: Any = found.structured_content
    assert answer["entities"][0]["memories"][0]["id"] == AN_ID
    assert answer["entities"][0]["memories"][0]["author"] == ACTOR
    assert "saidAt" not in answer["entities"][0]["memories"][0]
    assert looked_up["o"] == [{"c": "likes tea", **origin}]
    await remember(client, "Jeff", "likes coffee", replaces=stored["obs"])
    assert (await ask(client, entityName="Jeff"))["o"] == ["likes coffee"]


async def test_as_of_finds_what_was_valid_then(client: Client, owner: psycopg.Connection) -> None:
    await remember(client, "Jeff", "lives in Oslo")
    await remember(client, "Jeff", "lives in Rome", replaces="lives in Oslo")
    owner.execute(
        "update observation set valid_from = valid_from - interval '9 days', "
        "valid_until = valid_until - interval '5 days'"
    )
    day = (datetime.now(UTC) - timedelta(days=7)).date().isoformat()

    for past in (day, f"{day}T12:00:00Z", f"{day} 12:00+02:00"):
        assert (await ask(client, entityName="Jeff", asOf=past))["o"][-1] == "lives in Oslo"
        found = await ask(client, query="where does Jeff live", asOf=past, searchMode="semantic")
        assert "lives in Oslo" in [fact["c"] for fact in found["e"][0]["m"]]
    assert (await ask(client, entityName="Jeff"))["o"] == ["lives in Rome"]
    found = await ask(client, query="where does Jeff live")
    assert [fact["c"] for fact in found["e"][0]["m"]] == ["lives in Rome"]
    assert (await ask(client, entityName="Jeff", asOf="1999-01-01")) == {"t": "person", "o": []}


async def test_a_list_as_of_a_moment_has_only_entities_that_were_there(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Old", "likes tea")
    await remember(client, "New", "likes tea")
    owner.execute("update entity set created_at = '2020-01-01' where name = 'Old'")

    assert await ask(client, mode="list", asOf="2021-06-30") == {
        "n": 1,
        "e": [{"n": "Old", "t": "person"}],
    }
    assert await ask(client, mode="list", asOf="2019-06-30") == {"n": 0, "e": []}


async def test_a_fact_is_found_by_the_name_of_its_entity(client: Client) -> None:
    await remember(client, "Jeff", "prefers TypeScript over JavaScript")
    await remember(client, "Acme Corp", "builds rockets", "organization")

    for mode in ("hybrid", "semantic"):
        found = await ask(client, query="what does Jeff prefer", searchMode=mode)
        assert found["e"][0]["n"] == "Jeff"


async def test_a_close_name_is_named(client: Client) -> None:
    names = {
        "Jef Green": "Jeff Green", "acme corporation": "Acme Corp", "Müler": "Müller",
        "JEFF GREN": "Jeff Green", "100%_\\": "100%",
    }  # fmt: skip
    for known in {*names.values(), "Zyx"}:
        await remember(client, known, "likes tea")

    for asked, known in names.items():
        assert await ask(client, entityName=asked) == {"found": False, "like": [known]}
    await remember(client, "Jeff", "likes tea")
    assert (await ask(client, entityName="Geff"))["like"][0] == "Jeff"


async def test_a_name_like_none_is_just_not_found(client: Client) -> None:
    await remember(client, "Jeff", "likes tea")
    for asked in ("🦄", "%", "!!!", "' or 1=1 --", "日本"):
        assert await ask(client, entityName=asked) == {"found": False}


async def test_more_relations_than_are_read_are_counted_as_cut(
    client: Client, owner: psycopg.Connection
) -> None:
    await relate(client, "Hub", "links to", "First")
    owner.execute("""
        with made as (
            insert into entity (space_id, name, name_key, entity_type, fts)
            select 1, 'N' || i, 'n' || i, 'concept', '' from generate_series(1, 120) i returning id)
        insert into relation (space_id, from_entity, relation_type, to_entity, author_id, tool)
        select 1, (select id from entity where name = 'Hub'), 'links_to', id, 1, 'sql' from made""")

    answer = await client.call_tool("query_memory", {"entityName": "Hub", "maxTokens": 25_000})

    assert len(read(answer)["r"]["out"]) + read(answer)["cut"] == 121
    document: Any = answer.structured_content
    assert document["truncated"] is True
    assert document["dropped"] == read(answer)["cut"]


async def test_without_a_provider_hybrid_answers_from_keywords_and_says_so(
    connect: Connect, era: Era
) -> None:
    client = await connect(era, embedding_provider="none")
    await remember(client, "Jeff", "likes tea")

    found = await client.call_tool("query_memory", {"query": "tea"})

    assert read(found)["e"][0]["m"][0]["c"] == "likes tea"
    assert read(found)["note"] == "keyword only: embedding service not configured"
    answer: Any = found.structured_content
    assert (answer["degraded"], answer["note"]) == (True, read(found)["note"])
    assert await refuse(client, "query_memory", query="tea", searchMode="semantic") == (
        "Embedding service not configured",
        "Set OPENAI_API_KEY or configure Ollama",
    )


async def test_a_provider_that_is_down_costs_meaning_and_no_fact(
    connect: Connect, era: Era
) -> None:
    with EmbeddingServer(dimensions=1536) as server:
        client = await connect(
            era,
            embedding_provider="openai",
            openai_api_key="sk-test",
            openai_base_url=server.openai_url,
        )
        await remember(client, "Jeff", "likes tea")
        assert "note" not in await ask(client, query="tea")
    stored = await remember(client, "Jeff", "likes green apples")

    found = await ask(client, query="which apples")

    assert stored["ok"]
    assert found["e"][0]["m"][0]["c"] == "likes green apples"
    assert found["note"] == "keyword only: embedding service unavailable"
    title, _ = await refuse(client, "query_memory", query="apples", searchMode="semantic")
    assert title == "Embedding service unavailable"


async def test_an_answer_without_evidence_is_empty_and_names_the_words_that_no_fact_has(
    client: Client,
) -> None:
    await remember(client, "Leo", "broke his left arm in September")
    await remember(client, "Leo", "goes to primary school in Alvalade")
    await remember(client, "Maya", "is allergic to walnuts")

    everything = {"note": "every fact was searched"}
    absent = {"n": 0, "e": [], "no": ["zebra"]}
    assert await ask(client, mode="search", query="zebra") == absent | everything
    for some in ({"entityTypes": ["person"]}, {"since": "2020-01-01"}, {"minScore": 0.9}):
        assert await ask(client, mode="search", query="zebra", **some) == absent
    for query, missing in {
        "where does Ingrid live?": "Ingrid",
        "is there a helicopter?": "helicopter",
    }.items():
        answer = await ask(client, mode="search", query=query)
        assert (answer["n"], answer["e"]) == (0, []), answer
        assert missing in answer["no"], answer
    shown = await ask(client, mode="search", query="zebra", minScore=0)
    assert shown["n"] > 0


LOG = "".join(
    f"2026-11-25 10:11:{n % 60:02d} INFO worker {n} sent a heartbeat\n" for n in range(900)
)
HOOK: RequestParamsMeta = {**Program(client="textrawl hook (claude-code)").write_meta()}  # type: ignore[typeddict-item]


async def test_a_hook_finds_the_fact_whatever_is_pasted_around_the_question(client: Client) -> None:
    for known in KNOWN:
        await remember(client, known.entity, known.fact, known.type)
    able = [known for known in KNOWN if await finds(client, known.question, known)]
    prompts = [one for one in list_long_prompts(44) if one.known in able]
    missed = [one for one in prompts if not await finds(client, one.text, one.known)]

    assert len(able) >= 18
    assert len(missed) <= len(prompts) / 20, [(one.kind, one.place) for one in missed]


async def finds(client: Client, prompt: str, known: Known) -> bool:
    """Return whether a hook gives the model the fact at this prompt."""
    arguments = {"mode": "search", "query": write_query(prompt), "minScore": LEAST_SCORE}
    answer = await client.call_tool("query_memory", arguments, meta=HOOK)
    return known.fact in str(answer.content)


async def test_a_long_text_finds_by_its_question_and_by_the_names_that_the_memory_knows(
    connect: Connect,
) -> None:
    filler = " ".join(f"The garden number {n} was green and wide." for n in range(90))
    client = await connect(compact_responses="false")
    await remember(client, "Falcon", "is deployed to the Frankfurt region", "project")
    for text, query in (
        (f"{LOG}Where is Falcon deployed?", "Where is Falcon deployed?"),
        (f"Where is Falcon deployed?\n{LOG}", "Where is Falcon deployed?"),
        (f"Falcon is next.\n{LOG} {filler} Which region was it?",
         "Falcon is next. Which region was it?"),
    ):  # fmt: skip
        answer = await ask(client, query=text)
        assert answer["query"] == query
        assert "Frankfurt" in str(answer)
    quiet = await ask(client, query=f"{filler} the falcon flies {filler}")
    assert "the falcon flies" in quiet["query"]


async def test_the_limit_is_one_hundred_thousand_characters(client: Client) -> None:
    await remember(client, "Falcon", "is deployed to the Frankfurt region", "project")
    for text in ("(" * 50_000, "x" * 100_000, "Falcon " * 14_000, "? " * 50_000):
        assert "n" in await ask(client, query=text)

    long = await refuse(client, "query_memory", query="x" * 100_001)
    empty = await refuse(client, "query_memory", query="\n" * 100_000, mode="search")
    unseen = await refuse(client, "query_memory", query="\u200b" * 5000, mode="search")

    assert "must be text of at most 100000 characters" in long[1]
    assert empty[0] == unseen[0] == "Missing query"
    assert read(await client.call_tool("query_memory", {"query": "Falcon"}))["n"] == 1


async def test_a_question_finds_a_fact_whose_words_it_inflects_otherwise(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(embedding_provider="none")
    for language, fact, question in (
        ("german", "hat zwei Bücher gekauft", "Welches Buch kaufte sie?"),
        ("french", "a mangé des pommes", "Quelle pomme mange-t-elle ?"),
        ("spanish", "comió dos manzanas", "¿Qué manzana quiere comer?"),
        ("simple", "猫を飼っています", "猫は何匹いますか"),
    ):
        owner.execute("select textrawl.change_language('default', %s)", (language,))
        await remember(client, "Ada", fact)
        await remember(client, "Ada", "12345")

        answer = await ask(client, query=question)

        assert answer["e"][0]["m"][0]["c"] == fact


async def test_a_batch_and_its_corrections_are_found_in_the_language(
    connect: Connect, owner: psycopg.Connection
) -> None:
    owner.execute("select textrawl.change_language('default', 'german')")
    client = await connect(embedding_provider="none")
    facts = [
        {"entityName": "Ada", "entityType": "person", "observation": "arbeitet in Köln"},
        {"entityName": "Bo", "entityType": "person", "observation": "arbeitete in Bonn"},
    ]
    assert not (await client.call_tool("build_knowledge", {"facts": facts})).is_error
    await remember(client, "Ada", "arbeitet in Ulm", replaces="arbeitet in Köln")

    answer = str(await ask(client, query="wer hat gearbeitet"))

    assert [place in answer for place in ("Köln", "Bonn", "Ulm")] == [False, True, True]


@pytest.fixture
def source(owner: psycopg.Connection) -> UUID:
    """A source in the personal graph `handbook`, which the caller can read."""
    owner.execute("select create_space('handbook', tier => 'personal')")
    owner.execute("select grant_access('ada', 'handbook', array['read'])")
    return store(owner, "handbook")


async def search(client: Client, **arguments: Any) -> Any:
    """Structured content of a search."""
    return await structured(client, "query_memory", mode="search", **arguments)


def list_names(answer: Any) -> list[str]:
    return [entity["entityName"] for entity in answer["entities"]]


async def test_a_question_searches_facts_and_documents_and_sources_narrow_it(
    client: Client, source: UUID
) -> None:
    await remember(client, "Ben", "drinks coffee")

    every = await search(client, query="coffee")
    facts = await search(client, query="coffee", sources=["facts"])
    documents = await search(client, query="coffee", sources=["documents"])
    both = await search(client, query="coffee", sources=["facts", "documents"])

    assert list_names(every) == list_names(await search(client, query="coffee", sources=[]))
    assert set(list_names(every)) == set(list_names(both)) == {"Ben", "meals.md"}
    assert list_names(facts) == ["Ben"]
    assert set(list_names(documents)) == {"meals.md"}
    assert source


async def test_facts_of_a_type_or_of_another_time_are_searched_without_documents(
    client: Client, source: UUID
) -> None:
    await remember(client, "Ben", "drinks coffee")

    typed = await search(client, query="coffee", entityTypes=["person"])
    former = await search(client, query="coffee", asOf="ever")

    assert source
    assert list_names(typed) == list_names(former) == ["Ben"]


async def test_a_passage_is_what_answers_of_a_long_chunk_and_no_word_of_it_is_missed(
    client: Client, owner: psycopg.Connection, source: UUID
) -> None:
    filler = " ".join(f"The house has a rule for item {number}." for number in range(30))
    text = f"# Rules\n\n{filler} The caretaker Zubair opens the gate at six. {filler}"
    store(owner, "handbook", "rules.md", text)

    found = await search(client, query="when does Zubair open the gate?")
    missing = await search(client, query="does Zubair play kifote?")

    assert source
    [document, *_] = found["entities"]
    [passage] = document["memories"]
    assert document["entityName"] == "rules.md"
    assert "The caretaker Zubair opens the gate at six." in passage["content"]
    assert len(passage["content"]) <= 404
    assert passage["content"].startswith("… ")
    assert "Zubair" not in missing.get("missing", [])


async def test_a_chunk_names_its_graph_its_label_its_line_and_its_id(
    client: Client, source: UUID
) -> None:
    answer = await search(client, query="when is coffee served", sources=["documents"], limit=1)

    [document] = answer["entities"]
    [chunk] = document["memories"]
    assert [document[key] for key in ("entityName", "entityType", "space")] == [
        "meals.md", "document", "handbook"
    ]  # fmt: skip
    assert (chunk["content"].strip(), chunk["line"]) == ("Coffee is served at nine.", 2)
    assert chunk["chunkId"] == f"{source}:2"
    assert (chunk["source"], "id" in chunk) == ("document", False)


async def test_lines_name_the_place_and_with_ids_the_chunk(connect: Connect, source: UUID) -> None:
    client = await connect(compact_responses="lines")
    asked = {"query": "coffee at nine", "sources": ["documents"], "limit": 1}

    plain = text_of(await client.call_tool("query_memory", asked)).splitlines()
    with_ids = text_of(await client.call_tool("query_memory", {**asked, "includeIds": True}))

    assert plain[0] == "meals.md (document) @handbook"
    assert plain[1].endswith(" line 2: Coffee is served at nine.\\n")
    assert f" {source}:2 " in with_ids.splitlines()[1]


async def test_compact_text_has_the_whole_id_of_a_chunk_with_ids(
    client: Client, source: UUID
) -> None:
    answer = await ask(client, query="coffee", sources=["documents"], includeIds=True, limit=1)

    [document] = answer["e"]
    assert (document["n"], document["t"], document["sp"]) == ("meals.md", "document", "handbook")
    assert document["m"][0]["id"] == f"{source}:2"
    assert document["m"][0]["line"] == 2


async def test_the_caps_of_graphs_hold_and_omissions_are_counted(
    client: Client, source: UUID, owner: psycopg.Connection
) -> None:
    owner.execute("select change_tier('handbook', 'personal', 10)")

    answer = await search(client, query="served kitchen", sources=["documents"], minScore=0)

    assert (answer["totalMemories"], answer["truncated"], answer["dropped"]) == (1, True, 2)
    assert source


async def test_the_ceiling_of_an_answer_holds(connect: Connect, source: UUID) -> None:
    client = await connect(max_recall_tokens=5)

    answer = await search(client, query="served kitchen", sources=["documents"], minScore=0)

    assert (answer["totalMemories"], answer["dropped"]) == (0, 3)
    assert source


async def test_sensitive_and_unlisted_graphs_change_no_answer(
    connect: Connect, source: UUID, owner: psycopg.Connection
) -> None:
    # Without a model, so that no vector that is made meanwhile changes a score.
    client = await connect(embedding_provider="none")
    narrow = await connect(embedding_provider="none", graphs=["handbook"])
    asked: dict[str, Any] = {"query": "coffee", "sources": ["facts", "documents"], "minScore": 0}
    before = await search(client, **asked)

    for name, tier in (("diary", "sensitive"), ("foreign", "public"), ("unlisted", "public")):
        owner.execute("select create_space(%s, tier => %s)", (name, tier))
        if name != "foreign":
            owner.execute("select grant_access('ada', %s, array['read', 'write'])", (name,))
        store(owner, name)
    owner.execute("select change_tier('unlisted', 'sensitive', encrypting => true)")

    assert await search(client, **asked) == before
    owner.execute("select change_tier('unlisted', 'public')")
    assert await search(narrow, **asked) == before
    assert source


async def test_a_space_with_facts_in_the_address_leaves_documents_out(
    connect: Connect, source: UUID
) -> None:
    client = await connect(space="default")
    await remember(client, "Ben", "drinks coffee")

    both = await search(client, query="coffee", sources=["facts", "documents"])

    assert list_names(both) == ["Ben"]
    assert source


async def test_passages_are_a_third_of_an_answer_unless_facts_are_few(
    client: Client, source: UUID
) -> None:
    asked: dict[str, Any] = {"query": "served kitchen", "sources": ["facts", "documents"]}
    await remember(client, "Ben", "served in a kitchen")
    few = await search(client, **asked, minScore=0, limit=4)
    one = await search(client, **asked, minScore=0, limit=1)
    for year in (2001, 2002, 2003):
        await remember(client, "Ben", f"served in the kitchen of {year}")
    many = await search(client, **asked, minScore=0, limit=4)

    counts = [
        {entity["entityName"]: len(entity["memories"]) for entity in answer["entities"]}
        for answer in (few, one, many)
    ]
    assert counts[:2] == [{"Ben": 1, "meals.md": 3}, {"Ben": 1}]
    assert (sum(counts[2].values()), counts[2].get("meals.md", 0)) in {(4, 0), (4, 1)}
    assert source


async def test_a_graph_in_the_address_holds_no_facts(connect: Connect, source: UUID) -> None:
    client = await connect(space="handbook")

    title, _ = await refuse(client, "query_memory", query="coffee", sources=["facts"])
    found = await search(client, query="coffee")

    assert title == "The space handbook is a graph, which holds documents"
    assert set(list_names(found)) == {"meals.md"}
    assert source


async def test_documents_have_no_type(client: Client, source: UUID) -> None:
    title, fix = await refuse(
        client, "query_memory", query="coffee", sources=["documents"], entityTypes=["person"]
    )

    assert title == "entityTypes is only for facts"
    assert "leave out entityTypes" in fix
    assert source


async def test_an_unknown_source_is_refused(client: Client) -> None:
    title, fix = await refuse(client, "query_memory", query="coffee", sources=["web"])

    assert title == "Invalid argument"
    assert "documents" in fix


CONVERSATIONS = Path(__file__).parents[3] / "../shared/data/locomo_dev.json"
ADVERSARIAL = 5  # category of questions that have no answer


@pytest.mark.skipif(not CONVERSATIONS.is_file(), reason="the LoCoMo conversations are not here")
async def test_the_evidence_for_most_questions_about_a_conversation_is_among_ten_facts(
    connect: Callable[..., Awaitable[Client]],
) -> None:
    conversation = json.loads(CONVERSATIONS.read_text("utf-8"))[0]
    evidence: dict[tuple[str, str], set[str]] = defaultdict(set)
    for fact in conversation["facts"]:
        evidence[fact["entity"], fact["fact"]].update(fact["evidence"])
    client = await connect(max_response_tokens=25_000)
    facts = [
        {"entityName": who, "entityType": "person", "observation": what} for who, what in evidence
    ]
    for start in range(0, len(facts), 50):
        stored = await client.call_tool("build_knowledge", {"facts": facts[start : start + 50]})
        assert not stored.is_error

    recalls = [
        await _recall(client, question, evidence)
        for question in conversation["questions"]
        if question["category"] != ADVERSARIAL
        and any(turns & set(question["evidence"]) for turns in evidence.values())
    ]

    assert len(recalls) > 100
    assert fmean(recalls) > 0.65


async def _recall(
    client: Client, question: dict[str, Any], evidence: dict[tuple[str, str], set[str]]
) -> float:
    """Share of the facts that rest on the question's evidence among the ten found."""
    wanted = {fact for fact, turns in evidence.items() if turns & set(question["evidence"])}
    answer = await client.call_tool(
        "query_memory", {"mode": "search", "query": question["question"]}
    )
    assert answer.structured_content is not None
    found = {
        (entity["entityName"], memory["content"])
        for entity in answer.structured_content["entities"]
        for memory in entity["memories"]
    }
    return len(found & wanted) / len(wanted)
