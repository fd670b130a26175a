"""The periods that texts name: sentences of six languages in two halves.

The rules were written with the first half. The second half was used once, to measure them.
"""

import json
from pathlib import Path
from typing import Any

import psycopg

FOLDER = Path(__file__).parents[2] / "benchmarks" / "support" / "periods"
LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "pt": "portuguese",
             "it": "italian"}  # fmt: skip


def read_all(sql: psycopg.Connection, half: str) -> tuple[list[str], list[str]]:
    """The texts that are read wrong, and among them those without any period."""
    wrong: list[str] = []
    invented: list[str] = []
    rows = (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 100
    for row in map(json.loads, rows):
        expected: tuple[Any, ...] = (row["from"], row["until"])
        found = sql.execute(
            "select starts, ends from read_period(%s, %s, %s)",
            (row["text"], row["said"], LANGUAGES[row["lang"]]),
        ).fetchone()
        if found != expected:
            wrong.append(f"{row['text']}: {found} instead of {expected}")
            invented += [] if any(expected) else wrong[-1:]
    return wrong, invented


def test_at_least_95_of_100_sentences_are_read_right_and_no_period_is_invented(
    sql: psycopg.Connection,
) -> None:
    wrong, invented = read_all(sql, "first")
    assert not invented, invented
    assert len(wrong) <= 5, wrong


def test_sentences_that_the_rules_never_saw_are_read_as_well_as_they_were_once_measured(
    sql: psycopg.Connection,
) -> None:
    wrong, invented = read_all(sql, "second")
    assert len(wrong) <= 6, wrong
    assert len(invented) <= 1, invented
