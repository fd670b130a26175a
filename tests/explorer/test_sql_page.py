"""The page for SQL: what a statement shows, and what none can do."""

import csv
from io import StringIO

import anyio
import httpx2
import psycopg
import pytest

from tests.conftest import Databases
from tests.explorer.markup import Document
from tests.explorer.siege import HIDDEN, Siege
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Browser, Place
from textrawl.embedded.postmaster import SUPERUSER
from textrawl.postgres.sql_files import describe_columns

pytestmark = pytest.mark.anyio

REFUSED = {
    "other rights": [
        "set role textrawl_app",
        "set session authorization postgres",
        "reset role",
        "reset all",
        "set local statement_timeout = 0",
        "select set_config('role', 'textrawl_app', true)",
        "select SET_CONFIG('textrawl.reader', '', false)",
        "select \"set_config\"('statement_timeout', '0', false)",
        "select U&\"set\\005fconfig\"('role', 'none', true)",
        "select u&\"!0070g_sleep\" uescape '!' (1)",
        "select current_setting('textrawl.reader')",
        "show textrawl.reader",
        "show all",
        "grant textrawl_owner to textrawl_app",
        "discard all",
    ],
    "writes": [
        "insert into textrawl.actor (name) values ('eve')",
        "with x as (insert into memory_entities default values returning 1) select * from x",
        "with x as (delete from observation returning *) select * from x",
        "with x as (update observation set content = '' returning *) select * from x",
        "delete from observation returning id",
        "explain analyze delete from observation",
        "explain (analyze) with x as (delete from observation returning 1) select 1",
        "do $$ begin delete from textrawl.observation; end $$",
        "create temp table t as select 1",
        "select 1 into temp t",
        "create table t ()",
        "drop schema textrawl cascade",
        "truncate textrawl.observation",
        "select * from observation for update",
        "select nextval('event_id_seq')",
        "call x()",
        "prepare p as select 1",
        "merge into observation o using entity e on true when matched then delete",
        "comment on table observation is 'x'",
        "select remember_fact('Ada', 'person', 'was here')",
        "select forget_entity('Ada')",
        "select grant_access('looker', 'team', '{admin}')",
        "select change_language('team', 'german')",
    ],
    "several": [
        "select 1; select 2",
        "select 1; drop schema textrawl cascade",
        "select 1) x; delete from observation; select * from (select 1",
        "select 1); delete from observation; (select 1",
        "begin; delete from observation; commit",
        "commit",
        "rollback",
        "declare c cursor for select 1",
        "fetch all from answer",
    ],
    "files": [
        "copy observation to stdout",
        "copy observation to '/tmp/x'",
        "copy observation from program 'id'",
        "select pg_read_file('/etc/passwd')",
        "select pg_catalog.pg_read_binary_file('postgresql.conf')",
        "select * from pg_ls_dir('.')",
        "select pg_stat_file('.')",
        "select lo_import('/etc/passwd')",
        "select lo_create(0)",
        "select lo_get(1)",
        "select lo_from_bytea(0, 'x')",
        "load 'plperl'",
        "create extension dblink",
        "select * from dblink('dbname=textrawl', 'select 1') t (x int)",
    ],
    "others": [
        "select pg_sleep(20)",
        "select pg_advisory_lock(1)",
        "select pg_try_advisory_lock(1)",
        "notify textrawl",
        "select pg_notify('textrawl', 'x')",
        "listen textrawl",
        "lock table observation",
        "select pg_terminate_backend(1)",
        "select query from pg_stat_activity",
        "select most_common_vals from pg_stats",
        "select * from pg_prepared_statements",
        "select * from pg_roles",
        "select * from pg_authid",
        "select hash from token",
        "select url from webhook",
        "select name from actor",
        'select name from "actor"',
        "select a.name from space_grant g join actor a on a.id = g.actor_id",
        "select 1) union all (select name from actor",
        "table textrawl.actor",
        'select name from "textrawl" . "actor"',
        "select name from textrawl/**/./**/actor",
        "select name from TEXTRAWL.Actor",
        "select n::regrole from generate_series(1, 20000) n",
        "select to_regrole('postgres')",
        "select acldefault('r', 10)",
        "select makeaclitem(10, 10, 'SELECT', false)",
        "select session_user",
        "select system_user",
        "select version()",
        'select "version" ()',
        "select version/**/()",
        "select inet_server_addr(), inet_server_port()",
        "select inet_client_addr(), inet_client_port()",
        "select current_database()",
        "select has_database_privilege('postgres', 'connect')",
        "select shobj_description(10, 'pg_' || 'authid')",
        "select * from information_schema.sql_implementation_info",
        "select query_to_xml('select name from act' || 'or', true, true, '')",
        "select table_to_xml('act' || 'or', true, true, '')",
        "select * from ts_stat('select to_tsvector(name) from act' || 'or')",
        "select * from read_rows('select name from act' || 'or')",
        "select * from read_rows('table textrawl.act' || 'or')",
        "select access_rights(null)",
        "select * from create_token('x', 'boss', 'team', '{read}', null)",
    ],
    "load": [
        "with recursive r as (select 1 as n union all select n + 1 from r) select sum(n) from r",
        "select count(*) from generate_series(1, 10000000) a, generate_series(1, 10000000) b",
        "select repeat('x', 2000000000)",
        "select" + "(" * 7000 + "1" + ")" * 900,
        "select 1 --" + "x" * 9000,
        "select 1\0",
        "select 'x' ~ repeat('(x?){100}', 1000)",
    ],
}
"""Statements that are refused, by what they want."""
QUIET = [
    "select * from memory_observations",
    "select * from memory_entities",
    "select * from memory_grants",
    "select * from memory_proposals",
    "select * from memory_undone",
    "select * from memory_journal",
    "select * from memory_sources",
    "select * from observation where content like '%gold%' or true",
    "select * from space",
    "select * from event",
    "select * from space_grant",
    "select * from recall",
    "select * from search_memory('gold')",
    "select * from search_memory('gold', spaces => array[1, 2, 3, 4])",
    "select * from describe_entity('Vault')",
    "select * from entity_context('Vault')",
    "select * from list_proposals()",
    "select * from complete_name('V')",
    "select * from similar_names('Vaul')",
    "select * from memory_recalls union all select * from memory_recalls",
    "table actor",
    "select actor from actor",
    "select session_spaces(), readable_spaces()",
    "select content::integer from observation",
    "select 1 / (length(content) - length(content)) from observation",
    "select * from lexeme",
    "select * from space_statistics",
]
"""Statements that can be asked, and show nothing of others."""


async def ask(browser: Browser, statement: str, kind: str = "") -> httpx2.Response:
    return await browser.get("sql", statement=statement, **({"as": kind} if kind else {}))


async def test_no_statement_writes_waits_or_gets_other_rights(siege: Siege) -> None:
    before = siege.look()
    async with siege.browse("boss") as browser:
        answered = list[str]()
        for statement in [each for kind in REFUSED.values() for each in kind]:
            began = anyio.current_time()
            answer = await ask(browser, statement)
            if answer.status_code not in (400, 403) or anyio.current_time() - began > 9:
                answered.append(f"{answer.status_code} {statement[:100]}")
            assert not [text for text in HIDDEN if text in answer.text.replace(statement, "")]
        alone = (await ask(browser, "select 1 as one", "json")).json()

    assert answered == []
    assert sum(map(len, REFUSED.values())) >= 60
    assert siege.find_changes(before) == []
    assert alone == [{"one": 1}]


async def test_no_statement_shows_what_a_person_cannot_read(siege: Siege) -> None:
    async with siege.browse("looker") as browser:
        for statement in QUIET:
            for kind in ("", "csv", "json"):
                answer = await ask(browser, statement, kind)
                text = answer.text.replace("Vault", "", statement.count("Vault") * 3)
                assert answer.status_code in (200, 400, 403), statement
                assert not [hidden for hidden in HIDDEN if hidden in text], statement


async def test_a_person_sees_own_spaces_and_who_does_not_read_sees_no_page(siege: Siege) -> None:
    spaces = "select distinct space from memory_observations order by 1"
    shown = dict[str, object]()
    for person in ("boss", "stranger"):
        async with siege.browse(person) as browser:
            shown[person] = (await ask(browser, spaces, "json")).json()
    async with siege.browse("scribe") as browser:
        unread = await ask(browser, spaces)

    assert shown == {"boss": [{"space": "team"}], "stranger": [{"space": "hidden"}]}
    assert unread.status_code == 403


async def test_a_statement_ends_after_a_thousand_rows_and_says_so(place: Place) -> None:
    many = "select n, '=1' as text from generate_series(1, 3000) n"
    large = "select n, repeat('x', 100000) from generate_series(1, 30) n"
    async with place.browse("reader") as browser:
        shown = Document((await ask(browser, many)).text)
        table = list(csv.DictReader(StringIO((await ask(browser, many, "csv")).text)))
        cut = (await ask(browser, large, "json")).json()

    assert "1,000 rows, of which 100 are shown: there are more" in shown.prose
    assert (len(table), table[0]) == (1000, {"n": "1", "text": "'=1"})
    assert len(cut) == 9


async def test_nothing_is_returned_of_a_row_that_is_larger_than_all_rows_can_be(
    place: Place,
) -> None:
    large = "select repeat(repeat('x', 1000), 100000) from generate_series(1, 2)"
    rows = place.owner.execute("select r, r.more from read_rows(%s) r", (large,)).fetchall()
    async with place.browse("reader") as browser:
        shown = Document((await ask(browser, large)).text)

    assert [(len(str(row)) < 100, more) for row, more in rows] == [(True, True)]
    assert "0 rows: there are more" in shown.prose


async def test_every_column_that_the_page_lists_can_be_read(place: Place) -> None:
    async with place.browse("reader") as browser:
        refused = list[str]()
        for view, columns in describe_columns().items():
            if (await ask(browser, f"select {', '.join(columns)}\nfrom {view};")).is_error:
                refused.append(view)

    assert refused == []


async def test_words_are_refused_where_they_name_what_is_of_the_server(place: Place) -> None:
    refused = (
        "VERSION ()", 'version"()', "version /**/ ()", "textrawl.actor", '"Textrawl" . "actor"',
        "textrawl --\n.actor", "textrawl . /**/ actor", "to_regrole", "aclitem",
    )  # fmt: skip
    accepted = "select actor, version, textrawl.actor_x from textrawl.memory_grants where user = ''"
    found = [
        words
        for each in (accepted, *refused)
        for (words,) in place.owner.execute("select find_forbidden(%s)", (each,))
    ]

    assert found[0] is None
    assert None not in found[1:]


async def test_a_mistake_is_explained_with_the_words_of_postgres(place: Place) -> None:
    explained = {
        "select nosuch.f()": 'Schema "nosuch" does not exist',
        "select count(distinct name) over () from memory_entities": "DISTINCT is not implemented",
        "select repeat(repeat('x', 1000), 270000) ~ 'y'": "needs too much memory",
        "select userName from memory_entities": 'Column "username" does not exist',
        'select "userName" from memory_entities': 'Column "userName" does not exist',
        "delete from observation": "Write one SELECT, WITH, VALUES or TABLE",
    }
    remember(place.owner, "Ada", "likes tea")
    async with place.browse("reader") as browser:
        answers = [await ask(browser, statement) for statement in explained]
        none = Document((await ask(browser, "select from memory_entities")).text)

    faults = [Document(answer.text).prose for answer in answers]
    assert {answer.status_code for answer in answers} == {400}
    assert [
        text for text, fault in zip(explained.values(), faults, strict=True) if text not in fault
    ] == []
    assert "1 row." in none.prose


async def test_the_page_has_the_statement_its_rows_the_views_and_examples_that_run(
    place: Place,
) -> None:
    remember(place.owner, "Ada", "likes <b>tea</b>")
    async with place.browse("reader") as browser:
        empty = Document((await browser.get("sql")).text)
        found = Document((await ask(browser, "select content from memory_observations")).text)
        examples = [link for link in empty.links if "statement=" in link]
        states = [(await browser.http.get(browser.root + link)).status_code for link in examples]

    assert "select content from memory_observations" in found.text
    assert "likes <b>tea</b>" in found.prose
    assert "memory_observations" in empty.prose
    assert (len(states), {*states}) == (6, {200})


async def test_a_statement_ends_when_its_browser_leaves_and_a_person_runs_one_at_a_time(
    place: Place, postgres: Databases
) -> None:
    """The statement counts as running for 5 s, unless the browser leaves."""
    endless = "select count(*) from generate_series(1, 9e9::bigint)"
    async with place.browse("reader") as browser, anyio.create_task_group() as tasks:
        tasks.start_soon(_ask_in_vain, browser, endless)
        with anyio.fail_after(10):
            while not await _count_running(postgres, place):
                await anyio.lowlevel.checkpoint()
        busy = await ask(browser, "select 1 as kept")
        assert (busy.status_code, "select 1 as kept" in busy.text) == (503, True)
        tasks.cancel_scope.cancel()
    with anyio.fail_after(3):
        while await _count_running(postgres, place):
            await anyio.lowlevel.checkpoint()


async def _ask_in_vain(browser: Browser, statement: str) -> None:
    await ask(browser, statement)


async def _count_running(postgres: Databases, place: Place) -> int:
    database = place.owner.info.dbname
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database)) as superuser:
        [(count,)] = superuser.execute(
            "select count(*) from pg_stat_activity where datname = current_database()"
            " and state = 'active' and query like '%textrawl.read_rows%'"
            " and pid <> pg_backend_pid()"
        ).fetchall()
    return int(count)
