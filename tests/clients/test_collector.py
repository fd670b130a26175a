"""A real collector gets the spans of a server: Arize Phoenix, which takes OTLP over HTTP."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.clients.installing import install
from tests.support.commands import FACT, Launch, launch, name_memory, wait_for
from tests.support.listening import find_port
from tests.support.providers import EmbeddingServer

__all__ = ["launch"]

pytestmark = [
    pytest.mark.clients, pytest.mark.timeout(900), pytest.mark.usefixtures("uncovered"),
]  # fmt: skip


@pytest.fixture
def phoenix(tmp_path: Path) -> Iterator[str]:
    """The address of a Phoenix that has no spans yet."""
    program = install("PyPI", ["arize-phoenix==20.26.1"]) / "bin/phoenix"
    port, grpc = find_port(), find_port()
    settings = {
        "PHOENIX_WORKING_DIR": str(tmp_path), "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(grpc),
        "PHOENIX_TELEMETRY_ENABLED": "false", "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        "HOME": str(tmp_path), "PATH": os.defpath,
    }  # fmt: skip
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen([program, "serve"], env=settings, stdout=log, stderr=log) as process,
    ):
        try:
            wait_for(lambda: process.poll() is not None or answers(port))
            assert process.poll() is None, (tmp_path / "log").read_text(encoding="utf-8")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def answers(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/healthz").is_success
    except httpx2.TransportError:
        return False


def read_spans(phoenix: str) -> dict[str, dict[str, Any]]:
    """The spans that the collector has stored, by name."""
    found = httpx2.get(f"{phoenix}/v1/projects/default/spans", params={"limit": 1000}).json()
    return {span["name"]: span for span in found["data"]}


def test_a_real_collector_shows_a_call_with_its_sql_function_and_its_embedding(
    phoenix: str, launch: Launch, database_url: str
) -> None:
    environment = name_memory(database_url, OTEL_EXPORTER_OTLP_ENDPOINT=phoenix)
    params = {"name": "remember_fact", "arguments": FACT}
    with EmbeddingServer(dimensions=1536) as server:
        own = {"EMBEDDING_PROVIDER": "openai", "OPENAI_BASE_URL": server.openai_url}
        process = launch(**environment, **own)
        process.open()
        process.say({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})
        assert process.hear()["id"] == 3
        wait_for(lambda: "tools/call remember_fact" in read_spans(phoenix))
        assert process.end().code == 0

    spans = read_spans(phoenix)
    call = spans["tools/call remember_fact"]
    for name in ("remember_fact", "embeddings text-embedding-3-small"):
        assert spans[name]["parent_id"] == call["context"]["span_id"], name
        assert spans[name]["context"]["trace_id"] == call["context"]["trace_id"], name
    assert FACT["observation"] not in str(spans)
