"""A search in a cell has the recall and the plans of a search in an ordinary memory.

Both memories have the same facts, in spaces of one cell. Settings of a function do not go from a
coordinator to a shard, which would cost recall without an error. So the recall is measured.
"""

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

import numpy as np
import psycopg
import pytest
from psycopg import sql

from tests.cluster.settlers import Settlers
from tests.conftest import Databases
from tests.support.cluster import CitusCluster
from textrawl.cluster.layout import DIRECTORY
from textrawl.embedded.postmaster import OWNER, SUPERUSER

FACTS = 3500  # of each space; two of them are a large search
QUERIES = 30
_DIMENSIONS = 24

_ENTITIES: LiteralString = """
    insert into entity (space_id, name, name_key, entity_type, fts)
    select s, 'name' || n, 'name' || n, 'person', ''
    from unnest(%(spaces)s::integer[]) s, generate_series(1, 100) n"""
_FACTS: LiteralString = """
    insert into observation (space_id, entity_id, entity_type, content, content_hash, source,
                             author_id, tool, fts)
    select e.space_id, e.id, e.entity_type, text, md5(text)::uuid, 'note',
        (select id from actor where name = 'loader'), 'sql',
        array_to_tsvector(array['~s' || e.space_id]) || to_tsvector('english', text)
    from entity e cross join lateral (
        select format(
            'common word%%s kind%%s rare%%s %%s', n %% 10, n %% 23, e.name_key || n, e.name) as text
        from generate_series(1, %(facts)s / 100) n) fact"""
_VECTORS: LiteralString = """
    insert into embedding_1 (space_id, observation_id, vector)
    select o.space_id, o.id, (
        select array_agg(hashint4extended(hashtext(o.content), n) %% 1000)::real[]
        from generate_series(1, %(dimensions)s) n)::vector::halfvec
    from observation o order by o.space_id, o.content"""
_FOUND: LiteralString = """
    select observation_id from search_memory(
        %(query)s, spaces => %(spaces)s, model => 1, vector => %(vector)s::real[]::vector::halfvec,
        semantic => %(semantic)s, max_rows => 50, least_score => 0, neighbours => false,
        credential => %(credential)s)"""
_NEAREST: LiteralString = """
    select observation_id from embedding_1 where space_id = any(%(spaces)s)
    order by (vector <=> %(vector)s::real[]::vector::halfvec) + 0 limit 50"""

# An index of a shard has another name, so indexes are compared by their definitions.
_SCANS: LiteralString = """
    select regexp_replace(
            coalesce(substring(pg_get_indexdef(c.oid) from ' ON .*'), c.oid::regclass::text),
            '(textrawl\\w*\\.)|(_\\d{6,}(?=\\W|$))', '', 'g'),
        pg_stat_get_xact_numscans(c.oid)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname ~ '^textrawl' and c.relkind in ('r', 'i')
      and pg_stat_get_xact_numscans(c.oid) > 0"""
_OF_DIRECTORY = re.compile(rf"^(?: ON )?(?:{'|'.join((*DIRECTORY, 'model_queue'))})(?: |$)")


@dataclass(frozen=True)
class Side:
    """One of the two memories. `spaces` are its ids of the same spaces."""

    conninfo: str
    schema: str
    spaces: list[int]
    credential: bytes

    @contextmanager
    def open(self, role: str) -> Generator[psycopg.Connection[Any]]:
        made = psycopg.connect(self.conninfo, user=role, autocommit=True)
        with made as connection:
            path = sql.SQL("set search_path = {}, public").format(sql.Identifier(self.schema))
            connection.execute(path)
            yield connection

    def fill(self) -> None:
        values = {"spaces": self.spaces, "facts": FACTS, "dimensions": _DIMENSIONS}
        with self.open(OWNER) as owner:
            for statement in (_ENTITIES, _FACTS, _VECTORS):
                owner.execute(statement, values)
            owner.execute("select refresh_search_statistics(true)")
        with self.open(SUPERUSER) as superuser:
            superuser.execute("analyze")


@pytest.fixture(scope="module")
def sides(citus: CitusCluster, postgres: Databases) -> Iterator[tuple[Side, Side]]:
    """An ordinary memory and a cell with the same facts in three spaces."""
    with citus.create_memory() as memory, postgres.create("migrated") as name:
        settlers = Settlers(memory)
        cells = list(dict.fromkeys(settlers.cells.values()))
        cell = max(cells, key=lambda each: len(settlers.spaces_of(each)))
        spaces = settlers.spaces_of(cell)[:3]
        assert len(spaces) == 3
        with memory.open(OWNER) as owner:
            owner.execute("set search_path = textrawl, public")
            owner.execute("select register_embedding_model('test:plane', %s)", (_DIMENSIONS,))
            owner.execute("select register_actor('loader')")
            memory.send_directory()
            owner.execute("select textrawl_content.distribute_models()")
        node = memory.cluster.find_node(cell.node)
        with memory.open(OWNER, node) as worker:
            worker.execute("select textrawl_content.match_models()")
        with psycopg.connect(postgres.cluster.dsn(OWNER, name), autocommit=True) as owner:
            owner.execute("set search_path = textrawl, public")
            ids = {label: number for number, label in settlers.enrol(owner).items()}
            owner.execute("select register_embedding_model('test:plane', %s)", (_DIMENSIONS,))
            owner.execute("select register_actor('loader')")
        own = [ids[settlers.names[space]] for space in spaces]
        plain = Side(postgres.cluster.dsn(SUPERUSER, name), "textrawl", own, settlers.ana)
        cellar = Side(memory.dsn(SUPERUSER, node), cell.schema, spaces, settlers.ana)
        for side in (plain, cellar):
            side.fill()
        yield plain, cellar


def measure_recall(side: Side, number: int) -> float:
    """The mean share of the 50 nearest facts of some spaces that a search finds."""
    dice = np.random.default_rng(7)
    shares: list[float] = []
    with side.open(OWNER) as session:
        for _ in range(QUERIES):
            vector = [float(value) for value in dice.standard_normal(_DIMENSIONS)]
            values = {
                "query": "",
                "semantic": True,
                "spaces": side.spaces[:number],
                "vector": vector,
                "credential": side.credential,
            }
            nearest = {fact for (fact,) in session.execute(_NEAREST, values)}
            found = {fact for (fact,) in session.execute(_FOUND, values)}
            shares.append(len(nearest & found) / 50)
    return float(np.mean(shares))


def test_a_cell_has_the_recall_of_an_ordinary_memory(sides: tuple[Side, Side]) -> None:
    for number in (1, 2, 3):
        plain, cell = (measure_recall(side, number) for side in sides)

        assert plain > 0.9
        assert cell > 0.9
        assert abs(plain - cell) < 0.03


def test_a_search_in_a_cell_scans_what_one_of_an_ordinary_memory_scans(
    sides: tuple[Side, Side],
) -> None:
    for number, semantic in ((1, False), (2, False), (3, False), (1, True), (2, True), (3, True)):
        plain, cell = (count_scans(side, number, semantic=semantic) for side in sides)

        assert cell == plain
        scanned = "\n".join(cell)
        assert ("hnsw (vector" in scanned) == (number > 1)
        assert ("gin (fts)" in scanned) == (not semantic)


def count_scans(side: Side, number: int, *, semantic: bool) -> dict[str, int]:
    """How often a search scans each index and each whole table."""
    values = {
        "query": "word3 rarename12",
        "semantic": semantic,
        "spaces": side.spaces[:number],
        "vector": [1.0] * _DIMENSIONS,
        "credential": side.credential,
    }
    with side.open(OWNER) as session, session.transaction():
        assert len(session.execute(_FOUND, values).fetchall()) == 50
        scans = session.execute(_SCANS).fetchall()
    # The directory of a node has the spaces of all cells.
    return {name: number for name, number in scans if not _OF_DIRECTORY.search(name)}
