"""Arguments in every shape: understood where the meaning is certain, else refused with a repair."""

import unicodedata
from typing import Any

import psycopg
import pytest
from mcp import Client
from toktok import batch_count  # pyright: ignore[reportMissingTypeStubs]

from tests.conftest import Connect, Era
from tests.support.tool_calls import (
    ask,
    forget,
    keep,
    read,
    read_error,
    read_tables,
    refuse,
    relate,
    remember,
    text_of,
)

pytestmark = pytest.mark.anyio

SEARCHES: list[dict[str, Any]] = [
    {"mode": "search"}, {"mode": "SEARCH"}, {"mode": " Search "}, {"mode": None}, {"mode": ""},
    {"mode": "null"}, {},
    {"entityTypes": None}, {"entityTypes": ""}, {"entityTypes": "null"}, {"entityTypes": []},
    {"entityTypes": ["person"]}, {"entityTypes": '["person"]'}, {"entityTypes": "person"},
    {"entityTypes": "person, project"}, {"entityTypes": ["Person"]}, {"entityTypes": ["PEOPLE"]},
    {"entityTypes": ["persons", "companies"]}, {"entityTypes": '["user"]'},
    {"entity_types": ["person"]},
    {"sources": None}, {"sources": ""}, {"sources": []}, {"sources": "[]"}, {"sources": ["facts"]},
    {"sources": "facts"}, {"sources": '["facts"]'}, {"sources": "facts, documents"},
    {"sources": ["Facts", "DOCUMENTS"]},
    {"limit": 5}, {"limit": "5"}, {"limit": 5.0}, {"limit": None}, {"limit": "null"},
    {"limit": 0}, {"limit": 10_000},
    {"searchMode": "Hybrid"}, {"search_mode": "hybrid"}, {"searchMode": None},
    {"maxTokens": "500"}, {"max_tokens": 500}, {"maxTokens": None}, {"maxTokens": ""},
    {"asOf": None}, {"asOf": "null"}, {"asOf": "2999-01-01"}, {"as_of": "2999-01-01T00:00:00Z"},
    {"includeIds": "false"}, {"includeIds": "False"}, {"include_ids": None},
    {"entityName": None}, {"entityName": "", "offset": "0", "includeRelated": "true"},
    # What OpenAI's strict mode makes a model fill in, which may leave nothing out:
    {"maxTokens": 0, "maxObs": 0}, {"maxTokens": "0", "maxObs": "0"}, {"asOf": "none"},
    {"mode": "search", "entityTypes": [], "searchMode": "hybrid", "entityName": "",
     "includeRelated": True, "maxObs": 0, "limit": 10, "offset": 0, "maxTokens": 0, "asOf": "",
     "includeIds": False, "dates": False, "sources": []},
    # What Gemini CLI adds to every tool:
    {"wait_for_previous": True}, {"wait_for_previous": False},
]  # fmt: skip

FACTS: list[dict[str, Any]] = [
    {"entityName": "Acme", "entityType": name}
    for name in ("organization", "Organization", "ORGANIZATION", "organizations", "company",
                 "Companies", "organisation", "business", "university")
] + [
    {"entity_name": "Acme", "entity_type": "company"},
    {"entityName": "Acme", "entityType": "company", "source": "", "confidence": "1.0"},
    {"entityName": "Acme", "entityType": "company", "validUntil": None, "replaces": None},
    {"entityName": "Acme", "entityType": "company", "validUntil": "null", "replaces": "null"},
    {"entityName": "Acme", "entityType": "company", "validUntil": "", "source": "Conversation"},
    {"entityName": "Acme", "entityType": "company", "validUntil": "never", "replaces": "none"},
    {"entityName": "Acme", "entityType": "company", "validUntil": " "},
    {"entityName": "Acme", "entityType": "company", "validUntil": "9999-12-31"},
    {"entityName": "Acme", "entityType": "company", "validUntil": "None", "replaces": "None"},
    {"entityName": "Acme", "entityType": "company", "wait_for_previous": True},
]  # fmt: skip

BATCHES: list[dict[str, Any]] = [
    {"facts": [{"entityName": "Acme", "entityType": "company", "observation": "sells anvils"}]},
    {"facts": '[{"entityName":"Acme","entityType":"company","observation":"sells anvils"}]'},
    {"facts": {"entityName": "Acme", "entityType": "company", "observation": "sells anvils"}},
    {"facts": [{"entity_name": "Acme", "entity_type": "Company", "observation": "sells anvils"}],
     "relations": None},
    {"facts": [{"entityName": "Acme", "entityType": "org", "observation": "sells anvils",
                "validUntil": None, "source": None, "confidence": None, "replaces": ""}],
     "relations": "[]"},
    {"facts": [{"entityName": "Acme", "entityType": "org", "observation": "sells anvils",
                "validUntil": "never", "replaces": "none"}], "wait_for_previous": True},
]  # fmt: skip


@pytest.fixture
async def teller(connect: Connect) -> Client:
    """A client of a memory without vectors: shapes are what is tested here."""
    return await connect(embedding_provider="none")


async def test_a_search_is_understood_in_any_certain_shape(teller: Client) -> None:
    await remember(teller, "Jeff", "likes tea")

    for shape in SEARCHES:
        found = read(await teller.call_tool("query_memory", {"query": "tea", **shape}))

        assert (shape, found["n"]) == (shape, 1)


async def test_a_fact_is_understood_in_any_certain_shape(teller: Client) -> None:
    for shape in FACTS:
        arguments = {"observation": "sells anvils", **shape}
        stored = await teller.call_tool("remember_fact", arguments)

        assert not stored.is_error
        assert stored.structured_content is not None
        assert stored.structured_content["entityType"] == "organization"
        await forget(teller, "Acme", confirm=True)


async def test_a_batch_is_understood_in_any_certain_shape(teller: Client) -> None:
    for shape in BATCHES:
        stored = read(await teller.call_tool("build_knowledge", shape))

        assert stored == {"ok": True, "facts": {"new": 1, "dup": 0}, "rel": 0}
        await forget(teller, "Acme", confirm=True)


async def test_only_the_name_that_gemini_cli_adds_is_dropped(teller: Client) -> None:
    for name in ("wait_for_previous_call", "wait", "waitForPrevious"):
        title, _ = await refuse(teller, "query_memory", mode="list", **{name: True})
        assert title == f"Unknown argument '{name}'"
    fact = {"entityName": "A", "entityType": "person", "observation": "b"}
    item = fact | {"wait_for_previous": True}
    title, fix = await refuse(teller, "build_knowledge", facts=[item])
    assert "wait_for_previous" in fix


async def test_the_word_none_names_no_fact_to_forget_and_forgets_no_entity(teller: Client) -> None:
    await remember(teller, "Acme", "sells anvils")

    title, _ = await refuse(teller, "forget_entity", entityName="Acme", fact="none", confirm=True)

    assert title == "Fact not found"
    assert (await ask(teller, entityName="Acme"))["o"] == ["sells anvils"]


async def test_a_look_up_with_a_filler_for_maxobs_takes_the_default(teller: Client) -> None:
    for number in range(21):
        await remember(teller, "Acme", f"sold anvil {number}")

    answer = await ask(teller, mode="entity", entityName="Acme", maxObs=0, maxTokens=0)

    assert len(answer["o"]) == 20


async def test_the_tools_take_each_others_words_for_their_parameters(client: Client) -> None:
    called = [
        ("remember_fact", {"entity": "Ada", "type": "person", "fact": "likes tea"}),
        ("build_knowledge", {"facts": [{"name": "Ada", "entityType": "person", "text": "is 41"}],
                             "relations": [{"from": "Ada", "relationType": "knows", "to": "Bo"}]}),
        ("relate_entities", {"from": "Ada", "relation": "leads", "to": "Atlas"}),
        ("query_memory", {"mode": "search", "question": "tea"}),
        ("query_memory", {"mode": "entity", "name": "Ada"}),
        ("query_memory", {"mode": "list", "entityType": "person"}),
        ("forget_entity", {"name": "Ada", "observation": "likes tea", "confirm": True}),
    ]  # fmt: skip
    for tool, arguments in called:
        assert not (await client.call_tool(tool, arguments)).is_error, (tool, arguments)

    ada = await ask(client, mode="entity", entityName="Ada")
    assert ada["o"] == ["is 41"]
    assert sorted(ada["r"]["out"]) == ["knows→Bo", "leads→Atlas"]


async def test_null_is_a_text_in_a_search_and_as_a_name(client: Client) -> None:
    await remember(client, "null", "is a value of nothing")
    await remember(client, "Ada", "likes tea")

    assert (await ask(client, mode="search", query="null"))["e"][0]["n"] == "null"
    assert (await ask(client, mode="entity", entityName="null"))["o"] == ["is a value of nothing"]


async def test_an_id_or_its_beginning_finds_its_thing_as_a_query_and_as_a_name(
    client: Client,
) -> None:
    stored = await remember(client, "Ada", "likes tea")
    await remember(client, "Ada", "is 41")
    await remember(client, "Bo", "likes coffee and tea")
    related = await relate(client, "Bo", "knows", "Ada")

    for reference in (stored["obs"], stored["obs"].upper()):
        [found, *_] = (await ask(client, mode="search", query=reference))["e"]
        assert (found["n"], found["m"][0]["c"]) == ("Ada", "likes tea")
        assert "is 41" in (await ask(client, mode="entity", entityName=reference))["o"]
    [found, *_] = (await ask(client, mode="search", query=related["rel"]))["e"]
    assert (found["n"], found["m"][0]["c"]) == ("Bo", "knows→Ada")
    assert "is 41" in (await ask(client, mode="entity", entityName=stored["entity"]))["o"]
    added = await remember(client, stored["entity"], "is tall")
    assert added["entity"] == stored["entity"]
    gone = await client.call_tool(
        "forget_entity", {"entityName": stored["entity"], "confirm": True}
    )
    assert read(gone)["ok"]
    assert (await ask(client, mode="entity", entityName="Ada")) == {"found": False}


FOREIGN = "mem-123"
# Calls with an id that no tool gave, and the kind of what nobody has with this id.
FOREIGN_IDS: list[tuple[str, dict[str, Any], str]] = [
    ("touch_memory", {"memory_id": FOREIGN}, "memory"),
    ("promote_memory", {"memory_id": FOREIGN}, "memory"),
    ("open_memories", {"memory_ids": [FOREIGN]}, "memory"),
    ("observe_memory_usage", {"memory_ids": [FOREIGN]}, "memory"),
    ("graph_node_get", {"id": FOREIGN}, "node"),
    ("graph_node_update", {"id": FOREIGN, "label": "x"}, "node"),
    ("graph_node_delete", {"id": FOREIGN}, "node"),
    ("graph_edge_get", {"id": FOREIGN}, "edge"),
    ("graph_edge_get", {"fromId": FOREIGN}, "node"),
    ("graph_edge_update", {"id": FOREIGN, "weight": 0.5}, "edge"),
    ("graph_edge_delete", {"id": FOREIGN}, "edge"),
    ("graph_traverse", {"startNodeId": FOREIGN}, "node"),
    ("graph_subgraph", {"nodeId": FOREIGN}, "node"),
    ("correct", {"chunkId": FOREIGN, "proposal": "x"}, "chunk"),
    ("apply", {"correctionId": FOREIGN}, "correction"),
    ("forget", {"chunkId": FOREIGN}, "chunk"),
    ("forget", {"sourceId": FOREIGN}, "source"),
    ("snapshot_get", {"snapshotId": FOREIGN}, "snapshot"),
    ("snapshot_restore", {"snapshotId": FOREIGN}, "snapshot"),
    ("end_relation", {"relation_id": FOREIGN}, "entity, relation or reflection"),
    ("delete_reflections", {"reflection_ids": [FOREIGN]}, "entity, relation or reflection"),
]


async def test_an_id_of_another_kind_names_nothing(connect: Connect) -> None:
    client = await connect(toolsets=["all"])
    for tool, arguments, kind in FOREIGN_IDS:
        title, fix = await refuse(client, tool, **arguments)

        assert title == "Invalid argument", tool
        assert fix.endswith(f"there is no {kind} with the id mem-123"), (tool, fix)


FACT = {"entityName": "Jeff", "entityType": "person", "observation": "likes tea"}
_DATE = "must be ISO 8601, such as 2026-12-31 or 2026-12-31T18:00Z"
_AHEAD = "lies in the future: give a date that has come, or leave it out"
_TYPES = "person, concept, project, preference, fact, location, organization"

WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("query_memory", {"mode": "search"}, "Missing query", "Provide query"),
    ("query_memory", {"mode": "search", "query": " \u200b"}, "Missing query", "Provide query"),
    ("query_memory", {"mode": "entity"}, "Missing entityName", "Provide entityName"),
    ("query_memory", {"mode": "entity", "query": "x"}, "Missing entityName",
     "Provide entityName"),
    ("query_memory", {"mode": "list", "entityTypes": ["robot"]}, "Invalid entity type",
     f"entityTypes[0] (given 'robot'): must be one of {_TYPES}"),
    ("query_memory", {"mode": "find"}, "Invalid argument",
     "mode (given 'find'): must be one of search, entity, list"),
    ("query_memory", {"query": "x", "searchMode": "exact"}, "Invalid argument",
     "searchMode (given 'exact'): must be one of hybrid, semantic"),
    ("query_memory", {"maxObs": -1}, "Invalid argument",
     "maxObs (given '-1'): must be an integer from 1 to 100"),
    ("query_memory", {"maxObs": 101}, "Invalid argument",
     "maxObs (given '101'): must be an integer from 1 to 100"),
    ("query_memory", {"maxTokens": 49}, "Invalid argument",
     "maxTokens (given '49'): must be an integer from 50 to 25000"),
    ("query_memory", {"maxTokens": 25_001}, "Invalid argument",
     "maxTokens (given '25001'): must be an integer from 50 to 25000"),
    ("query_memory", {"query": "x", "minScore": 1.5}, "Invalid argument",
     "minScore (given '1.5'): must be a number from 0 to 1"),
    ("query_memory", {"query": "x", "minScore": "high"}, "Invalid argument",
     "minScore (given 'high'): must be a number from 0 to 1"),
    ("query_memory", {"offset": -1}, "Invalid argument",
     "offset (given '-1'): must be an integer of at least 0"),
    ("query_memory", {"limit": "many"}, "Invalid argument",
     "limit (given 'many'): must be an integer"),
    ("query_memory", {"limit": 2.5}, "Invalid argument",
     "limit (given '2.5'): must be an integer"),
    ("query_memory", {"limit": True}, "Invalid argument",
     "limit (given 'true'): must be an integer"),
    ("query_memory", {"includeIds": "perhaps"}, "Invalid argument",
     "includeIds (given 'perhaps'): must be true or false"),
    ("query_memory", {"query": ["a"]}, "Invalid argument", "query: must be text"),
    ("query_memory", {"query": "x", "since": "last week"}, "Invalid argument",
     f"since (given 'last week'): {_DATE}"),
    ("query_memory", {"mode": "list", "until": "2023-02-29"}, "Invalid argument",
     f"until (given '2023-02-29'): {_DATE}"),
    ("query_memory", {"entityName": "Jeff", "since": "2023-05-08T10:00 Europe/Oslo"},
     "Invalid argument", f"since (given '2023-05-08T10:00 Europe/Oslo'): {_DATE}"),
    ("query_memory", {"query": "x", "since": 1683504000}, "Invalid argument",
     f"since (given '1683504000'): {_DATE}"),
    ("query_memory", {"query": "x", "since": "2999-01-01"}, "Invalid argument",
     f"since (given '2999-01-01'): {_AHEAD}"),
    ("query_memory", {"query": "x", "since": "2023-05-08", "until": "2023-05-07"},
     "Empty period", "until must not be before since"),
    ("query_memory", {"entityName": "Jeff", "since": "2023-05-08T10:00Z",
     "until": "2023-05-08T11:00+02:00"}, "Empty period", "until must not be before since"),
    ("query_memory", {"mode": "list", "since": "2023-05-08", "until": "2023-05-07"},
     "Empty period", "until must not be before since"),
    ("remember_fact", FACT | {"saidAt": "8 May 2023"}, "Invalid argument",
     f"saidAt (given '8 May 2023'): {_DATE}"),
    ("remember_fact", FACT | {"saidAt": "2023-05-08T10:00+25:00"}, "Invalid argument",
     f"saidAt (given '2023-05-08T10:00+25:00'): {_DATE}"),
    ("remember_fact", FACT | {"saidAt": "infinity"}, "Invalid argument",
     f"saidAt (given 'infinity'): {_DATE}"),
    ("remember_fact", FACT | {"saidAt": "2999-01-01"}, "Invalid argument",
     f"saidAt (given '2999-01-01'): {_AHEAD}"),
    ("build_knowledge", {"facts": [FACT, FACT | {"saidAt": "2999-01-01T10:00Z"}]},
     "Invalid argument", f"facts[1].saidAt (given '2999-01-01T10:00Z'): {_AHEAD}"),
    ("build_knowledge", {"facts": [FACT | {"saidAt": "May"}]}, "Invalid argument",
     f"facts[0].saidAt (given 'May'): {_DATE}"),
    ("query_memory", {"entityTypes": 5}, "Invalid argument",
     "entityTypes (given '5'): must be a list"),
    ("query_memory", {"query": "x" * 100_001}, "Invalid argument",
     f"query (given '{'x' * 40}…', 100001 characters): must be text of at most 100000 characters"),
    ("remember_fact", FACT | {"entityName": "x" * 10_000}, "Invalid argument",
     f"entityName (given '{'x' * 40}…', 10000 characters): "
     "must be text of at most 200 characters"),
    ("remember_fact", FACT | {"observation": "x" * 2_001}, "Invalid argument",
     f"observation (given '{'x' * 40}…', 2001 characters): "
     "must be text of at most 2000 characters"),
    ("remember_fact", FACT | {"entityName": 42}, "Invalid argument",
     "entityName (given '42'): must be text"),
    ("remember_fact", FACT | {"entityName": " \x00\u202e"}, "Invalid argument",
     "entityName (given ' \ufffd\ufffd'): must not be empty"),
    ("remember_fact", FACT | {"observation": "\n"}, "Invalid argument",
     "observation (given '\ufffd'): must not be empty"),
    ("remember_fact", FACT | {"entityType": 5}, "Invalid argument",
     f"entityType (given '5'): must be one of {_TYPES}"),
    ("remember_fact", FACT | {"source": "web"}, "Invalid argument",
     "source (given 'web'): must be one of conversation, note, document, manual"),
    ("remember_fact", FACT | {"confidence": 1.1}, "Invalid argument",
     "confidence (given '1.1'): must be a number from 0 to 1"),
    ("remember_fact", FACT | {"confidence": "NaN"}, "Invalid argument",
     "confidence (given 'NaN'): must be a number from 0 to 1"),
    ("remember_fact", FACT | {"confidence": True}, "Invalid argument",
     "confidence (given 'true'): must be a number from 0 to 1"),
    ("remember_fact", {"entityName": "Jeff"}, "Invalid argument",
     "observation: required"),
    ("remember_fact", FACT | {"colour": "red"}, "Unknown argument 'colour'",
     "Known arguments: entityName, entityType, observation, source, validFrom, validUntil, "
     "saidAt, confidence, replaces"),
    ("remember_fact", FACT | {"entity_name": "Jeff"}, "Unknown argument 'entity_name'",
     "Known arguments: entityName, entityType, observation, source, validFrom, validUntil, "
     "saidAt, confidence, replaces"),
    ("forget_entity", {"entityName": "Jeff", "confirm": "perhaps"}, "Invalid argument",
     "confirm (given 'perhaps'): must be true or false"),
    ("forget_entity", {"entityName": "Jeff", "answer": {"confirm": True}},
     "Unknown argument 'answer'", "Known arguments: entityName, confirm, fact, dryRun"),
    ("relate_entities", {"fromEntity": "A", "relation": "x" * 101, "toEntity": "B"},
     "Invalid argument", f"relation (given '{'x' * 40}…', 101 characters): "
     "must be text of at most 100 characters"),
    ("relate_entities", {"fromEntity": "A", "relation": "ß" * 51, "toEntity": "B"},
     "Invalid argument", f"relation (given '{'ß' * 8}…', 51 characters): "
     "must be text of at most 100 characters"),
    ("build_knowledge", {}, "Missing facts", "Provide facts, relations, or both"),
    ("build_knowledge", {"facts": "null", "relations": []}, "Missing facts",
     "Provide facts, relations, or both"),
    ("build_knowledge", {"facts": [FACT] * 51}, "Invalid argument",
     "facts: must be a list of at most 50"),
    ("build_knowledge", {"facts": ["Jeff likes tea"]}, "Invalid argument",
     "facts[0] (given 'Jeff likes tea'): must be an object"),
    ("build_knowledge", {"facts": "Jeff likes tea"}, "Invalid argument",
     "facts[0] (given 'Jeff likes tea'): must be an object"),
    ("build_knowledge", {"facts": "[{" + '"a":' * 5}, "Invalid argument",
     "facts (given '[{\"a\":\"a\":\"a\":\"a\":\"a\":'): must be a list of at most 50"),
]  # fmt: skip


async def test_a_wrong_argument_gets_an_error_that_repairs_it(
    client: Client, owner: psycopg.Connection
) -> None:
    before = read_tables(owner)

    for tool, arguments, title, fix in WRONG:
        result = await client.call_tool(tool, arguments)
        assert read_error(result) == (title, fix)
        assert batch_count([text_of(result)], "o200k_base", threads=1)[0] <= 70

    assert read_tables(owner) == before


HIDDEN = [
    "\x00", "\x07", "\x1b", "\x1b[31m", "\u202e", "\u2066", "\u200b", "\ufeff", "\u00ad", "\u200e",
    "\U000e0041", "\u200d", "\ufe00\ufe01", "\u2800", "\U00013430", "\U0001fffe",
]  # fmt: skip


async def test_hidden_characters_refuse_nothing_and_the_reply_says_that_they_are_gone(
    client: Client,
) -> None:
    facts = [FACT | {"observation": f"likes {n}{hidden} tea"} for n, hidden in enumerate(HIDDEN)]
    facts.append(FACT | {"observation": "likes\r\x85\u2028tea"})
    told = read(await client.call_tool("build_knowledge", {"facts": facts}))
    named = await remember(client, "Je\u200bff", "is\u00ad tall")

    assert told["facts"] == {"new": len(facts), "dup": 0}
    assert told["cleaned"] == len(facts)
    assert named["cleaned"] == 2
    found = set((await ask(client, mode="entity", entityName="Jeff", maxObs=100))["o"])
    assert found == {f"likes {n} tea" for n in range(len(HIDDEN))} | {"is tall", "likes\n\n\ntea"}


async def test_a_secret_is_stored_masked_or_refused_and_the_reply_names_it(
    connect: Connect, owner: psycopg.Connection
) -> None:
    said = "has the door code 1, and the password is Tulpe!42"
    fact = {"entityName": "Ann", "entityType": "person", "observation": said}
    modes: dict[str, dict[str, str]] = {
        "mask": {}, "allow": {"secrets": "allow"}, "refuse": {"secrets": "refuse"}
    }  # fmt: skip
    clients = {mode: await connect(**given) for mode, given in modes.items()}
    told = {
        mode: text_of(await client.call_tool("build_knowledge", {"facts": [fact]}))
        for mode, client in clients.items()
    }
    forgotten = await forget(clients["refuse"], "Ann", fact=said, confirm=True)  # that of allow

    assert '"secrets":["password"]' in told["allow"]
    assert '"secrets":["password (masked)"]' in told["mask"]
    assert "looks like a secret" in told["refuse"]
    assert "password (line 1)" in told["refuse"]
    assert forgotten["ok"]
    stored = owner.execute("select content from observation order by content").fetchall()
    assert stored == [("has the door code 1, and the password is [masked password]",)]


async def test_a_lone_surrogate_breaks_nothing(connect: Connect) -> None:
    client = await connect("auto")  # passes objects on without making text of them
    surrogates = (chr(0xD800), chr(0xDFFF))
    for surrogate in surrogates:
        name = f"Je{surrogate}ff"
        absent = {"n": 0, "e": [], "no": ["tea"], "note": "every fact was searched"}
        assert await ask(client, query=f"tea {surrogate}", entityName=name) == absent
        assert await ask(client, mode="entity", entityName=name) == {"found": False}
        assert await keep(client, name, confirm=True) == {"ok": False, "err": "not_found"}
        await refuse(client, "forget_entity", entityName="Jeff", confirm=surrogate)
        await refuse(client, "forget_entity", **{"entityName": "Jeff", surrogate: 1})
    for surrogate in surrogates:
        await remember(client, f"Je{surrogate}ff", f"likes tea {surrogate}")
        assert (await ask(client, entityName="Jeff"))["o"] == ["likes tea"]


async def test_other_scripts_and_signs_are_found(client: Client) -> None:
    for query, fact in (
        ("東京タワー", "東京タワーが好き"),
        ("🎉", "throws 🎉 parties"),
        ("C++", "writes C++ daily"),
        ("müller", "knows Muller well"),
        ("the who", "listens to The Who"),
    ):
        await remember(client, "Jeff", fact)

        assert (await ask(client, query=query, limit=1))["e"][0]["m"][0]["c"] == fact


async def test_names_that_differ_in_case_or_composition_are_one_entity(client: Client) -> None:
    for one, other in (
        ("Straße", "STRASSE"),
        ("Zoë", "Zoe\u0308"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("Jeff", " jeff\u200b "),
        ("Acme  Corp", "acme\ncorp"),
        ("İstanbul", "i̇stanbul"),
        ("ǅ", "ǆ"),
        ("Ⅷ", "ⅷ"),
        ("ﬃ", "FFI"),
        ("\u212b", "\u00e5"),
    ):
        first = await remember(client, one, "likes tea")
        await relate(client, other, "knows", "Ada")

        second = await remember(client, other, "lives in Oslo")

        assert second["entity"] == first["entity"]
        assert (await ask(client, entityName=other))["o"] == ["lives in Oslo", "likes tea"]
        assert (await ask(client, mode="list"))["n"] == 2
        assert (await forget(client, other, confirm=True))["id"] == first["entity"]


async def test_the_longest_texts_are_stored_whole(client: Client) -> None:
    for character in ("x", "語", "🦄", "ﬃ", "ΐ", "\u0958"):
        name = unicodedata.normalize("NFC", character * 200)[:200]
        fact = unicodedata.normalize("NFC", character * 2000)[:2000]

        await remember(client, name, fact)
        await relate(client, name, unicodedata.normalize("NFC", character * 30), "B" * 200)

        assert (await ask(client, entityName=name, maxTokens=25_000))["o"] == [fact]


async def test_a_database_that_cannot_be_reached_is_an_error_in_time(
    connect: Connect, era: Era
) -> None:
    client = await connect(
        era, database_url="postgresql://nobody@127.0.0.1:1/none", database_timeout=0.5
    )
    for tool, arguments in (
        ("query_memory", {"query": "tea"}), ("query_memory", {"mode": "list"}),
        ("remember_fact", FACT), ("forget_entity", {"entityName": "Jeff", "confirm": True}),
    ):  # fmt: skip
        title, fix = await refuse(client, tool, **arguments)

        assert title == "Database unavailable"
        assert "nothing was changed, so the call can be repeated" in fix
