"""The words of a question decide the time that it is about, in four languages."""

from typing import Any

import pytest
from mcp import Client

from tests.support.tool_calls import ask, remember

pytestmark = pytest.mark.anyio

FACTS = [
    ("Rosa", "works at Initech", {"saidAt": "2021-03-01"}),
    ("Rosa", "works at Globex", {"saidAt": "2024-05-01", "replaces": "works at Initech"}),
    ("Rosa", "works at Umbrella", {"saidAt": "2026-02-01", "replaces": "works at Globex"}),
    ("Rosa", "commutes by bike", {"saidAt": "2026-03-11"}),
    ("Mo", "lives in Munich", {"saidAt": "2024-01-10"}),
    ("Mo", "moved to Berlin in March 2025", {"saidAt": "2025-03-20"}),
    ("Mo", "ran a marathon", {"saidAt": "2023-04-02"}),
    ("Mo", "ran a marathon", {"saidAt": "2024-04-07"}),
    ("Leo", "is 121 cm tall", {"saidAt": "2024-03-14"}),
    ("Leo", "is 133 cm tall", {"saidAt": "2025-03-14"}),
]
FIRST = {
    # now
    "Where does Rosa work now?": "works at Umbrella",
    "Wo arbeitet Rosa derzeit, works at?": "works at Umbrella",
    "Rosa works at, en ce moment ?": "works at Umbrella",
    "¿Rosa works at, actualmente?": "works at Umbrella",
    "Where is Mo living today?": "moved to Berlin in March 2025",
    "How tall is Leo?": "is 133 cm tall",  # nothing but the present tense
    # a year, a month, a season, a span, a part of a year
    "where did Rosa work in 2022": "works at Initech",
    "Where did Rosa work in July 2025?": "works at Globex",
    "where did Rosa work in autumn 2025": "works at Globex",
    "Where did Rosa work between March and May 2023?": "works at Initech",
    "Where did Rosa work in early 2023?": "works at Initech",
    "Wo hat Rosa 2022 gearbeitet, works at?": "works at Initech",
    "Rosa, works at, im Herbst 2025?": "works at Globex",
    "Où Rosa works at en 2022 ?": "works at Initech",
    "Rosa works at, au printemps 2025 ?": "works at Globex",
    "¿Dónde works at Rosa en 2022?": "works at Initech",
    "¿Rosa works at, en otoño de 2025?": "works at Globex",
    "Where did Rosa work before 2022?": "works at Initech",
    "How tall was Leo in December 2024?": "is 121 cm tall",
    # earlier
    "Where did Mo live before he moved to Berlin?": "lives in Munich",
    "What was Rosa's previous work, works at?": "works at Globex",
    "Where did Rosa use to work?": "works at Globex",
    "Rosas früherer Arbeitgeber, works at?": "works at Globex",
    "Rosa works at, auparavant ?": "works at Globex",
    "¿Rosa works at, anteriormente?": "works at Globex",
    "Rosa works at, vor Globex?": "works at Initech",
    "Rosa works at, avant Globex ?": "works at Initech",
    "¿Rosa works at, antes de Globex?": "works at Initech",
    # first and last
    "Where did Rosa work at first?": "works at Initech",
    "Rosa works at, anfangs?": "works at Initech",
    "Rosa works at, au début ?": "works at Initech",
    "¿Rosa works at, al principio?": "works at Initech",
    "What was the last place that Rosa works at?": "works at Umbrella",
    "Rosa works at, zuletzt?": "works at Umbrella",
    "Rosa works at, dernièrement ?": "works at Umbrella",
    "¿Rosa works at, por última vez?": "works at Umbrella",
    # since when
    "Since when does Rosa work at Globex?": "works at Globex",
    "Seit wann works at Umbrella Rosa?": "works at Umbrella",
    "Depuis quand Rosa works at Umbrella ?": "works at Umbrella",
    "¿Desde cuándo Rosa works at Umbrella?": "works at Umbrella",
}


async def find(client: Client, question: str, **more: Any) -> list[dict[str, Any]]:
    answer = await ask(client, mode="search", query=question, **more)
    return [fact for entity in answer["e"] for fact in entity["m"]]


async def test_the_words_of_a_question_decide_which_fact_comes_first(client: Client) -> None:
    for entity, text, times in FACTS:
        await remember(client, entity, text, **times)

    wrong = {
        question: found
        for question, first in FIRST.items()
        if (found := [fact["c"] for fact in await find(client, question, limit=1)]) != [first]
    }
    assert wrong == {}

    often = await find(client, "How often did Mo run a marathon?", limit=2)
    assert [fact["p"] for fact in often] == ["2024-04-07/", "2023-04-02/"]
    [since] = await find(client, "Since when does Rosa work at Umbrella?", limit=1)
    assert since["p"] == "2026-02-01/"
    [former] = await find(client, "Where did Rosa work in 2022?", limit=1)
    assert former["p"] == "2021-03-01/2024-05-01"

    # A question about the present has no ended facts and no periods, as before.
    for question in ("Where does Rosa work?", "Where does Rosa work now?"):
        found = await find(client, question)
        assert "works at Initech" not in [fact["c"] for fact in found]
        assert all("p" not in fact for fact in found)

    # A time that the caller gives counts, and the words do not.
    [then] = await find(client, "Where did Rosa work at first?", asOf="2025-01-01", limit=1)
    assert then["c"] == "works at Globex"


async def test_facts_that_were_said_at_the_time_of_the_question_are_not_lost(
    client: Client,
) -> None:
    await remember(client, "Ada", "lives in Graz", saidAt="2021-01-01")
    await remember(client, "Ada", "lives in Linz", saidAt="2024-01-01", replaces="lives in Graz")
    await remember(client, "Ada", "started to learn the cello", saidAt="2022-06-01")

    found = await find(client, "Where did Ada live in 2022?")

    assert {fact["c"] for fact in found} >= {"lives in Graz", "started to learn the cello"}
    assert found[0]["c"] == "lives in Graz"
