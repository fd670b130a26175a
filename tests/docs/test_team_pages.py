"""The pages about a team, played through: what they say is run, in their order, by its roles."""

import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from urllib.parse import urlsplit

import anyio
import httpx2
import psycopg
import pytest
import yaml
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from psycopg import sql

from tests.cli.test_serve import read_address
from tests.conftest import TOKEN, Databases
from tests.support.commands import Launch, Run
from tests.support.composition import (
    APP_PASSWORD,
    OPERATIONS,
    OWNER_PASSWORD,
    read_administration,
    read_composition,
    read_programs,
)
from tests.support.issuer import IdentityProvider
from tests.support.pages import read_blocks
from tests.support.providers import EmbeddingServer
from textrawl.embedded.postmaster import OWNER, SUPERUSER

SERVER = read_composition(**{OWNER_PASSWORD: "x", APP_PASSWORD: "y"})["services"]["server"]
SHOWN = "trl_4fK2pQ"  # the pages' name of ben's token
FOLLOWS = "--follow"  # never ends by itself: it has tests of its own


@pytest.fixture
def serve(launch: Launch, database_url: str) -> Callable[..., str]:
    """Starts a server as the composition does, on a free port; returns its address."""

    def start(**environment: str) -> str:
        variables = {"DATABASE_URL": database_url, **environment}
        return read_address(launch(*SERVER["command"], "--port", "0", **variables))

    return start


@pytest.fixture
def url(postgres: Databases, database: str) -> str:
    """What the service admin has, on a fresh memory."""
    return postgres.cluster.dsn(OWNER, database)


@asynccontextmanager
async def connect(address: str, token: str) -> AsyncGenerator[Client]:
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=30) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


async def remember(client: Client, name: str, fact: str) -> bool:
    """Whether it was stored."""
    arguments = {"entityName": name, "entityType": "project", "observation": fact}
    return not (await client.call_tool("remember_fact", arguments)).is_error


async def recall(client: Client, query: str) -> str:
    [content] = (await client.call_tool("query_memory", {"query": query, "limit": 9})).content
    return str(content)


def play(
    run: Run, url: str, commands: list[list[str]], shown: dict[str, str], **environment: str
) -> list[str]:
    """What each command of the pages writes; `shown` is what stands there, and what is meant."""
    written = list[str]()
    for words in commands:
        outcome = run(
            *(shown.get(word, word) for word in words),
            DATABASE_URL=url,
            COLUMNS=200,
            **environment,
        )  # as wide as what is looked for
        assert outcome.code == 0, (words, outcome.err)
        written.append(outcome.out.strip())
    return written


def find_output(commands: list[list[str]], written: list[str], *words: str) -> str:
    """What the one command that has these words wrote."""
    pairs = zip(commands, written, strict=True)
    [found] = [out for command, out in pairs if set(words) <= set(command)]
    return found


def split_commands() -> tuple[list[list[str]], list[list[str]]]:
    """Those of the page about a team, and those about the days after it."""
    commands = [words for words in read_administration() if FOLLOWS not in words]
    first = next(i for i, words in enumerate(commands) if words[0] == "log")
    return commands[:first], commands[first:]


async def share(address: str, ana: str, ben: str) -> None:
    async with connect(address, ana) as her, connect(address, ben) as him:
        assert await remember(her, "Atlas", "ships on Fridays")
        assert "Fridays" in await recall(him, "when does Atlas ship?")
        assert await remember(him, "Atlas", "is written in Rust")
        assert "Rust" in await recall(her, "language of Atlas")
        arguments = {"entityName": "Atlas", "observation": "ships on Fridays"}
        assert (await him.call_tool("forget_entity", arguments)).is_error


async def keep_apart(address: str, ana: str, ben: str) -> None:
    async with (
        connect(f"{address}/ana-private", ana) as own,
        connect(f"{address}/handbook", ana) as writer,
        connect(address, ben) as him,
        connect(f"{address}/handbook", ben) as reader,
        connect(f"{address}/ana-private", ben) as stranger,
    ):
        assert await remember(own, "Diary", "is about quinces")
        assert await remember(writer, "Holidays", "are thirty days")
        assert "quinces" in await recall(own, "diary")
        assert "thirty" not in await recall(own, "how many holidays?")
        for client in (him, reader):
            assert "thirty" in await recall(client, "how many holidays?")
            assert "is about quinces" not in await recall(client, "diary about quinces")
        assert "is about quinces" not in await recall(stranger, "diary about quinces")
        refused = [await remember(one, "Diary", "was read") for one in (reader, stranger)]
        assert refused == [False, False]


def test_two_people_share_and_private_and_read_only_spaces_are_what_the_page_says_they_are(
    run: Run, url: str, serve: Callable[..., str]
) -> None:
    commands, _ = split_commands()
    written = play(run, url, commands, {})
    ana, ben = (find_output(commands, written, "create", name) for name in ("ana", "ben"))
    address = serve()

    anyio.run(share, address, ana, ben)
    anyio.run(keep_apart, address, ana, ben)


@pytest.mark.slow
def test_who_comes_from_an_identity_provider_writes_where_the_page_grants_it(
    run: Run, url: str, serve: Callable[..., str]
) -> None:
    founding, days = split_commands()
    address = "https://memory.example.com"
    with IdentityProvider() as provider:
        own = play(run, url, founding, {"https://login.example.com": provider.url})
        gate = find_output(founding, own, "create", "gate")
        claims = {"email": "ana@example.com", "scope": "read write", "aud": f"{address}/mcp"}
        bearer = provider.issue(provider.claims(**claims))
        variables = {
            "ACCESS_TOKEN": gate,
            "OAUTH_ISSUER": provider.url,
            "OAUTH_ACTOR_CLAIM": "email",
        }
        listening = serve(PUBLIC_URL=address, **variables)

        async def try_out() -> None:
            async with (
                connect(f"{listening}/team", bearer) as team,
                connect(f"{listening}/handbook", bearer) as handbook,
            ):
                assert await remember(team, "Atlas", "ships on Fridays")
                assert "Fridays" in await recall(team, "when does Atlas ship?")
                assert not await remember(handbook, "Holidays", "are forty days")

        anyio.run(try_out)
        [log] = play(run, url, [days[0]], {})

    assert "ana@example.com" in log


def test_what_the_pages_tell_an_administrator_works_in_their_order(
    run: Run, url: str, serve: Callable[..., str], postgres: Databases, database: str
) -> None:
    founding, days = split_commands()
    ben = find_output(founding, play(run, url, founding, {}), "create", "ben")
    address = serve()

    async def write() -> None:
        async with connect(address, ben) as client:
            assert await remember(client, "Nonsense", "is said by an agent")

    anyio.run(write)
    statements, login = read_analyst()
    try:
        with EmbeddingServer(dimensions=1024) as ollama:
            written = play(run, url, days, {SHOWN: ben[:10]}, OLLAMA_BASE_URL=ollama.url)
        run_statements(postgres, database, statements)
        spaces, limits = list_spaces(postgres, database, login), read_limits(postgres, login)
    finally:
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute(
                "update textrawl.actor set role_name = null where role_name = %s", [login]
            )
        postgres.execute("drop role if exists {login}", login=login)

    assert "Nonsense" in find_output(days, written, "log", "--by")
    assert "is said by an agent" in find_output(days, written, "undo", "--dry-run")
    assert find_output(days, written, "rotate").startswith("trl_")
    assert spaces == ["team"]
    assert {"default_transaction_read_only=on", "statement_timeout=60s"} <= limits


def run_statements(postgres: Databases, database: str, statements: list[str]) -> None:
    """Run statements of the superuser."""
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database), autocommit=True) as superuser:
        for statement in statements:
            superuser.execute(statement.encode())


def read_analyst() -> tuple[list[str], str]:
    """The statements that make the login of an analyst, and its name."""
    [words] = [words for words in read_programs("psql") if "-c" in words]
    statements = [text for option, text in pairwise(words) if option == "-c"]
    [login] = re.findall(r"create_analyst\('(\w+)'", statements[0])
    return statements, login


def read_limits(postgres: Databases, login: str) -> set[str]:
    """The settings with which each session of a login begins."""
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, "postgres")) as connection:
        row = connection.execute("select rolconfig from pg_roles where rolname = %s", [login])
        [(settings,)] = row.fetchall()
    return set(settings)


def list_spaces(postgres: Databases, database: str, login: str) -> list[str]:
    """The spaces that a login sees."""
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database)) as connection:
        connection.execute(sql.SQL("set session authorization {}").format(sql.Identifier(login)))
        return [name for (name,) in connection.execute("select name from textrawl.space")]


def test_a_server_is_checked_as_compose_says_and_gives_prometheus_its_metrics_for_a_token_alone(
    launch: Launch, database_url: str
) -> None:
    kind, program, *arguments = SERVER["healthcheck"]["test"]
    [scrape] = [yaml.safe_load(b.body) for b in read_blocks(OPERATIONS) if b.language == "yaml"]
    [job] = scrape["scrape_configs"]
    process = launch(*SERVER["command"], "--port", "0", DATABASE_URL=database_url)
    address = read_address(process)
    port, metrics = str(urlsplit(address).port), address.removesuffix("/mcp") + job["metrics_path"]

    def check() -> int:
        words = [word.replace("8000", port) for word in arguments]
        return subprocess.run([sys.executable, *words], capture_output=True, check=False).returncode

    assert (kind, program) == ("CMD", "python")
    assert check() == 0
    assert (fetch(metrics), fetch(metrics, TOKEN)) == (401, 200)
    process.end(signal.SIGTERM)
    assert check() == 1


def fetch(url: str, token: str | None = None, **headers: str) -> int:
    """The status of an answer."""
    bearer = {"authorization": f"Bearer {token}"} if token else {}
    return httpx2.get(url, headers={**bearer, **headers}, timeout=30).status_code


def test_wrong_tokens_are_counted_by_the_address_that_a_proxy_names(
    serve: Callable[..., str],
) -> None:
    url = serve(FORWARDED_ALLOW_IPS="127.0.0.1")
    guesser, member = ({"x-forwarded-for": f"203.0.113.{number}"} for number in (1, 2))

    guesses = [fetch(url, f"trl_{number}", **guesser) for number in range(61)]

    assert set(guesses[:60]) == {401}
    assert guesses[60] == 429
    assert fetch(url, "trl_wrong", **member) == 401


@pytest.mark.slow
def test_who_is_no_proxy_is_not_believed_who_sent_a_request(serve: Callable[..., str]) -> None:
    url = serve(FORWARDED_ALLOW_IPS=SERVER["environment"]["FORWARDED_ALLOW_IPS"])

    statuses = [
        fetch(url, "trl_wrong", **{"x-forwarded-for": f"203.0.113.{number}"})
        for number in range(61)
    ]

    assert statuses[-1] == 429
