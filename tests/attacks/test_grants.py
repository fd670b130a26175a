"""Each function that analysts are granted works for them."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.attacks.site import add_spaces
from tests.conftest import Databases
from textrawl.embedded.postmaster import SUPERUSER

ROLE = "analyst_of_functions"
pytestmark = pytest.mark.ordinary("an analyst of a cluster connects to a cell")


@pytest.fixture
def analyst(
    owner: psycopg.Connection, postgres: Databases, database: str
) -> Iterator[psycopg.Connection]:
    add_spaces(owner)
    with psycopg.connect(postgres.cluster.dsn(SUPERUSER, database), autocommit=True) as superuser:
        superuser.execute("select textrawl.create_analyst(%s, 'ana', array['red'])", (ROLE,))
        try:
            with psycopg.connect(postgres.cluster.dsn(ROLE, database), autocommit=True) as login:
                login.execute("set search_path = textrawl, public")
                yield login
        finally:
            superuser.execute("update textrawl.actor set role_name = null")
            superuser.execute(f"drop owned by {ROLE}; drop role {ROLE}".encode())


FUNCTIONS = """
    select p.oid::regproc::text, p.pronargdefaults,
        array(select format_type(t, null) from unnest(p.proargtypes) with ordinality a (t, place)
              order by place)
    from pg_proc p
    where p.pronamespace = 'textrawl'::regnamespace
      and has_function_privilege(current_user, p.oid, 'execute') order by 1"""
"""All functions that a login can call, with the number of their defaults, and their parameters."""
SAMPLES = {
    "text": "'Ada'",
    "text[]": "array['Ada', 'Canary red']",
    "integer": "2",
    "integer[]": "array[2]",
    "uuid": "(select min(id::text)::uuid from observation)",
    "uuid[]": "array(select id from observation)",
    "timestamp with time zone": "now()",
    "date": "current_date",
    "boolean": "true",
    "jsonb": "'{}'",
    "double precision": "0.5",
    "real": "0.5",
    "bigint": "1",
    "record": "read_claim('lives in Oslo')",
    "decay_policy": "default_policy()",
    "interval": "interval '1 day'",
    "tstzrange": "tstzrange(null, null)",
}
"""An argument of each type; null for other types."""
OF_ARGUMENTS = ("22023",)  # "search by meaning needs a vector", and what else a sample lacks

OF_STATEMENTS = ("22004", "42601")  # null and 'Ada' are no statements


def write_calls(name: str, defaults: int, types: list[str]) -> list[str]:
    """Return calls with all arguments and with only the needed ones, of samples and of nulls."""
    calls = list[str]()
    for number in {len(types), len(types) - defaults}:
        for samples in (SAMPLES, {}):
            given = (f"{samples.get(type_, 'null')}::{type_}" for type_ in types[:number])
            calls.append(f"select * from {name}({', '.join(given)})")  # noqa: S608 - ours
    return calls


def test_each_granted_function_answers_or_refuses_its_arguments(
    analyst: psycopg.Connection,
) -> None:
    found = analyst.execute(FUNCTIONS).fetchall()
    broken = list[str]()
    for function in found:
        for call in write_calls(*function):
            try:
                analyst.execute(call.encode())
            except psycopg.Error as error:
                state = error.sqlstate or ""
                of_statement = "read_rows(" in call and state in OF_STATEMENTS
                if not (state.startswith("TR") or state in OF_ARGUMENTS or of_statement):
                    broken.append(f"{call}: {error}")

    assert broken == []
    assert len(found) > 150


def test_what_an_analyst_reads_with_is_not_what_a_server_writes_with(
    analyst: psycopg.Connection,
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        analyst.execute("select renew_item(array['vault', 'red'], 'secret')")
