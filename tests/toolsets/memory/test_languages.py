"""Facts and questions in the language of a space, as a model stores and asks them by words."""

import psycopg
import pytest

from tests.conftest import Connect
from tests.support.tool_calls import ask, remember

pytestmark = pytest.mark.anyio


async def test_a_question_finds_a_fact_whose_words_it_inflects_otherwise(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(embedding_provider="none")
    for language, fact, question in (
        ("german", "hat zwei Bücher gekauft", "Welches Buch kaufte sie?"),
        ("french", "a mangé des pommes", "Quelle pomme mange-t-elle ?"),
        ("spanish", "comió dos manzanas", "¿Qué manzana quiere comer?"),
        ("simple", "猫を飼っています", "猫は何匹いますか"),
    ):
        owner.execute("select textrawl.change_language('default', %s)", (language,))
        await remember(client, "Ada", fact)
        await remember(client, "Ada", "12345")

        answer = await ask(client, query=question)

        assert answer["e"][0]["m"][0]["c"] == fact


async def test_a_batch_and_its_corrections_are_found_in_the_language(
    connect: Connect, owner: psycopg.Connection
) -> None:
    owner.execute("select textrawl.change_language('default', 'german')")
    client = await connect(embedding_provider="none")
    facts = [
        {"entityName": "Ada", "entityType": "person", "observation": "arbeitet in Köln"},
        {"entityName": "Bo", "entityType": "person", "observation": "arbeitete in Bonn"},
    ]
    assert not (await client.call_tool("build_knowledge", {"facts": facts})).is_error
    await remember(client, "Ada", "arbeitet in Ulm", replaces="arbeitet in Köln")

    answer = str(await ask(client, query="wer hat gearbeitet"))

    assert [place in answer for place in ("Köln", "Bonn", "Ulm")] == [False, True, True]
