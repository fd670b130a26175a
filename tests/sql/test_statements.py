"""Statements: a relation in words, which search finds and which is no fact."""

import re
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.sql.story import ask, tell
from textrawl.memory.facts import Edge, compose_edge

Sql = psycopg.Connection[Any]

SQL_FOLDER = Path(__file__).parents[2] / "sql"

# They read the table because statements are words, vectors or rows to lock as facts are, or because
# they look up a row by an id that only a fact can have.
READERS_OF_STATEMENTS = {
    "access": {"change_language", "list_spaces"},
    "archive": {
        "export_relations", "free_id", "import_facts", "import_replacements", "imported_items",
        "supersede_items",
    },
    "explorer": {"download_facts", "space_timeline"},
    "graph": {"split_node"},
    "memory": {
        "assess_spaces", "date_facts", "describe_entity", "explain_search", "facts_from_authors",
        "find_ids", "forget_entity", "list_entities", "matching_facts", "missing_words",
        "nearest_facts",
        "order_by_time", "rebuild_documents", "record_recalls", "refresh_search_statistics",
        "relate_entities", "related_facts", "search_memory", "search_terms", "store_facts",
        "update_fact",
    },
    "shared": {
        "claim_rows", "fact", "has_several_authors", "has_several_people", "named_by_id",
        "present_begin", "replace_fact", "retype_node",
    },
    "trail": {
        "apply_undo", "claim_events", "claim_kept", "events_to_undo", "find_touched",
        "former_facts", "keep_undone", "record_undone", "revert_undo", "set_fact",
        "withdraw_words",
    },
    "vectors": {
        "claim_pending_embeddings", "embedding_progress",
        "fill_pending_embeddings", "queue_embeddings",
    },
}  # fmt: skip

# A relation and its statement differ in nothing that both have.
DIFFERENCES: LiteralString = """
    select r.id from relation r
    left join observation o on o.space_id = r.space_id and o.relation_id = r.id
    where (r.from_entity, r.valid_from, r.valid_until, r.created_at)
            is distinct from (o.entity_id, o.valid_from, o.valid_until, o.created_at)
        or (r.author_id, r.client, r.tool, r.request)
            is distinct from (o.author_id, o.client, o.tool, o.request)
"""


# Each is 1 if an entity has one fact and two relations with the same vector.
COUNTS_OF_FACTS: tuple[LiteralString, ...] = (
    "select facts from memory_entities where name = 'Ana'",
    "select facts from memory_statistics()",
    "select valid_facts from memory_statistics()",
    "select facts from list_spaces()",
    "select total_observations from describe_entity('Ana')",
    "select count(*) from memory_observations",
    "select count(*) from memory_timeline",
    "select sum(facts) from memory_growth",
    "select count(*) from as_of(now())",
    "select count(*) from memory_diff(now() - interval '1 day')",
    "select count(*) from export_facts(1)",
    "select facts from node_sizes('Ana')",
    "select cardinality(list_observations(1, id)) from entity where name = 'Ana'",
    "select count(*) from read_graph() where kind = 'observation'",
    "select count(*) from entity_context('Ana') where kind = 'fact'",
    "select facts from forget_entity('Ana', dry_run => true)",
    "select 1 + count(*) from similar_observations('Ana', 1)",
    "select 1 + count(*) from memory_duplicates",
    "select 1 + count(*) from near_facts(0.1)",
    "select 1 + count(*) from similar_to('sings')",
)


def relate(sql: Sql, source: str, relation: str, target: str) -> str:
    [row] = ask(
        sql, "select relation_id::text from relate_entities(%s, %s, %s)", source, relation, target
    )
    return row[0]


def search(sql: Sql, query: str) -> list[tuple[Any, ...]]:
    return ask(
        sql,
        "select entity_name, content, relation_type, to_entity, to_entity_type"
        " from search_memory(%s)",
        query,
    )


def test_facts_are_read_from_the_view_unless_statements_are_meant() -> None:
    reads = re.compile(r"\b(?:from|join) (?:textrawl\.)?observation\b")
    found = {
        folder: {
            file.stem
            for file in (SQL_FOLDER / folder).glob("*.sql")
            # Examples in comments may name the table.
            if reads.search(file.read_text("utf-8").split("\ncomment on")[0])
        }
        for folder in [*READERS_OF_STATEMENTS, "analytics", "views"]
    }
    assert found == READERS_OF_STATEMENTS | {"analytics": set(), "views": set()}


def test_a_relation_is_found_by_its_words_from_both_of_its_ends(sql: Sql) -> None:
    relate(sql, "Jeff", "works at", "Acme Corp")
    relate(sql, "Ana", "lives_in", "Oslo")

    statement = ("Jeff", "works at Acme Corp", "works_at", "Acme Corp", "concept")
    assert search(sql, "where does Jeff work?")[0] == statement
    assert search(sql, "who is working at Acme?")[0] == statement
    assert search(sql, "who lives in Oslo?")[0][:2] == ("Ana", "lives in Oslo")


def test_a_label_in_camel_case_is_stated_in_words(sql: Sql) -> None:
    sql.execute("""select create_nodes('[{"name": "Ana"}, {"name": "Jeff"}]')""")
    sql.execute(
        """select create_edges('[{"from": "Ana", "relation": "reportsTo", "to": "Jeff"}]')"""
    )

    assert search(sql, "who reports to Jeff?") == [
        ("Ana", "reports to Jeff", "reportsTo", "Jeff", "concept")
    ]


def test_a_statement_has_the_author_and_the_instants_of_its_relation(sql: Sql) -> None:
    sql.execute("select relate_entities('Jeff', 'knows', 'Ana', client => 'c 1', tool => 't')")
    relate(sql, "Ana", "contains", "Jeff")
    relate(sql, "Jeff", "part_of", "Ana")

    assert ask(sql, DIFFERENCES) == []
    sql.execute("select end_edge(node_number(id)) from relation where relation_type = 'contains'")

    assert ask(sql, "select count(*) from observation where valid_until is not null") == [(2,)]
    assert ask(sql, DIFFERENCES) == []


def test_a_relation_that_ended_is_found_as_of_before(sql: Sql) -> None:
    relation = relate(sql, "Jeff", "works_at", "Acme Corp")
    [(before,)] = ask(sql, "select clock_timestamp()")
    sql.execute("select end_edge(node_number(%s))", (relation,))

    assert search(sql, "where does Jeff work?") == []
    assert ask(
        sql, "select to_entity from search_memory('where does Jeff work?', as_of => %s)", before
    ) == [("Acme Corp",)]


def test_a_statement_goes_with_either_end_and_with_its_relation(sql: Sql) -> None:
    for source, target in (("Jeff", "Acme"), ("Ana", "Acme"), ("Ana", "Jeff"), ("Ana", "Bo")):
        relate(sql, source, "knows", target)
    statements = "select content from observation order by content"

    sql.execute("select forget_entity('Acme')")
    assert ask(sql, statements) == [("knows Bo",), ("knows Jeff",)]
    sql.execute("select forget_entity('Ana', dry_run => true)")
    sql.execute("""select delete_edges('[{"from": "Ana", "relation": "knows", "to": "Bo"}]')""")
    assert ask(sql, statements) == [("knows Jeff",)]
    sql.execute("select forget_entity('Ana')")
    assert ask(sql, statements) == []


@pytest.mark.parametrize("forget", ["select forget_entity('Zaphod')", """
    select delete_edges('[{"from": "Ana", "relation": "adores", "to": "Zaphod"}]')
"""])  # fmt: skip
def test_words_of_a_forgotten_relation_leave_the_statistics_of_search(
    sql: Sql, forget: LiteralString
) -> None:
    tell(sql, "Ana", "sings")
    relate(sql, "Ana", "adores", "Zaphod")
    sql.execute("select refresh_search_statistics(true)")
    words: LiteralString = "select word from lexeme where word in ('ador', 'zaphod')"
    assert len(ask(sql, words)) == 2

    sql.execute(forget)

    assert ask(sql, words) == []


def test_nothing_that_lists_or_counts_facts_tells_statements(sql: Sql) -> None:
    sql.execute("select register_embedding_model('test:model', 2)")
    tell(sql, "Ana", "sings", model=1, embedding="[1,0]")
    for target in ("Jeff", "Bo"):
        sql.execute(
            "select relate_entities('Ana', 'sings', %s, model => 1, embedding => '[1,0]')",
            (target,),
        )
    assert ask(sql, "select count(*) from embedding_1") == [(3,)]

    for query in COUNTS_OF_FACTS:
        assert ask(sql, query) == [(1,)], query
    assert tell(sql, "Ana", "sings Bo") not in [
        str(id) for (id,) in ask(sql, "select id from relation")
    ]


def test_an_undo_and_its_reversal_take_statements_along(sql: Sql) -> None:
    relation = relate(sql, "Jeff", "works_at", "Acme Corp")
    sql.execute("select end_edge(node_number(%s))", (relation,))
    relate(sql, "Jeff", "works_at", "Blue Inc")

    [(undo,)] = ask(sql, "select undo_id from undo_author(session_user, now() - interval '1 hour')")
    assert ask(sql, "select from observation") == []
    sql.execute("select revert_undo(%s)", (undo,))

    assert [found[3] for found in search(sql, "where does Jeff work?")] == ["Blue Inc"]
    assert ask(sql, "select count(*) from observation where relation_id is not null") == [(2,)]
    assert ask(sql, DIFFERENCES) == []


def test_an_import_of_relations_states_them_anew(sql: Sql) -> None:
    for target in ("Ana", "Bo"):
        sql.execute("select end_edge(node_number(%s))", (relate(sql, "Jeff", "knows", target),))
        relate(sql, "Jeff", "knows", target)
    [(entities, relations)] = ask(
        sql,
        """
        with place as (select '{"place": 1, "space": 1}'::jsonb as place)
        select (select jsonb_agg(to_jsonb(e) || place) from export_entities(1) e),
               (select jsonb_agg(to_jsonb(r) || place) from export_relations(1) r)
        from place
        """,
    )
    before = "select id, content, valid_until from observation order by id"
    stated = ask(sql, before)
    sql.execute("delete from entity")
    assert ask(sql, before) == []

    sql.execute("select import_entities(%s)", (Jsonb(entities),))
    sql.execute("select import_relations(%s)", (Jsonb(relations),))

    assert ask(sql, before) == stated
    assert ask(sql, DIFFERENCES) == []


def test_servers_and_the_upkeep_embed_the_same_words(sql: Sql) -> None:
    sql.execute("select register_embedding_model('test:model', 2)")
    relate(sql, "Jeff", "works_at", "Acme Corp")

    [(name, content)] = ask(sql, "select entity_name, content from claim_pending_embeddings(1)")

    assert f"{name}: {content}" == compose_edge(Edge("Jeff", "works_at", "Acme Corp"))


def test_a_vector_that_comes_with_a_relation_is_stored_at_once(sql: Sql) -> None:
    sql.execute("select register_embedding_model('test:model', 2)")
    sql.execute("""select build_knowledge(
        relations => '[{"from": "Ana", "relation": "knows", "to": "Bo"},
                       {"from": "Ana", "relation": "knows", "to": "Bo"},
                       {"from": "Bo", "relation": "knows", "to": "Ana"}]',
        model => 1, relation_embeddings => array['[1,0]', '[1,0]', '[0,1]']::halfvec[])""")

    assert ask(sql, "select count(*) from embedding_pending") == [(0,)]
    assert ask(
        sql,
        "select e.name, v.vector::text from embedding_1 v"
        " join observation o on o.id = v.observation_id join entity e on e.id = o.entity_id"
        " order by 1",
    ) == [("Ana", "[1,0]"), ("Bo", "[0,1]")]


def test_a_question_finds_the_facts_behind_the_relation_that_it_asks_for(sql: Sql) -> None:
    relate(sql, "Ada", "works_for", "Korund")
    old = relate(sql, "Ada", "works_for", "Old Inc")
    relate(sql, "Ada", "has_met", "Ben")
    relate(sql, "Cleo", "works_for", "Other Inc")
    sql.execute("select end_edge(node_number(%s))", (old,))
    tell(sql, "Korund", "sits in Graz", type="organization")
    for entity in ("Old Inc", "Other Inc", "Ben"):
        tell(sql, entity, "sits in Rome")
    sql.execute("insert into space (name) values ('other')")
    sql.execute("""select relate_entities(
        from_entity => 'Ada', relation => 'works_for', to_entity => 'Spy', space => 2)""")
    tell(sql, "Spy", "hides in Paris", space=2)

    found = "select content from search_memory(%s, array[1], least_score => 0, neighbours => false)"
    for question in ("where is the firm that Ada works for?", "what about Ada's organization?"):
        contents = [content for (content,) in ask(sql, found, question)]
        assert "sits in Graz" in contents, question
        assert not {"sits in Rome", "hides in Paris"} & {*contents}, question


def test_a_question_finds_the_relation_behind_the_relation_that_it_asks_for(sql: Sql) -> None:
    for leader, firm, worker in (("Grace", "Korund", "Ada"), ("Carl", "Other Inc", "Ben")):
        relate(sql, leader, "leads", firm)
        relate(sql, worker, "works_for", firm)
        tell(sql, firm, "sits in Graz", type="organization")

    found = "select entity_name, content from search_memory(%s, neighbours => false) limit 1"
    for worker, answer in (("Ada", "Grace"), ("Ben", "Carl")):
        [(name, content)] = ask(sql, found, f"who leads the company that {worker} works for?")
        assert (name, content.split()[0]) == (answer, "leads")
    [(name, _)] = ask(sql, found, "who works for the company that Grace leads?")
    assert name == "Ada"
