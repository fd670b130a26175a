"""The time of a client over stdio from its start to its first answer, and its memory.

    python -m benchmarks.start [--starts 5] [--handshakes 20] [--facts 1000] [--calls 1000]
                               [--clients 32] [--lists 10] [--others]

A handshake is the time until the answer to the first request of a client, which needs no memory.
The first answer is the answer to a search with local embeddings in an existing memory. This memory
is measured in four places: in an embedded Postgres that is stopped, in an embedded Postgres that
another process runs, beside a server that has it open, and in the Postgres of DATABASE_URL. There
are two clients: the client of the MCP SDK, which is imported before the measurement, and a client
that writes JSON lines.

The first list is the answer to the first `tools/list`: from the file of an earlier start (warm), or
without this file (cold). With `--others`, two other servers are installed from PyPI and measured in
the same way: `mem0`, and `mcp-memory-service`, which loads no model for a list.

CPU is the time of the server process alone. A first start, which is not measured, writes the
bytecode of the modules. Memory is the resident memory. `own` is the part that no other process
shares. `proportional` (PSS) also has a share of the memory that several processes use. It prints
Markdown.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psutil
import psycopg
from mcp import Client, StdioServerParameters

from benchmarks.access import fill
from benchmarks.support.other_servers import OTHERS, Missing
from benchmarks.support.place import SERVE, enrol, listen, open_folder, tell_machine
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.models.local import LocalEmbedder
from textrawl.settings import read_foreign_environment
from textrawl_client.unix_socket import RESIDENT

_CALLS_OF_A_CLIENT = 10
_SHARING = 10  # clients over stdio
QUESTION = {"mode": "search", "query": "What does Ada Berg think of jazz in Lisbon?"}
_HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bare", "version": "1"},
}
_MODERN = "io.modelcontextprotocol/"
_GREETINGS: list[dict[str, Any]] = [
    {"method": "initialize", "params": _HELLO},
    {
        "method": "server/discover",
        "params": {
            "_meta": {f"{_MODERN}protocolVersion": "2026-07-28", f"{_MODERN}clientCapabilities": {}}
        },
    },
]


@dataclass(frozen=True)
class Started:
    """Seconds and CPU seconds until the first answer, and the MB of resident memory after it."""

    seconds: float
    cpu: float
    resident: float


Start = Callable[[dict[str, str]], Awaitable[Started]]


async def start_bare(environment: dict[str, str]) -> Started:
    """Measure one start with a client that writes JSON lines."""
    return await anyio.to_thread.run_sync(run_bare, environment)


def run_bare(environment: dict[str, str]) -> Started:
    """Start a server, do the handshake and a search, and end the server."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *SERVE], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        call = {"name": "query_memory", "arguments": QUESTION}
        tell(process, {"id": 0, "method": "initialize", "params": _HELLO})
        hear(process)
        tell(process, {"method": "notifications/initialized"})
        tell(process, {"id": 1, "method": "tools/call", "params": call})
        hear(process)
        return _weigh(psutil.Process(process.pid), began)


def time_handshake(environment: dict[str, str], greeting: dict[str, Any]) -> float:
    """Return the seconds from the start of a server to its answer to `greeting`."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *SERVE], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        tell(process, {"id": 0, **greeting})
        hear(process)
        return time.perf_counter() - began


def time_handshakes(environment: dict[str, str], starts: int) -> None:
    """Print a row for each first request of a client."""
    print("| handshake | s, median | s, best | s, worst |\n|---|---:|---:|---:|")
    for greeting in _GREETINGS:
        taken = sorted(time_handshake(environment, greeting) for _ in range(starts))
        cells = (statistics.median(taken), taken[0], taken[-1])
        print(f"| {greeting['method']} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")
    print(flush=True)


def time_list(command: Sequence[str], environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds, and the CPU seconds, from the start to the first list of tools."""
    began = time.perf_counter()
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        tell(process, {"id": 0, "method": "initialize", "params": _HELLO})
        hear(process)
        tell(process, {"method": "notifications/initialized"})
        tell(process, {"id": 1, "method": "tools/list"})
        hear(process)
        seconds = time.perf_counter() - began
        times = psutil.Process(process.pid).cpu_times()
        process.terminate()
        return seconds, times.user + times.system


def time_lists(environment: dict[str, str], lists: Path, starts: int, *, others: bool) -> None:
    """Print a row for a start with the file in `lists`, for one without it, and for others."""
    print(
        "| first tools/list | s, median | s, best | s, worst | CPU s |\n|---|---:|---:|---:|---:|"
    )

    def measure(name: str, command: Sequence[str], more: Mapping[str, str], *, cold: bool) -> None:
        taken = list[tuple[float, float]]()
        for _ in range(starts):
            if name.startswith("textrawl"):
                end_hosts(environment)
            for file in lists.glob("*.described") if cold else ():
                file.unlink()
            taken.append(time_list(command, {**environment, **more}))
        seconds = sorted(one for one, _ in taken)
        cells = (statistics.median(seconds), seconds[0], seconds[-1])
        cpu = statistics.median(one for _, one in taken)
        print(f"| {name} | {' | '.join(f'{cell:.2f}' for cell in cells)} | {cpu:.2f} |", flush=True)

    serve = [sys.executable, *SERVE]
    measure("textrawl, warm", serve, {}, cold=False)
    measure("textrawl, cold", serve, {}, cold=True)
    for name, install in OTHERS.items() if others else ():
        with open_folder("other") as folder:
            try:
                command, more = install(folder)
            except Missing as reason:
                print(f"| {name} | skipped: {reason} | | | |")
                continue
            measure(name, command, more, cold=False)
    print(flush=True)


def tell(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    """Send a message."""
    assert process.stdin
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[bytes]) -> None:
    """Wait for an answer, which must not be an error."""
    assert process.stdout
    answer = json.loads(process.stdout.readline())
    if "error" in answer or answer["result"].get("isError"):
        raise RuntimeError(answer)


async def start_client(environment: dict[str, str]) -> Started:
    """Measure one start with the client of the SDK."""
    began = time.perf_counter()
    async with open_client(environment) as client:
        await ask(client)
        return _weigh(max(psutil.Process().children(), key=psutil.Process.create_time), began)


@asynccontextmanager
async def open_client(environment: dict[str, str]) -> AsyncGenerator[Client]:
    """Yield a client with a new server."""
    server = StdioServerParameters(command=sys.executable, args=SERVE, env=environment)
    async with Client(server) as client:
        yield client


async def ask(client: Client) -> None:
    """Make one search."""
    answer = await client.call_tool("query_memory", QUESTION)
    if answer.is_error:
        raise RuntimeError(answer.content)


def find_servers(parent: psutil.Process | None = None) -> list[psutil.Process]:
    """Return the pipes, hosts and servers that a process started, of this one by default."""
    below = (parent or psutil.Process()).children(recursive=True)
    found = [one for one in below if SERVE[1] in one.cmdline()]
    return sorted(found, key=psutil.Process.create_time)


def end_hosts(environment: dict[str, str]) -> None:
    """End what still has the memory open, so that the next start is a first one."""
    command = [sys.executable, *SERVE, "stop"]
    subprocess.run(command, env=environment, check=True, stderr=subprocess.DEVNULL)


def _weigh(pipe: psutil.Process, began: float) -> Started:
    """Return the time of a start, with the processor time and memory of its pipe and its host."""
    seconds = time.perf_counter() - began
    servers = [pipe, *find_servers(pipe)]
    times = [server.cpu_times() for server in servers]
    cpu = sum(one.user + one.system for one in times)
    return Started(seconds, cpu, sum(read_memory(server)["Rss"] for server in servers))


def read_memory(server: psutil.Process) -> dict[str, float]:
    """Return the MB of Rss, Pss and Private_Dirty, or only of Rss if the system has no others."""
    summary = Path(f"/proc/{server.pid}/smaps_rollup")
    if not summary.is_file():
        return {"Rss": server.memory_info().rss / 1e6}
    found = re.findall(r"^(Rss|Pss|Private_Dirty): +(\d+) kB", summary.read_text(), re.MULTILINE)
    return {name: int(kilobytes) * 1024 / 1e6 for name, kilobytes in found}


async def time_starts(
    name: str, environment: dict[str, str], starts: int, *, first: bool = True
) -> None:
    """Print a row for each client. If it is the `first` one, no host runs."""
    ways: dict[str, Start] = {"bare": start_bare, "SDK": start_client}
    taken: dict[str, list[Started]] = {way: [] for way in ways}
    for _ in range(starts):
        for way, start in ways.items():
            if first:
                await anyio.to_thread.run_sync(end_hosts, environment)
            taken[way].append(await start(environment))
    for way, all_started in taken.items():
        seconds = sorted(one.seconds for one in all_started)
        cpu = statistics.median(one.cpu for one in all_started)
        resident = statistics.median(one.resident for one in all_started)
        print(
            f"| {name} | {way} | {statistics.median(seconds):.2f} | {seconds[0]:.2f} | {cpu:.2f} "
            f"| {resident:.0f} |",
            flush=True,
        )


async def time_starts_beside(name: str, environment: dict[str, str], starts: int) -> None:
    """Do what `time_starts` does while a host serves the same memory."""
    async with open_client(environment) as client:
        await ask(client)
        await time_starts(f"{name}, beside a host", environment, starts, first=False)


async def weigh_calls(environment: dict[str, str], calls: int) -> None:
    """Print the memory of a server before and after many calls."""
    print("\n| MB | resident | proportional | own |\n|---|---:|---:|---:|")
    async with open_client(environment) as client:
        await ask(client)
        for title, more in (("after 1 call", 0), (f"after {calls:,} calls", calls - 1)):
            for _ in range(more):
                await ask(client)
            tell_memory(title)


async def weigh_clients(environment: dict[str, str], clients: int) -> None:
    """Print the memory of a server over HTTP with many clients at the same time."""
    async with listen(environment, "--insecure") as address, AsyncExitStack() as stack:
        connected = [await stack.enter_async_context(Client(address)) for _ in range(clients)]
        for _ in range(_CALLS_OF_A_CLIENT):
            async with anyio.create_task_group() as group:
                for client in connected:
                    group.start_soon(ask, client)
        tell_memory(f"HTTP, {clients} clients, {_CALLS_OF_A_CLIENT} calls each")


async def weigh_sharing(environment: dict[str, str], clients: int) -> None:
    """Print the memory of many clients over stdio, each with a process, that use one memory."""
    async with AsyncExitStack() as stack:
        for _ in range(clients):
            await ask(await stack.enter_async_context(open_client(environment)))
        tell_memory(f"stdio, {clients} clients, all their processes")


def tell_memory(title: str) -> None:
    """Print a row with the current memory of all servers."""
    memories = [read_memory(server) for server in find_servers()]
    sums = [sum(one.get(key, 0) for one in memories) for key in ("Rss", "Pss", "Private_Dirty")]
    print(f"| {title} | {' | '.join(f'{one:.0f}' for one in sums)} |", flush=True)


async def time_places(
    embedded: dict[str, str], external: dict[str, str], folder: Path, starts: int
) -> None:
    """Print the table of starts."""
    print("| memory | client | s, median | s, best | CPU s | MB |\n|---|---|---:|---:|---:|---:|")
    for name, running, environment in (
        ("embedded, stopped", False, embedded),
        ("embedded, running", True, embedded),
        ("external", True, external),
    ):
        async with run_embedded(folder) if running else nullcontext():
            await time_starts(name, environment, starts)
            if running:
                await time_starts_beside(name, environment, starts)


async def run(given: argparse.Namespace, folder: Path) -> None:
    """Print all tables."""
    embedded = read_foreign_environment() | {
        "EMBEDDING_PROVIDER": "local", "DATA_DIR": str(folder),
    }  # fmt: skip
    embedded.pop("PYTHONDONTWRITEBYTECODE", None)
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        external = embedded | {
            "DATABASE_URL": cluster.dsn(APP), "ACCESS_TOKEN": enrol(cluster.dsn(OWNER))
        }  # fmt: skip
        async with await psycopg.AsyncConnection.connect(
            cluster.dsn(OWNER), autocommit=True
        ) as owner:
            await fill(owner, LocalEmbedder(), given.facts)
    print(f"{tell_machine()}; {given.facts:,} facts, {given.starts} starts each.\n")
    await start_bare(embedded)
    await anyio.to_thread.run_sync(time_handshakes, embedded, given.handshakes)
    listing = partial(time_lists, others=given.others)
    await anyio.to_thread.run_sync(listing, embedded, folder / RESIDENT, given.lists)
    await anyio.to_thread.run_sync(end_hosts, embedded)
    await time_places(embedded, external, folder, given.starts)
    async with run_embedded(folder):
        await weigh_calls(external, given.calls)
        await weigh_clients(external, given.clients)
        await weigh_sharing(external, _SHARING)
        await anyio.to_thread.run_sync(end_hosts, external)


def main() -> None:
    """Measure in a temporary folder."""
    parser: Any = argparse.ArgumentParser(description="Start to first answer, and memory.")
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--handshakes", type=int, default=20)
    parser.add_argument("--facts", type=int, default=1_000)
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--lists", type=int, default=10)
    parser.add_argument("--others", action="store_true")
    with open_folder("start") as folder:
        anyio.run(run, parser.parse_args(), folder)


if __name__ == "__main__":
    main()
