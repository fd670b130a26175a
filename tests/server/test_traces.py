"""A collector of OpenTelemetry gets the spans of a server, without texts. Nobody waits for it."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.commands import Launch, Process, launch, name_memory
from tests.support.hosts import end_noted_hosts
from tests.support.listening import find_port
from tests.support.llm_server import LlmServer
from tests.support.providers import EmbeddingServer
from textrawl.cli.hosting import export_traces
from textrawl.settings import read_foreign_environment


class Collector:
    """Receives spans. If it is not `open`, requests wait for their answers."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.open = threading.Event()
        self.open.set()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert self.path == "/v1/traces"
                collector.bodies.append(self.rfile.read(int(self.headers["content-length"])))
                collector.open.wait()
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def resources(self) -> list[Any]:
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [one for request in requests for one in request.resource_spans]

    @property
    def spans(self) -> list[Any]:
        return [span for one in self.resources for scope in one.scope_spans for span in scope.spans]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.open.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def read_attributes(holder: Any) -> dict[str, str | int]:
    """The attributes of a span or a resource."""
    values = {pair.key: pair.value for pair in holder.attributes}
    return {key: getattr(value, value.WhichOneof("value")) for key, value in values.items()}


__all__ = ["launch"]

CANARY = "zxcanary"
FACT = {"entityName": f"Ada {CANARY}", "entityType": "person", "observation": f"likes {CANARY}"}
FOUND = json.dumps(
    {"entities": [{"name": CANARY, "type": "person", "observations": ["x"]}], "relations": []}
)


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        yield collector


def ask(process: Process, method: str, identity: object = 7, **params: Any) -> dict[str, Any]:
    process.say({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
    return process.hear()


def call(process: Process, tool: str, identity: object = 7, **arguments: Any) -> dict[str, Any]:
    return ask(process, "tools/call", identity, name=tool, arguments=arguments)


@pytest.fixture
def spans(collector: Collector, launch: Launch, database_url: str) -> dict[str, Any]:
    """The spans of calls with a word in every place where a client can write one, by name."""
    own = name_memory(database_url, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    with EmbeddingServer(dimensions=1536) as embedding, LlmServer(lambda _: FOUND) as llm:
        own |= {"EMBEDDING_PROVIDER": "openai", "OPENAI_BASE_URL": embedding.openai_url}
        own |= {"LLM_PROVIDER": "openai", "LLM_MODEL": "m", "LLM_BASE_URL": llm.openai_url}
        process = launch(**own, ENABLE_MEMORY_EXTRACTION="true")
        process.open()
        assert "result" in call(process, "remember_fact", **FACT)
        call(process, "query_memory", f"id of {CANARY}", query=CANARY)
        call(process, "query_memory", mode="entity", entityName=CANARY, asOf=CANARY)
        call(process, "forget_entity", entityName=FACT["entityName"])
        call(process, "extract_memories", text=f"{CANARY} likes tea. " * 9)
        call(process, f"{CANARY}_tool")
        ask(process, CANARY)
        process.say({"jsonrpc": "2.0", "method": f"notifications/{CANARY}", "params": {}})
        ask(process, "prompts/get", name=CANARY)
        ask(process, "resources/read", uri=f"memory://entity/{CANARY}")
        assert process.end().code == 0
        end_noted_hosts()
    return {span.name: span for span in reversed(collector.spans)}


@pytest.mark.slow
def test_a_collector_gets_the_spans_of_calls_without_any_text(
    spans: dict[str, Any], collector: Collector
) -> None:
    stored = spans["tools/call remember_fact"]
    within = {span.name for span in collector.spans if span.trace_id == stored.trace_id}
    assert within >= {"remember_fact", "embeddings text-embedding-3-small"}
    assert spans["remember_fact"].parent_span_id == stored.span_id
    assert stored.end_time_unix_nano > stored.start_time_unix_nano
    assert read_attributes(spans["embeddings text-embedding-3-small"]) == {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "text-embedding-3-small",
        "textrawl.texts": 1,
    }
    assert read_attributes(spans["remember_fact"]) == {
        "db.system.name": "postgresql",
        "db.stored_procedure.name": "remember_fact",
    }
    usage = {f"gen_ai.usage.{kind}_tokens" for kind in ("input", "output")}
    assert read_attributes(spans["chat m"]).keys() >= usage
    assert {"tools/call query_memory", "tools/call", "_OTHER", "prompts/get"} <= spans.keys()
    assert read_attributes(spans["tools/call"])["error.type"] == "-32602"
    assert read_attributes(collector.resources[0].resource)["service.name"] == "textrawl"
    assert not [body for body in collector.bodies if CANARY.encode() in body]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["hangs", "away"])
def test_a_collector_that_does_not_answer_keeps_no_call_waiting(
    fault: str, collector: Collector, launch: Launch, database_url: str
) -> None:
    collector.open.clear()
    url = collector.url if fault == "hangs" else f"http://127.0.0.1:{find_port()}"
    process = launch(
        **name_memory(database_url, EMBEDDING_PROVIDER="none", OTEL_EXPORTER_OTLP_ENDPOINT=url),
        OTEL_BSP_SCHEDULE_DELAY="10",
    )
    process.open()
    answers = [call(process, "query_memory", mode="list") for _ in range(30)]
    outcome = process.end()

    assert [answer["result"]["isError"] for answer in answers] == [False] * 30
    assert outcome.code == 0
    assert bool(collector.bodies) == (fault == "hangs")
    assert outcome.err.count("collector") <= 1, outcome.err


def test_without_the_variable_nothing_of_it_is_loaded() -> None:
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    off = [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}]
    program = (
        "import os, sys, textrawl.memory.opening\n"
        "from textrawl.cli.hosting import export_traces\n"
        f"for variables in {[{}, *(endpoint | one for one in off)]}:\n"
        "    os.environ.update(variables)\n"
        "    with export_traces(): pass\n"
        "    for name in variables: del os.environ[name]\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=read_foreign_environment(),
    )
    assert (result.stdout, result.stderr) == ("[]\n", "")


def test_without_the_extra_a_server_starts_and_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for variable in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, "http://127.0.0.1:9")
            patch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
            patch.delitem(sys.modules, "textrawl.server.span_export", raising=False)
            caplog.clear()
            with export_traces():
                assert re.search(r"is not installed: run .*otel\]", caplog.text)
