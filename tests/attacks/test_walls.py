"""What one space holds reaches nobody of another, not even past the server."""

from contextlib import suppress

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.attacks.site import add_spaces
from tests.conftest import Databases
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.errors import StartRefused
from textrawl.postgres.migrations import check

pytestmark = pytest.mark.anyio

UPKEEP = {
    "changed_watches",  # each watch has the credential of its client
    "claim_document_embeddings", "claim_pending_embeddings", "default_space",
    "fill_pending_embeddings", "embedding_models", "queue_embeddings", "rebuild_documents",
    "pending_embeddings", "prune_recalls", "record_recalls", "refresh_planner_statistics",
    "refresh_search_statistics",
    "prune_llm_use", "expire_proposals", "claim_extraction", "delay_extraction", "store_extraction",
    "propose_extraction",
    "record_extraction_use", "register_embedding_model", "release_pending_embeddings",
    "write_state",
}  # fmt: skip
"""What a server may do without a credential, on behalf of all."""


def test_the_servers_login_reads_no_row_of_any_table_without_a_credential(
    owner: psycopg.Connection, database_url: str
) -> None:
    add_spaces(owner)
    owner.execute("select register_embedding_model('test:model', 3)")
    for granted_by_mistake in (False, True):
        if granted_by_mistake:
            owner.execute("grant select on all tables in schema textrawl to textrawl_app")
            owner.execute("grant execute on function session_spaces to textrawl_app")
        with psycopg.connect(database_url, autocommit=True) as server:
            for (table,) in owner.execute(
                "select distinct c.relname from pg_class c"
                " join pg_attribute a on a.attrelid = c.oid"
                " where relnamespace = 'textrawl'::regnamespace and relkind in ('r', 'v')"
                " and relname <> 'migration'"
                " and attname in ('space_id', 'space', 'content', 'hash')"
            ).fetchall():
                statement = sql.SQL("select * from {}").format(sql.Identifier("textrawl", table))
                if granted_by_mistake:
                    with suppress(psycopg.errors.InsufficientPrivilege):  # of a view's functions
                        assert server.execute(statement).fetchall() == [], table
                else:
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        server.execute(statement)


def test_functions_give_the_servers_login_nothing_without_a_credential(
    owner: psycopg.Connection, database_url: str
) -> None:
    add_spaces(owner)
    with psycopg.connect(database_url, autocommit=True) as server:
        server.execute("set search_path = textrawl, public")
        assert server.execute("select * from search_memory('canary')").fetchall() == []
        assert server.execute("select * from describe_entity('Ada')").fetchall() == []
        assert server.execute("select * from similar_names('Canary')").fetchall() == []
        assert server.execute("select * from digest_memory('Canary')").fetchall() == []
        assert server.execute("select * from explain_search('canary')").fetchall() == []
        assert server.execute("select * from complete_name('')").fetchall() == []
        assert server.execute("select * from known_names(array['ada'])").fetchall() == []
        assert server.execute("select * from own_entities()").fetchall() == []
        assert server.execute("select * from set_own_entity('Ada')").fetchall() == []
        assert server.execute("select total from list_entities()").fetchone() == (0,)
        assert server.execute("select * from authenticate()").fetchall() == []
        for statement in (
            "select * from search_memory('canary', spaces => array[2, 3])",
            "select * from remember_fact('Ada', 'person', 'x', space => 2)",
            "select * from relate_entities('Ada', 'is', 'Bo', space => 2)",
            "select * from build_knowledge('[]', space => 2)",
            "select * from forget_entity('Ada', space => 2)",
            "select * from forget_entity('Ada', dry_run => true, space => 2)",
            "select * from grant_access('me', 'red', array['read'])",
            "select * from plan_undo('eve', '2020-01-01')",
        ):
            with pytest.raises(psycopg.DatabaseError) as refused:
                server.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue]
            assert refused.value.sqlstate == "TR011", statement


def test_the_servers_login_may_call_what_asks_for_a_credential_and_upkeep_alone(
    owner: psycopg.Connection,
) -> None:
    callable_ = owner.execute(
        "select proname, proargnames @> array['credential'] from pg_proc"
        " where pronamespace = 'textrawl'::regnamespace"
        " and has_function_privilege('textrawl_app', oid, 'execute')"
        " and provolatile <> 'i'"  # what reads only its arguments
    ).fetchall()
    of_no_memory = {"has_tokens", "owns_memory", "stop_words"}
    assert {name for name, asks in callable_ if not asks} == UPKEEP | of_no_memory


def test_every_table_with_spaces_is_closed_to_whoever_was_granted_nothing(
    owner: psycopg.Connection,
) -> None:
    owner.execute("select register_embedding_model('test:model', 3)")
    tables = owner.execute(
        "select relname::text, relrowsecurity and relforcerowsecurity,"
        " array(select polname::text from pg_policy where polrelid = c.oid order by 1)"
        " from pg_class c where relnamespace = 'textrawl'::regnamespace and relkind = 'r'"
        " and (relname in ('space', 'token') or exists (select from pg_attribute"
        " where attrelid = c.oid and attname = 'space_id'))"
    ).fetchall()
    reviewed = {key: ["owner", "proposals", "readers"] for key in ("event", "undone")}
    both = {name: ["owner", "readers"] for name, *_ in tables} | reviewed
    both |= {name: ["owner"] for name in ("token", "webhook")}
    assert {name: policies for name, _, policies in tables} == both
    assert all(forced for _, forced, _ in tables)
    assert {"observation", "embedding_1", "event", "recall", "undone"} <= set(both)


async def test_no_server_serves_from_a_login_that_no_wall_would_stop(
    postgres: Databases, database: str
) -> None:
    for login in (SUPERUSER, OWNER):
        with pytest.raises(StartRefused, match="textrawl migrate --login"):
            await check(postgres.cluster.dsn(login, database))
        await check(postgres.cluster.dsn(APP, database))


@pytest.mark.ordinary("an analyst of a cluster connects to a cell")
def test_an_analyst_sees_the_spaces_of_the_login_and_changes_nothing(
    owner: psycopg.Connection, postgres: Databases, database: str
) -> None:
    add_spaces(owner)
    administrator = postgres.cluster.dsn(SUPERUSER, database)
    with psycopg.connect(administrator, autocommit=True) as superuser:
        superuser.execute("set search_path = textrawl, public")
        superuser.execute("create role analyst_of_red login in role textrawl_analyst")
        try:
            owner.execute("select grant_access('ana', 'red', array['read'])")
            owner.execute("select bind_login('ana', 'analyst_of_red')")
            superuser.execute(_TAKE_BACK)
            superuser.execute("set session authorization analyst_of_red")
            _escape(superuser)
        finally:
            superuser.execute("reset session authorization")
            superuser.execute("update actor set role_name = null")
            superuser.execute("drop role analyst_of_red")


_TAKE_BACK = """
    with taken as (
        insert into undo (space_id, author_id, actor_id, since, events)
        select s.id, a.id, a.id, now(), '{}' from space s, actor a where a.name = 'ana'
        returning space_id, id)
    insert into undone (space_id, undo_id, action, kind, id, names, before)
    select t.space_id, t.id, 'remove', 'observation', gen_random_uuid(), '{ada}',
        jsonb_build_object('content', 'taken from ' || s.name)
    from taken t join space s on s.id = t.space_id
"""  # in every space
ESCAPES = (
    "insert into observation (content) values ('x')", "update observation set content = 'x'",
    "delete from observation", "truncate observation", "drop table observation",
    "alter table observation disable row level security", "drop policy readers on observation",
    "create policy mine on observation using (true)", "grant select on token to public",
    "select * from webhook", "select add_webhook('red', 'https://evil.example/')",
    "select * from receipt_secret", "select receipt_key(3)",
    "select * from token", "select hash from token", "select * from lexeme",
    "select role_name from actor", "select * from claim_pending_embeddings(1)",
    "select * from search_memory('canary', spaces => array[3])",
    "select * from describe_entity('Ada', spaces => array[3, 4])",
    "select * from remember_fact('Ada', 'person', 'x')", "select forget_entity('Ada')",
    "select open_local_access('ana')", "select create_token(sha256('x'), 'x', 'ana', 'red', null)",
    "select grant_access('ana', 'green', array['read'])", "select register_actor('x')",
    "select bind_login('ana', 'postgres')", "set role textrawl_owner", "set role textrawl_app",
    "create table textrawl.mine ()", "create function textrawl.f() returns int return 1",
    "copy observation to program 'cat'", "copy observation from stdin", "select pg_read_file('x')",
    "select lo_import('/etc/passwd')", "create extension dblink", "lock table observation",
    "select access_rights()", "select refuse_access(null, 'read')", "alter role postgres login",
    "set row_security = off; select * from observation",
)  # fmt: skip


def _escape(analyst: psycopg.Connection) -> None:
    """As analyst_of_red, in a superuser's connection that acts as that login."""
    seen = "select distinct space from memory_observations"
    assert analyst.execute(seen).fetchall() == [("red",)]
    found = analyst.execute(
        "select content from search_memory('canary', neighbours => false)"
    ).fetchall()
    assert sorted(found) == [("canary red",), ("hides",), ("knows Canary red",)]
    for table in ("space", "entity", "observation", "relation", "event"):
        column = "id" if table == "space" else "space_id"
        found = analyst.execute(f"select distinct {column} from {table}").fetchall()  # noqa: S608 # pyright: ignore[reportArgumentType, reportCallIssue]
        assert len(found) == 1, table
    for source in ("select before ->> 'content' from undone", "select content from memory_undone"):
        assert analyst.execute(source.encode()).fetchall() == [("taken from red",)]
    for statement in ESCAPES:
        with pytest.raises(psycopg.Error):
            analyst.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert len(ESCAPES) >= 30
    assert analyst.execute(seen).fetchall() == [("red",)]


def test_a_setting_of_the_session_opens_nothing(
    owner: psycopg.Connection, database_url: str
) -> None:
    add_spaces(owner)
    conninfo = make_conninfo(database_url, options="-c search_path=pg_temp,textrawl,public")
    with psycopg.connect(conninfo, autocommit=True) as server:
        # A table of the caller's own in front of ours, for functions that trust a search path.
        server.execute(
            "create temporary table space_grant as"
            " select s as space_id, 1 as actor_id, array['read'] as scopes"
            " from generate_series(1, 9) s"
        )
        server.execute(
            "create temporary table actor as select 1 as id, 'textrawl_app' as role_name"
        )
        assert server.execute("select * from search_memory('canary')").fetchall() == []
