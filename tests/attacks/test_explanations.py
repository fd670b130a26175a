"""An explanation of a search tells nothing of a space that its reader was never granted."""

from typing import Any

import psycopg
import pytest

from tests.attacks.site import issue
from textrawl.access.access_token import hash_token

FOREIGN = ("pizza is served in the vault", "pizza pizza", "canary vault opens at noon", "closed")
QUERIES = ("pizza", "vault", "canary", "opens at noon", "closed", "Canteen", "is served cheap")


@pytest.fixture
def reader(owner: psycopg.Connection) -> bytes:
    """A token of `lunch`, beside the space `vault`."""
    owner.execute("select create_space('lunch'), create_space('vault')")
    for fact in ("pizza is served", "salad too", "opens at noon", "closes at two", "is cheap"):
        remember(owner, "lunch", fact)
    return hash_token(issue(owner, "mallory", "lunch", "read"))


def remember(owner: psycopg.Connection, space: str, fact: str) -> None:
    owner.execute(
        "select remember_fact('Canteen', 'location', %s, space => (select id from space where"
        " name = %s))",
        (fact, space),
    )


def explain(owner: psycopg.Connection, reader: bytes, query: str, spaces: Any) -> list[str]:
    rows = owner.execute(
        "select to_jsonb(e)::text from explain_search(%s, %s, max_rows => 50, more => 50,"
        " credential => %s) e",
        (query, spaces, reader),
    ).fetchall()
    return [row for (row,) in rows]


def test_an_explanation_is_the_same_whatever_another_space_holds(
    owner: psycopg.Connection, reader: bytes
) -> None:
    before = [explain(owner, reader, query, None) for query in QUERIES]
    for fact in FOREIGN:
        remember(owner, "vault", fact)
    owner.execute("select refresh_search_statistics(true)")

    assert [explain(owner, reader, query, None) for query in QUERIES] == before
    assert any(before)
    assert "vault" not in "".join(row for rows in before for row in rows)


def test_another_space_is_refused_like_one_that_does_not_exist(
    owner: psycopg.Connection, reader: bytes
) -> None:
    remember(owner, "vault", FOREIGN[0])
    [[vault]] = owner.execute("select id from space where name = 'vault'").fetchall()
    refusals = set[str]()

    for spaces in ([vault], [vault + 1000]):
        with pytest.raises(psycopg.DatabaseError) as refused:
            explain(owner, reader, "pizza", spaces)
        refusals.add(f"{refused.value.sqlstate} {refused.value}")

    assert len(refusals) == 1
