"""An analyst's login on every node of a cluster reads its own space, in the cell of the space."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.attacks.site import SECRETS, add_spaces, digest
from tests.attacks.statements import FOREIGN, READS, WRITES, try_out
from tests.support.cluster import ClusterMemory, ClusterNode
from tests.support.whole_memory import open_whole
from textrawl.embedded.postmaster import SUPERUSER

ROLE = "analyst_of_red"
_SHARDS = """
    select format('%I.%I', relnamespace::regnamespace, relname) from pg_class
    where relnamespace = 'textrawl_content'::regnamespace and relkind in ('r', 'p')"""

Session = psycopg.Connection[Any]


@dataclass(frozen=True)
class Analyst:
    """The memory with the spaces of all teams, and the owner's session on it."""

    memory: ClusterMemory
    owner: Session

    def visit(self) -> Iterator[tuple[str, Session]]:
        """A session of the analyst in every cell and on the coordinator, each with its schema."""
        cluster = self.memory.cluster
        places: list[tuple[str, ClusterNode]] = [("textrawl", cluster.coordinator)]
        cells = self.memory.cells.values()
        places += [(cell.schema, cluster.find_node(cell.node)) for cell in cells]
        for schema, node in places:
            with self.memory.open(ROLE, node) as session:
                path = sql.SQL("set search_path = {}, public").format(sql.Identifier(schema))
                session.execute(path)
                yield schema, session


@pytest.fixture
def analyst(memory: ClusterMemory) -> Iterator[Analyst]:
    with open_whole(memory) as owner, memory.open(SUPERUSER) as superuser:
        add_spaces(owner)
        owner.execute("select register_embedding_model('test:model', 3)")
        owner.execute("insert into embedding_1 select space_id, id, '[1, 1, 1]' from observation")
        superuser.execute("select textrawl.create_analyst(%s, 'ana', array['red'])", (ROLE,))
        memory.send_directory()
        try:
            yield Analyst(memory, owner)
        finally:
            superuser.execute("update textrawl.actor set role_name = null")
            superuser.execute(f"drop owned by {ROLE}; drop role {ROLE}".encode())


def test_no_node_shows_an_analyst_a_row_of_another_space(analyst: Analyst) -> None:
    own = list[str]()
    for schema, session in analyst.visit():
        for statement in READS:
            given = statement.replace("textrawl.", f"{schema}.")
            text = try_out(session, given).replace(given, "")
            if "no such fact" not in text:  # it repeats what the analyst wrote
                assert not [secret for secret in FOREIGN if secret in text], (schema, statement)
            own += [statement] if "canary red" in text or SECRETS["red"] in text else []
    assert len(set(own)) >= 15


def test_shards_that_are_read_by_name_show_the_own_space_alone(analyst: Analyst) -> None:
    found = set[str]()
    for _, session in analyst.visit():
        session.execute("set citus.override_table_visibility = off")
        for (table,) in session.execute(_SHARDS).fetchall():
            text = try_out(session, f"select * from {table}")  # noqa: S608 - from the catalogue
            assert not [secret for secret in FOREIGN if secret in text], table
            found |= {table} if SECRETS["red"] in text else set[str]()
    assert found


def test_no_statement_of_an_analyst_changes_anything_on_any_node(analyst: Analyst) -> None:
    before = digest(analyst.owner)
    for schema, session in analyst.visit():
        session.execute("set default_transaction_read_only = off")
        for statement in WRITES:
            with pytest.raises(psycopg.Error):
                session.execute(statement.replace("textrawl.", f"{schema}.").encode())
    assert digest(analyst.owner) == before


def test_a_grant_that_was_taken_ends_on_all_nodes(analyst: Analyst) -> None:
    analyst.owner.execute("select revoke_access('ana', 'red')")
    for schema, session in analyst.visit():
        for statement in READS:
            text = try_out(session, statement.replace("textrawl.", f"{schema}."))
            assert not [word for word in ("canary red", SECRETS["red"]) if word in text], statement
