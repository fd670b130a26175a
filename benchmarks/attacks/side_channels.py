"""Side channels: the times and scores of calls about words in a space that was not granted.

A stranger knows 1,000 words. Half of them are in another space, each in a fact and as the name of
an entity. The stranger asks every tool that accepts a word for each word, in random order, in
several rounds.

The area under the curve measures if a time or a score reveals these words. Each pair has a word
that is in the space and a word that is not. The area is the share of pairs that the time or the
score puts in the right order. 0.5 means chance. Chance alone stays within the printed interval in
19 of 20 runs (Mann-Whitney). It is part of `python -m benchmarks.attacks`.
"""

import math
import random
import string
import time
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, cast

import psycopg

from tests.attacks.site import Site, issue, open_site
from textrawl.settings import Settings

WORDS, ROUNDS = 1_000, 3

PROBES: dict[str, Callable[[str], tuple[str, dict[str, Any]]]] = {
    "query_memory search": lambda word: (
        "query_memory",
        {"mode": "search", "query": f"pizza {word} served"},
    ),
    "query_memory entity": lambda word: ("query_memory", {"mode": "entity", "entityName": word}),
    "forget_entity dryRun": lambda word: ("forget_entity", {"entityName": word, "dryRun": True}),
    "search_nodes": lambda word: ("search_nodes", {"query": word}),
    "open_nodes": lambda word: ("open_nodes", {"names": [word]}),
    "search_reflections": lambda word: ("search_reflections", {"query": word}),
    "find_duplicate_observations": lambda word: (
        "find_duplicate_observations",
        {"entity_name": word},
    ),
}
"""Tools that accept a word, by their name in the table."""


def measure_area(inside: list[float], outside: list[float]) -> float:
    """Return the share of pairs in which the value of `inside` is larger. A tie counts as half."""
    ranks = sorted(outside)
    above = sum(bisect_left(ranks, value) + bisect_right(ranks, value) for value in inside)
    return above / (2 * len(inside) * len(outside))


def chance(inside: int, outside: int) -> float:
    """Return the largest distance of the area from 0.5 by chance, at 95 % (Hanley, McNeil 1982)."""
    return 1.96 * math.sqrt((inside + outside + 1) / (12 * inside * outside))


def _make_words() -> list[str]:
    dice = random.Random(14)  # noqa: S311 - no secret
    return ["".join(dice.choices(string.ascii_lowercase, k=9)) for _ in range(WORDS)]


def _plant(owner: psycopg.Connection, words: set[str]) -> None:
    fact = "select remember_fact(%s, 'person', %s, space => (select id from space where name = %s))"
    owner.execute("select create_space('lunch')")
    owner.execute("select create_space('vault')")
    for text in ("pizza is served", "salad too", "opens at noon", "closes at two", "is cheap"):
        owner.execute(fact, ("Canteen", text, "lunch"))
    for word in sorted(words):
        owner.execute(fact, (word, f"the password is {word}", "vault"))
    owner.execute("select refresh_search_statistics(force => true)")
    owner.execute("analyze")


def _list_scores(value: object) -> Iterator[float]:
    """Yield the value of every key `score` in a JSON value, in order."""
    if isinstance(value, dict):
        for key, member in cast("dict[str, object]", value).items():
            if key == "score" and isinstance(member, int | float):
                yield member
            else:
                yield from _list_scores(member)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _list_scores(item)


def _read_score(answer: dict[str, Any]) -> float:
    """Return the first score in the structured content, or 0."""
    return next(_list_scores(answer["result"].get("structuredContent")), 0.0)


async def run_side_channels(owner: psycopg.Connection, settings: Settings) -> None:
    """Print the areas under the curve of each tool."""
    words = _make_words()
    planted = set(words[::2])
    _plant(owner, planted)
    token = issue(owner, "mallory", "lunch", "read", "write", "forget")
    async with open_site(settings) as site:
        rows = {name: await _probe(site, token, name, words) for name in PROBES}
    bound = chance(len(planted), len(words) - len(planted))
    interval = f"{0.5 - bound:.3f} to {0.5 + bound:.3f}"
    print("| tool | area by time | area by score | chance alone |\n|-|-:|-:|-:|")
    for name, (times, scores) in rows.items():
        by_time, by_score = (
            measure_area(
                [values[word] for word in words if word in planted],
                [values[word] for word in words if word not in planted],
            )
            for values in (times, scores)
        )
        print(f"| {name} | {by_time:.3f} | {by_score:.3f} | {interval} |")
    print()


async def _probe(
    site: Site, token: str, name: str, words: list[str]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the median seconds and the score of every word."""
    dice = random.Random(name)  # noqa: S311 - the same order in every run
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    scores: dict[str, float] = {}
    for _ in range(ROUNDS):
        for word in dice.sample(words, len(words)):
            tool, arguments = PROBES[name](word)
            began = time.perf_counter()
            answer = await site.call(token, tool, arguments)
            seconds[word].append(time.perf_counter() - began)
            scores[word] = _read_score(answer.json())
    return {word: median(times) for word, times in seconds.items()}, scores
