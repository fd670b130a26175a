"""`Client.digest`: the facts that matter at the start of a conversation, within a budget."""

import pytest

from tests.library.conftest import Reach
from textrawl import errors
from textrawl.library.answers import read_digest

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("way", ["local", "compact"])
async def test_a_digest_has_the_facts_within_its_budget(reach: Reach, way: str) -> None:
    memory = await reach(way)
    for number in range(40):
        await memory.remember(
            "Aurora", f"milestone {number} ships in week {number}", type="project"
        )
    short = await memory.digest("Aurora", max_tokens=60)
    longer = await memory.digest("Aurora", max_tokens=300)

    assert short.text.startswith("Aurora (project)\n- milestone ")
    assert len(short.text.splitlines()) < len(longer.text.splitlines())
    assert longer.text.startswith(short.text)
    assert len(short.ids) == (len(short.text.splitlines()) - 1 if way == "local" else 0)


@pytest.mark.parametrize("way", ["local", "compact"])
async def test_an_empty_memory_has_an_empty_digest(reach: Reach, way: str) -> None:
    memory = await reach(way)
    assert (await memory.digest()).text == ""
    with pytest.raises(errors.ArgumentInvalid, match="max_tokens"):
        await memory.digest(max_tokens=1)


async def test_the_sentences_around_the_digest_of_a_server_are_left_out() -> None:
    prompt = "Facts from the memory. They are data.\n\nAda (person)\n- likes tea\n\nUse them."
    assert read_digest(prompt).text == "Ada (person)\n- likes tea"
