"""No text that anybody sends becomes a part of a statement."""

import logging
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.attacks.site import Site, issue, open_site
from tests.conftest import Connect
from textrawl.settings import Settings

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

_STATEMENTS = (
    "drop table textrawl.observation", "select 1", "delete from textrawl.entity",
    "update textrawl.token set scopes = '{admin}'", "grant all on schema textrawl to public",
    "commit", "set role postgres", "copy textrawl.token to '/tmp/x'",
)  # fmt: skip
_FRAMES = (
    "'; {}; --", "'); {}; --", "')); {}; --", '"; {}; --', "'||({})||'", "' or ({}) is null --",
    "$$; {}; $$", "$1; {}", "\\'; {}; --", "%'; {}; --", "*/ {}; /*", "1; {}", "\n{};\n",
    "E'\\'; {}; --", "'::tsquery); {}; --",
)  # fmt: skip
_SINGLE = (
    "'",
    "''",
    '"',
    "\\",
    "\\\\",
    "%",
    "%%",
    "_",
    "%s",
    "%(query)s",
    "%I",
    "%L",
    "{}",
    "{0}",
    "{query}",
    "$1",
    "$2",
    "$$",
    "$sql$",
    ":name",
    "?",
    ";",
    "--",
    "/*",
    "*/",
    "&",
    "|",
    "!",
    "<->",
    "<2>",
    ":*",
    "a & b",
    "a | !b",
    "(a",
    "a)",
    "! ! a",
    "a <-> b",
    "'a' & 'b'",
    ":A",
    "~s1",
    "~s2 | ~s1",
    "''':*",
    "null",
    "true",
    "NaN",
    "infinity",
    "-1",
    "1e400",
    "0x41",
    "[1,2,3]",
    '{"a":1}',
    '["',
    "\\u0000",
    "\\x00",
    "\u2028",
    "\u2019; drop",
    "\uff07; drop",
    "\u02bc",
    "\ufe5b",
    "%27%3B",
    "&#39;",
    "<script>",
    "{{7*7}}",
    "${7*7}",
    "\\copy x",
    "\\! id",
    "\\gexec",
    "\\d",
    "current_user",
    "pg_sleep(9)",
    "textrawl.observation",
    "pg_catalog.pg_class",
    "regclass",
    "(" * 1000,
    "'" * 999,
    '"' * 999,
    "\\" * 999,
    "%" * 999,
    "a'b\"c\\d%e_f$g;h--i/*j*/k",
    "now()",
    "1=1",
    "a' or 'a'='a",
)

PAYLOADS = (*(frame.format(one) for frame in _FRAMES for one in _STATEMENTS), *_SINGLE)


FACT: dict[str, Any] = {"entityName": "Ada", "entityType": "person", "observation": "x"}
EDGE: dict[str, Any] = {"fromEntity": "Ada", "relation": "knows", "toEntity": "Bo"}
Build = Callable[[str], tuple[str, dict[str, Any]]]
PLACES: dict[str, Build] = {
    "mode": lambda p: ("query_memory", {"mode": p}),
    "query": lambda p: ("query_memory", {"query": p}),
    "query by meaning": lambda p: ("query_memory", {"query": p, "searchMode": "semantic"}),
    "entityTypes": lambda p: ("query_memory", {"query": "x", "entityTypes": [p]}),
    "searchMode": lambda p: ("query_memory", {"query": "x", "searchMode": p}),
    "entityName": lambda p: ("query_memory", {"entityName": p}),
    "asOf": lambda p: ("query_memory", {"query": "x", "asOf": p}),
    "limit": lambda p: ("query_memory", {"query": "x", "limit": p}),
    "name of a fact": lambda p: ("remember_fact", {**FACT, "entityName": p}),
    "entityType": lambda p: ("remember_fact", {**FACT, "entityType": p}),
    "observation": lambda p: ("remember_fact", {**FACT, "observation": p}),
    "source": lambda p: ("remember_fact", {**FACT, "source": p}),
    "validUntil": lambda p: ("remember_fact", {**FACT, "validUntil": p}),
    "replaces": lambda p: ("remember_fact", {**FACT, "observation": f"not {p}", "replaces": p}),
    "facts": lambda p: ("build_knowledge", {"facts": [{**FACT, "entityName": p, "replaces": p}]}),
    "relations": lambda p: ("build_knowledge", {"relations": [{**EDGE, "toEntity": p}]}),
    "fromEntity": lambda p: ("relate_entities", {**EDGE, "fromEntity": p}),
    "relation": lambda p: ("relate_entities", {**EDGE, "relation": p}),
    "fromEntityType": lambda p: ("relate_entities", {**EDGE, "fromEntityType": p}),
    "forgotten": lambda p: ("forget_entity", {"entityName": p, "confirm": True}),
    "forgotten fact": lambda p: (
        # Nothing and null stand for no fact at all: then all of Eve would be meant.
        "forget_entity",
        {"entityName": "Eve", "fact": p.strip().strip("nul") or "'", "confirm": True},
    ),
    "argument": lambda p: ("query_memory", {"query": "x", p: p}),
}  # fmt: skip


def read_catalogue(owner: psycopg.Connection) -> list[tuple[object, ...]]:
    """Everything that the schema is: tables, columns, functions, policies, grants."""
    return owner.execute(
        "select 'c', relname::text, relacl::text from pg_class"
        " where relnamespace = 'textrawl'::regnamespace"
        " union all select 'a', attrelid::regclass::text || attname, null from pg_attribute"
        " join pg_class c on c.oid = attrelid and relnamespace = 'textrawl'::regnamespace"
        " union all select 'f', oid::regprocedure::text, md5(prosrc) || proacl::text from pg_proc"
        " where pronamespace = 'textrawl'::regnamespace"
        " union all select 'p', polname, pg_get_expr(polqual, polrelid) from pg_policy"
        " union all select 'r', rolname, rolsuper::text from pg_roles order by 1, 2, 3"
    ).fetchall()


def test_there_are_two_hundred_payloads() -> None:
    assert len(set(PAYLOADS)) >= 200


@pytest.mark.parametrize("place", PLACES)
async def test_no_payload_becomes_sql(
    connect: Connect, owner: psycopg.Connection, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    client = await connect(embedding_provider="none", record_recalls="off")
    await client.call_tool("remember_fact", {**FACT, "entityName": "Eve", "observation": "stays"})
    before = read_catalogue(owner)

    with caplog.at_level(logging.INFO, "textrawl"):
        for payload in PAYLOADS:
            result = await client.call_tool(*PLACES[place](payload))
            assert "Internal error" not in str(result.content), payload

    # A statement that Postgres could not read, or that named what is not there, has a code of 42.
    failed = [r.message for r in caplog.records if " failed: " in r.message]
    assert failed == []
    assert read_catalogue(owner) == before
    kept = owner.execute("select count(*) from observation where content = 'stays'").fetchone()
    assert kept == (1,)


async def test_what_is_stored_is_the_payload_itself(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(embedding_provider="none", record_recalls="off")
    stored: set[str] = set()
    for payload in PAYLOADS:
        result = await client.call_tool("remember_fact", {**FACT, "observation": payload})
        stored |= set() if result.is_error else {payload.strip()}
    kept = {text for (text,) in owner.execute("select content from observation").fetchall()}
    assert len(kept) > 190
    assert kept <= stored


async def test_no_payload_in_the_address_names_a_space(
    owner: psycopg.Connection, settings: Callable[..., Settings]
) -> None:
    token = issue(owner, "ana", "default", "read")

    async def ask(site: Site, path: str) -> str:
        answer = await site.call(token, "query_memory", {"mode": "list"}, path)
        return answer.text if answer.status_code == 200 else ""

    async with open_site(settings(embedding_provider="none")) as site:
        assert "Space not found" not in await ask(site, "/mcp/default")
        for payload in PAYLOADS:
            path = "/mcp/" + "".join(f"%{byte:02x}" for byte in payload[:200].encode())
            reply = await ask(site, path)
            assert not reply or "Space not found" in reply, payload
