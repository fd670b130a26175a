"""A few hundred calls that nobody would make, and what comes of them."""

from collections.abc import Callable

import psycopg
import pytest

from tests.conftest import Era
from tests.fuzzing.answers import find_faults
from tests.fuzzing.calls import Call
from tests.fuzzing.exploring import connect_in_memory, fuzz
from tests.fuzzing.store import find_spoilt
from textrawl.settings import Settings

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_no_call_breaks_a_tool_spoils_the_memory_or_passes_where_it_is_malformed(
    settings: Callable[..., Settings], owner: psycopg.Connection, era: Era
) -> None:
    with connect_in_memory(settings(), era) as channel:
        report = fuzz(channel, owner, 300, seed=7)

    assert report.faults == {}, report.faults
    assert find_spoilt(owner) == []
    assert report.calls == 300
    assert report.count("ok") > 40
    assert report.count("Invalid argument") > 40
    assert {tool for tool, _ in report.outcomes} == set(channel.tools)


FACT = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
FOUND = [
    Call("remember_fact", FACT | {"confidence": 2e-139}),
    Call("remember_fact", FACT | {"observation": "x", "confidence": 0.1234567891}),
    Call("build_knowledge", {"facts": [FACT | {"x" * 5_000: 1}]}),
    Call("remember_fact", FACT | {"entityType": "🦄" * 90}),
    Call("query_memory", {"mode": "list", "asOf": "e\u0301" * 500}),
    Call("query_memory", {"mode": "list", "offset": 10**400}),
]


def test_what_fuzzing_found_stays_mended(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    with connect_in_memory(settings(embedding_provider="none"), "auto") as channel:
        for call in FOUND:
            answer = channel.send(call)
            output = channel.tools[call.tool].output_schema or {}
            assert find_faults(call, answer, output) == [], (call, answer)
    assert owner.execute("select confidence from observation order by 1").fetchall() == [
        (0.0,), (pytest.approx(0.123457),)
    ]  # fmt: skip
