"""The calls that a team of clients gets from one server over a large memory, and their cost.

    python -m benchmarks.load [--facts 100000] [--clients 32] [--seconds 600] [--every 60]
        [--pause 0] [--memory FOLDER]

It uses an embedded Postgres in a temporary folder, local embeddings, and a server over HTTP with a
token for each client. Four of five calls read (search, entity, list), and one writes. Every
twentieth write is immediately looked up. First one client searches alone. It prints Markdown: a row
for each minute, then the totals. `--seconds 3600` is the soak test. With `--pause 1` it uses little
of the machine. `--memory` names a folder that keeps the facts for the next run, which uses a copy;
with `--seconds 0` it is only filled.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import psutil
import psycopg

from benchmarks.access import fill
from benchmarks.support.place import count_deadlocks, enrol, listen, open_folder, tell_machine
from benchmarks.support.work import Work
from tests.support.http_team import bear, call_modern
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER, find_postmaster
from textrawl.models.local import LocalEmbedder
from textrawl.settings import read_foreign_environment

_READS, _LOOK_UP = 0.8, 0.05
_ALONE, _WARM = 1050, 50  # searches of a single client; those at the beginning do not count
_FILLED = "filled"  # a file beside the memory that `--memory` keeps
_MIX = {
    "read": ["query_memory search"] * 7 + ["query_memory entity"] * 2 + ["query_memory list"],
    "write": ["remember_fact"] * 8 + ["relate_entities", "build_knowledge"],
}
_BACKENDS = "select count(*) from pg_stat_activity where usename = 'textrawl_app'"


@dataclass
class Tally:
    """The seconds of all calls by kind, and the numbers of errors by title."""

    taken: dict[str, list[float]] = field(
        default_factory=lambda: {kind: list[float]() for kind in _MIX}
    )
    errors: Counter[str] = field(default_factory=Counter[str])
    searches: list[float] = field(default_factory=list[float])
    looked_up: int = 0
    wrong: int = 0


@dataclass(frozen=True)
class Footprint:
    """The resources that the server uses at one moment, and the memory of all of Postgres."""

    memory: float  # MB
    postgres: float  # MB
    files: int
    connections: int
    backends: int


class Team:
    """Clients of one server. Each has its own token."""

    def __init__(self, url: str, tokens: list[str], tally: Tally) -> None:
        self._url = url
        self._tokens = tokens
        self._tally = tally
        self._work = Work()
        self._kinds = {kind.split(",")[0]: make for kind, make in self._work.kinds.items()}

    async def run(self, seconds: float, pause: float) -> None:
        """Run all clients at the same time, each with a pause after every call."""
        over = time.monotonic() + seconds
        async with anyio.create_task_group() as group:
            for number, token in enumerate(self._tokens):
                group.start_soon(self._serve, number, token, over, pause)

    async def search_alone(self) -> list[float]:
        """Return the seconds of searches of a single client, while nobody else calls."""
        alone: list[float] = []
        async with httpx2.AsyncClient(headers=bear(self._tokens[0]), timeout=60) as http:
            for _ in range(_ALONE):
                tool, arguments = self._kinds["query_memory search"]()
                began = time.perf_counter()
                await self._call(http, tool, arguments)
                alone.append(time.perf_counter() - began)
        return alone[_WARM:]

    async def _serve(self, number: int, token: str, over: float, pause: float) -> None:
        dice = random.Random(number)  # noqa: S311 - the same calls in every run
        async with httpx2.AsyncClient(headers=bear(token), timeout=60) as http:
            while time.monotonic() < over:
                did = "read" if dice.random() < _READS else "write"
                tool, arguments = self._kinds[dice.choice(_MIX[did])]()
                began = time.perf_counter()
                answer = await self._call(http, tool, arguments)
                taken = time.perf_counter() - began
                self._tally.taken[did].append(taken)
                if arguments.get("mode") == "search":
                    self._tally.searches.append(taken)
                new = answer and tool == "remember_fact" and "duplicate" not in answer
                if answer and new and dice.random() < _LOOK_UP:
                    await self._look_up(http, arguments["entityName"], answer["observationId"])
                await anyio.sleep(pause)

    async def _call(
        self, http: httpx2.AsyncClient, tool: str, arguments: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Return the structured content, or None for an error, which is counted."""
        headers, body = call_modern(tool)
        body["params"]["arguments"] = arguments
        try:
            answer = await http.post(self._url, json=body, headers=headers)
        except httpx2.HTTPError as error:
            self._tally.errors[type(error).__name__] += 1
            return None
        if answer.status_code != 200:
            self._tally.errors[f"status {answer.status_code}"] += 1
            return None
        result = read_message(answer)["result"]
        if result.get("isError"):
            self._tally.errors[result["content"][0]["text"]] += 1
            return None
        return result["structuredContent"]

    async def _look_up(self, http: httpx2.AsyncClient, name: str, identity: str) -> None:
        """Look up a fact that was just remembered, and count it as wrong if it is not found."""
        asked = {"mode": "entity", "entityName": name, "maxObs": 100, "maxTokens": 25_000}
        answer = await self._call(http, "query_memory", asked)
        self._tally.looked_up += 1
        known = [fact["id"] for fact in (answer or {}).get("observations", ())]
        self._tally.wrong += answer is not None and identity not in known


def read_message(answer: httpx2.Response) -> dict[str, Any]:
    """Return the message of an answer. A slow answer is a stream of events."""
    if answer.headers["content-type"].startswith("text/event-stream"):
        *_, last = [line for line in answer.text.splitlines() if line.startswith("data: {")]
        return json.loads(last.removeprefix("data: "))
    return answer.json()


def find_server(port: str) -> psutil.Process:
    """Return the child of this process that listens at this address."""
    [found] = [p for p in psutil.Process().children() if port in p.cmdline()]
    return found


def weigh(server: psutil.Process, superuser: str, pgdata: Path) -> Footprint:
    """Return the resources that the server and Postgres use now."""
    with psycopg.connect(superuser) as connection:
        row = connection.execute(_BACKENDS).fetchone()
    assert row is not None
    memory = server.memory_info().rss / 1e6
    connections = len(server.net_connections("tcp"))
    return Footprint(memory, weigh_postgres(pgdata), server.num_fds(), connections, row[0])


def weigh_postgres(pgdata: Path) -> float:
    """Return the memory of all processes of Postgres in MB. Shared pages count once."""
    pid = find_postmaster(pgdata)
    assert pid is not None
    memory = 0.0
    for process in (parent := psutil.Process(pid), *parent.children()):
        with suppress(psutil.NoSuchProcess):
            memory += process.memory_full_info().pss / 1e6
    return memory


def rank(seconds: list[float]) -> list[float]:
    """Return the median, the 95th and the 99th percentile in milliseconds."""
    if len(seconds) < 2:
        return [0.0] * 3
    ranks = statistics.quantiles(seconds, n=100)
    return [1000 * ranks[place] for place in (49, 94, 98)]


def write_row(name: str, seconds: float, parts: dict[str, list[float]], weight: Footprint) -> str:
    """Return a line of the table."""
    calls = sum(map(len, parts.values()))
    cells = [f"{number:.0f}" for did in parts for number in rank(parts[did])]
    costs = [
        f"{weight.memory:.0f}",
        f"{weight.postgres:.0f}",
        str(weight.files),
        str(weight.connections),
        str(weight.backends),
    ]
    return f"| {' | '.join([name, f'{calls / max(seconds, 1):.0f}', *cells, *costs])} |"


async def watch(
    tally: Tally, look: Callable[[], Footprint], every: float, weights: list[Footprint]
) -> None:
    """Print a row at regular intervals."""
    seen = dict.fromkeys(tally.taken, 0)
    for number in range(1, 100_000):
        await anyio.sleep(every)
        weights.append(await anyio.to_thread.run_sync(look))
        parts = {did: taken[seen[did] :] for did, taken in tally.taken.items()}
        seen = {did: len(taken) for did, taken in tally.taken.items()}
        print(write_row(f"{number * every:.0f} s", every, parts, weights[-1]), flush=True)


def write_head(given: argparse.Namespace) -> None:
    """Print the head of the table."""
    print(f"{tell_machine()}; {given.facts:,} facts, {given.clients} clients.\n")
    titles = [f"{did} p{number}, ms" for did in _MIX for number in (50, 95, 99)]
    print(f"| | calls/s | {' | '.join(titles)} | MB | MB of Postgres | files | TCP |", end="")
    print(" backends |\n|---|" + "---:|" * 12, flush=True)


def write_end(tally: Tally, seconds: float, weights: list[Footprint], deadlocks: int) -> None:
    """Print the totals."""
    print(write_row("in all", seconds, tally.taken, weights[-1]))
    calls = sum(map(len, tally.taken.values()))
    print(
        f"\n{calls:,} calls, {sum(tally.errors.values())} errors; {tally.looked_up} writes looked"
        f" up, {tally.wrong} not found; {deadlocks} deadlocks."
    )
    for title, count in tally.errors.most_common():
        print(f"- {count} times {title}")
    warm, last = weights[1], weights[-1]  # the first one is from before any call
    drift = 100 * (last.memory / warm.memory - 1)
    print(
        f"Memory of the server: {weights[0].memory:.0f} MB at the start, {warm.memory:.0f} MB warm,"
        f" {last.memory:.0f} MB at the end: {drift:+.1f} %. Of Postgres: {weights[0].postgres:.0f},"
        f" {warm.postgres:.0f} and {last.postgres:.0f} MB."
    )


def write_searches(alone: list[float], tally: Tally) -> None:
    """Print the times of searches of one client alone, and among all clients."""
    (median, _, slow), (median_beside, _, slow_beside) = rank(alone), rank(tally.searches)
    print(
        f"Searches: p50 {median:.0f} and p99 {slow:.0f} ms alone; p50 {median_beside:.0f} and p99"
        f" {slow_beside:.0f} ms among all clients: {slow_beside / slow:.1f} times."
    )


async def fill_once(folder: Path, facts: int) -> None:
    """Fill the memory in a folder, unless it is filled already."""
    if (folder / _FILLED).exists():
        return
    embedder = LocalEmbedder()
    await embedder.warm()
    async with run_embedded(folder / "data") as cluster:
        await migrate(cluster.dsn(OWNER))
        enrol(cluster.dsn(OWNER))  # the author of the facts
        async with await psycopg.AsyncConnection.connect(
            cluster.dsn(OWNER), autocommit=True
        ) as owner:
            await fill(owner, embedder, facts)
    (folder / _FILLED).touch()


async def run(given: argparse.Namespace, folder: Path) -> bool:
    """Print the tables. Return True if there was no error."""
    tally, seconds = Tally(), 0.0
    if given.memory is not None:
        # The owner of the files is the OS user of Postgres, which shutil does not copy.
        await anyio.run_process(["cp", "-a", str(given.memory / "data"), str(folder / "data")])
    else:
        await fill_once(folder, given.facts)
    async with run_embedded(folder / "data") as cluster:
        await migrate(cluster.dsn(OWNER))
        tokens = [enrol(cluster.dsn(OWNER)) for _ in range(given.clients)]
        environment = read_foreign_environment() | {
            "DATABASE_URL": cluster.dsn(APP), "EMBEDDING_PROVIDER": "local",
            "ACCESS_TOKEN": tokens[0], "RATE_LIMIT": "0",
        }  # fmt: skip
        async with listen(environment) as url:
            server = find_server(url.split(":")[2].split("/")[0])
            look = partial(weigh, server, cluster.dsn(SUPERUSER), cluster.data)
            team = Team(url, tokens, tally)
            alone, weights = await team.search_alone(), [look()]
            write_head(given)
            async with anyio.create_task_group() as group:
                group.start_soon(watch, tally, look, given.every, weights)
                began = time.monotonic()
                await team.run(given.seconds, given.pause)
                seconds = time.monotonic() - began
                group.cancel_scope.cancel()
            weights.append(look())
        write_end(tally, seconds, weights, count_deadlocks(cluster.dsn(OWNER)))
        write_searches(alone, tally)
    return not tally.errors and not tally.wrong


def main() -> None:
    """Load a server on a memory in a temporary folder."""
    parser = argparse.ArgumentParser(description="Many clients of one server.")
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--every", type=float, default=60)
    parser.add_argument("--pause", type=float, default=0, help="seconds after each call")
    parser.add_argument("--memory", type=Path, help="folder that keeps the facts")
    given = parser.parse_args()
    if given.memory is not None:
        given.memory.mkdir(exist_ok=True)
        given.memory.chmod(0o755)
        anyio.run(fill_once, given.memory, given.facts)
    if not given.seconds:
        return
    with open_folder("load") as folder:
        sound = anyio.run(run, given, folder)
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
