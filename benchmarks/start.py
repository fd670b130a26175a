"""The time of a server over stdio from its start to its first answer, and its memory.

    python -m benchmarks.start [--starts 5] [--handshakes 20] [--facts 1000] [--calls 1000]
                               [--clients 32]

A handshake is the answer to the first question of a client, which needs no memory. The first answer
is that to a search, with local embeddings, in a memory that exists: an embedded Postgres that is
stopped, one that another process runs, and one named by DATABASE_URL. Two clients:
the MCP SDK's own, imported already, and bare JSON lines. CPU is that of the server process alone.
Modules are bytecode already, as from the second start on: one start before those that count writes
it. Memory is resident; `own` is what no other process can share (PSS shares out the rest). Prints
Markdown.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psutil
import psycopg
from mcp import Client, StdioServerParameters

from benchmarks.access import fill
from benchmarks.support.place import SERVE, enrol, listen, open_folder, tell_machine
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.configuration import APP, OWNER
from textrawl.embeddings.local import LocalEmbedder
from textrawl.settings import read_foreign_environment

_CALLS_OF_A_CLIENT = 10
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
    """Seconds until the first answer, by the clock and of CPU; MB resident just after it."""

    seconds: float
    cpu: float
    resident: float


Start = Callable[[dict[str, str]], Awaitable[Started]]


async def start_bare(environment: dict[str, str]) -> Started:
    """One start, asked by bare JSON lines."""
    return await anyio.to_thread.run_sync(run_bare, environment)


def run_bare(environment: dict[str, str]) -> Started:
    """Start a server, shakes hands, searches, and ends it."""
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
    """Return seconds from the start of a server to its answer to `greeting`."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *SERVE], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        tell(process, {"id": 0, **greeting})
        hear(process)
        return time.perf_counter() - began


def time_handshakes(environment: dict[str, str], starts: int) -> None:
    """Print a row for each first question of a client."""
    print("| handshake | s, median | s, best | s, worst |\n|---|---:|---:|---:|")
    for greeting in _GREETINGS:
        taken = sorted(time_handshake(environment, greeting) for _ in range(starts))
        cells = (statistics.median(taken), taken[0], taken[-1])
        print(f"| {greeting['method']} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")
    print(flush=True)


def tell(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    """Send a message."""
    assert process.stdin
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[bytes]) -> None:
    """Wait for an answer that is no error."""
    assert process.stdout
    answer = json.loads(process.stdout.readline())
    if "error" in answer or answer["result"].get("isError"):
        raise RuntimeError(answer)


async def start_client(environment: dict[str, str]) -> Started:
    """One start, asked by the SDK's client."""
    began = time.perf_counter()
    async with open_client(environment) as client:
        await ask(client)
        return _weigh(find_server(), began)


@asynccontextmanager
async def open_client(environment: dict[str, str]) -> AsyncGenerator[Client]:
    """Yield a client with a server of its own."""
    server = StdioServerParameters(command=sys.executable, args=SERVE, env=environment)
    async with Client(server) as client:
        yield client


async def ask(client: Client) -> None:
    """One search."""
    answer = await client.call_tool("query_memory", QUESTION)
    if answer.is_error:
        raise RuntimeError(answer.content)


def find_server() -> psutil.Process:
    """Return the server that a client of this process started."""
    [server] = [one for one in psutil.Process().children() if SERVE[1] in one.cmdline()]
    return server


def _weigh(server: psutil.Process, began: float) -> Started:
    seconds = time.perf_counter() - began
    times = server.cpu_times()
    return Started(seconds, times.user + times.system, read_memory(server)["Rss"])


def read_memory(server: psutil.Process) -> dict[str, float]:
    """MB by name, of Rss, Pss and Private_Dirty where the system tells, else of Rss alone."""
    summary = Path(f"/proc/{server.pid}/smaps_rollup")
    if not summary.is_file():
        return {"Rss": server.memory_info().rss / 1e6}
    found = re.findall(r"^(Rss|Pss|Private_Dirty): +(\d+) kB", summary.read_text(), re.MULTILINE)
    return {name: int(kilobytes) * 1024 / 1e6 for name, kilobytes in found}


async def time_starts(name: str, environment: dict[str, str], starts: int) -> None:
    """Print a row for each client."""
    ways: dict[str, Start] = {"bare": start_bare, "SDK": start_client}
    taken: dict[str, list[Started]] = {way: [] for way in ways}
    for _ in range(starts):
        for way, start in ways.items():
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


async def weigh_calls(environment: dict[str, str], calls: int) -> None:
    """Print what a server weighs before and after many calls."""
    print("\n| MB | resident | proportional | own |\n|---|---:|---:|---:|")
    async with open_client(environment) as client:
        await ask(client)
        for title, more in (("after 1 call", 0), (f"after {calls:,} calls", calls - 1)):
            for _ in range(more):
                await ask(client)
            tell_memory(title)


async def weigh_clients(environment: dict[str, str], clients: int) -> None:
    """Print what a server over HTTP weighs that many clients ask, all connected at once."""
    async with listen(environment, "--insecure") as address, AsyncExitStack() as stack:
        connected = [await stack.enter_async_context(Client(address)) for _ in range(clients)]
        for _ in range(_CALLS_OF_A_CLIENT):
            async with anyio.create_task_group() as group:
                for client in connected:
                    group.start_soon(ask, client)
        tell_memory(f"HTTP, {clients} clients, {_CALLS_OF_A_CLIENT} calls each")


def tell_memory(title: str) -> None:
    """Print a row of what the server weighs now."""
    memory = read_memory(find_server())
    cells = [f"{memory.get(key, 0):.0f}" for key in ("Rss", "Pss", "Private_Dirty")]
    print(f"| {title} | {' | '.join(cells)} |", flush=True)


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
    print("| memory | client | s, median | s, best | CPU s | MB |\n|---|---|---:|---:|---:|---:|")
    for name, running, environment in (
        ("embedded, stopped", False, embedded),
        ("embedded, running", True, embedded),
        ("external", True, external),
    ):
        async with run_embedded(folder) if running else nullcontext():
            await time_starts(name, environment, given.starts)
    async with run_embedded(folder):
        await weigh_calls(external, given.calls)
        await weigh_clients(external, given.clients)


def main() -> None:
    """Measure in a temporary folder."""
    parser: Any = argparse.ArgumentParser(description="Start to first answer, and memory.")
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--handshakes", type=int, default=20)
    parser.add_argument("--facts", type=int, default=1_000)
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--clients", type=int, default=32)
    with open_folder("start") as folder:
        anyio.run(run, parser.parse_args(), folder)


if __name__ == "__main__":
    main()
