"""A week of two clients, from their transcripts to an answer."""

import pytest

from tests.hooks.week import DAYS, Week

pytestmark = pytest.mark.slow


def test_a_week_is_captured_proposed_reviewed_and_found_again(week: Week) -> None:
    figures = week.play()

    days = len(DAYS)
    assert figures._replace(requests=0, tokens_in=0, tokens_out=0) == (
        2 * days, 0, 0, days, days - 1, 1, 0, days - 1, 0, 0
    )  # fmt: skip
    assert figures.requests == days
    assert 0 < figures.tokens_out < figures.tokens_in < 1_000
    listed = week.fetch("select content, evidence from proposal order by content")
    assert [fact for fact, _ in listed] == sorted(day.fact for day in DAYS)
    assert all(fact in said for fact, said in listed)
