"""Sending what hypothesis makes up, and judging each answer."""

import math
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import anyio
import hypothesis
import psycopg
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.errors import HypothesisDeprecationWarning
from mcp import Client, MCPError
from mcp.types import PARSE_ERROR, Tool

from tests.fuzzing.answers import PATIENCE, Answer, Report, find_faults
from tests.fuzzing.calls import Call, build_calls
from tests.fuzzing.store import read_mark
from textrawl import Settings, create_server

_CHUNK = 250  # examples of one run of hypothesis, which varies those that it has
_ALL_CHECKS = [HealthCheck.too_slow, HealthCheck.large_base_example, HealthCheck.data_too_large]
_HOPELESS = 30.0  # seconds after which a call counts as one that hangs


@dataclass(frozen=True)
class Channel:
    """A way to a server; one that is not `exact` sends null for numbers that JSON does not have."""

    send: Callable[[Call], Answer]
    tools: dict[str, Tool]
    exact: bool = True


def generate(strategy: st.SearchStrategy[Any], count: int, seed: int) -> Iterator[Any]:
    """Examples, the same for the same seed; made before they are used, a few hundred at a time."""
    for start in range(0, count, _CHUNK):
        yield from _make(strategy, min(_CHUNK, count - start), seed + start)


def _make(strategy: st.SearchStrategy[Any], count: int, seed: int) -> list[Any]:
    made: list[Any] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=_ALL_CHECKS,
    )
    @hypothesis.given(strategy)
    def collect(example: Any) -> None:
        made.append(example)

    with warnings.catch_warnings():
        # A server in another thread may throw dice of its own meanwhile.
        warnings.simplefilter("ignore", HypothesisDeprecationWarning)
        collect()
    return made


def fuzz(channel: Channel, owner: psycopg.Connection, count: int, seed: int) -> Report:
    """What came of `count` calls of a server on the database of `owner`, who alone looks on."""
    report, mark = Report(), read_mark(owner)
    for call in generate(_build_strategy(channel), count, seed):
        answer = channel.send(call)
        faults = find_faults(call, answer, channel.tools[call.tool].output_schema or {})
        before, mark = mark, read_mark(owner)
        if answer.failed and mark != before:
            faults.append("a refused call changed something")
        if not answer.failed and call.tool == "remember_fact":
            faults += find_lost(answer, channel)
        report.add(call, answer, faults)
    return report


def _build_strategy(channel: Channel) -> st.SearchStrategy[Any]:
    strategy = build_calls({name: tool.input_schema for name, tool in channel.tools.items()})
    if channel.exact:
        return strategy
    return strategy.map(lambda call: Call(call.tool, _blank_infinities(call.arguments)))


def _blank_infinities(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: _blank_infinities(inner) for key, inner in fields.items()}
    if isinstance(value, list):
        return [_blank_infinities(inner) for inner in cast("list[Any]", value)]
    return value


def find_lost(answer: Answer, channel: Channel) -> list[str]:
    """Whether a fact that remember_fact stored cannot be read again."""
    assert answer.result is not None
    document: dict[str, Any] = answer.result.get("structuredContent") or {}
    if document.get("duplicate") or "entityName" not in document:
        return []
    asked = {"mode": "entity", "entityName": document["entityName"], "maxObs": 100,
             "maxTokens": 25_000}  # fmt: skip
    read = channel.send(Call("query_memory", asked))
    if read.failed:
        return ["a stored fact cannot be read"]
    assert read.result is not None
    known = [fact["id"] for fact in read.result["structuredContent"].get("observations", ())]
    return [] if document["observationId"] in known else ["a stored fact cannot be read"]


@contextmanager
def connect_in_memory(settings: Settings, era: Any) -> Generator[Channel]:
    """A client in this process, for code that is not asynchronous."""
    with start_blocking_portal() as portal:
        connecting = portal.wrap_async_context_manager(Client(create_server(settings), mode=era))
        with connecting as client:
            tools = {tool.name: tool for tool in portal.call(client.list_tools).tools}
            yield Channel(lambda call: portal.call(_call, client, call), tools, exact=False)


async def _call(client: Client, call: Call) -> Answer:
    began = time.perf_counter()
    try:
        with anyio.fail_after(_HOPELESS):
            result = await client.call_tool(call.tool, call.arguments)
    except MCPError as error:
        return Answer(time.perf_counter() - began, error=error.error.model_dump(by_alias=True))
    except ValueError as refusal:  # the client's own: nests deeper than its library writes
        return Answer(0, error={"code": PARSE_ERROR, "message": str(refusal)})
    except TimeoutError:
        return Answer(PATIENCE * 100, error={"code": None, "message": "no answer"})
    answer = result.model_dump(by_alias=True, exclude_none=True)
    return Answer(time.perf_counter() - began, result=answer)
