"""The effect of a failing embedding provider on callers, and the time until vectors are there.

    python -m benchmarks.outage [--seconds 10] [--down 600] [--clients 8] [--only FAILING]

It uses an embedded Postgres, a server over HTTP, and a provider on loopback with OpenAI's protocol.
The provider fails in each known way for `seconds`. Then it refuses connections for `down` seconds.
Meanwhile clients remember facts, one after another.

It prints Markdown with a row for each fault: the number of calls, the number of failed calls, and
the times of calls after the circuit breaker has opened. The last column is the number of seconds
from the provider's recovery until every fact has a vector.
"""

import argparse
import itertools
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import LiteralString

import anyio
import httpx2
import numpy as np
import psycopg
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from benchmarks.support.place import enrol, listen, open_folder, tell_machine
from tests.support.providers import EmbeddingServer, Fault
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.models.remote import TIMEOUT
from textrawl.settings import read_foreign_environment

OPENS = 4 * TIMEOUT  # seconds after which the breaker is open: three calls have timed out
PATIENCE = 300.0
WITHOUT_VECTOR = """
    select from textrawl.observation o where o.created_at <= %(moment)s
    and not exists (select from textrawl.embedding_1 v where v.observation_id = o.id) limit 1"""


@dataclass
class Tally:
    """The calls during one fault. `late` has the seconds of calls after the breaker opened."""

    began: float = field(default_factory=time.monotonic)
    calls: int = 0
    failed: int = 0
    late: list[float] = field(default_factory=list[float])


@dataclass
class Writers:
    """Clients that remember facts. Their calls are counted in the current `tally`."""

    url: str
    token: str
    tally: Tally = field(default_factory=Tally)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    async def run(self) -> None:
        """Run one client until it is cancelled."""
        headers = {"authorization": f"Bearer {self.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            while True:
                tally, begin, number = self.tally, time.monotonic(), next(self._numbers)
                fact = {"entityName": f"Person {number % 97}", "entityType": "person"}
                arguments = {**fact, "observation": f"owns thing number {number}"}
                answer = await client.call_tool("remember_fact", arguments)
                tally.calls += 1
                tally.failed += answer.is_error
                if begin - tally.began > OPENS:
                    tally.late.append(time.monotonic() - begin)
                await anyio.sleep(0.02)


async def wait_for(owner: psycopg.Connection, missing: LiteralString) -> float:
    """Return the seconds until each fact that is stored now has a vector."""
    began = time.monotonic()
    [(moment,)] = owner.execute("select clock_timestamp()").fetchall()
    async for attempt in AsyncRetrying(stop=stop_after_delay(PATIENCE), wait=wait_fixed(0.1)):
        with attempt:
            assert owner.execute(missing, {"moment": moment}).fetchall() == []
    return time.monotonic() - began


async def suffer(
    provider: EmbeddingServer,
    writers: Writers,
    owner: psycopg.Connection,
    faults: dict[Fault, float],
) -> None:
    """Print a line for each fault."""
    print("| fault | seconds | calls | failed | p50 ms | p99 ms | complete after s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for fault, seconds in faults.items():
        provider.retry_after = "2" if fault is Fault.RATE_LIMITED else None
        provider.fail(fault)
        tally = writers.tally = Tally()
        await anyio.sleep(OPENS + seconds)
        writers.tally = Tally()
        provider.heal()
        complete = await wait_for(owner, WITHOUT_VECTOR)
        p50, p99 = 1000 * np.percentile(tally.late or [0.0], [50, 99])
        calls = f"{OPENS + seconds:.0f} | {tally.calls:,} | {tally.failed}"
        print(f"| {fault.value} | {calls} | {p50:.0f} | {p99:.0f} | {complete:.1f} |", flush=True)


async def run(faults: dict[Fault, float], down: float, clients: int, folder: Path) -> None:
    """Measure all faults on one memory."""
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        token = enrol(cluster.dsn(OWNER))
        with (
            EmbeddingServer(dimensions=256) as provider,
            psycopg.connect(cluster.dsn(OWNER), autocommit=True) as owner,
        ):
            variables = read_foreign_environment() | {
                "DATABASE_URL": cluster.dsn(APP), "EMBEDDING_PROVIDER": "openai",
                "EMBEDDING_MODEL": "words", "OPENAI_BASE_URL": provider.openai_url,
                "RATE_LIMIT": "0", "LOG_LEVEL": "ERROR",
            }  # fmt: skip
            async with listen(variables) as url, anyio.create_task_group() as group:
                writers = Writers(url, token)
                for _ in range(clients):
                    group.start_soon(writers.run)
                await wait_for(owner, "select where to_regclass('textrawl.embedding_1') is null")
                print(f"{tell_machine()}; {clients} clients, a time limit of {TIMEOUT:g} s.\n")
                await suffer(provider, writers, owner, faults)
                if down:
                    await suffer(provider, writers, owner, {Fault.DOWN: down})
                group.cancel_scope.cancel()


def main() -> None:
    """Measure in a temporary folder."""
    parser = argparse.ArgumentParser(description="An embedding provider that fails.")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--down", type=float, default=600)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--only", action="append", choices=[fault.name for fault in Fault])
    given = parser.parse_args()
    # Leave out refused texts, because then the provider works.
    chosen = given.only or [fault.name for fault in Fault if fault is not Fault.TEXT_REFUSED]
    faults = {Fault[name]: given.seconds for name in chosen}
    with open_folder("outage") as folder:
        anyio.run(run, faults, given.down, given.clients, folder)


if __name__ == "__main__":
    main()
