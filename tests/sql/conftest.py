"""SQL as an analyst writes it in psql, on the newest and the oldest Postgres."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.sql.sessions import Three, open_sessions
from tests.sql.story import Ids, age, tell
from tests.support.sql_team import Team


# The oldest Postgres doubles the time of these tests, so its half is slow.
@pytest.fixture(
    params=["postgres", pytest.param("postgres_16", marks=pytest.mark.slow)], ids=["18", "16"]
)
def sql(request: pytest.FixtureRequest) -> Iterator[psycopg.Connection]:
    """A connection to a fresh, migrated database, with textrawl in its search path."""
    databases = request.getfixturevalue(request.param)
    with databases.create("migrated") as name, databases.open(name) as connection:
        if request.node.get_closest_marker("follows"):
            databases.rest()
        yield connection


@pytest.fixture
def team(sql: psycopg.Connection) -> Team:
    """Writers of one space."""
    return Team(sql)


@pytest.fixture
def story(sql: psycopg.Connection) -> Ids:
    """Ada moved from Oslo to Riga and drinks tea; Bo knows her, Cy works with Bo."""
    oslo = tell(sql, "Ada", "lives in Oslo since 2019")
    age(sql, oslo, 300)
    riga = tell(sql, "Ada", "lives in Riga since 2024", replaces=oslo)
    sql.execute("update observation set valid_from = created_at where id = %s", (riga,))
    tea = tell(sql, "Ada", "drinks tea", confidence=0.4)
    for one, verb, other in (("Bo", "knows", "Ada"), ("Bo", "works_with", "Cy")):
        sql.execute("select relate_entities(%s, %s, %s, 'person', 'person')", (one, verb, other))
    return {"oslo": oslo, "riga": riga, "tea": tea}


@pytest.fixture
def vectors(sql: psycopg.Connection, story: Ids) -> Ids:
    """The facts of the story with vectors, Oslo and Riga close to each other."""
    sql.execute("select register_embedding_model('test:model', 3)")
    vectors = {"oslo": "[1, 0, 0]", "riga": "[0.99, 0.1, 0]", "tea": "[0, 0, 1]"}
    for name, vector in vectors.items():
        sql.execute(
            "insert into embedding_1 select space_id, id, %s from observation where id = %s",
            (vector, story[name]),
        )
    return story


@pytest.fixture
def three(sql: psycopg.Connection) -> Iterator[Three]:
    """A session that stops others half way, the gate, and two that meet."""
    with open_sessions(sql, 3) as (gate, one, other):
        yield gate, one, other
