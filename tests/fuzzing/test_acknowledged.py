"""After any sequence of acknowledged writes every text that was told is found in its entity."""

import unicodedata
from collections.abc import Callable
from typing import Any

import hypothesis
import psycopg
from hypothesis import strategies as st

from tests.fuzzing.calls import Call
from tests.fuzzing.exploring import Channel, connect_in_memory
from textrawl.settings import Settings

# Close to each other by their vectors, some of them one text in two spellings.
TEXTS = [
    "lives in Berlin", "lived in Berlin", "Lives in Berlin.", "lives in  Berlin",
    "lives in Berlin!", "the limit is 5 mW", "the limit is 5 MW", "drinkt in Maßen",
    "drinkt in Massen", "écrit un livre", "e\u0301crit un livre", "likes tea", "likes no tea",
    "LIKES TEA",
]  # fmt: skip
NAMES = ["Ada", "ADA", "Bo"]

Told = dict[str, list[str]]
Arguments = dict[str, Any]


def _correct(drawn: tuple[Arguments, str]) -> Arguments:
    return {**drawn[0], "replaces": drawn[1]}


def _build(batch: list[Arguments]) -> Arguments:
    return {"facts": batch}


def _create(nodes: list[Arguments]) -> Arguments:
    return {"entities": nodes}


facts: st.SearchStrategy[Arguments] = st.fixed_dictionaries(
    {
        "entityName": st.sampled_from(NAMES),
        "entityType": st.just("person"),
        "observation": st.sampled_from(TEXTS),
    },
    optional={
        "source": st.sampled_from(["note", "manual"]),
        "confidence": st.sampled_from([0.5, 1]),
        "validUntil": st.sampled_from(["2998-01-01", "2999-01-01"]),
    },
)
corrections = st.tuples(facts, st.sampled_from(TEXTS)).map(_correct)
additions: st.SearchStrategy[Arguments] = st.fixed_dictionaries(
    {
        "name": st.sampled_from(NAMES),
        "entityType": st.just("person"),
        "observations": st.lists(st.sampled_from(TEXTS), max_size=3),
    }
)
writes = st.one_of(
    st.builds(Call, st.just("remember_fact"), st.one_of(facts, corrections)),
    st.builds(
        Call,
        st.just("build_knowledge"),
        st.lists(st.one_of(facts, facts, corrections), min_size=1, max_size=4).map(_build),
    ),
    st.builds(
        Call, st.just("create_entities"), st.lists(additions, min_size=1, max_size=2).map(_create)
    ),
)


def normalise(text: str) -> str:
    """The text without what a memory may fold: composition, case, white space, a full stop."""
    folded = "ß".join(part.casefold() for part in unicodedata.normalize("NFC", text).split("ß"))
    return f"{' '.join(folded.split()).removesuffix('.')} {'MW' if 'MW' in text else ''}"


def spell(text: str) -> str:
    """What is equal of two spellings: `replaces` can name the only fact of a spelling."""
    return normalise(text.casefold())


def record(stored: Told, call: Call) -> None:
    """Notes what an acknowledged call told of whom, and what it replaced on purpose."""
    if call.tool == "create_entities":
        for node in call.arguments["entities"]:
            stored.setdefault(node["name"].casefold(), []).extend(node["observations"])
        return
    batch: list[Any] = call.arguments.get("facts") or [call.arguments]
    for fact in batch:
        known = stored.setdefault(fact["entityName"].casefold(), [])
        if old := fact.get("replaces"):
            known[:] = [text for text in known if spell(text) != spell(old)]
        known.append(fact["observation"])


def find_valid(channel: Channel, name: str) -> set[str]:
    """The valid facts of an entity, normalised."""
    asked = {"mode": "entity", "entityName": name, "maxObs": 100, "maxTokens": 25_000}
    answer = channel.send(Call("query_memory", asked))
    assert answer.result is not None
    found: dict[str, Any] = answer.result["structuredContent"]
    return {normalise(fact["content"]) for fact in found.get("observations", ())}


def test_every_text_that_was_told_and_not_replaced_is_found_in_its_entity(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    with connect_in_memory(settings(toolsets="all"), "auto") as channel:

        @hypothesis.given(st.lists(writes, min_size=1, max_size=6))
        def check(calls: list[Call]) -> None:
            owner.execute("delete from entity")
            stored: Told = {}
            for call in calls:
                answer = channel.send(call)
                assert answer.result is not None
                if not answer.failed:
                    record(stored, call)
                for name, texts in stored.items():
                    lost = {normalise(text) for text in texts} - find_valid(channel, name)
                    assert lost == set(), str(call)

        check()
