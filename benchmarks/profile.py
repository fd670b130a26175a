"""The time of one call over stdio, by step.

    python -m benchmarks.profile [--facts 10000] [--calls 300]

It uses an embedded Postgres in a temporary folder, local embeddings, and a client that writes and
reads JSON lines, because such a client takes little time. The server runs in another process, and
records the beginning and the end of each step. The time of a step includes its waiting. It does not
include the time of other steps that it calls. Figures are medians in microseconds. It prints
Markdown.
"""

import argparse
import functools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psutil
import psycopg

from benchmarks.access import fill
from benchmarks.support.place import enrol, open_folder, tell_machine
from benchmarks.support.work import Work
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER
from textrawl.models.local import LocalEmbedder
from textrawl.settings import read_foreign_environment

KINDS = ("query_memory search", "query_memory entity", "query_memory list")
WARM = 30  # calls before the measured calls
STEPS = {
    "reading the message": [("server.messages", "read_message")],
    "arguments made regular": [("wire.arguments", "normalise")],
    "arguments validated": [("tools.toolset ToolSpec", "prepare")],
    "who calls": [("tools.call App", "identify")],
    "active model": [("models.active_model Models", "find_active")],
    "embedding": [("models.local LocalEmbedder", "embed_query")],
    "connection of the pool": [("postgres.database Database", "call")],
    "SQL": [("psycopg AsyncCursor", "execute"), ("psycopg AsyncCursor", "fetchall")],
    "building the reply": [
        ("tools.memory.search_replies SearchReply", "build"),
        ("tools.memory.search_replies ListReply", "build"),
        ("tools.memory.entity_reply EntityReply", "build"),
    ],
    "cutting it to size": [("wire.replies Renderer", "write")],
    "writing it": [("wire.replies Renderer", "_encode")],
    "counting tokens": [("wire.replies Renderer", "_count")],
    "tool, the rest": [("server.server MemoryServer", "call_tool")],
    "sending the answer": [("server.sessions MessageWriter", "send")],
}
"""The functions of each step: a module of textrawl and a class in it, then a function."""


class Spans:
    """The nanoseconds of each step without the steps inside it. Calls come one at a time."""

    def __init__(self) -> None:
        self.calls: list[dict[str, int]] = []
        self._now: dict[str, int] = {}
        self._inside: list[int] = []
        self._began = 0

    @contextmanager
    def measure(self, step: str) -> Generator[None]:
        """Count the time of the block for `step`. Reading begins a call, and sending ends it."""
        began = time.perf_counter_ns()
        if step == "reading the message":
            self._now, self._began, self._inside = {}, began, []
        self._inside.append(0)
        try:
            yield
        finally:
            ended = time.perf_counter_ns()
            nested = self._inside.pop() if self._inside else 0
            self._now[step] = self._now.get(step, 0) + ended - began - nested
            if self._inside:
                self._inside[-1] += ended - began
            if step == "sending the answer":
                self._now["whole"] = ended - self._began
                self.calls.append(self._now)

    def wrap(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same function, measured."""

        @functools.wraps(function)
        def measured(*given: Any, **named: Any) -> Any:
            with self.measure(step):
                return function(*given, **named)

        @functools.wraps(function)
        async def measured_waiting(*given: Any, **named: Any) -> Any:
            with self.measure(step):
                return await function(*given, **named)

        return measured_waiting if iscoroutinefunction(function) else measured


def serve(file: Path) -> None:
    """Be a host as `textrawl host` is. At the end, write the times of each call to `file`."""
    from importlib import import_module  # noqa: PLC0415 - in the server's process alone

    from textrawl.cli.hosting import host_memory  # noqa: PLC0415

    foreign = {"psycopg AsyncCursor": psycopg.AsyncCursor}
    spans = Spans()
    for step, places in STEPS.items():
        for place, name in places:
            module, _, kind = place.partition(" ")
            owner: Any = foreign.get(place)
            if owner is None:
                owner = import_module(f"textrawl.{module}")
                owner = getattr(owner, kind) if kind else owner
            own: Any = getattr(owner, name)
            bound = hasattr(own, "__func__")  # true only for a class method
            measured: Any = spans.wrap(step, own.__func__ if bound else own)
            setattr(owner, name, classmethod(measured) if bound else measured)
    try:
        host_memory(walled=True)
    finally:
        file.write_text(json.dumps(spans.calls), "utf-8")


def ask(process: subprocess.Popen[bytes], method: str, params: dict[str, Any]) -> int:
    """Send a request, wait for its answer, and return the nanoseconds that this took."""
    assert process.stdin
    assert process.stdout
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    line = json.dumps(request).encode() + b"\n"
    began = time.perf_counter_ns()
    process.stdin.write(line)
    process.stdin.flush()
    answer = process.stdout.readline()
    taken = time.perf_counter_ns() - began
    reply = json.loads(answer)
    if "error" in reply or reply["result"].get("isError"):
        raise RuntimeError(reply)
    return taken


def profile(environment: dict[str, str], kind: str, calls: int, folder: Path) -> None:
    """Print the table of one kind of call."""
    file = folder / "spans.json"
    command = [sys.executable, "-m", "benchmarks.profile", "--serve", str(file)]
    work, taken = Work(), list[int]()
    host = subprocess.Popen(command, env=environment)
    while not [*Path(environment["DATA_DIR"]).glob("resident/*.sock")]:
        time.sleep(0.05)
    pipe = [sys.executable, "-m", "textrawl"]
    with subprocess.Popen(
        pipe, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        hello = {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bare", "version": "1"},
        }  # fmt: skip
        ask(process, "initialize", hello)
        assert process.stdin
        process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        server = psutil.Process(host.pid)
        before = server.cpu_times()
        for number in range(calls + WARM):
            if number == WARM:
                before = server.cpu_times()
            tool, arguments = work.kinds[kind]()
            taken.append(ask(process, "tools/call", {"name": tool, "arguments": arguments}))
        after = server.cpu_times()
    host.terminate()
    host.wait()
    cpu = 1e6 * (after.user + after.system - before.user - before.system) / calls
    spans: list[dict[str, int]] = json.loads(file.read_text("utf-8"))[-calls:]
    write_table(kind, spans, taken[-calls:], cpu)


def write_table(kind: str, spans: list[dict[str, int]], taken: list[int], cpu: float) -> None:
    """Print a row for each step that was taken."""
    print(f"\n| {kind} | µs |\n|---|---:|")
    steps = [step for step in STEPS if any(step in call for call in spans)]
    rows = {step: [call.get(step, 0) for call in spans] for step in steps}
    rows["the SDK, between these"] = [
        call["whole"] - sum(call.get(step, 0) for step in steps) for call in spans
    ]
    rows["pipes, waking up, the client"] = [
        whole - call["whole"] for whole, call in zip(taken, spans, strict=True)
    ]
    rows["**whole call**"] = taken
    for name, nanoseconds in rows.items():
        print(f"| {name} | {statistics.median(nanoseconds) / 1000:.0f} |")
    print(f"| CPU of the server | {cpu:.0f} |", flush=True)


async def run(facts: int, calls: int, folder: Path) -> None:
    """Print a table for each kind of call."""
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        environment = read_foreign_environment() | {
            "DATABASE_URL": cluster.dsn(APP), "EMBEDDING_PROVIDER": "local",
            "ACCESS_TOKEN": enrol(cluster.dsn(OWNER)), "READ_ONLY": "true",
            "DATA_DIR": str(folder / "sockets"),
        }  # fmt: skip
        async with await psycopg.AsyncConnection.connect(
            cluster.dsn(OWNER), autocommit=True
        ) as owner:
            await fill(owner, LocalEmbedder(), facts)
        print(f"{tell_machine()}; {facts:,} facts, {calls} calls each.")
        for kind in KINDS:
            await anyio.to_thread.run_sync(profile, environment, kind, calls, folder)


def main() -> None:
    """Measure in a temporary folder."""
    parser = argparse.ArgumentParser(description="Where the time of one call goes.")
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        serve(given.serve)
        return
    with open_folder("profile") as folder:
        anyio.run(run, given.facts, given.calls, folder)


if __name__ == "__main__":
    main()
