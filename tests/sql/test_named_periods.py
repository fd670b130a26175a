"""The periods that texts name: sentences of six languages in two halves.

The rules were written with the first half. The second half was used once, to measure them.
"""

import json
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
from hypothesis import given
from hypothesis import strategies as st

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


# Words of times in several languages, dates that do not exist, marks of the grammar, and signs.
TIMES = """
    what did Mira do yesterday today the day before last next this week weekend month year monday
    freitag samedi in on at until since between and from to ago 3 14th 31 32 99 0 000 2020 May 1990s
    2026-05-03 2026-13-45 2026-02-30 0000-00-00 29.02.2023 31.04.2024 13/5/2024 march 31. Februar q5
    spring sommer ostern christmas 99999999999 years jahren ans años anni centuries 25:00 of june d0
    vor il y a hace fa atrás couple few past 年 月 日 5年 13月 99日 3日前 999999999年前 昨日 先週
    late /t2020-01_2020-01/ /n99/ x/y ( [ * + ? . , ; : | { } $ ^ ' " % \\ \\1 ¿ ¡ -
"""


@given(
    words=st.lists(st.sampled_from(TIMES.split()) | st.text(max_size=6), max_size=14),
    language=st.sampled_from([*LANGUAGES.values(), "dutch", "simple"]),
    asked=st.dates(date(2019, 1, 1), date(2032, 12, 31)),
)
def test_any_question_is_read_and_its_time_begins_before_it_ends(
    sql: psycopg.Connection, words: list[str], language: str, asked: date
) -> None:
    question = " ".join(words).replace("\0", "")
    row = sql.execute(
        "select starts, ends, rest from question_time(%s, %s, %s)", (question, asked, language)
    ).fetchone()

    assert row is not None
    starts, ends, rest = row
    assert (starts is None) == (ends is None)
    assert starts is None or starts < ends
    assert isinstance(rest, str)
