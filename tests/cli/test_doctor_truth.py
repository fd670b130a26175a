"""`textrawl doctor` ends with 1 exactly where a call fails: each case is called as well."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import anyio
import psycopg
import pytest
from mcp import Client

from tests.conftest import TOKEN, Databases
from tests.support.commands import Run
from tests.support.providers import EmbeddingServer, Fault
from tests.support.upkeep import count
from textrawl import Settings, create_server
from textrawl.access.access_token import hash_token, make_token
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER

REVOKED, UNREADING, LATE = make_token(), make_token(), make_token()

# What is set, whether a call is answered, which finding tells, and a part of what it says.
Case = tuple[dict[str, str], bool, str, str]

CASES: dict[str, Case] = {
    # First, because a search gives the memory a model.
    "a provider that is away": (
        {"EMBEDDING_PROVIDER": "ollama", "OLLAMA_BASE_URL": "http://127.0.0.1:1"},
        True, "embeddings", "cannot be used",
    ),
    "a token": ({}, True, "access", "ada reads default; may write and forget in default"),
    "no token": ({"ACCESS_TOKEN": ""}, False, "access", "`textrawl token create`"),
    "an unknown token": ({"ACCESS_TOKEN": make_token()}, False, "access", "unknown, expired"),
    "a revoked token": ({"ACCESS_TOKEN": REVOKED}, False, "access", "unknown, expired or revoked"),
    "an old token": ({"ACCESS_TOKEN": LATE}, False, "access", "unknown, expired or revoked"),
    "no scope": ({"ACCESS_TOKEN": UNREADING}, False, "access", "This needs the scope read"),
    "its space": ({"SPACE": "default"}, True, "access", "reads default"),
    "no such space": ({"SPACE": "nowhere"}, False, "access", "Spaces that ada may use: default"),
    "the owner": ({"DATABASE_URL": OWNER}, False, "login", "`textrawl migrate` and other commands"),
    "a superuser": ({"DATABASE_URL": SUPERUSER}, False, "login", "which is a superuser"),
    "no such login": ({"DATABASE_URL": "nobody_here"}, False, "database", "refuses the login"),
    "only reading": ({"READ_ONLY": "true"}, True, "access", "ada reads default"),
    "no key": ({"EMBEDDING_PROVIDER": "openai"}, False, "embeddings", "_KEY is not set"),
    "no provider": ({"EMBEDDING_PROVIDER": "none"}, True, "embeddings", "only keywords"),
}  # fmt: skip


@pytest.fixture
def examine(run: Run) -> Callable[..., tuple[int, dict[str, tuple[str, str]]]]:
    def go(*words: str, **environment: str) -> tuple[int, dict[str, tuple[str, str]]]:
        outcome = run("doctor", "--json", *words, **environment)
        report = json.loads(outcome.out)
        return outcome.code, {f["name"]: (f["verdict"], f["told"]) for f in report["findings"]}

    return go


@pytest.fixture
def place(postgres: Databases, database: str, owner: psycopg.Connection) -> Callable[[str], str]:
    """The fresh database for a role, with tokens that do not do."""
    add = """
        insert into token (hash, kind, prefix, actor_id, home_space_id, scopes, created_at,
                           revoked_at, expires_at)
        select %s, 'bearer', 'trl_other', id, default_space(), array[%s], now() - interval '2h',
               case when %s then now() end, now() + %s
        from actor where name = 'ada'"""
    hour = timedelta(hours=1)
    owner.execute(add, (hash_token(REVOKED), "read", True, hour))
    owner.execute(add, (hash_token(LATE), "read", False, -hour))
    owner.execute(add, (hash_token(UNREADING), "admin", False, hour))
    return lambda role: postgres.cluster.dsn(role, database)


async def ask(settings: Settings) -> bool:
    """Whether a server with these settings answers a search."""
    try:
        async with Client(create_server(settings)) as client:
            answer = await client.call_tool("query_memory", {"query": "theremin"})
            return not answer.is_error
    except Exception:  # noqa: BLE001 - it did not start
        return False


@pytest.mark.slow
def test_it_says_what_a_call_meets(place: Callable[[str], str], examine: Any) -> None:
    for case, (changes, answered, name, part) in CASES.items():
        given = {"ACCESS_TOKEN": TOKEN, **changes}
        given["DATABASE_URL"] = place(changes.get("DATABASE_URL", APP))

        code, findings = examine(**given)

        with pytest.MonkeyPatch.context() as environment:
            for key, value in given.items():
                environment.setenv(key, value)
            assert anyio.run(ask, Settings()) is answered, case
        assert code == (0 if answered else 1), case
        assert part in findings[name][1]
        assert (findings[name][0] == "broken") is not answered, case


def test_over_http_clients_bring_their_tokens(place: Callable[[str], str], examine: Any) -> None:
    code, findings = examine("--http", DATABASE_URL=place(APP))

    assert code == 0
    assert "access" not in findings


def test_over_http_a_server_that_vouches_needs_a_token_with_admin(
    place: Callable[[str], str], examine: Any
) -> None:
    given = {"DATABASE_URL": place(APP), "OAUTH_ISSUER": "https://login.example.org"}

    code, findings = examine("--http", **given)
    assert (code, findings["access"][0]) == (1, "broken")
    assert "ACCESS_TOKEN" in findings["access"][1]
    code, findings = examine("--http", ACCESS_TOKEN=REVOKED, **given)
    assert code == 1
    code, findings = examine("--http", ACCESS_TOKEN=TOKEN, **given)
    assert (code, findings["access"][0]) == (0, "ok")


def test_it_asks_the_model_in_use_rather_than_that_of_the_settings(
    place: Callable[[str], str], examine: Any, owner: psycopg.Connection
) -> None:
    owner.execute("select register_embedding_model('ollama:wide', 384)")
    with EmbeddingServer(dimensions=384) as provider:
        given = {"DATABASE_URL": place(APP), "ACCESS_TOKEN": TOKEN, "EMBEDDING_PROVIDER": "local"}

        code, findings = examine(**given, OLLAMA_BASE_URL=provider.url)
        assert (code, findings["embeddings"][0]) == (0, "ok")
        assert findings["embeddings"][1].startswith("ollama:wide: 384 dimensions")
        assert len(provider.requests) == 2  # its dimensions, then a text

        provider.fail(Fault.FAILING)
        code, findings = examine(**given, OLLAMA_BASE_URL=provider.url)
        assert (code, findings["embeddings"][0]) == (0, "note")
        assert findings["embeddings"][1].startswith("ollama:wide cannot be used")


def test_it_changes_nothing(
    place: Callable[[str], str], examine: Any, owner: psycopg.Connection
) -> None:
    examine(DATABASE_URL=place(APP), ACCESS_TOKEN=TOKEN)

    for table in ("embedding_model", "observation", "event", "recall"):
        assert count(owner, table) == 0


def test_if_one_space_breaks_the_searches_of_all_it_names_one_that_can_be_searched(
    place: Callable[[str], str], examine: Any, owner: psycopg.Connection
) -> None:
    given = {"DATABASE_URL": place(APP), "ACCESS_TOKEN": TOKEN}
    with psycopg.connect(place(SUPERUSER), autocommit=True) as superuser:
        superuser.execute("create text search configuration public.dialect (copy = english)")
        owner.execute("select create_space('team', 'public.dialect')")
        owner.execute("select grant_access('ada', 'team', array['read'])")
        assert "search" not in examine(**given)[1]
        superuser.execute("drop text search configuration public.dialect")

    code, findings = examine(**given)
    alone, _ = examine(**given, SPACE="default")
    own = examine(**given, SPACE="team")[1]["search"][1]

    assert (code, findings["search"][0]) == (1, "broken")
    assert "set TEXTRAWL_SPACE=default for now, and report this" in findings["search"][1]
    assert findings["access"][0] == "ok"
    assert alone == 0
    assert "`textrawl export` still writes" in own


def test_it_says_that_the_space_of_the_settings_is_a_graph(
    place: Callable[[str], str], examine: Any, owner: psycopg.Connection
) -> None:
    owner.execute("select create_space('papers', tier => 'personal')")
    owner.execute("select grant_access('ada', 'papers', array['read'])")

    code, findings = examine(DATABASE_URL=place(APP), ACCESS_TOKEN=TOKEN, SPACE="papers")

    assert (code, findings["search"][0]) == (1, "broken")
    assert "unset TEXTRAWL_SPACE" in findings["search"][1]
