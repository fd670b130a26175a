"""The effect of a change of the embedding model on callers.

    python -m benchmarks.model_change [--facts 10000] [--clients 8]

It uses an embedded Postgres and one server over HTTP, which is never restarted. Clients search (4
of 5 calls) and remember facts. Meanwhile `textrawl embed` builds vectors of a second model, is
killed with SIGKILL half way, and is started again. Then it switches to the second model, rolls
back, and switches again.

The first model is wordllama with 256 dimensions. The second model rotates wordllama's vectors into
384 dimensions, behind OpenAI's protocol. The cosines within a model are equal, but the vectors of
the two models are not comparable. A search that mixed the models would find nothing.

A query is the text of a fact without its number. Recall is the share of the queries whose fact is
among the first ten. It prints Markdown.
"""

import argparse
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import numpy as np
import psycopg
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pgvector.psycopg import register_vector
from psycopg.sql import SQL, Identifier

from benchmarks.access import fill
from benchmarks.support.place import enrol, listen, open_folder, tell_machine
from benchmarks.support.work import Work
from tests.support.providers import EmbeddingServer
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.models.local import LocalEmbedder, load_model
from textrawl.settings import read_foreign_environment

WIDE = 384
PHASE = 8.0  # seconds of each phase that has no other end
KNOWN = """
    select e.name, o.content
    from textrawl.observation o join textrawl.entity e on e.id = o.entity_id"""
COUNT = SQL("select count(*) from textrawl.{}")
SAMPLE = SQL("""
    select e.name || ': ' || o.content, v.vector from textrawl.{} v
    join textrawl.observation o on o.id = v.observation_id
    join textrawl.entity e on e.id = o.entity_id order by md5(o.id::text) limit 500""")

ROTATION = np.linalg.qr(np.random.default_rng(5).standard_normal((WIDE, WIDE)))[0][:256]


def embed_plain(text: str) -> np.ndarray[Any, Any]:
    """Return wordllama's vector of a text, of unit length."""
    row = load_model().average(text)
    return row / np.linalg.norm(row)


def embed_turned(text: str, _: int) -> list[float]:
    """Return the same vector, rotated into 384 dimensions."""
    return (embed_plain(text) @ ROTATION).tolist()


@dataclass
class Tally:
    """The counts of the calls in one phase. `late` has the seconds of each call."""

    failed: int = 0
    keyword_only: int = 0
    asked: int = 0
    found: int = 0
    late: list[float] = field(default_factory=list[float])

    def write(self, phase: str) -> str:
        """Return a line of the table."""
        p50, p99 = 1000 * np.percentile(self.late or [0.0], [50, 99])
        recall = self.found / self.asked if self.asked else 0
        return (
            f"| {phase} | {len(self.late):,} | {self.failed} | {self.keyword_only} | {recall:.3f} |"
            f" {p50:.1f} | {p99:.1f} |"
        )


class Crowd:
    """Clients of one server. Their calls are counted for the current `phase`."""

    def __init__(self, token: str, known: list[tuple[str, str]]) -> None:
        self.url = ""
        self._token, self._known = token, known
        self._dice, self._work = random.Random(3), Work()  # noqa: S311 - the same in every run
        self._numbers = itertools.count()
        self.phase = "before"
        self.tallies: dict[str, Tally] = defaultdict(Tally)

    async def run(self) -> None:
        """Run one client until it is cancelled."""
        headers = {"authorization": f"Bearer {self._token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            while True:
                tally, begin = self.tallies[self.phase], time.perf_counter()
                search = self._dice.random() < 0.8
                await (self._search(client, tally) if search else self._remember(client, tally))
                tally.late.append(time.perf_counter() - begin)

    async def _search(self, client: Client, tally: Tally) -> None:
        name, content = self._dice.choice(self._known)
        query = f"{name}: {re.sub(r' [0-9]{4,}', '', content)}"
        mode = self._dice.choice(["hybrid", "semantic"])
        arguments = {"mode": "search", "query": query, "limit": 10, "searchMode": mode}
        answer = await client.call_tool("query_memory", arguments)
        text = json.dumps(answer.structured_content)
        tally.failed += answer.is_error
        tally.keyword_only += "keyword only" in text
        tally.asked += 1
        tally.found += content in text

    async def _remember(self, client: Client, tally: Tally) -> None:
        number = next(self._numbers)
        kept = f"keeps thing {number} in drawer {number % 977} of desk {number % 13}"
        arguments = {**self._work.make_fact(), "observation": kept}
        answer = await client.call_tool("remember_fact", arguments)
        tally.failed += answer.is_error


@dataclass(frozen=True)
class Change:
    """The commands of `textrawl embed`, run while the clients make calls."""

    crowd: Crowd
    owner: psycopg.Connection
    environment: dict[str, str]

    async def run(self) -> None:
        """Run all commands, phase by phase."""
        await anyio.sleep(PHASE)
        self.crowd.phase, began = "building", time.monotonic()
        building = self._start("start", "--provider", "openai", "--model", "turned-384")
        await self._wait_for_half(building)
        os.kill(building.pid, signal.SIGKILL)
        await anyio.to_thread.run_sync(building.wait)
        half = self._count("embedding_2")
        await self._embed("start", "--provider", "openai", "--model", "turned-384")
        spent, all_ = time.monotonic() - began, self._count("embedding_2")
        print(f"Built {all_:,} vectors in {spent:.0f} s, killed at {half:,} and resumed.\n")
        phases = {"switched": "switch", "rolled back": "rollback", "again": "switch"}
        for phase, word in phases.items():
            self.crowd.phase = phase
            await self._embed(word)
            await anyio.sleep(PHASE)

    async def _wait_for_half(self, building: "subprocess.Popen[bytes]") -> None:
        total = self._count("observation")
        while building.poll() is None:
            tables = self.owner.execute("select to_regclass('textrawl.embedding_2')").fetchone()
            if tables and tables[0] and self._count("embedding_2") > total / 2:
                return
            await anyio.sleep(0.1)

    def _start(self, *words: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "textrawl", "embed", *words]
        return subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL)

    async def _embed(self, *words: str) -> None:
        process = self._start(*words)
        assert await anyio.to_thread.run_sync(process.wait) == 0, words

    def _count(self, table: str) -> int:
        row = self.owner.execute(COUNT.format(Identifier(table))).fetchone()
        return int(row[0]) if row else 0


def count_foreign(owner: psycopg.Connection) -> tuple[int, int]:
    """Return the number of checked vectors, and of vectors that their model did not make."""
    register_vector(owner)
    looked = foreign = 0
    for table, turned in {"embedding_1": False, "embedding_2": True}.items():
        for text, vector in owner.execute(SAMPLE.format(Identifier(table))).fetchall():
            plain = embed_plain(text)
            expected = plain @ ROTATION if turned else plain
            looked += 1
            foreign += float(vector.to_numpy() @ expected) < 0.999
    return looked, foreign


def report(crowd: Crowd, owner: psycopg.Connection) -> None:
    """Print the results of the clients' calls, and the check of the vectors."""
    print("| phase | calls | failed | keyword only | recall@10 | p50 ms | p99 ms |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for phase, tally in crowd.tallies.items():
        print(tally.write(phase))
    looked, foreign = count_foreign(owner)
    print(f"\n{looked:,} vectors looked at, {foreign} not of their own model.")


async def run(facts: int, clients: int, folder: Path) -> None:
    """Print the table."""
    embedder = LocalEmbedder()
    await embedder.warm()
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        token = enrol(cluster.dsn(OWNER))
        async with await psycopg.AsyncConnection.connect(
            cluster.dsn(OWNER), autocommit=True
        ) as filler:
            await fill(filler, embedder, facts)
        with (
            EmbeddingServer(dimensions=WIDE, embed=embed_turned) as provider,
            psycopg.connect(cluster.dsn(OWNER), autocommit=True) as owner,
        ):
            variables = read_foreign_environment() | {
                "EMBEDDING_PROVIDER": "local", "OPENAI_API_KEY": "none", "RATE_LIMIT": "0",
                "OPENAI_BASE_URL": provider.openai_url,
            }  # fmt: skip
            crowd = Crowd(token, owner.execute(KNOWN).fetchall())
            served = variables | {"DATABASE_URL": cluster.dsn(APP)}
            async with listen(served) as url, anyio.create_task_group() as group:
                crowd.url = url
                for _ in range(clients):
                    group.start_soon(crowd.run)
                await Change(crowd, owner, variables | {"DATABASE_URL": cluster.dsn(OWNER)}).run()
                group.cancel_scope.cancel()
            print(f"{tell_machine()}; {facts:,} facts, {clients} clients.\n")
            report(crowd, owner)


def main() -> None:
    """Measure in a temporary folder."""
    parser = argparse.ArgumentParser(description="The effect of a change of the embedding model.")
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    given = parser.parse_args()
    with open_folder("models") as folder:
        anyio.run(run, given.facts, given.clients, folder)


if __name__ == "__main__":
    main()
