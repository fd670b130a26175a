"""All that writes, at once: nobody waits in a circle, and nothing that was forgotten comes back."""

from typing import Any

import psycopg

from tests.sql.storm import MODELS, rage

Sql = psycopg.Connection[Any]

_DEADLOCKS = "select deadlocks from pg_stat_database where datname = current_database()"
_LEFT = """
    select word from lexeme
    where word ~ '^w[0-9]+x' and word not in (
        select unnest(tsvector_to_array(fts)) from observation)
"""


def test_in_a_storm_of_writers_forgets_and_background_work_nobody_waits_in_a_circle(
    owner: Sql,
) -> None:
    for model in MODELS:
        owner.execute("select start_embedding_model(%s, 3)", (model,))
    [before] = owner.execute(_DEADLOCKS).fetchall()

    ends = rage(owner.info.dsn)

    assert ends["ok"] > 200
    assert set(ends) <= {"ok", "refused"}
    assert owner.execute(_DEADLOCKS).fetchall() == [before]
    assert owner.execute(_LEFT).fetchall() == []
