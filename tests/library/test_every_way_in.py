"""The odd inputs of `tests/toolsets/memory/test_every_way_in.py`, through the library."""

import psycopg
import pytest

from tests.library.conftest import Reach
from tests.support.odd_inputs import find_differences, write_entities, write_relations

pytestmark = pytest.mark.anyio


@pytest.mark.slow
async def test_the_library_stores_odd_inputs_as_the_tools_do(
    reach: Reach, owner: psycopg.Connection
) -> None:
    memory = await reach("local")
    for entity in write_entities("library"):
        for text in entity["observations"]:
            await memory.remember(entity["name"], text, type=entity["entityType"])
    for one in write_relations("library"):
        await memory.relate(one["from"], one["relationType"], one["to"])

    assert find_differences(owner, "library") == {}


@pytest.mark.parametrize("way", ["local", "structured"])
async def test_the_library_says_how_many_texts_were_cleaned(reach: Reach, way: str) -> None:
    memory = await reach(way)

    assert (await memory.remember("A\u200bda", "soft\u00adhyphen")).cleaned == 2
    assert (await memory.remember("Ada", "plain")).cleaned == 0
    assert (await memory.relate("Ada", "works\u200b_at", "Acme")).cleaned == 1
