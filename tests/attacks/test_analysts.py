"""An analyst's login, as `textrawl analyst create` makes it, tries to get out of its space."""

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from tests.attacks.site import SECRETS, add_spaces, digest
from tests.attacks.statements import FOREIGN, READS, WRITES, try_out
from tests.conftest import Databases
from textrawl.embedded.postmaster import SUPERUSER

ROLE = "analyst_of_red"
# A cell is where an analyst of a distributed memory connects: tests/cluster/test_analysts.py.
pytestmark = pytest.mark.ordinary("an analyst of a cluster connects to a cell")


@dataclass(frozen=True)
class Analyst:
    """A login of the analyst's, and one of the owner's to look at what it did."""

    login: psycopg.Connection
    owner: psycopg.Connection


@pytest.fixture
def analyst(owner: psycopg.Connection, postgres: Databases, database: str) -> Iterator[Analyst]:
    add_spaces(owner)
    owner.execute("select register_embedding_model('test:model', 3)")
    owner.execute(
        "insert into embedding_1 select space_id, id, '[1, 1, 1]' from observation limit 100"
    )
    owner.execute(
        "insert into recall (space_id, at, mode, format, structured, tokens, budget, items,"
        " dropped, query, query_hash) select id, now(), 'search', 'lines', false, 1, 50, 0, 0,"
        " 'canary ' || name, name from space"
    )
    owner.execute("insert into recalled select space_id, id, 1, now() from observation")
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database), autocommit=True) as superuser:
        superuser.execute("analyze")
        superuser.execute("select textrawl.create_analyst(%s, 'ana', array['red'])", (ROLE,))
        try:
            with psycopg.connect(postgres.cluster.dsn(ROLE, database), autocommit=True) as login:
                yield Analyst(login, owner)
        finally:
            superuser.execute("update textrawl.actor set role_name = null")
            superuser.execute(f"drop owned by {ROLE}; drop role {ROLE}".encode())


def test_no_way_of_reading_shows_a_row_of_another_space(analyst: Analyst) -> None:
    shown = {statement: try_out(analyst.login, statement) for statement in READS}

    assert len(shown) >= 60
    found = {s for s, text in shown.items() for secret in FOREIGN if secret in text.replace(s, "")}
    # What the analyst wrote into a statement comes back in its error.
    assert found <= {"select * from similar_to('{green}')"}
    assert "no such fact" in shown["select * from similar_to('{green}')"]
    own = [s for s, text in shown.items() if "canary red" in text or SECRETS["red"] in text]
    assert len(own) >= 15


def test_no_statement_changes_anything(analyst: Analyst) -> None:
    for mode in ("as it comes", "read write"):
        if mode == "read write":
            analyst.login.execute("set default_transaction_read_only = off")
            analyst.login.execute("set statement_timeout = 0")
        before = digest(analyst.owner)
        logins = "select rolname, rolsuper, rolconnlimit from pg_roles order by 1"
        roles = analyst.owner.execute(logins).fetchall()
        for statement in WRITES:
            with pytest.raises(psycopg.Error):
                analyst.login.execute(statement.encode())

        assert len(WRITES) >= 30
        assert digest(analyst.owner) == before
        assert analyst.owner.execute(logins).fetchall() == roles


def test_a_login_that_was_taken_its_grant_sees_nothing_in_the_same_session(
    analyst: Analyst,
) -> None:
    query = b"select count(*) from memory_observations"
    assert analyst.login.execute(query).fetchone() == (5,)
    analyst.owner.execute("select revoke_access('ana', 'red')")
    for statement in READS:
        message = try_out(analyst.login, statement)
        assert not [word for word in ("canary red", SECRETS["red"]) if word in message], statement
    assert analyst.login.execute(query).fetchone() == (0,)
