"""`textrawl explain`: why a search finds some facts and leaves out others."""

import json
import math
import re
from collections.abc import Callable

import pytest

from tests.cli.test_daily_commands import show_on_terminal
from tests.conftest import TOKEN
from tests.support.commands import Outcome, Run

Ask = Callable[..., Outcome]


@pytest.fixture
def ask(run: Run, database_url: str) -> Ask:
    """Runs a command on a memory with three facts, one of which has ended."""

    def go(*words: str) -> Outcome:
        return run(*words, DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)

    go("remember", "Ada", "lives in Oslo")
    go("remember", "Ada", "lives in Riga", "--replaces", "lives in Oslo")
    go("remember", "Bo", "drinks green tea")
    return go


def test_a_line_says_how_a_fact_was_found_and_another_why_it_was_left_out(ask: Ask) -> None:
    lines = [
        line.split("\t") for line in ask("explain", "who", "lives", "in", "Oslo").out.splitlines()
    ]

    facts = {line[-1]: line for line in lines}
    assert facts["lives in Riga"][0] == "returned"
    assert int(facts["lives in Riga"][1]) > 0
    assert "+live:" in facts["lives in Riga"][5]
    assert "-oslo:" in facts["lives in Riga"][5]
    assert "words" in facts["lives in Riga"][6]
    assert facts["lives in Oslo"][0] == "ended"
    assert "+oslo:" in facts["lives in Oslo"][5]


def test_the_evidence_that_is_shown_adds_up_to_the_odds_of_the_score(ask: Ask) -> None:
    question = ("explain", "does Ada live in Riga or drink green tea", "--least-score", "0")
    lines = [line.split("\t") for line in ask(*question).out.splitlines()]
    rows = {row["content"]: row for row in json.loads(ask(*question, "--json").out)}

    names = set[str]()
    for line in (line for line in lines if line[0] == "returned"):
        evidence = dict(part.split(":") for part in line[7].split())
        names |= evidence.keys()
        score, log_odds = rows[line[-1]]["score"], rows[line[-1]]["log_odds"]
        assert sum(map(float, evidence.values())) == pytest.approx(sum(log_odds), abs=0.05)
        assert 1 / (1 + math.exp(-sum(log_odds))) == pytest.approx(score, rel=1e-5)
        assert line[1] == f"{100 * score:.0f}"
    assert names >= {"base", "meaning", "words"}


def test_json_has_the_same_scores_as_a_search(ask: Ask) -> None:
    explained = json.loads(ask("explain", "green tea", "--json").out)
    found = json.loads(ask("search", "green tea", "--json").out)

    returned = [row for row in explained if row["outcome"] == "returned"]
    assert [(row["content"], row["score"]) for row in returned] == [
        (row["content"], row["score"]) for row in found
    ]


def test_a_bar_and_a_limit_say_that_they_left_a_fact_out(ask: Ask) -> None:
    bar = ask("explain", "green tea lives", "--least-score", "90").out
    limit = ask("explain", "green tea lives", "--limit", "1").out

    assert [line.split("\t")[0] for line in bar.splitlines()] == [
        "returned",
        "below the least score",
        "ended",
    ]
    assert "over the limit\t" in limit


def test_a_terminal_shows_the_reasons_below_each_fact(ask: Ask, database_url: str) -> None:
    assert ask("explain", "tea").code == 0

    shown = show_on_terminal(
        ["explain", "green", "tea"],
        120,
        TEXTRAWL_DATABASE_URL=database_url,
        TEXTRAWL_ACCESS_TOKEN=TOKEN,
    )

    assert "Returned" in shown
    assert "words: +green:50 +tea:50" in shown
    assert "found by: words and vector" in shown
    assert re.search(
        r"base .* words .*= [0-9.]+ log odds, score 0\.[0-9]+", " ".join(shown.split())
    )


def test_a_terminal_says_that_a_fact_began_only_later(ask: Ask, database_url: str) -> None:
    assert ask("explain", "tea").code == 0

    shown = show_on_terminal(
        ["explain", "tea", "--as-of", "2020-01-01"],
        120,
        TEXTRAWL_DATABASE_URL=database_url,
        TEXTRAWL_ACCESS_TOKEN=TOKEN,
    )

    assert "not valid yet at that time" in shown


def test_the_time_that_the_question_is_about_is_named_with_its_effect(ask: Ask) -> None:
    explained = ask("explain", "where", "did", "Ada", "live", "before", "Riga?")
    period = ask("explain", "where did Ada live in March 2023?")
    rows = json.loads(ask("explain", "where did Ada live at first?", "--json").out)

    assert "The question is about the time before something." in explained.err
    assert explained.out.split("\n")[0].endswith("lives in Oslo")
    assert "The question is about 2023-03-01 to 2023-03-31." in period.err
    first = {row["content"]: row for row in rows}
    assert first["lives in Oslo"]["timeless_score"] > 0
    assert first["lives in Oslo"]["valid_until"] is not None
    assert first["lives in Riga"]["timeless_score"] > 0
