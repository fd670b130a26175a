"""The formulas of the decay toolset, against a calculation of their own."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import psycopg
import pytest

Sql = psycopg.Connection[Any]

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = 86_400
MODELS = ("power_law", "exponential", "two_component")
POLICY: LiteralString = (
    "jsonb_populate_record(default_policy(), jsonb_build_object('model', %(model)s::text))"
)


def one(sql: Sql, statement: LiteralString, **given: Any) -> Any:
    row = sql.execute(statement, given).fetchone()
    assert row is not None
    return row[0]


def factor(model: str, seconds: float) -> float:
    """The share of its score that a memory keeps, as the original describes it."""
    if model == "exponential":
        return math.exp(-2.673e-6 * seconds)
    if model == "two_component":
        return 0.7 * math.exp(-1.603e-5 * seconds) + 0.3 * math.exp(-1.147e-6 * seconds)
    scale = 3 * DAY / (2 ** (1 / 1.1) - 1)
    return (1 + seconds / scale) ** -1.1


def score(sql: Sql, model: str, uses: int, seconds: float, strength: float) -> float:
    return one(
        sql,
        "select decay_score(%(uses)s, %(used)s, %(strength)s, " + POLICY + ", %(now)s)",
        uses=uses,
        used=NOW - timedelta(seconds=seconds),
        strength=strength,
        model=model,
        now=NOW,
    )


def test_a_score_is_that_of_an_independent_calculation(sql: Sql) -> None:
    for days in (0, 1, 3, 7, 21, 60):
        for model in MODELS:
            for uses in (0, 1, 5, 40):
                for strength in (1.0, 1.3, 2.0):
                    expected = (uses + 1) ** 0.6 * factor(model, days * DAY) * strength
                    assert score(sql, model, uses, days * DAY, strength) == pytest.approx(
                        expected, rel=1e-9, abs=1e-9
                    )


def test_each_model_has_its_own_curve(sql: Sql) -> None:
    for model, expected in (
        ("power_law", [1, 0.754, 0.500, 0.293, 0.115, 0.040]),
        ("exponential", [1, 0.794, 0.500, 0.199, 0.0078, 0.000001]),
        ("two_component", [1, 0.447, 0.234, 0.150, 0.037, 0.0008]),
    ):
        found = [score(sql, model, 0, days * DAY, 1) for days in (0, 1, 3, 7, 21, 60)]
        assert found == pytest.approx(expected, abs=6e-4)


def test_a_clock_that_goes_back_does_not_raise_a_score(sql: Sql) -> None:
    assert score(sql, "power_law", 0, -3600, 1) == 1


def test_a_score_reaches_a_level_when_it_is_told_and_not_before(sql: Sql) -> None:
    for level in (0.9, 0.65, 0.25, 0.05, 0.001):
        for model in MODELS:
            for uses, strength in ((0, 1.0), (7, 1.6)):
                reached = one(
                    sql,
                    "select decay_reaches(%(level)s, %(uses)s, %(used)s, %(strength)s, "
                    + POLICY
                    + ")",
                    level=level,
                    uses=uses,
                    used=NOW,
                    strength=strength,
                    model=model,
                )
                seconds = (reached - NOW).total_seconds()
                assert score(sql, model, uses, seconds, strength) == pytest.approx(level, rel=1e-6)
                assert score(sql, model, uses, seconds - 1, strength) > level


def test_a_score_never_falls_to_nothing(sql: Sql) -> None:
    assert one(sql, "select decay_reaches(0, 0, now())") is None


def test_a_score_below_a_level_was_there_from_the_beginning(sql: Sql) -> None:
    assert one(sql, "select decay_reaches(2, 0, %(used)s)", used=NOW) == NOW


def test_the_priority_of_a_review_is_highest_in_the_middle_of_its_range(sql: Sql) -> None:
    for given, expected in (
        (0.1499999, 0),
        (0.15, 0),
        (0.2, 0.75),
        (0.25, 1),
        (0.3, 0.75),
        (0.35, 0),
        (0.3500001, 0),
        (1.0, 0),
        (0.0, 0),
    ):
        assert one(sql, "select review_priority(%(score)s)", score=given) == pytest.approx(
            expected, abs=1e-9
        )


def test_tags_that_share_less_than_three_tenths_are_another_domain(sql: Sql) -> None:
    for tags, context, expected in (
        (["security", "jwt", "preferences"], ["api", "authentication", "backend"], True),
        (["api", "jwt"], ["api", "backend"], False),  # 1 of 3
        (["a", "b", "c"], ["a", "d"], True),  # 1 of 4
        ([], ["api"], False),
        (["api"], [], False),
    ):
        found = one(
            sql, "select is_cross_domain(%(tags)s, %(context)s)", tags=tags, context=context
        )
        assert found is expected


def save(sql: Sql, text: str, **given: Any) -> str:
    return one(
        sql,
        "select memory_id::text from save_memory(to_jsonb(%(text)s::text),"
        " strength => %(strength)s, tags => %(tags)s, moment => %(moment)s)",
        text=text,
        **({"strength": 1, "tags": [], "moment": NOW} | given),
    )


def fading(sql: Sql, moment: datetime) -> list[str]:
    rows = sql.execute("select memory_id::text from fading_memories(moment => %s)", (moment,))
    return [memory for (memory,) in rows.fetchall()]


@pytest.mark.parametrize("model", MODELS)
def test_an_unused_memory_is_forgotten_when_the_formula_says_and_not_a_second_before(
    sql: Sql, model: str
) -> None:
    sql.execute("insert into decay_policy (space_id, model) values (1, %s)", (model,))
    memory = save(sql, "nobody needs this")
    due: datetime = one(
        sql, "select decay_reaches(0.05, 0, %(used)s, 1, space_policy(1))", used=NOW
    )

    assert fading(sql, due - timedelta(seconds=1)) == []
    assert fading(sql, due + timedelta(seconds=1)) == [memory]
    early, late = (
        sql.execute(
            "select memory_id::text from forget_faded(array[%s]::uuid[], moment => %s)",
            (memory, due + timedelta(seconds=seconds)),
        ).fetchall()
        for seconds in (-1, 1)
    )
    assert (early, late) == ([], [(memory,)])
    assert one(sql, "select status from retention") == "removed"


def test_a_memory_used_in_another_domain_gains_strength_up_to_two(sql: Sql) -> None:
    memory = save(sql, "prefers JWT", tags=["security", "jwt"], strength=1.95)
    for expected in (2, 2):
        found = sql.execute(
            "select cross_domain, strength, new_score > old_score from reinforce_memories("
            "array[%s]::uuid[], '{api,backend}', review => true, moment => %s)",
            (memory, NOW + timedelta(days=2)),
        ).fetchall()
        assert found == [(True, expected, True)]


def test_a_promoted_memory_survives_gc(sql: Sql) -> None:
    memory = save(sql, "proved itself")
    assert one(sql, "select marked from mark_promoted(%(id)s, 'textrawl/x.md')", id=memory)

    assert fading(sql, NOW + timedelta(days=3650)) == []
    assert not one(sql, "select marked from mark_promoted(%(id)s, 'textrawl/y.md')", id=memory)


def test_gc_leaves_facts_of_other_tools_although_somebody_touched_them(sql: Sql) -> None:
    fact = one(sql, "select observation_id::text from remember_fact('Ada', 'person', 'drinks tea')")
    touched = sql.execute(
        "select found, use_count from reinforce_memories(array[%s]::uuid[])", (fact,)
    ).fetchall()

    assert touched == [(True, 1)]
    assert fading(sql, NOW + timedelta(days=3650)) == []


def test_a_memory_can_be_promoted_by_its_score_or_its_uses(sql: Sql) -> None:
    memory = save(sql, "text")
    for uses, days, by_score, by_uses in (
        (0, 0, True, False),
        (0, 1.8, False, False),
        (4, 13.9, False, False),
        (5, 13.9, True, True),
        (5, 14.1, False, False),
    ):
        sql.execute("update retention set use_count = %s", (uses,))
        found = sql.execute(
            "select score >= 0.65, by_score, by_uses from promotion_candidates(%s, moment => %s)",
            (memory, NOW + timedelta(days=days)),
        ).fetchall()

        [(high, *flags)] = found
        assert flags[0] == high
        assert flags[1] == by_uses
        assert uses or flags[0] == by_score


def test_a_space_fades_by_its_own_policy(sql: Sql) -> None:
    save(sql, "text")
    sql.execute("insert into decay_policy (space_id, half_life_days) values (1, 7)")

    rows = sql.execute(
        "select round(score::numeric, 6) from list_memories(moment => %s)",
        (NOW + timedelta(days=7),),
    ).fetchall()

    assert rows == [(0.5,)]


def test_a_purge_deletes_removed_memories_for_good_and_keeps_archived_ones(sql: Sql) -> None:
    long = "A sentence of a long story. " * 100
    removed, archived = save(sql, "removed"), save(sql, "archived")
    parts = sql.execute(
        "select memory_id::text from save_memory(to_jsonb(array[%s, %s]), moment => %s)",
        (long[:1400], long[1400:], NOW),
    ).fetchall()
    late = datetime.now(UTC) + timedelta(days=365)
    for memories, archive in (([removed, parts[0][0]], False), ([archived], True)):
        sql.execute(
            "select * from forget_faded(%s::uuid[], %s, moment => %s)", (memories, archive, late)
        )

    sql.execute("select * from purge_undone('1 hour')")
    before = one(sql, "select count(*) from observation")
    sql.execute("select * from purge_undone()")

    assert before == 4
    assert sql.execute("select content from observation").fetchall() == [("archived",)]
