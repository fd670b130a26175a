"""build_knowledge and relate_entities, and an entity that is read in pages."""

from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect, Era
from tests.support.providers import EmbeddingServer
from tests.support.tool_calls import (
    A_SHORT_ID,
    ask,
    count,
    forget,
    read,
    read_tables,
    refuse,
    relate,
    remember,
    text_of,
)

pytestmark = pytest.mark.anyio

FACT = {"entityName": "Ada", "entityType": "person", "observation": "leads QA"}
RELATION = {"fromEntity": "Ada", "relation": "works_at", "toEntity": "Acme Corp"}


async def build(client: Client, **batch: Any) -> Any:
    return read(await client.call_tool("build_knowledge", batch))


async def test_a_batch_keeps_every_field_of_its_facts(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Ada", "leads QA")
    fact = FACT | {
        "observation": "leads R&D", "source": "note", "confidence": 0.5,
        "validUntil": "2199-12-31", "replaces": "leads QA",
    }  # fmt: skip

    assert await build(client, facts=[fact]) == {
        "ok": True,
        "facts": {"new": 1, "dup": 0},
        "rel": 0,
    }

    assert (await ask(client, entityName="Ada"))["o"] == ["leads R&D"]
    rows = owner.execute(
        "select source, confidence, valid_until::date::text, tool from observation "
        "where content = 'leads R&D'"
    ).fetchall()
    assert rows == [("note", 0.5, "2199-12-31", "build_knowledge")]


async def test_the_same_batch_twice_adds_nothing(client: Client, owner: psycopg.Connection) -> None:
    batch = {"facts": [FACT, FACT | {"entityName": "ADA"}], "relations": [RELATION, RELATION]}

    once, twice = {"new": 1, "dup": 1, "at": [1]}, {"new": 0, "dup": 2, "at": [0, 1]}
    assert await build(client, **batch) == {"ok": True, "facts": once, "rel": 1}
    assert await build(client, **batch) == {"ok": True, "facts": twice, "rel": 0}
    assert (count(owner, "fact"), count(owner, "relation")) == (1, 1)


async def test_a_batch_may_come_as_text_or_as_one_item(client: Client) -> None:
    texts = '[{"entityName":"Ada","entityType":"Person","observation":"leads QA","source":null}]'

    assert (await build(client, facts=texts))["facts"]["new"] == 1
    assert (await build(client, relations=RELATION, facts="null"))["rel"] == 1


async def test_every_bad_item_is_named_by_its_path_and_nothing_is_stored(
    client: Client, owner: psycopg.Connection
) -> None:
    before = read_tables(owner)

    title, fix = await refuse(
        client, "build_knowledge",
        facts=[FACT, FACT | {"observation": ""}, FACT | {"confidence": 2},
               FACT | {"entityType": 7}, {"entityName": "Bob"}, FACT | {"colour": "red"}],
        relations=[RELATION, RELATION | {"relation": " "}, RELATION | {"toEntityType": 7}],
    )  # fmt: skip

    assert title == "Invalid argument"
    for place in (
        "facts[1].observation", "facts[2].confidence (given '2'): must be a number from 0 to 1",
        "facts[3].entityType (given '7'), relations[2].toEntityType (given '7'): "
        "must be one of person, concept,",
        "facts[4].observation: required",
        "facts[5].colour: unknown; known are entityName,", "relations[1].relation",
    ):  # fmt: skip
        assert place in fix
    assert "facts[0]" not in fix
    assert "relations[0]" not in fix
    assert read_tables(owner) == before


async def test_what_only_the_database_can_tell_is_named_by_path_too(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Ada", "leads QA")
    before = read_tables(owner)

    title, fix = await refuse(
        client, "build_knowledge",
        facts=[FACT | {"observation": "new"}, FACT | {"replaces": "nothing"},
               FACT | {"entityName": "Newcomer", "replaces": "leads QA"}],
        relations=[RELATION],
    )  # fmt: skip

    assert title == "Invalid argument"
    assert fix == (
        "Nothing was stored. facts[1].replaces, facts[2].replaces: names no fact of this entity: "
        "give its id, 8 or more characters of it, or its text"
    )
    assert read_tables(owner) == before


async def test_a_batch_asks_for_its_vectors_in_one_request(connect: Connect, era: Era) -> None:
    with EmbeddingServer(dimensions=1536) as server:
        client = await connect(
            era,
            embedding_provider="openai",
            openai_api_key="sk-test",
            openai_base_url=server.openai_url,
        )
        facts = [FACT | {"observation": f"owns boat {number}"} for number in range(50)]
        await build(client, facts=[FACT])  # the provider of a new memory has to answer first
        before = len(server.requests)

        await build(client, facts=facts)

        assert [len(request.texts) for request in server.requests[before:]] == [50]


async def test_missing_ends_are_created_and_existing_ones_keep_their_type(client: Client) -> None:
    await remember(client, "Ada", "leads QA")

    answer = await relate(
        client, "ADA", "knows", "Bob", fromEntityType="project", toEntityType="person"
    )
    other = await relate(client, "Ada", "knows", "Xylo")

    assert (answer["from"]["n"], answer["from"]["t"]) == ("Ada", "person")
    assert (answer["to"]["n"], answer["to"]["t"]) == ("Bob", "person")
    assert other["to"]["t"] == "concept"


async def test_a_triple_in_another_spelling_is_the_same_relation(
    client: Client, owner: psycopg.Connection
) -> None:
    """It is shown as first written: with _ for blanks, in lower case unless in camel case."""
    spellings = (
        "works at",
        "Works  At",
        "WORKS_AT",
        " works\tat ",
        "worksAt",
        "WorksAt",
        "works-at",
    )
    for place, first in enumerate(spellings):
        name = f"Ada {place}"
        for spelling in (first, *spellings):
            answer = await relate(client, name, spelling, "Acme Corp")
            assert answer["ok"]
        shown = (await ask(client, mode="entity", entityName=name))["r"]["out"]
        assert shown == [
            f"{first if first in ('worksAt', 'WorksAt', 'works-at') else 'works_at'}→Acme Corp"
        ]

    assert count(owner, "relation") == len(spellings)
    types = owner.execute("select distinct relation_type from relation").fetchall()
    assert types == [("works_at",)]


async def test_the_words_of_a_relation_in_camel_case_count_in_search(client: Client) -> None:
    await relate(client, "Kim", "worksAt", "Acme")
    await relate(client, "Lea", "works_at", "Acme")
    await relate(client, "Acme", "suppliedBy", "Globex")

    for question, entity in (("who supplied Acme", "Acme"), ("where does Kim work", "Kim"),
                             ("where does Lea work", "Lea")):  # fmt: skip
        assert (await ask(client, query=question))["e"][0]["n"] == entity


async def test_a_relation_of_an_entity_to_itself_and_one_with_arrows_are_relations(
    client: Client, owner: psycopg.Connection
) -> None:
    own = await relate(client, "Straße", "is", "STRASSE")
    await relate(client, "A→B", "leads -> to", "C → D")
    await relate(client, "E", "maps→to", "A→B")

    assert own["from"] == own["to"]
    shown = (await ask(client, mode="entity", entityName="A→B"))["r"]
    for arrow in (*shown["out"], *shown["in"]):
        assert (await forget(client, "A→B", fact=arrow, confirm=True))["ok"]
    assert (await forget(client, "Straße", fact="is→Straße", confirm=True))["ok"]
    assert count(owner, "relation") == 0


QUESTION = "where does Jeff work?"


def texts(answer: Any) -> list[str]:
    return [f"{entity['n']}: {item['c']}" for entity in answer["e"] for item in entity["m"]]


async def related(client: Client, name: str) -> Any:
    return (await ask(client, entityName=name)).get("r", {})


async def test_a_search_tells_a_relation_beside_facts(client: Client) -> None:
    await remember(client, "Jeff", "prefers dark mode")
    await relate(client, "Jeff", "works at", "Acme Corp", toEntityType="organization")

    result = await client.call_tool("query_memory", {"query": QUESTION, "limit": 1})

    answer: Any = result.structured_content
    [entity] = answer["entities"]
    [found] = entity["memories"]
    assert entity["entityName"] == "Jeff"
    assert found == {
        "content": "works_at→Acme Corp",
        "relation_type": "works_at",
        "to_entity": "Acme Corp",
        "to_entity_type": "organization",
        "author": found["author"],
        "score": found["score"],
    }
    assert texts(await ask(client, query=QUESTION, limit=1)) == ["Jeff: works_at→Acme Corp"]
    assert texts(await ask(client, query="who works at Acme?", limit=1)) == [
        "Jeff: works_at→Acme Corp"
    ]


async def test_lines_show_a_relation_as_an_arrow(connect: Connect, era: Era) -> None:
    client = await connect(era, compact_responses="lines")
    arguments = {"fromEntity": "Jeff", "relation": "works_at", "toEntity": "Acme Corp"}
    await client.call_tool("relate_entities", arguments)

    header, line = text_of(await client.call_tool("query_memory", {"query": QUESTION})).splitlines()

    assert header == "Jeff (concept)"
    assert line.partition(" ")[2] == "works_at→Acme Corp"


async def test_a_relation_is_found_by_meaning_at_once(
    client: Client, owner: psycopg.Connection
) -> None:
    await relate(client, "Jeff", "is_employed_by", "Acme Corp")
    await client.call_tool(
        "build_knowledge",
        {"relations": [{"fromEntity": "Ana", "relation": "lives_in", "toEntity": "Oslo"}]},
    )

    assert count(owner, "embedding_pending") == 0
    answer = await ask(client, query="Jeff's job", searchMode="semantic", limit=1)
    assert texts(answer) == ["Jeff: is_employed_by→Acme Corp"]


async def test_a_relation_that_ended_is_history(client: Client, owner: psycopg.Connection) -> None:
    await relate(client, "Jeff", "works at", "Acme Corp")
    row = owner.execute("select clock_timestamp()::text").fetchone()
    assert row

    answer = await relate(client, "jeff", "Works At", "ACME Corp", ended=True)

    assert answer == {
        "ok": True,
        "rel": A_SHORT_ID,
        "from": {"id": A_SHORT_ID, "n": "Jeff", "t": "concept"},
        "to": {"id": A_SHORT_ID, "n": "Acme Corp", "t": "concept"},
        "ended": ["Acme Corp"],
    }
    assert await related(client, "Jeff") == {}
    assert texts(await ask(client, query=QUESTION)) == []
    assert texts(await ask(client, query=QUESTION, asOf=row[0])) == ["Jeff: works_at→Acme Corp"]
    again = await relate(client, "Jeff", "works_at", "Acme Corp", ended=True)
    assert again == {key: answer[key] for key in ("ok", "rel", "from", "to")}
    events = owner.execute("select count(*) from event where action = 'ended'").fetchone()
    assert events == (1,)


async def test_a_relation_that_replaces_ends_those_of_its_kind_from_the_same_entity(
    client: Client,
) -> None:
    for relation, target in (("works_at", "Acme"), ("works_at", "Zeta"), ("knows", "Acme")):
        await relate(client, "Jeff", relation, target)
    await relate(client, "Ana", "works_at", "Acme")

    answer = await relate(client, "Jeff", "works at", "Blue Inc", replaces=True)

    assert sorted(answer["ended"]) == ["Acme", "Zeta"]
    assert sorted((await related(client, "Jeff"))["out"]) == ["knows→Acme", "works_at→Blue Inc"]
    assert (await related(client, "Ana"))["out"] == ["works_at→Acme"]
    again = await relate(client, "Jeff", "works_at", "Blue Inc", replaces=True)
    assert again == {key: answer[key] for key in ("ok", "rel", "from", "to")}
    back = await relate(client, "Jeff", "works_at", "Acme", replaces=True)
    assert back["ended"] == ["Blue Inc"]


async def test_an_undo_takes_back_what_was_ended_and_replaced(
    client: Client, owner: psycopg.Connection
) -> None:
    await relate(client, "Jeff", "works_at", "Acme")
    await relate(client, "Jeff", "knows", "Ana")
    row = owner.execute("select clock_timestamp()").fetchone()
    before = await related(client, "Jeff")
    await relate(client, "Jeff", "works_at", "Blue Inc", replaces=True)
    await relate(client, "Jeff", "knows", "Ana", ended=True)
    after = await related(client, "Jeff")

    undo = owner.execute(
        "select undo_id from actor, undo_author(name, %s) where exists ("
        "select from event where actor_id = actor.id)",
        row,
    ).fetchone()

    assert await related(client, "Jeff") == before
    assert texts(await ask(client, query=QUESTION, limit=1)) == ["Jeff: works_at→Acme"]
    owner.execute("select revert_undo(%s)", undo)
    assert await related(client, "Jeff") == after == {"out": ["works_at→Blue Inc"]}
    assert texts(await ask(client, query=QUESTION, limit=1)) == ["Jeff: works_at→Blue Inc"]


@pytest.mark.parametrize(
    "reference", ["works_at→Acme Corp", "Works at -> acme corp", "→ works_at Acme Corp"]
)
async def test_one_relation_can_be_forgotten(
    client: Client, owner: psycopg.Connection, reference: str
) -> None:
    await relate(client, "Jeff", "works_at", "Acme Corp")
    await relate(client, "Jeff", "works_at", "Acme Corp", ended=True)
    await relate(client, "Jeff", "works_at", "Acme Corp")
    await relate(client, "Jeff", "knows", "Acme Corp")
    await relate(client, "Acme Corp", "works_at", "Jeff")

    preview = await forget(client, "Jeff", fact=reference, dryRun=True)
    assert (preview["facts"], preview["rel"]) == (0, 2)
    assert preview["sample"] == ["Jeff→works_at→Acme Corp"]
    assert await forget(client, "Jeff", fact=reference, confirm=True) == {
        "ok": True,
        "relation": A_SHORT_ID,
    }

    assert await related(client, "Jeff") == {
        "out": ["knows→Acme Corp"],
        "in": ["Acme Corp→works_at"],
    }
    assert count(owner, "observation") == count(owner, "relation") == 2
    assert (await refuse(client, "forget_entity", entityName="Jeff", fact=reference, confirm=True))[
        0
    ] == "Fact not found"


async def test_a_relation_is_forgotten_from_its_other_end_and_by_its_id(client: Client) -> None:
    for reference in ("Sarah→manages", "← manages Sarah", None):
        await relate(client, "Sarah", "manages", "Jeff")
        answer = await ask(client, query="who manages Jeff?", includeIds=True)
        [found] = answer["e"][0]["m"]

        await forget(client, "Jeff", fact=reference or found["id"], confirm=True)

        assert await related(client, "Jeff") == await related(client, "Sarah") == {}


async def test_a_forgotten_relation_comes_back_by_no_undo(
    client: Client, owner: psycopg.Connection
) -> None:
    await remember(client, "Jeff", "sings")
    row = owner.execute("select clock_timestamp()").fetchone()
    await relate(client, "Jeff", "works_at", "Acme Corp")
    undo = owner.execute(
        "select undo_id from actor, undo_author(name, %s) where exists ("
        "select from event where actor_id = actor.id)",
        row,
    ).fetchone()

    await forget(client, "Jeff", fact="works_at→Acme Corp", confirm=True)
    owner.execute("select revert_undo(%s)", undo)

    assert count(owner, "relation") == 0


async def test_a_fact_with_an_arrow_is_forgotten_before_a_relation(client: Client) -> None:
    await remember(client, "Jeff", "works_at→Acme Corp")
    await relate(client, "Jeff", "works_at", "Acme Corp")

    assert "obs" in await forget(client, "Jeff", fact="works_at→Acme Corp", confirm=True)

    assert (await related(client, "Jeff"))["out"] == ["works_at→Acme Corp"]


async def test_a_wrong_end_is_refused_and_changes_nothing(
    client: Client, owner: psycopg.Connection
) -> None:
    relation = {"fromEntity": "Jeff", "relation": "works_at", "toEntity": "Acme Corp"}
    await client.call_tool("relate_entities", relation)
    before = read_tables(owner)
    for arguments in (
        {"toEntity": "Nowhere", "ended": True},
        {"relation": "owns", "ended": True},
        {"fromEntity": "Acme Corp", "toEntity": "Jeff", "ended": True},
        {"ended": True, "replaces": True},
        {"ended": "yesterday"},
    ):
        title, fix = await refuse(client, "relate_entities", **relation | arguments)

        assert title
        assert fix
        assert read_tables(owner) == before


async def test_a_relation_that_is_not_there_is_not_forgotten(
    client: Client, owner: psycopg.Connection
) -> None:
    await relate(client, "Jeff", "works_at", "Acme Corp")
    before = read_tables(owner)
    for reference in ("works_at→Nowhere", "owns→Acme Corp", "→", "Acme→works_at"):
        title, _ = await refuse(
            client, "forget_entity", entityName="Jeff", fact=reference, confirm=True
        )

        assert title == "Fact not found"
        assert read_tables(owner) == before


ENTITY = {"mode": "entity", "entityName": "Ada"}


async def fill(client: Client, owner: psycopg.Connection, number: int) -> list[str]:
    """Texts of that many facts about Ada, newest first; many were said at the same moment."""
    await remember(client, "Ada", "fact 0")
    owner.execute(
        """insert into observation (space_id, id, entity_id, entity_type, content, content_hash,
               source, confidence, valid_from, author_id, client, tool, created_at, fts)
           select space_id, gen_random_uuid(), entity_id, entity_type, 'fact ' || n,
               md5('fact ' || n)::uuid, source, confidence, valid_from, author_id, client, tool,
               created_at + (n / 7) * interval '1 millisecond', fts
           from observation cross join generate_series(1, %s) n""",
        [number - 1],
    )
    rows = owner.execute("select content from observation order by created_at desc, id").fetchall()
    return [content for (content,) in rows]


async def read_pages(client: Client, **more: Any) -> list[str]:
    """Facts of all pages, each page as the one before it promised."""
    found, left = list[str](), -1
    while left:
        page = await ask(client, **ENTITY, offset=len(found), maxTokens=25_000, **more)
        assert left in (-1, page.get("more", 0) + len(page["o"]))
        assert page["o"]
        found += page["o"]
        left = page.get("more", 0)
    return found


@pytest.mark.slow
async def test_an_entity_of_5000_facts_is_read_whole_without_doubles(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(structured_content="off", embedding_provider="none")
    texts = await fill(client, owner, 5000)

    assert await read_pages(client, maxObs=100) == texts
    assert len(set(texts)) == 5000


async def test_pages_of_what_was_valid_at_a_moment_hold_just_that(
    client: Client, owner: psycopg.Connection
) -> None:
    texts = await fill(client, owner, 25)
    ended = {f"fact {number}" for number in range(0, 25, 2)}
    owner.execute(
        "update observation set valid_until = '2030-01-01' where content = any(%s)", [[*ended]]
    )

    assert await read_pages(client, maxObs=4) == texts
    assert await read_pages(client, maxObs=4, asOf="2031-01-01") == [
        text for text in texts if text not in ended
    ]


async def test_beyond_the_last_fact_there_is_an_empty_page(client: Client) -> None:
    for number in range(3):
        await remember(client, "Ada", f"fact {number}")
    for offset in (3, 1000, 2**31, 10**30):
        result = await client.call_tool("query_memory", {**ENTITY, "offset": offset})

        assert not result.is_error
        assert text_of(result) == '{"t":"person","o":[]}'
        answer: Any = result.structured_content
        assert answer["observations"] == []
        assert (answer["hasMore"], answer["totalObservations"]) == (False, 3)


async def test_both_halves_tell_whether_more_follows(connect: Connect, era: Era) -> None:
    client = await connect(era, compact_responses="lines")
    facts = [{"entityName": "Ada", "entityType": "person", "observation": o} for o in "abcde"]
    await client.call_tool("build_knowledge", {"facts": facts})

    page = await client.call_tool("query_memory", {**ENTITY, "maxObs": 2, "offset": 2})
    last = await client.call_tool("query_memory", {**ENTITY, "maxObs": 2, "offset": 4})

    answer: Any = page.structured_content
    assert answer["hasMore"]
    assert text_of(page).splitlines()[-1] == "more 1"
    answer = last.structured_content
    assert not answer["hasMore"]
    assert "more" not in text_of(last)
    assert len(text_of(last).splitlines()) == 2


async def test_relations_come_with_the_first_page(client: Client) -> None:
    await remember(client, "Ada", "likes tea")
    await remember(client, "Ada", "sings")
    await relate(client, "Ada", "knows", "Grace")

    first = await ask(client, **ENTITY, maxObs=1)
    second = await ask(client, **ENTITY, maxObs=1, offset=1)

    assert first == {"t": "person", "o": ["sings"], "r": {"out": ["knows→Grace"]}, "more": 1}
    assert second == {"t": "person", "o": ["likes tea"]}


async def test_facts_that_the_budget_left_out_are_on_the_next_page(
    client: Client, owner: psycopg.Connection
) -> None:
    texts = await fill(client, owner, 40)
    found = list[str]()
    while len(found) < len(texts):
        page = await ask(client, **ENTITY, maxObs=20, maxTokens=500, offset=len(found))
        assert page["o"]
        assert len(found) + len(page["o"]) + page.get("cut", 0) + page.get("more", 0) == 40
        found += page["o"]

    assert found == texts
