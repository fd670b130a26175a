"""The time that a person waits while other people make as many calls as a server allows.

The victim searches again and again on one connection: alone, then during each crowd, then alone
again. A crowd is ten callers of heavy tools with the tokens of one person or of ten people. Another
crowd is 900 connections that ask for /healthz and stay open. It is part of
`python -m benchmarks.attacks`.
"""

import itertools
import json
import resource
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx2
import psycopg

from benchmarks.access import fill
from benchmarks.support.place import listen
from benchmarks.support.work import PEOPLE, Call, Work
from tests.attacks.site import issue
from tests.support.http_team import bear, call_modern
from textrawl import migrate
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.models.local import LocalEmbedder
from textrawl.settings import read_foreign_environment

CALLERS, CONNECTIONS = 10, 900
_OK, _REFUSED = 200, 503
_WARM = 20  # calls before those that count
_ALIVE = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"

Crowd = Callable[[], AbstractAsyncContextManager["Heard"]]


@dataclass
class Heard:
    """The seconds of answers by call, and the numbers of refused and of failed calls."""

    seconds: list[float] = field(default_factory=list[float])
    refused: int = 0
    failed: int = 0

    def note(self, status: int, seconds: float) -> None:
        """Count an answer."""
        self.seconds.append(seconds)
        self.refused += status == _REFUSED
        self.failed += status not in (_OK, _REFUSED)


class Server:
    """A server on a filled memory, and calls to it."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def call(
        self, http: httpx2.AsyncClient, token: str, call: Call, path: str = ""
    ) -> tuple[int, float]:
        """Return the status and seconds of one call. The error of a tool has the status 500."""
        headers, body = call_modern(call[0])
        body["params"]["arguments"] = call[1]
        began = time.perf_counter()
        answer = await http.post(f"{self._url}{path}", json=body, headers=headers | bear(token))
        seconds = time.perf_counter() - began
        return (500 if '"isError":true' in answer.text else answer.status_code), seconds

    async def suffer(self, token: str, seconds: float) -> Heard:
        """Search for some seconds and return the times. Sometimes, ask for /healthz as well."""
        heard, work = Heard(), Work()
        probe = self._url.removesuffix("/mcp") + "/healthz"
        async with httpx2.AsyncClient(timeout=60) as http:
            for _ in range(_WARM):
                await self.call(http, token, work.kinds["query_memory search"]())
            over = time.monotonic() + seconds
            while time.monotonic() < over:
                heard.note(*await self.call(http, token, work.kinds["query_memory search"]()))
                if not len(heard.seconds) % 10:
                    async with httpx2.AsyncClient(timeout=60) as fresh:
                        status = (await fresh.get(probe)).status_code
                    heard.refused += status == _REFUSED
        return heard

    @asynccontextmanager
    async def ask_much(self, tokens: list[str]) -> AsyncGenerator[Heard]:
        """Run ten callers of heavy tools during the block, with these tokens in turn.

        They run in another process, because reading their long answers must not slow the victim.
        """
        heard = Heard()
        command = [sys.executable, "-m", "benchmarks.attacks.crowding", self._url, *tokens]
        async with await anyio.open_process(command, stderr=None) as crowd:
            assert crowd.stdin is not None
            assert crowd.stdout is not None
            yield heard
            await crowd.stdin.aclose()
            written = b"".join([part async for part in crowd.stdout])
        vars(heard).update(json.loads(written))

    @asynccontextmanager
    async def hold_connections(self) -> AsyncGenerator[Heard]:
        """Open 900 connections during the block. Each sends one request and stays open."""
        heard, address = Heard(), urlsplit(self._url)
        held = list[anyio.abc.SocketStream]()
        for _ in range(CONNECTIONS):
            began = time.perf_counter()
            stream = await anyio.connect_tcp(address.hostname or "", address.port or 0)
            await stream.send(_ALIVE)
            status = int((await stream.receive()).split()[1])
            heard.note(status, time.perf_counter() - began)
            held.append(stream)
        yield heard
        for stream in held:
            await anyio.aclose_forcefully(stream)


async def ask_until_told(url: str, tokens: list[str]) -> Heard:
    """Call heavy tools as ten callers until stdin ends."""
    server, heard = Server(url), Heard()

    async def ask(number: int, token: str) -> None:
        calls = itertools.islice(itertools.cycle(_list_heavy(number)), number, None)
        async with httpx2.AsyncClient(timeout=60) as http:
            for call in calls:
                heard.note(*await server.call(http, token, call, "/t/graph"))

    async with anyio.create_task_group() as group:
        for number, token in zip(range(CALLERS), itertools.cycle(tokens)):
            group.start_soon(ask, number, token)
        await anyio.to_thread.run_sync(sys.stdin.read)
        group.cancel_scope.cancel()
    return heard


def _list_heavy(number: int) -> list[Call]:
    person = {"entity_name": PEOPLE[number]}
    return [
        ("consolidation_report", {}), ("find_duplicate_observations", person),
        ("find_split_candidates", {}), ("propose_entity_split", person),
    ]  # fmt: skip


def rank(seconds: list[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile in milliseconds."""
    ranks = statistics.quantiles(seconds, n=100)
    return 1000 * ranks[49], 1000 * ranks[98]


def write_row(name: str, heard: Heard, others: Heard, alone: Heard | None = None) -> str:
    """Return a line of the table, with the ratio of the p99 to the p99 of `alone`."""
    p50, p99 = rank(heard.seconds)
    ratio = f"{p99 / rank(alone.seconds)[1]:.1f}" if alone else ""
    slowest = f"{max(others.seconds):.1f}" if others.seconds else ""
    cells = [
        len(heard.seconds),
        f"{p50:.1f}",
        f"{p99:.1f}",
        ratio,
        heard.refused,
        heard.failed,
        len(others.seconds),
        others.refused,
        others.failed,
        slowest,
    ]
    return f"| {name} | {' | '.join(map(str, cells))} |"


async def _fill(cluster: Cluster, facts: int) -> dict[str, list[str]]:
    """Return tokens for the victim, one person and ten people. Fill the memory if it is new."""
    with psycopg.connect(cluster.dsn(OWNER), autocommit=True) as owner:
        owner.execute("set search_path = textrawl, public")
        tokens = {
            "victim": [issue(owner, "victim", "default", "read")],
            "one": [issue(owner, "one", "default", "read") for _ in range(CALLERS)],
            "ten": [issue(owner, f"of ten, {n}", "default", "read") for n in range(CALLERS)],
        }
        found = owner.execute("select count(*) from observation").fetchone()
    if found == (0,):
        embedder = LocalEmbedder()
        await embedder.warm()
        async with await psycopg.AsyncConnection.connect(
            cluster.dsn(OWNER), autocommit=True
        ) as connection:
            await fill(connection, embedder, facts)
    return tokens


async def run_crowding(folder: Path, facts: int, seconds: float) -> None:
    """Print the victim's figures, alone and during each crowd."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files[1], files[1]))
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        tokens = await _fill(cluster, facts)
        environment = read_foreign_environment() | {
            "DATABASE_URL": cluster.dsn(APP), "EMBEDDING_PROVIDER": "local", "RATE_LIMIT": "0",
            "ACCESS_TOKEN": tokens["victim"][0], "LOG_LEVEL": "ERROR",
            "TEXTRAWL_TOOLSETS": "all",
        }  # fmt: skip
        async with listen(environment) as url:
            server = Server(url)
            await _load_topics(server, tokens["one"][0])
            await _print_table(server, tokens, seconds)


async def _load_topics(server: Server, token: str) -> None:
    """Call each heavy tool once, because the first call of a process loads scikit-learn.

    Raises RuntimeError if a call fails, because failing calls would not slow the victim.
    """
    async with httpx2.AsyncClient(timeout=60) as http:
        for call in _list_heavy(0):
            status, _ = await server.call(http, token, call, "/t/graph")
            if status != _OK:
                raise RuntimeError(f"{call[0]} answers {status}")


async def _print_table(server: Server, tokens: dict[str, list[str]], seconds: float) -> None:
    [victim] = tokens["victim"]
    crowds: dict[str, Crowd] = {
        "ten heavy calls of one person": lambda: server.ask_much(tokens["one"]),
        "ten heavy calls of ten people": lambda: server.ask_much(tokens["ten"]),
        "900 idle connections": server.hold_connections,
    }
    print(
        "| the victim | calls | p50, ms | p99, ms | ÷ alone | 503 | failed | others' answers |"
        " 503 | failed | slowest, s |\n|---|" + "---:|" * 10,
        flush=True,
    )
    for name, crowd in crowds.items():
        before = await server.suffer(victim, seconds / 2)
        async with crowd() as others:
            heard = await server.suffer(victim, seconds)
        after = await server.suffer(victim, seconds / 2)
        alone = Heard([*before.seconds, *after.seconds], before.refused + after.refused)
        print(write_row("alone", alone, Heard()))
        print(write_row(f"beside {name}", heard, others, alone), flush=True)


if __name__ == "__main__":
    print(json.dumps(vars(anyio.run(ask_until_told, sys.argv[1], sys.argv[2:]))))
