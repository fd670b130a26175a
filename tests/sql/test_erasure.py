"""Erasures: nothing that is about or by a person stays, in no table, and a receipt says so."""

import json
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from tests.sql.sessions import Three
from tests.sql.test_undo_kept import find_tables_that_hold
from tests.support.sql_team import Team
from textrawl.embedded.postmaster import SUPERUSER

NAME, FIRST, LAST = "Zyxo Quavar", "zyxo", "quavar"
# The name stands in every argument that takes a text, in facts of others too.
# ~ is the name, and # a form of it for paths and ids.
_PLANT: tuple[LiteralString, ...] = (
    "select register_embedding_model('test:three', 3)",
    "select remember_fact(~, 'person', 'likes tea', client => ~, request => ~, model => 1,"
    " embedding => '[1,0,0]')",
    "select remember_fact('Team', 'project', 'is led by ' || ~, client => ~, request => ~)",
    "select remember_fact('Team', 'project', 'wears green')",
    "select remember_fact('Team', 'project', 'wears blue')",
    "select revise_fact('Team', 'wears blue', 'said ' || ~, client => ~, request => ~)",
    "select remember_fact('Desk of ' || ~, 'concept', 'is tidy')",
    "select remember_fact('Room', 'location', 'is warm')",
    "select remember_fact('Room 2', 'location', 'is warmer')",
    "select remember_fact('Room 3', 'place of ' || ~, 'is warmest')",
    "select remember_fact(~ || ' 2', 'location', 'is cold')",
    "select set_description(~ || ' 2', 'where ' || ~ || ' sits', space => 1)",
    "select set_description('Room', 'where ' || ~ || ' sits', space => 1)",
    "select dismiss_candidates('same', array[e.id, f.id], client => ~, request => ~)"
    " from entity e, entity f where e.name = 'Room' and f.name = 'Room 2'",
    "select name_entity('Team', 'people of ' || ~, client => ~, request => ~)",
    "select name_entity(~, 'zq@example.org')",
    "select relate_entities(~, 'leads', 'Team', client => ~, request => ~)",
    "select relate_entities('Room', 'known to ' || ~, 'Team')",
    "select relate_entities('Room 2', 'next to', 'Room', client => ~, request => ~)",
    "select add_reflection('global', 'on ' || ~, ~, ~, client => ~, request => ~)",
    "select write_graph(jsonb_build_array(jsonb_build_object('label', 'Node', 'type', 'thing',"
    " 'memory', ~, 'properties', jsonb_build_object('of', ~))), instance => ~)",
    "select write_graph(jsonb_build_array(jsonb_build_object('label', ~, 'type', 'thing')))",
    "select write_graph('[]', jsonb_build_array(jsonb_build_object('from', 'Node', 'to', 'Room',"
    " 'type', 'is_in', 'evidence', ~ || ' says so', 'properties', jsonb_build_object('of', ~))),"
    " instance => ~)",
    "select write_graph(jsonb_build_array(jsonb_build_object('label', 'Bridge', 'type', 'thing')),"
    " jsonb_build_array(jsonb_build_object('from', 'Bridge', 'to', ~, 'type', 'near')))",
    "select merge_entities('Room', ~ || ' 2')",
    "select relate_entities('Room', 'near', 'Room 5')",
    "select merge_entities('Room 5', 'Room 3')",
    "select update_node(id, '{\"memory\": \"none\"}') from entity where name = 'Node'",
    "select update_node(id, jsonb_build_object('memory', ~)) from entity where name = 'Node'",
    "select remember_fact('Room 4', 'place of ' || ~, 'is hot')",
    "update entity set description = 'as ' || ~ where name = 'Room 2'",  # as an import does
    "select create_edges(jsonb_build_array(jsonb_build_object('from', 'Room', 'to', 'Room 2',"
    " 'relation', 'Seen by ' || ~)))",
    "select save_memory(to_jsonb('the door is blue'::text), tags => array[lower(~)],"
    " entities => array['Door', ~], source => ~, context => ~,"
    " extra => jsonb_build_object('of', ~))",
    "select mark_promoted(observation_id, 'notes/#.md') from retention limit 1",
    "select link_memories(o.id, p.id, 'related', metadata => jsonb_build_object('of', ~))"
    " from fact o, fact p where o.content = 'wears green' and p.content = 'is warm'",
    "select register_instance('#', 'other', ~, ~)",
    "select write_entry('daily', '2026-05-01', E'a day with\\n' || ~, '#', editor => ~,"
    " chat_ids => array[~], participants => array[~], client => ~, request => ~)",
    "select write_entry('significant', '2026-05-01', 'a day', 'pc', slug => '#')",
    "select write_entry('daily', '2026-05-02', repeat('long days ', 10), 'pc', extracting => true)",
    "select propose_extraction(space_id, document_id, version, jsonb_build_array("
    "jsonb_build_object('entity', 'Team', 'observation', 'is big', 'evidence', ~ || ' says so'),"
    "jsonb_build_object('entity', 'Team', 'observation', 'is old', 'evidence', 'as ' || ~)), '[]')"
    " from extraction_pending",
    "select decide_proposals(array[id::text], 'accept') from proposal where content = 'is old'",
    "select delay_extraction(1, gen_random_uuid(), 1, 'not of ' || ~)",
    "select write_identity('custom', '#.md', ~ || ' likes tea', client => ~, request => ~)",
    "select write_identity('custom', 'tone.md', 'as ' || ~, client => ~, request => ~)",
    "select create_snapshots(source => ~)",
    "select write_identity('custom', 'tone.md', 'plain', client => ~, request => ~)",
    "select write_identity('custom', '#-2.md', 'plain')",
    "select delete_identity('#-2.md', 'custom')",
    "select put_item(array['users', ~], ~, json_build_object('of', ~), json_build_object('of', ~))",
    "select put_item(array['users'], 'a', json_build_object('of', E'x\\n' || ~))",
    "select append_log(array['logs'], json_build_array(~))",
    "select create_space('library')",
    "select change_tier('library', 'personal')",
    "select store_source('library', 'file/#-2.md', 'old', 'old', '[[1, 0, 3, 3]]',"
    " repeat('d', 64))",
    "select forget_source(document_id) from source where label = 'old'",
    "select store_source('library', 'file/#.md', ~, 'of ' || ~, '[[1, 0, 14, 3]]',"
    " repeat('a', 64))",
    "select store_source('library', 'file/book.md', 'book', 'green. ' || ~ || '. blue.',"
    " '[[1, 0, 7, 3], [2, 7, 13, 3], [3, 20, 5, 3]]', repeat('b', 64))",
    "select store_item('library', 'chatgpt', start_import('library', 'chatgpt'), ~,"
    " 'import/chatgpt/1', 'chat', 'plain', '[[1, 0, 5, 3]]', repeat('c', 64), 'ai-conversation')",
    "select propose_correction(document_id, 1, 'green. ', 'as ' || ~, 'ask ' || ~, client => ~,"
    " request => ~) from source where label = 'book'",
    "select propose_correction(document_id, 2, ~ || '. ', 'x', 'x')"
    " from source where label = 'book'",
    "select record_recalls(jsonb_build_array(jsonb_build_object('space', 1, 'at', now(),"
    " 'query', 'who is ' || ~, 'client', ~, 'mode', 'search', 'structured', false, 'hits', 1,"
    " 'found', '{}'::jsonb, 'format', 'compact', 'tokens', 1, 'budget', 10, 'items', 1,"
    " 'dropped', 0, 'milliseconds', 1)))",
    "select record_recalls(jsonb_build_array(jsonb_build_object('space', 1, 'at', now(),"
    " 'query', 'who is it', 'client', ~, 'mode', 'search', 'structured', false, 'hits', 1,"
    " 'found', '{}'::jsonb, 'format', 'compact', 'tokens', 1, 'budget', 10, 'items', 1,"
    " 'dropped', 0, 'milliseconds', 1)))",
    "insert into summary (space_id, entity_id) select space_id, id from entity where name = 'Node'",
    "select remember_fact('Node', 'concept', 'holds')",
    "select store_summary(entity_id, null, jsonb_build_array(jsonb_build_object('fact', id,"
    " 'content', 'of ' || ~)), 'llm') from fact where content = 'holds'",
    "select add_webhook('default', 'https://#.example.org/#')",
    "select refresh_search_statistics(true)",
)


_PROPOSED: tuple[LiteralString, ...] = (
    "select remember_fact(~, 'kind of ' || ~, 'is ' || ~, replaces => ~, client => ~,"
    " request => ~, credential => %(pat)s, space => %(space)s)",
    "select relate_entities(~, 'likes ' || ~, ~ || ' 2', 'of ' || ~, 'of ' || ~, client => ~,"
    " request => ~, credential => %(pat)s, space => %(space)s)",
    "select remember_fact('Team', 'project', 'is small', credential => %(pat)s,"
    " space => %(space)s)",
    "select decide_proposals(array[id::text], 'reject', 'as ' || ~ || ' said') from proposal"
    " where content = 'is small'",
    "update proposal set repository = 'github.com/#/api', anchors = array['#.md 0123456789abcdef']"
    " where content = 'is small'",
    "update observation set repository = 'github.com/#/api', anchors = array['https://#.org']"
    " where content = 'is warm'",
    "insert into space_statistics (space_id, facts, lives)"
    " select id, 1, jsonb_build_object('attr #', 9) from space where name = 'team'"
    " on conflict (space_id) do update set lives = excluded.lives",
)
_TEXTS: LiteralString = """
    select c.relname || '.' || a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'textrawl'::regnamespace and c.relkind = 'r' and a.attnum > 0
      and a.atttypid = any('{text,text[],jsonb}'::regtype[]) and not exists (
        select from pg_constraint k where k.conrelid = c.oid and a.attnum = any(k.conkey)
          and (k.contype = 'f' or pg_get_constraintdef(k.oid) like '%ARRAY[%'))"""
# Columns without a fixed list of values that hold no text of callers, or stay by decision.
_WITHOUT_TEXTS = """
    migration.name migration.hash code.fingerprint word_form.stem word_form.other word_form.language
    ranking_weight.model ranking_weight.feature
    embedding_model.name space.name space.language document_rebuild.former_languages
    actor.role_name token.prefix token.issuer consolidation.period document.kind
    document_tombstone.kind entity_alias.tool event.tool event.action relation.tool observation.tool
    observation.period
    reflection.tool revision.tool dismissal.tool document_version.tool proposal.tool llm_use.model
    llm_use.purpose llm_use.error import_run.system imported_item.system imported_item.digest
    source.content_hash recall.query_hash undone.after webhook.last_error erasure.receipt
    graph_node.label graph_node.label_key journal_entry.date observation.entity_type
    merge.former recall.format recall.mode proposal.llm summary.llm"""


def plant(sql: psycopg.Connection, team: Team) -> None:
    """Name the person in every text: of a team, of the default space and of a graph."""
    since = team.now()
    team.remember("eve", NAME, "hates tea")
    team.relate("eve", NAME, "knows", "Bob")
    team.undo("eve", since)
    team.remember(NAME, "Acme", "has a lift")
    given = {"name": NAME, "pat": team.credential("pat", "propose"), "space": team.space}
    for statement in _PLANT + _PROPOSED:
        sql.execute(statement.replace("~", "%(name)s::text").replace("#", "zyxo-quavar"), given)  # pyright: ignore[reportArgumentType]


def find_columns_that_hold(sql: psycopg.Connection, text: str) -> set[str]:
    """Columns of texts with a text, in capitals or not."""
    names = {name for (name,) in sql.execute(_TEXTS)}
    held: set[str] = set()
    for name in names:
        table, _, column = name.partition(".")
        query = f"select 1 from {table} where {column}::text ~* '{text}' limit 1"  # noqa: S608
        held |= {name} if sql.execute(query.encode()).fetchone() else set()
    assert names - held <= set(_WITHOUT_TEXTS.split()), names - held - set(_WITHOUT_TEXTS.split())
    return held


def erase(sql: psycopg.Connection, name: str = NAME, **options: object) -> list[Any]:
    """The rows of erase_person: space, number of rows, receipt."""
    given = "".join(f", {option} => %({option})s" for option in options)
    query = f"select * from erase_person(%(person)s{given})"  # noqa: S608
    return sql.execute(query, {"person": name, **options}).fetchall()  # pyright: ignore[reportArgumentType, reportCallIssue]


def verify(sql: psycopg.Connection, receipt: Any) -> str:
    """What verify_erasure says about a receipt."""
    [row] = sql.execute("select verify_erasure(%s::jsonb)", (json.dumps(receipt),)).fetchall()
    return row[0]


def read_facts(sql: psycopg.Connection) -> set[str]:
    return {text for (text,) in sql.execute("select content from observation")}


def read_reasons(sql: psycopg.Connection) -> set[str]:
    return {text for (text,) in sql.execute("select reason from revision")}


def test_nothing_of_a_person_stays_in_any_table(sql: psycopg.Connection) -> None:
    plant(sql, team := Team(sql))
    find_columns_that_hold(sql, FIRST)
    facts = read_facts(sql)
    number = team.fetch("select sum(rows) from erasure_plan(%s) where action <> 'stay'", NAME)

    rows = erase(sql)

    assert [name for name, _, _ in rows] == ["default", "team", "library"]
    assert sum(count for _, count, _ in rows) == number
    held = find_tables_that_hold(sql, FIRST) + find_tables_that_hold(sql, LAST)
    assert held == [], held
    assert {"wears green", "is warm", "is old", "is big", "green. ", "blue."} - read_facts(sql) == {
        "is big"
    }
    assert "Seen by zyxo quavar Room 2" not in read_facts(sql) < facts
    assert team.fetch("select count(*) from entity where name = 'Bridge'") == 1
    assert [verify(sql, receipt) for _, _, receipt in rows] == ["valid"] * 3
    assert erase(sql) == []
    # An undo of the time before brings nothing back, and the trail tells who erased.
    sql.execute("select revert_undo(id) from undo where reverted_at is null and purged_at is null")
    team.undo_if_any("eve", team.fetch("select min(at) from event"))
    assert find_tables_that_hold(sql, FIRST) == []
    erased = "select count(*) from event where action = 'erased' and detail ? 'erasure'"
    assert sql.execute(erased).fetchone() == (3,)


def find_statistics(sql: psycopg.Connection, *words: str) -> list[str]:
    """Return the columns whose statistics hold a word. Only a superuser sees all of them."""
    query = """
        select distinct s.tablename || '.' || s.attname
        from pg_stats s
        where s.schemaname = 'textrawl' and concat_ws(' ', s.most_common_vals::text,
            s.histogram_bounds::text, s.most_common_elems::text) ilike any(%s) order by 1"""
    with psycopg.connect(make_conninfo(sql.info.dsn, user=SUPERUSER)) as superuser:
        patterns = [f"%{word}%" for word in words]
        return [name for (name,) in superuser.execute(query, (patterns,)).fetchall()]


def is_emptied(sql: psycopg.Connection, column: str) -> bool:
    """Whether the table of a column has no rows. PostgreSQL 16 and 17 then keep its statistics."""
    table = Identifier(column.partition(".")[0])
    empty = sql.execute(SQL("select from {} limit 1").format(table)).fetchone() is None
    return empty and sql.info.server_version < 180000


def test_nothing_of_a_person_stays_in_the_statistics_of_postgres(sql: psycopg.Connection) -> None:
    plant(sql, Team(sql))
    words = (FIRST, LAST, LAST[:5], "zq@")
    sql.execute("analyze")
    assert {"observation.content", "entity.name", "event.detail"} < {*find_statistics(sql, *words)}

    erase(sql)

    held = find_statistics(sql, *words)
    assert [column for column in held if not is_emptied(sql, column)] == []


def test_an_erasure_that_is_applied_again_leaves_nothing_in_the_statistics(
    sql: psycopg.Connection,
) -> None:
    plant(sql, Team(sql))
    receipts = [json.dumps(receipt) for *_, receipt in erase(sql)]
    # As an import of an older file brings it back.
    sql.execute("select remember_fact('Team', 'project', 'is led by ' || %s)", (NAME,))
    sql.execute("select remember_fact(%s, 'person', 'is back')", (NAME,))
    sql.execute("update observation set created_at = '2020-01-01' where content = 'is back'")
    sql.execute("analyze")
    assert find_statistics(sql, "is back") != []

    done = {
        state
        for receipt in receipts
        for (state,) in sql.execute("select apply_erasure(%s::jsonb)", (receipt,)).fetchall()
    }

    assert "applied" in done
    assert find_statistics(sql, "is back") == []


def test_what_others_wrote_or_what_the_person_wrote_about_others_can_stay(
    sql: psycopg.Connection,
) -> None:
    team = Team(sql)
    team.remember("ana", "Zoe", "likes tea")
    team.remember("ana", "Acme", "is led by Zoe")
    team.remember("Zoe", "Zoe", "hates tea")
    team.remember("Zoe", "Acme", "has a lift")
    plan = {
        (row[0], row[1])
        for row in sql.execute(
            "select by_person, unnest(sample) from erasure_plan('Zoe') where kind = 'observation'"
        )
    }
    sql.execute("begin")
    erase(sql, "Zoe", keep="others")
    others = read_facts(sql)
    sql.execute("rollback")
    [(_, _, receipt)] = erase(sql, "Zoe", keep="own")

    assert plan == {
        (True, "hates tea"), (True, "has a lift"),
        (False, "likes tea"), (False, "is led by Zoe"),
    }  # fmt: skip
    assert others == {"likes tea", "is led by Zoe"}
    assert read_facts(sql) == {"has a lift"}
    assert receipt["counts"]["observation"] == {"rows": 3, "by_others": 2}
    author = "select a.name ~ '^erased-' from actor a join observation o on o.author_id = a.id"
    assert sql.execute(author).fetchall() == [(True,)]


def test_of_reasons_those_are_redacted_that_the_plan_names(sql: psycopg.Connection) -> None:
    team = Team(sql)
    for actor, fact, reason in (("Zoe", "was blue", "is green"), ("ana", "was red", "Zoe said so")):
        team.remember("ana", "Acme", fact)
        query = "select entity_id from revise_fact('Acme', %s, %s, credential => %s, space => %s)"
        team.fetch(query, fact, reason, team.credential(actor), team.space)
    left = list[set[str]]()
    for options in ({"keep": "others", "space": team.space}, {"keep": "own"}, {}):
        sql.execute("begin")
        [(_, _, receipt)] = erase(sql, "Zoe", **options)
        left.append(read_reasons(sql))
        sql.execute("rollback")
        assert receipt["counts"]["revision redacted"]["rows"] == 2 - len(left[-1] - {"[erased]"})
        # Only an erasure from all spaces renames the actor.
        assert receipt["renames"] == ("space" not in options)

    assert left == [{"[erased]", "Zoe said so"}, {"is green", "[erased]"}, {"[erased]"}]


def test_only_administrators_erase_and_only_in_their_spaces(sql: psycopg.Connection) -> None:
    team = Team(sql)
    team.remember("ana", "Zoe", "likes tea")
    sql.execute("select remember_fact('Zoe', 'person', 'is here too')")
    for scopes in (("read", "write", "forget", "review"), ("propose",)):
        reader = team.credential("ana", *scopes)
        for function in ("erase_person", "erasure_plan"):
            with pytest.raises(psycopg.Error) as refused:
                sql.execute(f"select * from {function}('Zoe', credential => %s)", (reader,))  # noqa: S608  # pyright: ignore[reportArgumentType]
            assert refused.value.sqlstate == "TR011"
    admin = team.credential("boss", "admin")
    seen = sql.execute(
        "select space_name, sample from erasure_plan('Zoe', credential => %s)", (admin,)
    )
    assert set(seen.fetchall()) == {("team", None)}  # an administrator who cannot read sees counts
    with pytest.raises(psycopg.Error, match="something else"):
        erase(sql, "Zoe", credential=admin, planned=json.dumps({team.space: "another plan"}))

    [(space, number, receipt)] = erase(sql, "Zoe", credential=admin)

    assert (space, number) == ("team", 2)
    assert read_facts(sql) == {"is here too"}
    assert "Zoe" not in json.dumps(receipt)
    assert receipt["by"] == team.fetch("select id from actor where name = 'boss'")
    assert "boss" not in json.dumps(receipt)
    assert verify(sql, receipt | {"by": 1}) == "altered"
    assert verify(sql, receipt | {"key": "0" * 16}) == "unknown"
    with pytest.raises(psycopg.Error, match="append-only"):
        sql.execute("update event set detail = '{}'")


def test_the_plan_says_that_an_actor_stays_unless_the_owner_erases_in_all_spaces(
    sql: psycopg.Connection,
) -> None:
    team = Team(sql)
    team.remember("Zoe", "Acme", "has a lift")
    sql.execute("select remember_fact('Zoe', 'person', 'is here too')")
    query = (
        "select space_name, rows from erasure_plan('Zoe', space => %s, credential => %s)"
        " where action = 'stay' and kind = 'actor'"
    )
    admin = team.credential("boss", "admin")
    erasures = [(None, None), (team.space, None), (None, admin), (1, None)]

    kept = [sql.execute(query, erasure).fetchall() for erasure in erasures]

    # Zoe wrote nothing in space 1, so its plan does not tell that Zoe writes elsewhere.
    assert kept == [[], [("team", 1)], [("team", 1)], []]


def test_short_names_and_another_plan_erase_nothing_in_any_space(sql: psycopg.Connection) -> None:
    team = Team(sql)
    team.remember("ana", "Zoe", "likes tea")
    sql.execute("select remember_fact('Zoe', 'person', 'is here too')")
    plan = team.fetch("select distinct fingerprint from erasure_plan('Zoe', space => 1)")
    for name in ("Al", "Zé", "Ян"):
        with pytest.raises(psycopg.Error, match="three letters") as refused:
            erase(sql, "Zoe", also=[name])
        assert refused.value.diag.message_detail == name
    with pytest.raises(psycopg.Error, match="something else"):
        erase(sql, "Zoe", planned=json.dumps({1: plan}))

    assert erase(sql, "王") == []  # a script without spaces
    assert read_facts(sql) == {"likes tea", "is here too"}


def test_a_receipt_erases_by_ids_where_its_key_is_gone_and_archived_spaces_are_named(
    sql: psycopg.Connection,
) -> None:
    team = Team(sql)
    team.remember("ana", "Zoe", "likes tea")
    team.remember("ana", "Acme", "is led by Zoe")
    team.remember("ana", "Acme", "has a lift")
    sql.execute("begin")
    [(_, _, receipt)] = erase(sql, "Zoe")
    sql.execute("rollback")
    # A backup of a version without erasures gets another secret when it is migrated.
    sql.execute("update receipt_secret set secret = sha256('x')")
    sql.execute("select archive_space('team')")
    signed = "select apply_erasure(%s, unsigned => false)"
    refused = sql.execute(signed, (json.dumps(receipt),)).fetchone()
    archived = "select space_name, action, kind, rows from erasure_plan('Zoe')"
    named, erased = sql.execute(archived).fetchall(), erase(sql, "Zoe")

    states = [
        sql.execute("select apply_erasure(%s)", (json.dumps(receipt),)).fetchone() for _ in range(2)
    ]

    assert refused == ("elsewhere",)
    assert (named, erased) == ([("team", "stay", "archived_space", 3)], [])
    assert states == [("applied",), ("elsewhere",)]
    assert find_tables_that_hold(sql, "zoe") == []
    assert read_facts(sql) == {"has a lift"}
    assert sql.execute(archived).fetchall() == []


@pytest.mark.slow
def test_an_erasure_that_is_killed_half_way_leaves_all_and_the_next_one_erases_once(
    sql: psycopg.Connection, three: Three
) -> None:
    gate, one, other = three
    plant(sql, Team(sql))
    before, events = read_facts(sql), sql.execute("select count(*) from event").fetchone()
    gate.hold("select from revision for update")  # one of the last rows that an erasure changes
    one.start("select receipt from erase_person(%s)", NAME)
    other.start("select receipt from erase_person(%s)", NAME)

    sql.execute("select pg_terminate_backend(%s)", (one.connection.info.backend_pid,))

    with pytest.raises(psycopg.Error, match="terminat"):
        one.end()
    assert (read_facts(sql), sql.execute("select count(*) from event").fetchone()) == (
        before,
        events,
    )
    gate.release()
    assert len(other.end()) == 3
    assert find_tables_that_hold(sql, FIRST) == []
