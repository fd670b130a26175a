"""What the graph tools do in SQL: rights, the trail, and taking back."""

import psycopg
from psycopg.conninfo import make_conninfo

from tests.support.tool_calls import count
from textrawl.embedded.postmaster import APP

NODES = """[{"name": "Ada", "type": "Engineer", "observations": ["leads QA", "sings"]},
            {"name": "Atlas", "type": "Proyecto"}]"""
EDGES = '[{"from": "Ada", "to": "Atlas", "relation": "worksOn"}]'
WRITES = (
    "create_nodes('[]')", "create_edges('[]')", "add_observations('[]')", "delete_nodes('{}')",
    "delete_observations('[]')", "delete_edges('[]')", "end_edge(1)",
    "add_reflection('global', 'x', 'y')", "split_node('Ada', '[]')",
)  # fmt: skip
READS = (
    "read_graph()", "open_nodes('{Ada}')", "search_nodes('a')", "search_reflections('a')",
    "node_sizes()", "similar_observations()", "compared_observations()", "stale_nodes()",
)  # fmt: skip


def read(sql: psycopg.Connection) -> list[tuple[object, ...]]:
    return sql.execute(
        "select name, entity_type, content, from_entity, relation, to_entity from read_graph()"
    ).fetchall()


def test_what_was_added_to_the_graph_is_taken_back_and_comes_back(sql: psycopg.Connection) -> None:
    sql.execute("select create_nodes(%s)", (NODES,))
    sql.execute("select create_edges(%s)", (EDGES,))
    before = read(sql)
    undone = sql.execute(
        "select undo_id, removed, dropped from undo_author(session_user, now() - interval '1 hour')"
    ).fetchone()

    assert undone is not None
    assert undone[1:] == (3, 2)
    assert read(sql) == []
    assert count(sql, "observation") == count(sql, "relation") == 0
    sql.execute("select revert_undo(%s)", undone[:1])
    assert read(sql) == before


def test_every_write_is_a_line_of_the_trail(sql: psycopg.Connection) -> None:
    sql.execute("select create_nodes(%s)", (NODES,))
    sql.execute("select create_edges(%s)", (EDGES,))
    sql.execute("""select add_observations('[{"entity": "ada", "observations": ["sings"]}]')""")
    sql.execute("""select create_nodes('[{"name": "Ada", "type": "Singer"}]')""")
    sql.execute("select end_edge(node_number(id)) from relation")
    sql.execute("""select split_node('Ada', '[{"name": "Voice", "observations": ["sings"]}]')""")
    sql.execute("select add_reflection('global', 'it is well', 'ada')")
    gone = '[{"entity": "Ada", "observations": ["leads QA"]}]'
    sql.execute("select delete_observations(%s)", (gone,))
    sql.execute("select delete_edges(%s)", (EDGES,))
    sql.execute("select delete_nodes('{Atlas}')")

    actions = [action for (action,) in sql.execute("select action from event order by id")]
    assert actions == [
        "created", "created", "remembered", "remembered", "related", "repeated", "retyped", "ended",
        "created", "moved", "related", "related", "reflected", "forgotten", "forgotten",
        "forgotten",
    ]  # fmt: skip


def test_what_is_deleted_is_gone_from_what_an_undo_keeps_as_well(sql: psycopg.Connection) -> None:
    sql.execute("select create_nodes(%s)", (NODES,))
    sql.execute("select undo_author(session_user, now() - interval '1 hour')")
    assert count(sql, "undone") > 0

    deleted = sql.execute("select * from delete_nodes('{Ada,Atlas,Nobody}')").fetchall()

    assert deleted == [("Ada", True), ("Atlas", True), ("Nobody", False)]
    assert count(sql, "undone") == 0


def test_graph_functions_ask_for_a_token_that_may(sql: psycopg.Connection) -> None:
    sql.execute("select create_nodes(%s)", (NODES,))
    sql.execute("select create_space('other')")
    sql.execute("select create_token(sha256('x'), 'trl_x', 'eve', 'other', '{read,write,forget}')")
    sql.execute("select create_token(sha256('r'), 'trl_r', 'rob', 'default', '{read}')")

    with psycopg.connect(make_conninfo(sql.info.dsn, user=APP), autocommit=True) as application:
        application.execute("set search_path = textrawl, public")

        def find_refusal(call: str, given: str) -> str | None:
            within = call[:-1] + (", " if call[-2] != "(" else "")
            try:
                application.execute(f"select * from {within}{given})".encode())  # noqa: S608
            except psycopg.Error as error:
                return error.sqlstate
            return None

        for call in (*WRITES, *READS):
            assert find_refusal(call, "credential => sha256('unknown')") == "TR010", call
            elsewhere = find_refusal(call, "credential => sha256('x'), space => 1")
            assert elsewhere in ("TR010", "TR011"), call
            reading = find_refusal(call, "credential => sha256('r')")
            assert reading == (None if call in READS else "TR011"), call
