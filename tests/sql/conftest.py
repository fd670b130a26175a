"""SQL as an analyst writes it in psql, on the newest and the oldest Postgres."""

from collections.abc import Iterator

import psycopg
import pytest

from textrawl.embedded.configuration import OWNER


@pytest.fixture(params=["postgres", "postgres_16"], ids=["18", "16"])
def sql(request: pytest.FixtureRequest) -> Iterator[psycopg.Connection]:
    """A connection to a fresh, migrated database, with textrawl in its search path."""
    databases = request.getfixturevalue(request.param)
    with (
        databases.create("migrated") as name,
        psycopg.connect(databases.cluster.dsn(OWNER, name), autocommit=True) as connection,
    ):
        connection.execute("set search_path = textrawl, public")
        yield connection
