"""244 pairs of facts that say something else: all are stored, whatever their vectors say."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.tool_calls import read

pytestmark = pytest.mark.anyio

_FILE = Path(__file__).with_name("pairs.txt")


def _read_pairs() -> Iterator[tuple[str, str, str]]:
    """The heading, and the two facts, of each pair."""
    heading = ""
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            heading = line.removeprefix("== ")
        elif line and not line.startswith("#"):
            one, other = line.split(" | ")
            yield heading, one, other


PAIRS = list(_read_pairs())


def test_the_list_has_44_handwritten_pairs_and_200_more_in_four_languages_and_more() -> None:
    headings = [heading for heading, _, _ in PAIRS]
    languages, kinds = zip(*(heading.split(": ") for heading in headings), strict=True)

    assert headings.count("English: handwritten") == 44
    assert len(PAIRS) == len(set(PAIRS)) == 244
    assert len(set(languages)) >= 4
    assert set(kinds) == {
        "handwritten", "tense", "negation", "quantifier", "direction", "modality", "comparison",
        "unit",
    }  # fmt: skip


def _find_lost(owner: psycopg.Connection) -> list[tuple[str, str]]:
    """The pairs of which the memory does not hold both facts as valid ones."""
    query = """
        select e.name, o.content from observation o
        join entity e on (e.space_id, e.id) = (o.space_id, o.entity_id)
        where o.valid_until is null"""
    stored = set(owner.execute(query).fetchall())
    return [
        (one, other)
        for number, (_, one, other) in enumerate(PAIRS)
        if not {(f"Entity {number}", one), (f"Entity {number}", other)} <= stored
    ]


def _state(number: int, observation: str) -> dict[str, str]:
    return {
        "entityName": f"Entity {number}", "entityType": "concept", "observation": observation
    }  # fmt: skip


@pytest.fixture
async def one_client(connect: Connect) -> Client:
    """A client of a server with default settings, whose embedder averages the vectors of words."""
    return await connect()


async def test_remembered_in_batches_none_of_them_is_lost(
    one_client: Client, owner: psycopg.Connection
) -> None:
    facts = [_state(number, text) for number, (_, *pair) in enumerate(PAIRS) for text in pair]
    answers = [
        read(await one_client.call_tool("build_knowledge", {"facts": facts[start : start + 50]}))
        for start in range(0, len(facts), 50)
    ]

    assert [answer["facts"]["dup"] for answer in answers] == [0] * len(answers)
    assert _find_lost(owner) == []
