"""The times of calls while an encoder makes vectors, beside those of the small local model.

    python -m benchmarks.vectors [--calls 200] [--facts 1000] [--rounds 3]

Two servers over stdio have a memory each, with the same facts: one with the local model, one with
the encoder. Their calls alternate. First each stores facts and answers questions. Then the vectors
of the encoder's memory are deleted again and again. While its server makes them in the background,
both servers answer the same questions, and once more when all vectors are there. `meanwhile` and
`quiet` are the times of the encoder's server. `found` is the share of questions, made of six words
of a fact, whose fact is among the first ten.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import psycopg
from mcp import Client, StdioServerParameters
from mcp.types import TextContent
from tenacity import AsyncRetrying, retry_if_result, wait_fixed

from benchmarks.support.filled_memory import BATCH, embed_all, open_database
from benchmarks.support.place import SERVE, enrol, open_folder, tell_machine
from benchmarks.support.ways import WARM, name_server, rank
from benchmarks.support.work import Call, Work
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.postmaster import APP, OWNER

MODELS = ("local", "encoder")
REMEMBER = "remember_fact"

_FORGET_VECTORS = """
    with gone as (delete from textrawl.embedding_1 returning space_id, observation_id)
    insert into textrawl.embedding_pending (model_id, space_id, observation_id)
    select 1, space_id, observation_id from gone
"""
_PENDING = "select count(*) from textrawl.embedding_pending"


class Bench:
    """A client for each model, the owner's connection to the encoder's memory, and the facts."""

    def __init__(
        self, clients: dict[str, Client], sql: psycopg.Connection[Any], texts: Sequence[str]
    ) -> None:
        self.clients = clients
        self.sql = sql
        self.texts = texts
        self.work = Work(texts=texts, start=1_000_000)

    async def time(self, model: str, call: Call) -> tuple[float, str]:
        """Return the seconds and the text of an answer."""
        begin = time.perf_counter()
        reply = await self.clients[model].call_tool(*call)
        taken = time.perf_counter() - begin
        [content] = reply.content
        if reply.is_error or not isinstance(content, TextContent):
            raise RuntimeError(reply.content)
        return taken, content.text

    async def compare(self, kind: str, calls: int) -> None:
        """Print the times of calls of one kind, with vectors of both models."""
        taken: dict[str, list[float]] = {model: [] for model in MODELS}
        for number in range(calls + WARM):
            made = {model: self.work.kinds[kind]() for model in MODELS}
            for model in MODELS:
                seconds, _ = await self.time(model, made[model])
                taken[model] += [seconds] if number >= WARM else []
        (local, _), (encoder, _) = (rank(taken[model]) for model in MODELS)
        cells = [f"{number:.1f}" for model in MODELS for number in rank(taken[model])]
        print(f"| {kind} | {' | '.join(cells)} | {encoder / local:.2f} |", flush=True)

    async def ask_beside(self, rounds: int) -> None:
        """Print the times of questions while vectors are made, and when all are there."""
        taken: dict[str, list[float]] = {"meanwhile": [], "quiet": [], "local": []}
        found: dict[str, list[bool]] = {way: [] for way in taken}
        seconds = 0.0
        for _ in range(rounds):
            questions = [self.work.kinds["query_memory search"]() for _ in range(WARM)]
            self.sql.execute(_FORGET_VECTORS)
            await self._wait_for_upkeep()
            begin, asked = time.perf_counter(), list[Call]()
            while self.count():
                asked.append(self.work.kinds["query_memory search"]())
                await self._ask("meanwhile", "encoder", asked[-1], taken, found)
            seconds += time.perf_counter() - begin
            for call in questions:
                await self.time("encoder", call)
            for call in asked:
                # In another order, because the server keeps the vectors of questions.
                words = " ".join(reversed(call[1]["query"].split()))
                changed = (call[0], call[1] | {"query": words})
                await self._ask("quiet", "encoder", changed, taken, found)
                await self._ask("local", "local", call, taken, found)
        print("| questions | p50 | p95 | found |\n|---|---:|---:|---:|")
        for way, times in taken.items():
            middle, late = rank(times)
            share = 100 * sum(found[way]) / len(found[way])
            print(f"| {way}, {len(times)} | {middle:.1f} | {late:.1f} | {share:.0f} % |")
        ratio = rank(taken["meanwhile"])[0] / rank(taken["quiet"])[0]
        pace = rounds * len(self.texts) / seconds
        print(f"\nMeanwhile ÷ quiet: {ratio:.2f}. Meanwhile {pace:.0f} vectors a second were made.")

    async def _wait_for_upkeep(self) -> None:
        async def is_waiting() -> bool:
            return self.count() == len(self.texts)

        await AsyncRetrying(wait=wait_fixed(0.05), retry=retry_if_result(bool))(is_waiting)

    async def _ask(
        self,
        way: str,
        model: str,
        call: Call,
        taken: dict[str, list[float]],
        found: dict[str, list[bool]],
    ) -> None:
        words = set(call[1]["query"].split())
        seconds, answer = await self.time(model, call)
        taken[way].append(seconds)
        found[way].append(any(words <= set(t.split()) and t in answer for t in self.texts))

    def count(self) -> int:
        """Return the number of facts that wait for a vector."""
        row = self.sql.execute(_PENDING).fetchone()
        return row[0] if row else 0


async def measure(folder: Path, facts: int, calls: int, rounds: int) -> None:
    """Fill a memory for each model, and compare them."""
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(run_embedded(folder))
        clients = dict[str, Client]()
        for model in MODELS:
            await stack.enter_async_context(open_database(cluster, model))
            clients[model] = await stack.enter_async_context(Client(_start(cluster, model)))
        sql = stack.enter_context(psycopg.connect(cluster.dsn(OWNER, "encoder"), autocommit=True))
        sql.execute("set search_path = textrawl, public")
        work, texts = Work(), list[str]()
        for _ in range(0, facts, BATCH):
            tool, batch = work.make_batch(BATCH)
            texts += [fact["observation"] for fact in batch["facts"]]
            for client in clients.values():
                await client.call_tool(tool, batch)
        await embed_all(sql)
        bench = Bench(clients, sql, texts)
        titles = [f"{model} {place}" for model in MODELS for place in ("p50", "p95")]
        print(f"| {facts:,} facts, ms | {' | '.join(titles)} | encoder ÷ local |")
        print(f"|---|{'---:|' * (len(titles) + 1)}", flush=True)
        await bench.compare("query_memory search", calls)
        await bench.compare(REMEMBER, calls)
        print()
        await bench.ask_beside(rounds)


def _start(cluster: Cluster, model: str) -> StdioServerParameters:
    token = enrol(cluster.dsn(OWNER, model))
    environment = name_server(cluster.dsn(APP, model), token) | {"EMBEDDING_PROVIDER": model}
    return StdioServerParameters(command=sys.executable, args=SERVE, env=environment)


def main() -> None:
    """Measure with a temporary folder."""
    parser = argparse.ArgumentParser(description="Calls while an encoder makes vectors.")
    parser.add_argument("--facts", type=int, default=1_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(f"{tell_machine()}; {given.calls} calls each.\n")
    with open_folder("vectors") as folder:
        anyio.run(measure, folder, given.facts, given.calls, given.rounds)


if __name__ == "__main__":
    main()
