"""A long run of the fuzzing in tests/fuzzing over every transport.

    python -m benchmarks.fuzz [--calls 20000] [--frames 4000] [--seed 1]

It uses an embedded Postgres in a temporary folder. A third of the calls goes to a server in memory,
a third over stdio, and a third over HTTP, before and since protocol 2026-07-28. Then it sends raw
frames of JSON-RPC over stdio and HTTP. On stdio, each bad line is followed by a good line. It
prints Markdown, and exits with 1 if it finds a fault.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from anyio.from_thread import start_blocking_portal
from hypothesis import strategies as st
from pydantic import SecretStr

from benchmarks.support.place import enrol, open_folder, tell_machine
from tests.fuzzing.answers import Report
from tests.fuzzing.exploring import connect_in_memory, fuzz, generate
from tests.fuzzing.frames import build_frames
from tests.fuzzing.store import find_spoilt
from tests.fuzzing.wires import LEGACY, LOG, MODERN, Pipe, Web, serve
from tests.support.listening import find_port
from textrawl import Settings, migrate
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.server.logs import configure_logs
from textrawl.settings import read_foreign_environment

Reports = dict[str, Report]


@contextmanager
def open_memory(folder: Path) -> Generator[tuple[Cluster, str]]:
    """Yield a cluster with an empty memory, and a token for the whole memory."""
    with start_blocking_portal() as portal:
        running = portal.wrap_async_context_manager(run_embedded(folder))
        with running as cluster:
            portal.call(migrate, cluster.dsn(OWNER))
            yield cluster, enrol(cluster.dsn(OWNER))


def fuzz_frames(wire: Pipe | Web, count: int, seed: int) -> Report:
    """Send `count` frames and return the findings. `outcomes` counts the expected answers."""
    report = Report()
    numbers = st.integers(10_000, 2**40)
    for frame in generate(build_frames(numbers), count, seed):
        began = time.perf_counter()
        faults = wire.find_faults(frame)
        taken = time.perf_counter() - began
        report.calls += 1
        report.outcomes["frame", frame.fate] += 1
        report.slowest = max(report.slowest, (taken, ascii(frame.line[:100])))
        for fault in faults:
            report.note(fault, ascii(frame.line[:300]))
    return report


def fuzz_wire(
    name: str, wire: Pipe | Web, owner: psycopg.Connection, sizes: tuple[int, int], seed: int
) -> Reports:
    """Send a share of the calls and of the frames over one transport, and close it."""
    calls, frames = sizes
    reports = {
        name: fuzz(wire.open_channel(), owner, calls // 6, seed + 10),
        f"frames over {name}": fuzz_frames(wire, frames // 4, seed + 20),
    }
    wire.close()
    return reports


def build_settings(url: str, token: str) -> Settings:
    """Return the settings of the server in this process."""
    return Settings(
        database_url=SecretStr(url),
        log_level="ERROR",
        access_token=SecretStr(token),
        embedding_provider="local",
    )


def run(calls: int, frames: int, seed: int, folder: Path) -> bool:
    """Print the results of all transports. Return True if there is no fault."""
    reports: Reports = {}
    with open_memory(folder / "data") as (cluster, token):
        own = {"DATABASE_URL": cluster.dsn(APP), "ACCESS_TOKEN": token, "RATE_LIMIT": "0",
               "LOG_LEVEL": "ERROR", "EMBEDDING_PROVIDER": "local"}  # fmt: skip
        environment = read_foreign_environment() | own
        settings = build_settings(own["DATABASE_URL"], token)
        configure_logs(settings)
        with psycopg.connect(cluster.dsn(OWNER), autocommit=True) as owner:
            owner.execute("set search_path = textrawl, public")
            for number, era in enumerate(("auto", "legacy")):
                with connect_in_memory(settings, era) as channel:
                    reports[f"in memory, {era}"] = fuzz(channel, owner, calls // 6, seed + number)
            with serve(environment, port := find_port(), folder) as root:
                print(f"the server works in {root}", file=sys.stderr)
                for number, era in enumerate((MODERN, LEGACY)):
                    wires = {
                        "stdio": Pipe(environment, folder, era),
                        "HTTP": Web(f"http://127.0.0.1:{port}", token, era),
                    }
                    for name, wire in wires.items():
                        reports |= fuzz_wire(
                            f"{name}, {era}", wire, owner, (calls, frames), seed + number
                        )
            spoilt = find_spoilt(owner)
    text = (folder / LOG).read_text("utf-8", "replace")
    return write(reports, spoilt, text.count("Traceback"))


def write(reports: Reports, spoilt: list[str], tracebacks: int) -> bool:
    """Print the tables. Return True if there is no fault."""
    print(f"{tell_machine()}.\n")
    print("| way | calls | ok | refused | faults | slowest, s |\n|---|---:|---:|---:|---:|---:|")
    outcomes: Counter[tuple[str, str]] = Counter()
    for way, report in reports.items():
        outcomes += report.outcomes
        faults = sum(map(len, report.faults.values()))
        good = report.count("ok") + report.count("answered")
        print(
            f"| {way} | {report.calls} | {good} | {report.calls - good} | {faults} |"
            f" {report.slowest[0]:.2f} |"
        )
    print("\n| tool | outcome | calls |\n|---|---|---:|")
    for (tool, outcome), count in sorted(outcomes.items()):
        print(f"| {tool} | {ascii(outcome)[1:60]} | {count} |")
    print(f"\nStored texts that should not be: {len(spoilt)}", *spoilt[:5], sep="\n- ")
    print(f"\nTracebacks in what servers logged: {tracebacks}")
    for way, report in reports.items():
        print(f"Slowest, {way}: {report.slowest[0]:.2f} s, {report.slowest[1]}")
    for way, report in reports.items():
        for fault, examples in report.faults.items():
            print(f"\n{way}: {fault}: {len(examples)}", *examples[:3], sep="\n- ")
    return not spoilt and not tracebacks and not any(report.faults for report in reports.values())


def main() -> None:
    """Fuzz a memory in a temporary folder."""
    parser = argparse.ArgumentParser(description="Fuzzing of every tool and transport.")
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--frames", type=int, default=4_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with open_folder("fuzz") as folder:
        sound = run(given.calls, given.frames, given.seed, folder)
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
