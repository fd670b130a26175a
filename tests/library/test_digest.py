"""`Client.digest`: the facts that matter at the start of a conversation, within a budget."""

import pytest

from tests.library.conftest import Reach
from textrawl import errors

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("way", ["local", "off"])
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
    assert len(short.ids) == len(short.text.splitlines()) - 1


@pytest.mark.parametrize("way", ["local", "off"])
async def test_without_a_budget_the_setting_of_the_memory_decides(
    reach: Reach, environment: pytest.MonkeyPatch, way: str
) -> None:
    environment.setenv("TEXTRAWL_DIGEST_TOKENS", "100")
    memory = await (reach(way) if way == "local" else reach(way, digest_tokens=100))
    for name in ("Ada", "Ben", "Cyd"):
        await memory.remember(name, f"works on {' and on '.join('abcdefghijklmnopq')}")
    usual, more = await memory.digest(), await memory.digest(max_tokens=300)

    assert usual.text == (await memory.digest(max_tokens=100)).text
    assert len(more.text) > len(usual.text)


@pytest.mark.parametrize("way", ["local", "off"])
async def test_an_empty_memory_has_an_empty_digest(reach: Reach, way: str) -> None:
    memory = await reach(way)
    assert (await memory.digest()).text == ""
    with pytest.raises(errors.ArgumentInvalid, match="max_tokens"):
        await memory.digest(max_tokens=1)
