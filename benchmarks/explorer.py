"""The pages of the explorer: the time until their first byte, and the memory of the process.

    python -m benchmarks.explorer [--facts 100000] [--visits 20] [--memory FOLDER]

It fills a memory in a temporary folder, or in FOLDER, where the next run finds it again. It adds
relations, recalls, events, proposals and an entity with 499 relations, so give it a copy of a
memory that you need. `serve --http` runs in its own process. An administrator of all spaces visits
every page that the application has, also pages that were added later, and again after a write each
time. `search, Say why` and a large graph are visited apart. The time ends when the first byte of
the body arrives, and the size is that of the largest answer on the wire. The status is shown if it
is not 200. CPU is the time that the server and Postgres computed for a visit, in the mean. It
depends less on the load of the machine than the time.

Then it compares the resident memory of the server with the same server without the explorer, after
as many searches. It prints Markdown.
"""

import argparse
import random
import statistics
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any, LiteralString

import anyio
import anyio.to_thread
import httpx2
import psutil
import psycopg
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.analytics import add_story
from benchmarks.support.place import enrol, listen, open_folder, tell_machine
from benchmarks.support.synthetic import fill_once
from tests.explorer.visiting import Browser
from textrawl import migrate
from textrawl.access.access_token import hash_token, make_token, shorten_token
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.explorer.application import _PAGES as PAGES  # pyright: ignore[reportPrivateUsage]
from textrawl.settings import read_foreign_environment

WARM = 3  # visits of each page before the measured visits
RECALLS = 20_000
HUB, NEIGHBOURS, PROPOSALS = "Hub of the benchmark", 499, 100
STATEMENT = """select created_at, entity_name, content, author from memory_observations
    where valid order by created_at desc limit 20"""
SEARCHES = 20  # of both servers whose memory is compared
STORY: tuple[LiteralString, ...] = (
    """insert into event (space_id, at, actor_id, tool, action, entity_id, observation_id)
       select space_id, created_at, author_id, 'bench', 'stored', entity_id, id from fact""",
    """select grant_access('bench', name, '{read,write,forget,review,admin}')
       from space where tier is null""",
    """select remember_fact(%(hub)s, 'project', 'is in the middle'),
       remember_fact('Spoke', 'person', 'is at the edge'),
       name_entity(%(hub)s, 'Nave')""",
    """select relate_entities(%(hub)s, 'knows', name)
       from (select name from entity where space_id = default_space() and name <> %(hub)s
             order by id limit %(neighbours)s) e""",
    """select create_space('handbook', tier => 'personal'),
       grant_access('bench', 'handbook', '{read}')""",
    """select store_source('handbook', 'file/' || n, 'page ' || n,
       rpad('', 3400, 'word ' || n || ' '), '[[1,0,2000,500],[2,1900,1500,400]]',
       encode(sha256(n::text::bytea), 'hex')) from generate_series(1, 1000) n""",
    """select write_entry('daily', to_char(now() - n * interval '1 day', 'YYYY-MM-DD'),
       'wrote ' || n || ' lines', 'laptop'), save_memory(to_jsonb('saved ' || n), moment =>
       now() - n * interval '1 hour') from generate_series(1, 1000) n""",
    """select write_identity('self', 'my_identity.md', 'version ' || n)
       from generate_series(1, 30) n""",
    "select remember_fact('Spoken', 'person', 'is merged'), merge_entities('Spoke', 'Spoken')",
    "vacuum analyze",
)

DAY = timedelta(days=1)

Address = tuple[str, dict[str, str]]
"""A page and its parameters."""


@dataclass(frozen=True)
class Known:
    """What the addresses of pages name: facts with their entities, and one of each other thing."""

    facts: list[tuple[str, str, str]]  # entity, id, text
    proposal: str
    token: str
    document: str
    pair: str

    def make_address(self, page: str, dice: random.Random) -> Address:
        """Return an address of a page. A page without an own entry has no parameters."""
        entity, fact, text = dice.choice(self.facts)
        words = " ".join(dice.sample(text.split(), min(6, len(text.split()))))
        space = {"space": "default"}
        place = {"name": entity, **space}
        given: dict[str, dict[str, str]] = {
            "search": {"q": words},
            "entity": {"name": entity},
            "graph": {"name": entity},
            "undo": {"author": "bench", "since": (datetime.now(UTC) - DAY).isoformat(), **space},
            "correct": {**place, "fact": fact},
            "forget": {**place, "fact": fact},
            **dict.fromkeys(("alias", "edit", "relate"), place),
            "end": {**place, "relation": "knows", "other": "Spoke"},
            "selection": {"name": entity, "source": "default", "change": "end", "id": fact},
            "merge-pairs": {**space, "pair": self.pair},
            "unname": {"name": HUB, "alias": "Nave", "space": "default"},
            "merge": {**place, "other": "Spoke"},
            "split": {"name": "Spoken", "space": "default"},
            "grant": {"actor": "bench", "space": "default"},
            "take-back": {"actor": "bench", "space": "default"},
            "decide": {"id": self.proposal, "space": "default"},
            "amend": {"id": self.proposal, "space": "default"},
            "share": {"name": entity, "source": "default", "target": "fifth"},
            "revoke": {"token": self.token, "space": "default"},
            "suggest": {"q": entity[: dice.randint(1, len(entity))]},
            "item": {"id": f"document:{self.document}"},
            "documents": {"space": "handbook"},
            "sql": {"statement": STATEMENT},
        }
        return page, given.get(page, {})


def add_places(owner: psycopg.Connection[Any], token: str) -> Known:
    """Add what the pages show, once, and return what their addresses name."""
    given = {"hub": HUB, "neighbours": NEIGHBOURS}
    if owner.execute("select from entity where name = %s", (HUB,)).fetchone() is None:
        for statement in STORY:
            owner.execute(statement, given if "%(" in statement else None)
        _propose(owner)
    # Otherwise the server makes vectors for the statements of the relations while it is measured.
    owner.execute("delete from embedding_pending")
    owner.execute(
        "update token set scopes = scopes || array['review'] where hash = %s", (hash_token(token),)
    )
    facts = owner.execute(
        "select e.name, f.id::text, f.content from fact f"
        " join entity e on e.space_id = f.space_id and e.id = f.entity_id"
        " where f.space_id = default_space() and is_valid(f.valid_from, f.valid_until, f.closed_at)"
        " order by f.id limit 1000"
    ).fetchall()
    [proposal] = owner.execute("select id::text from proposal limit 1").fetchone() or ("",)
    sources = owner.execute("select id::text from document where kind = 'source'").fetchall()
    [pair] = owner.execute(
        "select string_agg(id::text, '/') from entity"
        " where space_id = default_space() and name in (%s, 'Spoke')",
        (HUB,),
    ).fetchone() or ("",)
    return Known(facts, proposal, shorten_token(token), sources[0][0], pair)


def _propose(owner: psycopg.Connection[Any]) -> None:
    agent = make_token()
    owner.execute(
        "select create_token(hash => %s, prefix => %s, actor => 'agent', space => 'default',"
        " scopes => array['read', 'propose'])",
        (hash_token(agent), shorten_token(agent)),
    )
    for number in range(PROPOSALS):
        owner.execute(
            "select remember_fact(%s, 'person', %s, credential => %s)",
            (f"Person {number}", f"was proposed as number {number}", hash_token(agent)),
        )


class Visitor:
    """A signed-in browser, and the owner's connection, which writes between visits."""

    def __init__(
        self, browser: Browser, owner: psycopg.Connection[Any], known: Known, server: psutil.Process
    ) -> None:
        self._browser, self._owner, self.known, self._server = browser, owner, known, server
        self._dice = random.Random(7)  # noqa: S311 - the same in every run

    def write(self) -> None:
        """Store a new fact, so that every number has to be counted again."""
        self._owner.execute(
            "select remember_fact(%s, 'person', %s)",
            (f"Person {self._dice.random()}", f"is number {self._dice.random()}"),
        )

    async def time(self, address: Address) -> tuple[int, float, int]:
        """Return the status, the milliseconds until the first byte of the body, and all bytes."""
        page, parameters = address
        begin = time.perf_counter()
        async with self._browser.http.stream(
            "GET", f"{self._browser.root}/explore/{page}", params=parameters
        ) as answer:
            taken, size = 0.0, 0
            async for piece in answer.aiter_raw():
                taken = taken or 1000 * (time.perf_counter() - begin)
                size += len(piece)
        return answer.status_code, taken, size

    async def print_row(
        self, label: str, make: Callable[[], Address], visits: int, *, after_write: bool = False
    ) -> None:
        """Visit an address often, and print the times."""
        taken, status, computed, largest = list[float](), 0, 0.0, 0
        for number in range(visits + WARM):
            if after_write:
                self.write()
            before = self._read_cpu()
            status, milliseconds, size = await self.time(make())
            largest = max(largest, size)
            if number >= WARM:
                taken.append(milliseconds)
                computed += self._read_cpu() - before
        ranks = statistics.quantiles(taken, n=100)
        note = "" if status == 200 else f" (status {status})"
        cpu = computed / visits
        row = (f"{label}{note}", *(f"{n:.0f}" for n in (ranks[49], ranks[94], cpu, largest / 1000)))
        print(f"| {' | '.join(row)} |", flush=True)

    def _read_cpu(self) -> float:
        """Return the CPU milliseconds of the server and of the processes of Postgres."""
        postgres = psutil.Process(self._owner.info.backend_pid).parent()
        processes = [self._server, *(postgres.children() if postgres else ())]
        files = [Path(f"/proc/{process.pid}/schedstat") for process in processes]
        return sum(int(file.read_text().split()[0]) for file in files if file.is_file()) / 1e6

    async def print_table(self, visits: int) -> None:
        """Print a row for each page of the application, and for what is measured apart."""
        print("| page | first byte p50, ms | p95, ms | CPU, ms | kB |")
        print("|---|---:|---:|---:|---:|")
        for page, written in product(PAGES, (False, True)):
            await self.print_row(
                f"{page}, after a write" if written else page,
                lambda page=page: self.known.make_address(page, self._dice),
                visits,
                after_write=written,
            )

        def explain() -> Address:
            page, parameters = self.known.make_address("search", self._dice)
            return page, {**parameters, "why": "1"}

        graph: Address = ("graph", {"name": HUB, "depth": "1"})
        for label, make in (
            ("search, Say why", explain), (f"graph, {NEIGHBOURS + 1} nodes", lambda: graph)
        ):  # fmt: skip
            await self.print_row(label, make, visits)
            await self.print_row(f"{label}, after a write", make, visits, after_write=True)


@asynccontextmanager
async def open_server(
    cluster: Cluster, token: str, *, explorer: bool
) -> AsyncGenerator[tuple[str, psutil.Process]]:
    """Start a server, and yield its address without the path, and its process."""
    environment = read_foreign_environment() | {
        "DATABASE_URL": cluster.dsn(APP), "EMBEDDING_PROVIDER": "local", "ACCESS_TOKEN": token,
        "RATE_LIMIT": "0", "EXPLORER": str(explorer).lower(),
    }  # fmt: skip
    async with listen(environment) as url:
        root = url.removesuffix("/mcp")
        port = root.rpartition(":")[2]
        [process] = [each for each in psutil.Process().children() if port in each.cmdline()]
        yield root, process


async def search(root: str, token: str, known: Known) -> None:
    """Call query_memory as clients do, so that both servers have loaded the same."""
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(f"{root}/mcp", http_client=http)) as client,
    ):
        for _, _, text in known.facts[:SEARCHES]:
            answer = await client.call_tool("query_memory", {"mode": "search", "query": text})
            assert not answer.is_error, answer.content


async def run(given: argparse.Namespace, folder: Path) -> None:
    """Print everything."""
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        await anyio.to_thread.run_sync(fill_once, folder, cluster.dsn(OWNER), given.facts)
        token = enrol(cluster.dsn(OWNER))
        add_story(cluster, min(RECALLS, given.facts))
        with psycopg.connect(cluster.dsn(OWNER), autocommit=True) as owner:
            owner.execute("set search_path = textrawl, public")
            known = add_places(owner, token)
            print(f"{tell_machine()}; {given.visits} visits of each page.\n")
            async with open_server(cluster, token, explorer=True) as (root, process):
                await search(root, token, known)
                async with httpx2.AsyncClient(timeout=60) as http:
                    browser = Browser(root, http)
                    assert (await browser.sign_in(token)).status_code == 303
                    await Visitor(browser, owner, known, process).print_table(given.visits)
                used = process.memory_info().rss
            async with open_server(cluster, token, explorer=False) as (root, process):
                await search(root, token, known)
                bare = process.memory_info().rss
    print("\n| server | resident memory, MB |\n|---|---:|")
    print(f"| with the explorer, after all visits | {used / 1e6:.0f} |")
    print(f"| without the explorer | {bare / 1e6:.0f} |\n\n{tell_machine()}")


def main() -> None:
    """Measure in a temporary folder, or in the given folder."""
    parser = argparse.ArgumentParser(description="The pages of the explorer in a large memory.")
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--visits", type=int, default=20)
    parser.add_argument("--memory", type=Path)
    given = parser.parse_args()
    if given.memory is not None:
        anyio.run(run, given, given.memory)
        return
    with open_folder("explorer") as folder:
        anyio.run(run, given, folder)


if __name__ == "__main__":
    main()
