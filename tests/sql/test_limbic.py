"""The formulas of the graph tools, against a calculation of their own."""

import math
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from tests.support.examples import EXAMPLES

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass(frozen=True)
class SimilarName:
    distance: float | None
    rank: float
    uses: tuple[int, ...]
    last_hours: float
    age_hours: float
    degree: int


CANDIDATES = st.lists(
    st.builds(
        SimilarName,
        distance=st.none() | st.floats(0, 2),
        rank=st.floats(0.001, 0.05),
        uses=st.lists(st.integers(1, 50), max_size=4).map(tuple),
        last_hours=st.floats(0, 20_000),
        age_hours=st.floats(0, 30_000),
        degree=st.integers(0, 20),
    ),
    min_size=1,
    max_size=5,
)
JOINT = st.lists(
    st.none() | st.tuples(st.integers(1, 40), st.floats(0, 20_000)), min_size=10, max_size=10
)


def decay(hours: float) -> float:
    return max(0.1, math.exp(-0.0001 * hours))


def expect(
    candidates: Sequence[SimilarName], joint: dict[tuple[int, int], tuple[int, float]]
) -> list[tuple[float, float, float, float]]:
    """Importance, temporal factor, co-occurrence and score of each, as the seed defines them."""
    times = [sum(one.uses) for one in candidates]
    days = [len(one.uses) for one in candidates]
    ranks = [one.rank for one in candidates]
    found: list[tuple[float, float, float, float]] = []
    for place, one in enumerate(candidates):
        importance = 0.0
        if max(times) > 0:
            importance = math.log2(1 + times[place]) / math.log2(1 + max(times))
            importance *= 1 + 0.15 * min(one.degree, 15) / 15
            if max(days) > 1:
                importance *= 1 + 0.2 * math.log2(1 + days[place]) / math.log2(1 + max(days))
        temporal = decay(one.last_hours if one.uses else one.age_hours)
        cooc = sum(
            math.log2(1 + count) * decay(hours)
            for pair, (count, hours) in joint.items()
            if place in pair
        )
        if one.distance is not None:
            relevance = max(0.0, 1 - one.distance)
        elif max(ranks) > min(ranks):
            relevance = 0.2 + 0.6 * (one.rank - min(ranks)) / (max(ranks) - min(ranks))
        else:
            relevance = 0.8
        score = relevance * (1 + 0.5 * importance) * temporal * (1 + 0.01 * cooc)
        found.append((importance, temporal, cooc, score))
    return found


def store_uses(sql: psycopg.Connection, entity: str, one: SimilarName) -> None:
    for day, count in enumerate(one.uses):
        sql.execute(
            "insert into entity_use values (1, %s, %s, %s, %s)",
            (entity, NOW.date() - timedelta(days=day), count,
             NOW - timedelta(hours=one.last_hours + day)),
        )  # fmt: skip


def store_edge(sql: psycopg.Connection, entity: str, name: str, number: int) -> None:
    sql.execute(
        """with other as (insert into entity (space_id, name, name_key, entity_type, fts)
               values (1, %(n)s, %(n)s, 'concept', '') returning id)
           insert into relation (space_id, from_entity, relation_type, to_entity,
                                 author_id, tool, valid_until)
           select 1, case when %(out)s then %(id)s::uuid else id end, 'knows',
               case when %(out)s then id else %(id)s::uuid end,
               register_actor('ada'), 'sql', case when %(ended)s then now() end
           from other""",
        {
            "n": name,
            "out": number % 2 == 0,
            "id": entity,
            "ended": number % 3 == 0,
        },
    )


def store(
    sql: psycopg.Connection,
    candidates: Sequence[SimilarName],
    joint: dict[tuple[int, int], tuple[int, float]],
) -> list[str]:
    """Makes entities that were used so; their ids in order."""
    ids: list[str] = []
    for place, one in enumerate(candidates):
        row = sql.execute(
            """insert into entity (space_id, name, name_key, entity_type, fts, created_at)
               values (1, %s, %s, 'concept', '', %s) returning id""",
            (f"n{place}", f"n{place}", NOW - timedelta(hours=one.age_hours)),
        ).fetchone()
        assert row
        ids.append(str(row[0]))
        store_uses(sql, ids[-1], one)
        for edge in range(one.degree):
            store_edge(sql, ids[-1], f"o{place}.{edge}", edge)
    for (one, other), (count, hours) in joint.items():
        sql.execute(
            """insert into joint_use
               values (1, least(%(a)s::uuid, %(b)s),
                       greatest(%(a)s::uuid, %(b)s), %(n)s, %(at)s)""",
            {"a": ids[one], "b": ids[other], "n": count, "at": NOW - timedelta(hours=hours)},
        )
    return ids


@given(candidates=CANDIDATES, drawn=JOINT)
def test_limbic_scores_are_those_of_the_formulas(
    sql: psycopg.Connection,
    candidates: list[SimilarName],
    drawn: list[tuple[int, float] | None],
) -> None:
    pairs = combinations(range(len(candidates)), 2)
    joint = {pair: entry for pair, entry in zip(pairs, drawn, strict=False) if entry is not None}
    with sql.transaction(force_rollback=True):
        ids = store(sql, candidates, joint)
        rows = sql.execute(
            """select importance, temporal, cooc, score
               from limbic_scores(1, %s::uuid[], %s::float8[], %s::float8[], %s) s
               order by array_position(%s::uuid[], s.entity_id)""",
            (ids, [one.distance for one in candidates], [one.rank for one in candidates], NOW, ids),
        ).fetchall()

    assert len(rows) == len(candidates)
    for row, wanted in zip(rows, expect(candidates, joint), strict=True):
        assert row == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_the_seeds_own_example_has_the_score_of_the_formula(sql: psycopg.Connection) -> None:
    [half] = (
        sql.execute("select limbic_decay(now() - interval '288.811 days', now())").fetchone() or []
    )
    assert half == pytest.approx(0.5, abs=1e-4)
    [least] = sql.execute("select limbic_decay('1900-01-01', now())").fetchone() or []
    assert least == 0.1


WORDS = st.lists(
    st.sampled_from(["Astro", "vercel", "deploys,", "(static)", "teal", "on", "Stack:", "?!", "!"]),
    max_size=8,
).map(" ".join)


def contain(one: str, other: str) -> float:
    short, long = sorted((one, other), key=len) if len(one) != len(other) else (one, other)
    bare = [{word.strip(string.punctuation).casefold() for word in text.split()} - {""}
            for text in (short, long)]  # fmt: skip
    return len(bare[0] & bare[1]) / len(bare[0]) if bare[0] else 1.0


@settings(max_examples=3 * EXAMPLES)
@given(one=WORDS, other=WORDS)
def test_containment_is_the_share_of_the_shorter_texts_words(
    sql: psycopg.Connection, one: str, other: str
) -> None:
    row = sql.execute("select text_containment(%s, %s)", (one, other)).fetchone()
    assert row == (pytest.approx(contain(one, other), abs=1e-6),)


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))


def expect_pairs(
    vectors: Sequence[Sequence[float]], texts: Sequence[str]
) -> dict[tuple[str, str], tuple[float, str]]:
    wanted: dict[tuple[str, str], tuple[float, str]] = {}
    for one, other in combinations(range(5), 2):
        likeness = cosine(vectors[one], vectors[other])
        sizes = sorted((len(texts[one]), len(texts[other])))
        if likeness >= 0.85:
            wanted[texts[one], texts[other]] = (likeness, "cosine")
        elif sizes[1] >= 2 * sizes[0] and contain(texts[one], texts[other]) >= 0.7:
            wanted[texts[one], texts[other]] = (contain(texts[one], texts[other]), "containment")
    return wanted


VECTORS = st.lists(
    st.tuples(*[st.sampled_from([-1.0, -0.5, 0.25, 0.5, 1.0, 2.0])] * 3), min_size=5, max_size=5
)


@given(
    vectors=VECTORS, texts=st.lists(WORDS.filter(str.strip), min_size=5, max_size=5, unique=True)
)
def test_duplicates_are_pairs_with_a_high_cosine_or_the_one_within_the_other(
    sql: psycopg.Connection, vectors: list[tuple[float, ...]], texts: list[str]
) -> None:
    texts = [f"{text}{mark}" for text, mark in zip(texts, "abcde", strict=True)]
    with sql.transaction(force_rollback=True):
        sql.execute("select register_embedding_model('test:model', 3)")
        [model] = sql.execute("select max(id) from embedding_model").fetchone() or [0]
        sql.execute(
            "select create_nodes(%s, %s, %s::halfvec[])",
            (
                Jsonb([{"name": "One", "observations": texts}]),
                model,
                [str(list(one)) for one in vectors],
            ),
        )
        found = sql.execute(
            "select one, other, similarity, match_type from similar_observations('one', %s)",
            (model,),
        ).fetchall()

    wanted = expect_pairs(vectors, texts)
    assert {row[:2]: row[3] for row in found} == {pair: kind for pair, (_, kind) in wanted.items()}
    for one, other, similarity, _ in found:
        assert similarity == pytest.approx(wanted[one, other][0], abs=1e-6)


def test_how_many_facts_are_too_many_depends_on_the_type(sql: psycopg.Connection) -> None:
    for kind, threshold in (
        ("Sesion", 15), ("Sesión", 15), ("session", 15), ("Proyecto", 25), ("PROJECT", 25),
        ("Generic", 20), ("person", 20), ("", 20),
    ):  # fmt: skip
        assert sql.execute("select split_threshold(%s)", (kind,)).fetchone() == (threshold,)


def test_entities_are_stale_that_nobody_looked_at_for_long(sql: psycopg.Connection) -> None:
    sql.execute("""select create_nodes('[{"name": "Never", "observations": ["a"]},
        {"name": "Old", "observations": ["a"]}, {"name": "Often", "observations": ["a"]},
        {"name": "New", "observations": ["a"]}, {"name": "Empty"}]')""")
    for name, days, uses in (("Old", 91, 2), ("Often", 400, 3), ("New", 89, 1), ("Empty", 500, 1)):
        sql.execute(
            """insert into entity_use select 1, id, current_date, %s, %s
               from entity where name = %s""",
            (uses, NOW - timedelta(days=days), name),
        )
    rows = sql.execute("select name, days, uses, facts from stale_nodes(90, %s)", (NOW,)).fetchall()
    assert rows == [("Never", None, 0, 1), ("Old", 91.0, 2, 1)]


def test_a_free_type_counts_as_the_nearest_of_the_seven(sql: psycopg.Connection) -> None:
    for given_type, nearest in (
        ("Person", "person"),
        ("TeamMember", "person"),
        ("Proyecto", "project"),
        ("repos", "project"),
        ("Sesión", "fact"),
        ("Company", "organization"),
        ("ciudad", "location"),
        ("Generic", "concept"),
        ("", "concept"),
        ("software_component", "project"),
        ("Reunión semanal", "fact"),
    ):
        assert sql.execute("select nearest_type(%s)", (given_type,)).fetchone() == (nearest,)


def test_a_number_finds_the_id_that_it_was_made_from(sql: psycopg.Connection) -> None:
    rows = sql.execute("""
        select node_number(id), id between first and last, id
        from (select gen_random_uuid() as id from generate_series(1, 100)) made,
             lateral number_range(node_number(id))""").fetchall()
    for number, within, made in rows:
        assert within
        assert number == int(re.sub("-", "", str(made))[:12], 16)
        assert number < 2**53
    assert sql.execute("select first from number_range(-1)").fetchone() == (None,)


def test_pairs_are_sought_among_so_many_and_the_entities_last_written_to_come_first(
    sql: psycopg.Connection,
) -> None:
    for number in (3, 2, 1):
        sql.execute(
            """
            select remember_fact(%s, 'concept',
                'word' || k || case when k %% 2 = 0 then ' and a longer tail' else '' end)
            from generate_series(1, 14) k""",
            (f"Big {number}",),
        )
    found = "select distinct entity_name from similar_observations"
    query = f"{found}(containment => 0, max_rows => 9999, most_pairs => %s)"
    assert sql.execute(query, (1,)).fetchall() == []
    assert sql.execute(query, (91,)).fetchall() == [("Big 1",)]
    assert len(sql.execute(query, (10_000,)).fetchall()) == 3
    compared = "select count(*) from similar_observations(containment => 0, most_compared => %s)"
    assert sql.execute(compared, (7,)).fetchone() == (7,)


def test_it_is_told_how_many_of_the_facts_are_compared(sql: psycopg.Connection) -> None:
    for number in (1, 2):
        sql.execute(
            "select remember_fact(%s, 'concept', 'word ' || k) from generate_series(1, 40) k",
            (f"Big {number}",),
        )
    sql.execute("select remember_fact('Lonely', 'concept', 'has nobody to be compared with')")
    query = "select compared, facts from compared_observations(%s)"
    for most_pairs, compared in ((779, 0), (780, 40), (1560, 80)):
        assert sql.execute(query, (most_pairs,)).fetchone() == (compared, 80)


def test_texts_come_with_as_many_entities_as_have_so_many_together(
    sql: psycopg.Connection,
) -> None:
    for number in (30, 26, 22, 2):
        sql.execute(
            "select remember_fact(%s, 'concept', 'word ' || k) from generate_series(1, %s) k",
            (f"Has {number}", number),
        )
    query = "select facts, cardinality(observations) from node_sizes(larger => true, {})"
    whole = sql.execute(query.format("most_texts => 60")).fetchall()
    assert whole == [(30, 30), (26, 26), (22, 0)]
    assert sql.execute(query.format("max_rows => 1")).fetchall() == [(30, 30)]
    named = "select facts, observations from node_sizes('has 30', most_texts => %s)"
    assert sql.execute(named, (2,)).fetchall() == [(30, ["word 29", "word 30"])]
    assert sql.execute(named, (0,)).fetchall() == [(30, [])]
