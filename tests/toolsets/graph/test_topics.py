"""What observations are about, against a calculation of its own."""

import math
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textrawl.memory.graph_upkeep import analyse, find_words, group_topics, weigh_words

WORDS = ["deploy", "Vercel", "tests", "with", "Astro", "él", "über", "canción", "of", "planning"]
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=12
)
STOP = {"with"}


def weigh(texts: list[str]) -> dict[str, float]:
    words = [Counter(re.findall(r"[a-zà-ÿ]{4,}", text.lower())) for text in texts]
    found: dict[str, float] = {}
    for word in {word for one in words for word in one} - STOP:
        held = [one[word] for one in words if one[word]]
        weight = sum(held) * math.log(len(texts) / len(held))
        if len(held) >= 2 and weight > 0:
            found[word] = weight
    return found


@given(texts=TEXTS)
def test_words_weigh_what_tf_idf_says(texts: list[str]) -> None:
    assert weigh_words(texts, STOP) == pytest.approx(weigh(texts), rel=1e-6)


@given(texts=TEXTS)
def test_every_observation_has_one_topic_named_by_its_heaviest_word(texts: list[str]) -> None:
    weights = weigh(texts)
    topics = group_topics(texts, STOP)

    assert sorted(text for entry in topics.values() for text in entry) == sorted(texts)
    if "Tema_A" in topics:
        assert list(topics) == ["Tema_A", "Tema_B"]
        return
    heaviest = sorted(weights, key=lambda word: (-round(weights[word], 6), word))[:10]
    for name, entry in topics.items():
        for text in entry:
            known = [word for word in heaviest if word in re.findall(r"\w+", text.lower())]
            assert name.lower() == known[0] if known else name.startswith("tema_")


@given(count=st.integers(0, 60), threshold=st.sampled_from([15, 20, 25]))
def test_an_entity_needs_a_split_above_its_threshold_alone(count: int, threshold: int) -> None:
    texts = [f"observation {chr(97 + place % 5) * 5}" for place in range(count)]
    found = analyse(texts, threshold, ())

    assert found.needs_split == (count > threshold)
    bonus = min(len(found.topics) / count, 0.5) if count > threshold else 0
    assert found.score == pytest.approx(count / threshold + bonus, abs=1e-6)
    assert bool(found.topics) == (count > threshold)


def test_observations_about_one_thing_are_halved() -> None:
    texts = ["deploy to production"] * 3 + ["deploy to staging"] * 2
    assert group_topics(texts, ("production", "staging", "deploy")) == {
        f"tema_{place}": [text] for place, text in enumerate(texts, 1)
    }
    assert group_topics(["tests pass"] * 2 + ["tests pass again"] * 3, ("pass", "tests")) == {
        "Again": ["tests pass again"] * 3, "tema_1": ["tests pass"], "tema_2": ["tests pass"]
    }  # fmt: skip


def test_words_have_four_letters_or_more_of_any_script() -> None:
    assert find_words(["Él dijo adiós", "日本語東京 1234 x_y", "Straße"]) == [
        "adiós", "dijo", "straße", "日本語東京"
    ]  # fmt: skip
