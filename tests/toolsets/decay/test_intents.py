"""analyze_message, analyze_for_recall: intents, entities and strength without a model."""

import math
import time
from typing import Any

import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.tool_calls import structured
from textrawl.memory.decay_analysis import build_phrases, load_phrases

pytestmark = pytest.mark.anyio


async def judge(client: Client, message: str) -> Any:
    return await structured(client, "analyze_message", message=message)


async def look(client: Client, message: str) -> Any:
    return await structured(client, "analyze_for_recall", message=message)


async def test_the_first_example_of_saving_is_answered_as_the_seed_shows(client: Client) -> None:
    answer = await judge(
        client, "Remember: I prefer TypeScript over JavaScript for all new projects"
    )

    assert answer == {
        "should_save": True,
        "confidence": 0.9,
        "suggested_entities": ["typescript", "javascript", "preferences"],
        "suggested_tags": [],
        "suggested_strength": 1.5,
        "reasoning": "Detected: ['remember'] importance_marker: True entities_found: 3",
    }


async def test_other_examples_of_saving_are_sure(client: Client) -> None:
    for message, entities in (
        ("Remember: I prefer dark mode in all my apps", []),
        ("Remember: I prefer JWT for authentication", ["jwt", "authentication"]),
    ):
        answer = await judge(client, message)

        assert (answer["should_save"], answer["confidence"]) == (True, 0.9)
        assert answer["suggested_strength"] == 1.5
        assert answer["suggested_entities"] == entities


async def test_examples_of_recalling_become_queries(client: Client) -> None:
    for message, query, entities in (
        ("What did I say about TypeScript?", "TypeScript", ["typescript"]),
        ("What did I say about my API preferences?", "API preferences", ["api"]),
        ("What did I say about authentication?", "authentication", ["authentication"]),
    ):
        answer = await look(client, message)

        assert (answer["should_search"], answer["confidence"]) == (True, 0.9)
        assert (answer["suggested_query"], answer["suggested_entities"]) == (query, entities)
        assert answer["reasoning"].startswith(
            "Detected: ['what did i say about'] entities_found: 1"
        )


def logistic(total: float) -> float:
    return round(1 / (1 + math.exp(-total)), 3)


async def test_confidence_is_the_logistic_function_of_the_weights(client: Client) -> None:
    for message, total in (
        ("", -2),
        ("the shop closes early", -2),
        ("i prefer tea", -2 + 4),
        ("we decided on friday", -2 + 4),
        ("this is critical", -2 + 3),
        ("this is important", -2 + 2),
        ("this is important, maybe", -2 + 2 - 3),
        ("how do i brew tea", -2 - 5),
        ("he met Ada Lovelace", -2 + 0.8),
        ("he met Ada, Ben, Cleo, Dan, Eve and Fay", -2 + 3.2),
        ("what is typescript", -2 - 5 + 0.8),
    ):
        answer = await judge(client, message)

        assert answer["confidence"] == logistic(total)
        assert answer["should_save"] is (logistic(total) >= 0.7)


async def test_no_phrase_is_more_certain_than_nine_tenths(connect: Connect) -> None:
    message = "Remember: this is critical, I prefer Ada, Ben, Cleo and Dan for TypeScript"

    answer = await judge(await connect(toolsets=["decay"]), message)

    assert answer["confidence"] == 0.9
    assert 1.8 <= answer["suggested_strength"] <= 2.0


async def test_a_question_whether_something_is_remembered_is_no_wish_to_save(
    client: Client,
) -> None:
    assert not (await judge(client, "Do you remember my favourite colour?"))["should_save"]
    assert (await look(client, "Do you remember my favourite colour?"))["should_search"]


async def test_two_entities_make_a_search_possible_and_one_does_not(client: Client) -> None:
    two = await look(client, "compare typescript and python for a server in docker or linux")
    one = await look(client, "compare typescript with everything else that there is in the world")

    assert (two["should_search"], two["confidence"]) == (True, 0.5)
    assert two["suggested_query"] == "typescript python docker"
    assert (one["should_search"], one["confidence"]) == (False, 0.2)
    assert one["suggested_query"] == "compare typescript with everything else that there"


async def test_words_at_the_beginning_of_a_sentence_are_no_entities(connect: Connect) -> None:
    message = (
        "Remember this. What matters is speed. Deploy on Monday with Kubernetes, Ada leads it."
    )

    answer = await judge(await connect(toolsets=["decay"]), message)

    assert answer["suggested_entities"] == ["monday", "kubernetes", "ada"]


async def test_addresses_and_names_of_several_words_are_one_entity_each(connect: Connect) -> None:
    message = (
        "I met Grace Hopper, see https://example.org/grace. Write to grace@example.org about C++"
    )

    answer = await judge(await connect(toolsets=["decay"]), message)

    expected = ["grace hopper", "https://example.org/grace", "grace@example.org", "c++"]
    assert answer["suggested_entities"] == expected


async def test_curly_apostrophes_are_read_like_straight_ones(connect: Connect) -> None:
    answer = await judge(await connect(toolsets=["decay"]), "Don\u2019t forget the milk")

    assert answer["reasoning"].startswith('Detected: ["don\'t forget"]')


async def test_a_long_hostile_message_is_judged_in_seconds(client: Client) -> None:
    for unit in ("\n", "a@", "'", "Ada's ", "A.b", "do you "):
        begin = time.perf_counter()
        await judge(client, (unit * 50_000)[:50_000])
        assert time.perf_counter() - begin < 20

    refused = await client.call_tool("analyze_message", {"message": "x" * 50_001})
    assert refused.is_error


def test_a_file_of_another_language_is_enough_for_its_phrases() -> None:
    german = {"save": ["^merke dir", "vergiss nicht"], "names": {"stop_words": ["wir"]}}

    phrases = build_phrases([german])

    assert phrases.find("save", "Merke dir: kein Zucker. Und vergiss nicht die Milch") == [
        "merke dir",
        "vergiss nicht",
    ]
    assert phrases.find("recall", "was weiß ich") == []
    assert load_phrases() is load_phrases()
