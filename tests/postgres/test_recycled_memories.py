"""The memory of a test has nothing of the test before it, though it can be the same database."""

from typing import Any

import psycopg

from tests.conftest import Databases

_TABLES = """
    select table_name from information_schema.tables
    where table_schema = 'textrawl' and table_type = 'BASE TABLE' order by 1"""
_USES = """
    create temp table kept (id integer);
    set search_path = pg_catalog;
    select pg_advisory_lock(7);
    prepare own as select 1;
    set textrawl.writer = 'somebody'"""


def _read(owner: psycopg.Connection[Any]) -> dict[str, Any]:
    tables = [name for (name,) in owner.execute(_TABLES)]
    rows = {t: sorted(map(str, owner.execute(f"table {t}".encode()))) for t in tables}
    rows["sequences"] = owner.execute("select * from pg_sequences order by 1, 2").fetchall()
    rows["statistics"] = owner.execute(
        "select relname, reltuples, relpages from pg_class where relname = any(%s) order by 1",
        (tables,),
    ).fetchall()
    rows["view"] = owner.execute("select pg_get_viewdef('embedding'::regclass)").fetchall()
    return rows


def test_nothing_that_a_test_stores_is_there_in_the_next_one(postgres: Databases) -> None:
    with postgres.create("migrated") as name, postgres.open(name) as owner:
        fresh = _read(owner)
    with postgres.create("migrated") as again, postgres.open(again) as owner:
        assert again == name
        owner.execute("select remember_fact('Ada', 'person', 'lives in Oslo')")
        owner.execute("select create_space('other'), register_embedding_model('test:model', 3)")
        owner.execute("insert into embedding_1 select space_id, id, '[1, 0, 0]' from observation")
        owner.execute("delete from ranking_weight")
        owner.execute("analyze")
        assert _read(owner) != fresh
    with postgres.create("migrated") as again, postgres.open(again) as owner:
        assert again == name
        assert _read(owner) == fresh


def test_a_session_that_is_lent_again_has_nothing_of_its_last_user(postgres: Databases) -> None:
    with postgres.create("migrated") as name:
        with postgres.open(name) as owner:
            pid = owner.info.backend_pid
            for use in _USES.split(";"):
                owner.execute(use.encode())
        with postgres.open(name) as owner:
            assert owner.info.backend_pid == pid
            [found] = owner.execute(
                "select to_regclass('pg_temp.kept'), current_setting('search_path'),"
                " (select count(*) from pg_locks where locktype = 'advisory' and pid = %s),"
                " (select count(*) from pg_prepared_statements where name = 'own'),"
                " current_setting('textrawl.writer')",
                (pid,),
            )
            assert found == (None, "textrawl, public", 0, 0, "")


def test_a_memory_with_another_schema_or_another_user_is_dropped(postgres: Databases) -> None:
    changes = (
        "create index on observation (created_at)",
        "alter table observation disable trigger user",
        "grant select on token to public",
        "create text search configuration own (copy = english)",
        "create or replace function textrawl.default_space() returns integer return 1",
    )
    for change in changes:
        with postgres.create("migrated") as name, postgres.open(name) as owner:
            owner.execute(change.encode())
        with postgres.create("migrated") as other:
            assert other != name, change
    with postgres.create("migrated") as name:
        left = psycopg.connect(postgres.cluster.dsn("textrawl_owner", name))
    with postgres.create("migrated") as other:
        assert other != name
    left.close()
