"""The time of the commands that hooks of editors run, with the start of the process.

    python -m benchmarks.hooks [--facts 10000 100000] [--calls 100] [--cold 5] [--keep FOLDER]

Each call is a new process: `textrawl recall`, `textrawl digest`, and `textrawl hook claude-code`
for a prompt, also after a pasted log of 99,000 characters. Two processes have the memory open: a
host, and a server over HTTP. Each has a data folder of its own, and thereby a socket of its own.
The calls of all ways and commands alternate, so other load on the machine affects all of them. The
first row is a Python process that does nothing.

For a cold call nothing runs, and the embedded Postgres is stopped. The command starts a host, which
stays.

CPU is the processor time of the command alone. It uses memories of benchmarks.support.synthetic,
in a temporary folder or in `--keep FOLDER` for the next run. It prints Markdown.
"""

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from benchmarks.latency import enrol_reader, sample_work
from benchmarks.support.place import open_folder, tell_machine
from benchmarks.support.synthetic import fill_once
from benchmarks.support.work import Work
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER, find_postmaster
from textrawl.settings import read_foreign_environment
from textrawl_client.unix_socket import KEY_SETTINGS, build_address

WAYS = {
    "host": ["host"],
    "HTTP": ["serve", "--http", "--port", "0"],
}
TEXTRAWL = str(Path(sys.executable).with_name("textrawl"))
SEARCH = "query_memory search"
_LOG = "".join(
    f"2026-11-25 10:{n // 60:02d}:{n % 60:02d} INFO worker {n} sent its heartbeat to the queue\n"
    for n in range(1450)
)  # 99,000 characters
WARM = 3  # calls that are not measured
_PATIENCE = 120.0  # seconds


@dataclass
class Taken:
    """The elapsed and the CPU seconds of calls, and the number of calls that printed something."""

    elapsed: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])
    answered: int = 0

    def write(self) -> str:
        """Return the cells of a table: p50, p95, greatest, CPU, and answers."""
        ranked = sorted(self.elapsed)
        p95 = ranked[min(len(ranked) - 1, round(0.95 * len(ranked)))]
        figures = [statistics.median(ranked), p95, ranked[-1], statistics.median(self.cpu)]
        cells = [f"{1000 * seconds:.0f}" for seconds in figures]
        return f"{' | '.join(cells)} | {self.answered} of {len(ranked)}"


@dataclass(frozen=True)
class Command:
    """A command line, and the text on its stdin."""

    words: list[str]
    stdin: str = ""

    def run(self, environment: dict[str, str], taken: Taken | None) -> None:
        """Run the command, and add its times to `taken`."""
        before, began = os.times(), time.perf_counter()
        done = subprocess.run(
            self.words,
            env=environment,
            input=self.stdin.encode(),
            stdout=subprocess.PIPE,
            check=True,
        )
        elapsed, after = time.perf_counter() - began, os.times()
        if taken is not None:
            used = after.children_user + after.children_system
            taken.elapsed.append(elapsed)
            taken.cpu.append(used - before.children_user - before.children_system)
            taken.answered += bool(done.stdout)


def list_commands(work: Work, folder: Path) -> dict[str, Command]:
    """Return one call of each command, about a stored fact."""
    _, arguments = work.kinds[SEARCH]()
    query = str(arguments["query"])
    prompt = write_hook("UserPromptSubmit", folder, prompt=query)
    pasted = write_hook("UserPromptSubmit", folder, prompt=f"{_LOG}{query}?")
    return {
        "recall": Command([TEXTRAWL, "recall", query]),
        "digest": Command([TEXTRAWL, "digest", "--project", folder.name]),
        "hook, prompt": prompt,
        "hook, prompt with a log": pasted,
    }


def write_hook(event: str, folder: Path, **more: str) -> Command:
    """Return the command of a hook. Each call is a session of its own, so that nothing is known."""
    members = {
        "session_id": f"{time.monotonic_ns()}",
        "transcript_path": str(folder / "transcript.jsonl"),
        "cwd": str(folder),
        "hook_event_name": event,
        **more,
    }
    return Command([TEXTRAWL, "hook", "claude-code", event], json.dumps(members))


@contextmanager
def open_way(way: str, environment: dict[str, str]) -> Generator[dict[str, str]]:
    """Start the process of a way, and yield the environment of its commands."""
    own = environment | {"TEXTRAWL_DATA_DIR": f"{environment['TEXTRAWL_DATA_DIR']}/{way}"}
    values = {name: own.get(f"TEXTRAWL_{name.upper()}") for name in KEY_SETTINGS}
    known = {name: value for name, value in values.items() if value}
    address = build_address(Path(own["TEXTRAWL_DATA_DIR"]), known)
    with subprocess.Popen(
        [TEXTRAWL, *WAYS[way]], env=own, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        wait_for(address.socket.exists)
        try:
            yield own
        finally:
            process.terminate()


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until a function returns a true value. Raises TimeoutError."""
    end = time.monotonic() + _PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


def measure_warm(environment: dict[str, str], work: Work, calls: int, folder: Path) -> None:
    """Print the rows of calls while a process has the memory open."""
    taken: dict[tuple[str, str], Taken] = {}
    nothing = Command([sys.executable, "-c", "pass"])
    with ExitStack() as stack:
        opened = {way: stack.enter_context(open_way(way, environment)) for way in WAYS}
        for number in range(calls + WARM):
            counted = number >= WARM
            bare = taken.setdefault(("none", "python -c pass"), Taken())
            nothing.run(environment, bare if counted else None)
            for way, own in opened.items():
                for name, command in list_commands(work, folder).items():
                    one = taken.setdefault((way, name), Taken())
                    command.run(own, one if counted else None)
    for (way, name), one in taken.items():
        print(f"| {way} | {name} | {one.write()} |", flush=True)


def measure_cold(environment: dict[str, str], work: Work, calls: int, folder: Path) -> None:
    """Print the rows of calls while nothing runs."""
    rows = {"recall": Taken(), "hook, session start": Taken()}
    data = Path(environment["TEXTRAWL_DATA_DIR"])
    pgdata = next(path for path in data.glob("postgres-*") if path.is_dir())
    for _ in range(calls):
        for name, taken in rows.items():
            warm = list_commands(work, folder)["recall"]
            start = write_hook("SessionStart", folder, source="startup")
            (warm if name == "recall" else start).run(environment, taken)
            end_host(data)
            wait_for(lambda: find_postmaster(pgdata) is None)
    for name, taken in rows.items():
        print(f"| cold | {name} | {taken.write()} |", flush=True)


def end_host(data: Path) -> None:
    """Wait for the host of a data folder, and end it."""
    wait_for(lambda: [*data.glob("resident/*.sock")])
    path, *_ = data.glob("resident/*.sock")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        pid = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 4)
    os.kill(int.from_bytes(pid, sys.byteorder), signal.SIGTERM)


async def run(given: argparse.Namespace, folder: Path, facts: int) -> None:
    """Print the table of one size."""
    environment = read_foreign_environment() | {
        "TEXTRAWL_EMBEDDING_PROVIDER": "local", "TEXTRAWL_DATA_DIR": str(folder),
    }  # fmt: skip
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        await anyio.to_thread.run_sync(fill_once, folder, cluster.dsn(OWNER), facts)
        token = enrol_reader(cluster.dsn(OWNER))
        work = sample_work(cluster.dsn(OWNER))
        print(f"\n{tell_machine()}; {facts:,} facts, {given.calls} calls each.\n")
        print("| open in | command | ms p50 | p95 | most | CPU ms | answers |")
        print("|---|---|---:|---:|---:|---:|---|")
        warm = environment | {
            "TEXTRAWL_DATABASE_URL": cluster.dsn(APP), "TEXTRAWL_ACCESS_TOKEN": token
        }  # fmt: skip
        await anyio.to_thread.run_sync(measure_warm, warm, work, given.calls, folder)
    await anyio.to_thread.run_sync(measure_cold, environment, work, given.cold, folder)


def main(words: Sequence[str] | None = None) -> None:
    """Measure each size in a folder of its own."""
    parser = argparse.ArgumentParser(description="Commands that hooks run.")
    parser.add_argument("--facts", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--cold", type=int, default=5)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args(words)
    with nullcontext(given.keep) if given.keep else open_folder("hooks") as folder:
        for facts in given.facts:
            place = folder / str(facts)
            place.mkdir(parents=True, exist_ok=True)
            place.chmod(0o755)
            anyio.run(run, given, place, facts)


if __name__ == "__main__":
    main()
