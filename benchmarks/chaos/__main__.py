"""Faults of servers and Postgres while clients write, and a check of the stored facts.

    python -m benchmarks.chaos [--server-kills 50] [--postmaster-kills 20] [--restarts 20]
        [--terminations 200] [--freeze 30] [--server-freezes 20] [--clocks 10]
        [--full-disks 0 --disk 0] [--older CHECKOUT] [--writes 40000] [--clients 8] [--pipes 2]

Clients over HTTP and stdio remember single facts and batches of five, with local embeddings. Others
put items, record entries, propose, upload, import and take back, tidy, erase and sum up; a fifth of
their commands is killed. The servers share an embedded Postgres in a temporary folder. Meanwhile
servers and Postgres are killed, stopped and frozen, the disk is full, and all stored times move, as
if the clock was set. With `--older`, a server of another version makes the memory, and goes on
while this version migrates it. Full disks need root, for a disk in memory. A client repeats a call
if the answer is an error or does not come. It prints Markdown. It exits with 1 if a write was lost
or stored twice, or if a batch was stored in part.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

import anyio
import httpx2
import psycopg
from anyio import to_thread

from benchmarks.chaos.deeds import GRAPH, SPACE, build_writers
from benchmarks.chaos.faults import Chaos, Plan, Wounds, find_cluster
from benchmarks.chaos.ledger import Ledger
from benchmarks.chaos.servers import PATIENCE, HttpServer, PipeServer, Place
from benchmarks.chaos.verdict import Verdict, count_deadlocks, find_orphans, judge
from benchmarks.chaos.writers import Doer, Writer
from benchmarks.support.place import enrol, tell_machine
from tests.support.listening import find_port, wait_for_answer
from textrawl import migrate
from textrawl.access.access_token import hash_token, make_token, shorten_token
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
    older = _name_older(plan, folder)
    if older is not None:
        plan = replace(plan, deeds=False)  # the other version may lack what they need
    elder = HttpServer(older) if older is not None else None
    if elder is not None:
        await elder.start()
    place, pgdata, tokens = await _prepare(folder, elder)
    outcome = await _run(plan, place, pgdata, tokens, elder)
    orphans = await _wait_for_nobody(pgdata, pgdata.parent)
    verdict = await _judge(pgdata.parent, outcome.ledger)
    verdict.orphans, verdict.untidy_exits = len(orphans), outcome.verdict.untidy_exits
    verdict.deadlocks = count_deadlocks(pgdata.parent)
    verdict.tracebacks = (folder / "servers.log").read_text().count("Traceback")
    return replace(outcome, verdict=verdict)


async def _run(
    plan: Plan, place: Place, pgdata: Path, tokens: dict[str, str], elder: HttpServer | None
) -> Outcome:
    http, ledger, began = HttpServer(place), Ledger(), time.monotonic()
    pipes = {f"stdio {number}": PipeServer(place) for number in range(plan.pipes)}
    chaos, exits = Chaos(pgdata, http, pipes, ledger), list[int | None]()
    ended = [http, *pipes.values(), *([elder] if elder is not None else [])]
    async with httpx2.AsyncClient(timeout=PATIENCE) as client, anyio.create_task_group() as servers:
        servers.start_soon(http.supervise)
        writers = _build_writers(plan, http, client, pipes, ledger)
        if elder is not None:
            writers += _build_clients("older", elder, client, 4, ledger)
            chaos.ways.add("older")
        if plan.deeds:
            writers += _build_deeds(http, client, tokens, ledger, pgdata)
        async with anyio.create_task_group() as clients:
            for writer in writers:
                clients.start_soon(writer.run)
            await chaos.run(plan)
            while ledger.count < plan.writes:  # noqa: ASYNC110 - counts of many tasks
                await anyio.sleep(0.2)
            for writer in writers:
                writer.stopping = True
            clients.start_soon(_tell_late, writers, ledger)
        exits += [await server.end() for server in ended]
    verdict = Verdict(untidy_exits=sum(code != 0 for code in exits))
    starts = sum(server.starts for server in ended)
    return Outcome(verdict, ledger, chaos.wounds, starts, time.monotonic() - began)


async def _tell_late(writers: Sequence[Doer], ledger: Ledger) -> None:
    """Print which writers still repeat their last write after a minute, and all errors."""
    await anyio.sleep(1)
    end = time.monotonic() + 60
    while not all(w.stopped for w in writers) and time.monotonic() < end:  # noqa: ASYNC110 - many
        await anyio.sleep(0.2)
    for writer in writers:
        if not writer.stopped:
            print(f"{writer.author.name} still writes: {ledger.errors}", file=sys.stderr)


def _describe_place(folder: Path, token: str, source: Path) -> Place:
    own = {
        "DATA_DIR": str(folder / "data"),
        "RATE_LIMIT": "0",
        "LOG_LEVEL": "ERROR",
        "EMBEDDING_PROVIDER": "local",
        "EXPLORER": "true",
        "TOOLSETS": "memory,items,journal,review",
        "PYTHONPATH": str(source),
    }
    return Place(read_foreign_environment() | own, folder, token, find_port())


def _name_older(plan: Plan, folder: Path) -> Place | None:
    if not plan.older:
        return None
    place = _describe_place(folder, make_token(), Path(plan.older).absolute())
    kept = {name: text for name, text in place.environment.items() if name != "TOOLSETS"}
    return replace(place, environment=kept)


async def _prepare(folder: Path, elder: HttpServer | None) -> tuple[Place, Path, dict[str, str]]:
    """Make a memory. Return the settings of its servers, the data folder of Postgres, and tokens.

    With a server of another version, it has made the memory, and migrates it now.
    """
    if elder is not None:
        await wait_for_answer(f"http://127.0.0.1:{elder.place.port}/healthz")
    async with run_embedded(folder / "data") as cluster:
        owner = cluster.dsn(OWNER)
        if elder is not None:
            enrol(owner, elder.place.token)
        await migrate(owner)
        token, pgdata = elder.place.token if elder is not None else enrol(owner), cluster.data
        place = _describe_place(folder, token, Path(__file__).parents[2])
        tokens = await _prepare_deeds(place, owner) if elder is None else {}
    return place, pgdata, tokens


async def _prepare_deeds(place: Place, owner: str) -> dict[str, str]:
    """Make the spaces of the deeds, and return the tokens of a writer and a proposer."""
    for options in ((SPACE,), (GRAPH, "--tier", "personal")):
        process = await place.start("space", "create", *options, merged=True, stdin=None)
        assert await process.wait() == 0
        await process.aclose()
    tokens = {"writer": make_token(), "proposer": make_token()}
    scopes = {"writer": ["read", "write", "forget"], "proposer": ["read", "propose"]}
    with psycopg.connect(owner, autocommit=True) as connection:
        for name, token in tokens.items():
            connection.execute(
                "select textrawl.create_token(hash => %s, prefix => %s, actor => %s, space => %s,"
                " scopes => %s)",
                (hash_token(token), shorten_token(token), name, SPACE, scopes[name]),
            )
        connection.execute(
            "select textrawl.grant_access('writer', %s, array['read', 'write'])", (GRAPH,)
        )
    return tokens


def _build_writers(
    plan: Plan,
    http: HttpServer,
    client: httpx2.AsyncClient,
    pipes: dict[str, PipeServer],
    ledger: Ledger,
) -> list[Doer]:
    over_http = _build_clients("HTTP", http, client, plan.clients, ledger)
    return over_http + [Writer(way, way, pipe.call, ledger) for way, pipe in pipes.items()]


def _build_clients(
    way: str, server: HttpServer, client: httpx2.AsyncClient, number: int, ledger: Ledger
) -> list[Doer]:
    send = partial(server.call, client)
    name = "client" if way == "HTTP" else f"{way} client"
    return [Writer(way, f"{name} {n}", send, ledger) for n in range(number)]


def _build_deeds(
    http: HttpServer,
    client: httpx2.AsyncClient,
    tokens: dict[str, str],
    ledger: Ledger,
    pgdata: Path,
) -> list[Doer]:
    return build_writers(
        http,
        lambda name: partial(http.call, client, token=tokens[name]),
        tokens,
        ledger,
        lambda: find_cluster(pgdata).dsn(OWNER),
    )


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
    for kind, keys in sorted(ledger.kept.items()):
        print(f"| deeds: {kind} | {len(keys):,} |")
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
    kinds = {"freeze": float, "older": str}
    for field in fields(Plan):
        if field.name != "deeds":
            option = f"--{field.name.replace('_', '-')}"
            parser.add_argument(option, type=kinds.get(field.name, int), default=field.default)
    plan = Plan(**vars(parser.parse_args()))
    folder = Path(tempfile.mkdtemp(prefix="textrawl-chaos-"))
    folder.chmod(0o755)  # Postgres runs as another user where this runs as root
    if plan.disk:
        _mount(folder, plan.disk)
    outcome = anyio.run(run, plan, folder)
    write(outcome)
    sound = outcome.verdict.is_clean
    if plan.disk and sound:
        subprocess.run(["umount", "--lazy", folder / "data"], check=True)
    if sound:
        shutil.rmtree(folder)
    else:
        print(f"\nWhat is left: {folder}", file=sys.stderr)
    sys.exit(0 if sound else 1)


def _mount(folder: Path, size: int) -> None:
    """Mount a disk of `size` MB in memory for the data."""
    (data := folder / "data").mkdir()
    options = f"size={size}m,mode=755"
    command = ["mount", "-t", "tmpfs", "-o", options, "none", str(data)]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
