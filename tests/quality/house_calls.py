"""The functions that a search and a new fact enter: `python -m tests.quality.house_calls [--all]`.

With `--all`, it lists each function in the order of the calls, with the number of its calls.
"""

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
from mcp import Client

from benchmarks.support.place import enrol, open_folder
from tests.support.tracing import Trace, trace
from textrawl import Settings, create_server, migrate, read_settings
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import APP, OWNER

_ADA = {"entityName": "Ada", "entityType": "person"}
_STORED = ("prefers tea", "likes black coffee at work", "drinks water in the evening")
_NEW = ("leads QA", "plays chess", "lives in Oslo", "has a brown dog", "owns a red bicycle")
_QUESTION = {"mode": "search", "query": "what does Ada like to drink"}


async def _trace(client: Client, tool: str, arguments: dict[str, Any]) -> Trace:
    with trace() as found:
        await client.call_tool(tool, arguments)
    return found


async def trace_calls(build_settings: Callable[..., Settings]) -> dict[str, Trace]:
    """Return the trace of a `query_memory` that finds three facts, and of a `remember_fact`.

    Of five traces, the shortest counts: it has no work in the background, and finds what is cached.
    The search is not recorded as a recall, which enters three more functions.
    """
    model = "local"
    async with Client(create_server(build_settings(embedding_provider=model))) as client:
        for fact in _STORED:
            await client.call_tool("remember_fact", _ADA | {"observation": fact})
        stored = [
            await _trace(client, "remember_fact", _ADA | {"observation": fact}) for fact in _NEW
        ]
    # The upkeep of a server that writes could run just then.
    reading = build_settings(embedding_provider=model, read_only=True)
    async with Client(create_server(reading)) as client:
        asked = [await _trace(client, "query_memory", _QUESTION | {"limit": 3}) for _ in _NEW]
    shortest = [min(traces, key=lambda one: len(one.calls)) for traces in (asked, stored)]
    return dict(zip(("query_memory", "remember_fact"), shortest, strict=True))


def describe(tool: str, found: Trace) -> str:
    """Return the numbers of a trace in one line."""
    return (
        f"one {tool}: {len(found.functions)} functions, {len(found.calls)} calls, "
        f"{found.count_changes()} changes of module"
    )


async def print_calls(*, every: bool) -> None:
    """Print the traces in a memory of their own."""
    with open_folder("calls") as folder:
        async with run_embedded(folder) as cluster:
            await migrate(cluster.dsn(OWNER))
            token = enrol(cluster.dsn(OWNER))
            traces = await trace_calls(
                partial(read_settings, database_url=cluster.dsn(APP), access_token=token)
            )
    for tool, found in traces.items():
        sys.stdout.write(f"{describe(tool, found)}\n")
        for (module, name), times in Counter(found.calls).items() if every else ():
            sys.stdout.write(f"{times:4} {module} {name}\n")


if __name__ == "__main__":
    anyio.run(lambda: print_calls(every="--all" in sys.argv))
