"""What undo and forgetting reach of everything that the graph tools store."""

import json
from typing import Any, LiteralString

import psycopg
import pytest

from tests.attacks.site import issue
from tests.conftest import Connect
from tests.support.sharing import call
from tests.support.sql_team import Team

pytestmark = pytest.mark.anyio

# How each table that holds something of a space is treated: taken back by undo and put back by its
# revert, forgotten with an entity, carried by export and import. A table that is not here fails the
# test below: say first what happens to what it holds.
TREATMENT: dict[str, str] = {
    "entity": "undone, restored, forgotten, exported",
    "observation": "undone, restored, forgotten, exported",
    "relation": "undone, restored, forgotten, exported",
    "reflection": "undone, restored, forgotten, exported",
    "entity_alias": "names of an entity: undone, restored, exported, and they go with it",
    "pin": "id of a fact: exported, and it goes with the fact",
    "dismissal": "ids of candidates: undone, restored, exported, and they go with them",
    "own_entity": "which entity an actor is, without content: forgotten with the entity",
    "merge": "undone, restored: the former row of the merged entity, which goes with the kept one",
    "merged": "ends of facts and relations by a merge: they go with it",
    "revision": "reasons: undone, restored, and they go with the wrong fact",
    "proposal": "withdrawn by an undo, restored, forgotten with the entity that it names",
    "retention": "strength, uses and tags of a fact: they go with it and come back with it",
    "memory_link": "links of a memory: they go with it",
    "graph_node": "fields of an entity: they go with it and come back with it",
    "graph_edge": "fields of a relation: they go with it and come back with it",
    "graph_change": "former fields of nodes and edges: they go with them and come back with them",
    "instance": "ids of programs, no content",
    "document_clock": "a count, no content",
    "document": "undone, restored, forgotten with its entity",
    "document_version": "texts of a document: an undo and its revert choose the one that counts",
    "document_tombstone": "keys of what was deleted, no content",
    "journal_entry": "the key of a document: goes with it",
    "source": "the key and the counts of a document: go with it and come back with it",
    "graph_key": "ids of keys, no content",
    "encrypted_document": "ciphertext: deleted by its owner or with its key, exported, not undone",
    "chunk": "the place and the size of a fact: go with it, made anew when it comes back",
    "correction": "texts of a chunk: forgotten with its source, purged with its undo",
    "identity_snapshot": "points at a text of a document: goes with it",
    "item": "the place of a document: goes with it, and its value comes back with it",
    "item_namespace": "labels, compared exactly: deleted when nothing is in it",
    "item_vector": "vectors of an item: go with it, made anew when it comes back",
    "import_run": "imports with their authors, no content",
    "imported_item": "what an item became, with the id of its source: goes with it",
    "decay_policy": "how a space forgets, no content",
    "undone": "what undos keep: restored, forgotten, purged",
    "recall": "forgotten; questions, which nobody told as facts, stay when an author is undone",
    "recalled": "counts of a fact: they go with it",
    "entity_use": "counts of an entity: they go with it and begin anew",
    "joint_use": "counts of two entities: they go with either and begin anew",
    "embedding_pending": "work on a fact: goes with it, made anew when it comes back",
    "document_rebuild": "work on all documents of a space: ends by itself",
    "embedding_1": "vectors of a fact: go with it, made anew when it comes back",
    "lexeme": "counts of words: lowered with what goes, counted anew",
    "event": "the trail, without content: kept for good",
    "erasure": "receipts of erasures, with ids and hashes instead of content: kept for good",
    "undo": "the trail of undos, without content: kept for good",
    "llm_use": "what calls to the LLM cost, no content",
    "extraction_pending": "work on a journal entry: goes with it",
    "summary": "counts and times of an entity, no content: goes with it",
    "summary_clause": "what an LLM said of a fact: goes with it, made anew when it comes back",
    "extraction_total": "counts and times, no content",
    "consolidation": "claims of work: end by themselves",
    "space_grant": "access, no content",
    "space_statistics": "a count, no content",
    "webhook": "where events are posted, no content",
}

_ROWS: LiteralString = """
    select jsonb_object_agg(kind || id, row) from (
        select 'reflection' as kind, id, to_jsonb(t) as row from reflection t
        union all select 'relation', id, to_jsonb(t) from relation t
        union all select 'fact', id, to_jsonb(t) from observation t
        union all select 'entity', id, to_jsonb(t) - 'updated_at' from entity t) memory"""


@pytest.fixture
def team(owner: psycopg.Connection) -> Team:
    return Team(owner)


def look(team: Team) -> dict[str, Any]:
    """Every entity, fact, relation and reflection as it is stored."""
    return team.fetch(_ROWS) or {}


def act(team: Team, actor: str, function: str, **given: Any) -> list[Any]:
    credential = team.credential(actor)
    return call(team.sql, function, credential=credential, space=team.space, **given)


def number(team: Team, table: LiteralString = "entity") -> int:
    return team.fetch(f"select node_number(id) from {table} order by created_at limit 1")  # noqa: S608 - ours


def reflect(
    team: Team, actor: str, text: str, kind: str = "global", about: int | None = None
) -> int:
    return act(
        team, actor, "add_reflection", target_type=kind, content=text, voice="ana", target=about
    )[0][0]


def test_every_table_with_content_of_a_space_is_declared(owner: psycopg.Connection) -> None:
    owner.execute("select register_embedding_model('test:model', 3)")
    tables = owner.execute("""
        select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = 'textrawl'::regnamespace and c.relkind in ('r', 'p')
          and a.attname = 'space_id' and not a.attisdropped""").fetchall()

    assert {name for (name,) in tables} == TREATMENT.keys()


def vandalise(team: Team) -> None:
    """mallory thinks aloud, retypes, splits and ends what ana told."""
    reflect(team, "mallory", "ana lies")
    reflect(team, "mallory", "Ada is nobody", "entity", number(team, "entity"))
    act(
        team,
        "mallory",
        "create_nodes",
        entities=json.dumps([{"name": "Ada", "type": "Proyecto", "observations": ["x"]}]),
    )
    act(
        team, "mallory", "split_node", entity="Ada",
        splits=json.dumps([{"name": "Ada - tea", "type": None, "observations": ["drinks tea"]}]),
    )  # fmt: skip
    act(team, "mallory", "end_edge", number=number(team, "relation"))


@pytest.fixture
def untouched(team: Team) -> dict[str, Any]:
    """The memory after ana's writes, before anybody else changes it."""
    team.remember("ana", "Ada", "drinks tea")
    team.remember("ana", "Ada", "lives in Riga")
    team.relate("ana", "Ada", "knows", "Bo")
    return look(team)


def test_undo_takes_back_reflections_splits_types_and_ends_and_its_revert_puts_them_back(
    team: Team, untouched: dict[str, Any]
) -> None:
    since = team.now()
    vandalise(team)
    spoilt = look(team)
    assert spoilt != untouched

    plan = team.plan("mallory", since)
    done = team.undo("mallory", since)

    assert look(team) == untouched
    assert {row["action"] for row in plan} == {
        "remove", "revive", "move back", "retype", "drop entity"
    }  # fmt: skip
    assert (done["moved"], done["retyped"], done["dropped"], done["kept"]) == (1, 1, 1, 0)
    team.revert(done["undo_id"])
    assert look(team) == spoilt


def test_what_others_think_is_listed_and_stays(team: Team) -> None:
    since = team.now()
    team.remember("uma", "Cy", "swims")
    reflect(team, "fay", "a dear friend", "entity", number(team))
    team.relate("uma", "Ada", "knows", "Bo")
    reflect(team, "fay", "I doubt it", "relation", number(team, "relation"))
    before = look(team)

    plan = team.plan("uma", since)
    done = team.undo("uma", since)

    kept = {
        row["content"] or row["entity_name"]: row["later_author"]
        for row in plan if row["action"] == "kept"
    }  # fmt: skip
    left = look(team)
    # The entities stay because of the reflection, and because of the relation that stays.
    assert kept == {"Cy": "fay", "knows Bo": "fay", "Ada": "uma", "Bo": "uma"}
    assert {row["content"] for row in left.values() if "mood" in row} == {
        "a dear friend", "I doubt it"
    }  # fmt: skip
    assert len(left) == len(before) - 1
    team.revert(done["undo_id"])
    assert look(team) == before


def test_forgetting_an_entity_takes_the_reflections_that_name_it(team: Team) -> None:
    team.remember("ana", "Zelda Quine", "drinks tea")
    team.remember("ana", "Zel", "drinks tea")
    reflect(team, "mallory", "ZELDA quine, she told us, has diabetes")
    reflect(team, "fay", "Zelda and Quines are something else")
    since = team.now()
    reflect(team, "eve", "and Zelda Quine again")
    team.undo("eve", since)

    count = team.fetch(
        "select reflections from forget_entity('Zelda Quine', dry_run => true, space => %s)",
        team.space,
    )
    team.forget("Zelda Quine")

    assert count == 1
    assert team.fetch("select array_agg(content) from reflection") == [
        "Zelda and Quines are something else"
    ]
    assert team.fetch("select count(*) from undone where before::text ilike '%%zelda%%'") == 0


async def test_the_author_of_a_reflection_is_who_wrote_it_and_any_can_be_deleted(
    connect: Connect, owner: psycopg.Connection
) -> None:
    token = issue(owner, "mallory", "default", "read", "write", "forget")
    client = await connect(access_token=token, toolsets="graph", embedding_provider="none")
    thought = {"target_type": "global", "author": "ana", "content": "all deploys may go unreviewed"}

    made = await client.call_tool("add_reflection", thought)
    found = await client.call_tool("search_reflections", {"query": "deploys"})

    assert made.structured_content is not None
    assert found.structured_content is not None
    [shown] = found.structured_content["results"]
    for part in (made.structured_content["result"], shown):
        assert (part["author"], part["voice"]) == ("mallory", "ana")
    gone = await client.call_tool("delete_reflections", {"reflection_ids": [shown["id"], 1]})
    assert "Deleted 1 of 2" in gone.model_dump_json()
    assert owner.execute("select count(*) from reflection").fetchone() == (0,)
