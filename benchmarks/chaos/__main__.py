"""Faults of servers and Postgres while clients write, and a check of the stored facts.

    python -m benchmarks.chaos [--server-kills 50] [--postmaster-kills 20] [--restarts 20]
        [--terminations 200] [--freeze 30] [--writes 40000] [--clients 8] [--pipes 2]

Clients over HTTP and stdio remember single facts and batches of five, with local embeddings. Their
servers share an embedded Postgres in a temporary folder. Meanwhile servers and Postgres are killed,
stopped and frozen. A client repeats a call if the answer is an error or does not come. It prints
Markdown. It exits with 1 if a fact was lost or stored twice, or if a batch was stored in part.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, fields
from pathlib import Path

import anyio
import httpx2
import psycopg
from anyio import to_thread

from benchmarks.chaos.faults import Chaos, Plan, Wounds
from benchmarks.chaos.ledger import Author, Ledger
from benchmarks.chaos.servers import PATIENCE, HttpServer, PipeServer, Place
from benchmarks.chaos.verdict import Verdict, count_deadlocks, find_orphans, judge
from benchmarks.chaos.writers import Writer
from benchmarks.support.place import enrol, tell_machine
from tests.support.listening import find_port
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.settings import read_foreign_environment

_LEAVE = 10.0  # seconds after which no process of the servers may be left


@dataclass(frozen=True)
class Outcome:
    """The result of a run."""

    verdict: Verdict
    ledger: Ledger
    wounds: Wounds
    starts: int
    seconds: float


async def run(plan: Plan, folder: Path) -> Outcome:
    """Write and cause faults in a folder that Postgres' OS user can enter."""
    place, pgdata = await _prepare(folder)
    http, ledger, began = HttpServer(place), Ledger(), time.monotonic()
    pipes = {f"stdio {number}": PipeServer(place) for number in range(plan.pipes)}
    chaos = Chaos(pgdata, http, pipes, ledger)
    exits: list[int | None] = []
    async with httpx2.AsyncClient(timeout=PATIENCE) as client, anyio.create_task_group() as servers:
        servers.start_soon(http.supervise)
        writers = _build_writers(plan, http, client, pipes, ledger)
        async with anyio.create_task_group() as clients:
            for writer in writers:
                clients.start_soon(writer.run)
            await chaos.run(plan)
            while len(ledger.acknowledged) < plan.writes:  # noqa: ASYNC110 - counts of many tasks
                await anyio.sleep(0.2)
            for writer in writers:
                writer.stopping = True
        exits += [await server.end() for server in (http, *pipes.values())]
    seconds = time.monotonic() - began
    orphans = await _wait_for_nobody(pgdata, pgdata.parent)
    verdict = await _judge(pgdata.parent, ledger)
    verdict.orphans, verdict.untidy_exits = len(orphans), sum(code != 0 for code in exits)
    verdict.deadlocks = count_deadlocks(pgdata.parent)
    verdict.tracebacks = (folder / "servers.log").read_text().count("Traceback")
    starts = http.starts + sum(pipe.starts for pipe in pipes.values())
    return Outcome(verdict, ledger, chaos.wounds, starts, seconds)


async def _prepare(folder: Path) -> tuple[Place, Path]:
    """Return the settings of servers on an empty memory, and the data folder of Postgres."""
    data = folder / "data"
    async with run_embedded(data) as cluster:
        await migrate(cluster.dsn(OWNER))
        token, pgdata = enrol(cluster.dsn(OWNER)), cluster.data
    own = {
        "DATA_DIR": str(data),
        "RATE_LIMIT": "0",
        "LOG_LEVEL": "ERROR",
        "EMBEDDING_PROVIDER": "local",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    return Place(read_foreign_environment() | own, folder, token, find_port()), pgdata


def _build_writers(
    plan: Plan,
    http: HttpServer,
    client: httpx2.AsyncClient,
    pipes: dict[str, PipeServer],
    ledger: Ledger,
) -> list[Writer]:
    async def send(tool: str, arguments: object) -> dict[str, object]:
        return await http.call(client, tool, arguments)  # pyright: ignore[reportArgumentType]

    over_http = [Writer("HTTP", Author(f"client {n}"), send, ledger) for n in range(plan.clients)]
    return over_http + [Writer(way, Author(way), pipe.call, ledger) for way, pipe in pipes.items()]


async def _wait_for_nobody(pgdata: Path, data: Path) -> list[int]:
    """Wait up to ten seconds until no process is left, and return the processes that are left."""
    left: list[int] = []
    with anyio.move_on_after(_LEAVE):
        while True:
            left = await to_thread.run_sync(find_orphans, pgdata, data)
            if not left:
                break
            await anyio.sleep(0.1)
    return left


async def _judge(data: Path, ledger: Ledger) -> Verdict:
    async with run_embedded(data) as cluster:
        with psycopg.connect(cluster.dsn(OWNER), autocommit=True) as owner:
            return await to_thread.run_sync(judge, owner, ledger)


def write(outcome: Outcome) -> None:
    """Print the tables."""
    verdict, ledger = outcome.verdict, outcome.ledger
    print(f"{tell_machine()}; {outcome.seconds:.0f} s, {outcome.starts} starts of servers.\n")
    print("| what | count |\n|---|---:|")
    for field in fields(verdict):
        if field.name != "torn":
            print(f"| {field.name.replace('_', ' ')} | {getattr(verdict, field.name):,} |")
    for what, count in verdict.torn.items():
        print(f"| torn: {what} | {count} |")
    print(f"| calls that were repeated | {ledger.repeated:,} |")
    print(f"| batches of five | {len(ledger.batches):,} |")
    print("\n| fault | times | until all was well, s: median | max |\n|---|---:|---:|---:|")
    for kind, seconds in outcome.wounds.healed.items():
        print(
            f"| {kind} | {len(seconds)} | {statistics.median(seconds):.2f} | {max(seconds):.2f} |"
        )
    print("\n| what clients saw | times |\n|---|---:|")
    for title, count in ledger.errors.most_common():
        print(f"| {title} | {count} |")


def main() -> None:
    """Run the benchmark in a temporary folder."""
    parser = argparse.ArgumentParser(description="Faults under writers.")
    for field in fields(Plan):
        kind = float if field.name == "freeze" else int
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    plan = Plan(**vars(parser.parse_args()))
    folder = Path(tempfile.mkdtemp(prefix="textrawl-chaos-"))
    folder.chmod(0o755)  # Postgres runs as another user where this runs as root
    outcome = anyio.run(run, plan, folder)
    write(outcome)
    sound = outcome.verdict.is_clean
    if sound:
        shutil.rmtree(folder)
    else:
        print(f"\nWhat is left: {folder}", file=sys.stderr)
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
