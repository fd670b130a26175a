"""`textrawl space decay`: how the memories of a space fade."""

import json
import math
from typing import Any

import pytest

from tests.support.commands import Run


def ask(run: Run, url: str, *arguments: str) -> Any:
    outcome = run("space", "decay", "default", *arguments, "--json", DATABASE_URL=url)
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_a_space_begins_with_the_defaults(run: Run, url: str) -> None:
    assert ask(run, url) == {
        "space": "default",
        "own": [],
        "policy": {
            "model": "power_law",
            "half_life_days": 3,
            "alpha": 1.1,
            "lambda": 2.673e-6,
            "beta": 0.6,
            "lambda_fast": 1.603e-5,
            "lambda_slow": 1.147e-6,
            "weight_fast": 0.7,
            "forget_threshold": 0.05,
            "promote_threshold": 0.65,
            "promote_use_count": 5,
            "promote_days": 14,
            "review_share": 0.3,
            "review_from": 0.15,
            "review_until": 0.35,
            "auto_reinforce": True,
            "cross_domain_boost": 0.1,
        },
    }


def test_a_half_life_holds_for_both_models_that_have_one(run: Run, url: str) -> None:
    changed = ask(run, url, "--half-life", "7", "--model", "exponential")

    assert changed["own"] == ["half_life_days", "lambda", "model"]
    assert changed["policy"]["lambda"] == pytest.approx(math.log(2) / (7 * 86_400))


def test_values_that_were_set_stay_until_a_reset(run: Run, url: str) -> None:
    ask(run, url, "--half-life", "7")
    second = ask(run, url, "--set", "forget_threshold=0.01", "--set", "auto_reinforce=false")
    shown = run("space", "decay", "default", DATABASE_URL=url).out
    reset = ask(run, url, "--reset")

    assert second["policy"]["half_life_days"] == 7
    assert (second["policy"]["forget_threshold"], second["policy"]["auto_reinforce"]) == (0.01, 0)
    assert "this space" in shown
    assert reset["own"] == []


def test_a_wrong_value_is_refused_and_changes_nothing(run: Run, url: str) -> None:
    for wrong in (
        "half_life=3",
        "alpha=0",
        "model=linear",
        "forget_threshold=low",
        "review_share=2",
        "review_from=0.9",
        "space_id=2",
    ):
        outcome = run("space", "decay", "default", "--set", wrong, DATABASE_URL=url)

        assert outcome.code != 0
        assert "Wrong policy" in outcome.complaint
        assert ask(run, url)["own"] == []


def test_the_variables_of_cortexgraph_are_read_when_asked(run: Run, url: str) -> None:
    given = {
        "CORTEXGRAPH_DECAY_MODEL": "exponential", "CORTEXGRAPH_DECAY_LAMBDA": "8.02e-6",
        "CORTEXGRAPH_DECAY_BETA": "0.5", "CORTEXGRAPH_PROMOTE_USE_COUNT": "3",
        "CORTEXGRAPH_AUTO_REINFORCE": "false", "CORTEXGRAPH_STORAGE_PATH": "/nowhere",
    }  # fmt: skip
    arguments = ("space", "decay", "default", "--json")

    unasked = json.loads(run(*arguments, DATABASE_URL=url, **given).out)
    asked = run(*arguments, "--cortexgraph", "--set", "beta=0.7", DATABASE_URL=url, **given)

    assert unasked["own"] == []
    changed = json.loads(asked.out)
    assert changed["own"] == ["auto_reinforce", "beta", "lambda", "model", "promote_use_count"]
    assert [changed["policy"][key] for key in changed["own"]] == [
        False, 0.7, 8.02e-6, "exponential", 3,
    ]  # fmt: skip
