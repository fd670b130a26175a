"""Several cells answer as one Postgres with the same content (a property test).

The content is made once, by a seed. Hypothesis makes the questions. Searches are compared without
neighbours, because each cell looks for those of its own best facts.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.cluster.settlers import Settlers
from tests.cluster.twins import DAYS, NAMES, PIP, TYPES, WORDS, Twins, fill
from tests.conftest import Databases
from tests.support.cluster import CitusCluster
from textrawl.cluster.opening import open_connection
from textrawl.embedded.postmaster import APP, OWNER

# Examples are not made smaller, because each of them takes calls of two databases.
bounded = settings(max_examples=40, phases=[Phase.generate], derandomize=True, database=None)


@pytest.fixture(scope="module", params=[1, 2])
def twins(
    citus: CitusCluster, postgres: Databases, request: pytest.FixtureRequest
) -> Iterator[Twins]:
    """Two memories with the same content in nine spaces."""
    with (
        citus.create_memory() as memory,
        postgres.create("migrated") as name,
        start_blocking_portal() as portal,
    ):
        settlers = Settlers(memory)
        with psycopg.connect(postgres.cluster.dsn(OWNER, name), autocommit=True) as owner:
            owner.execute("set search_path = textrawl, public")
            ids = {label: number for number, label in settlers.enrol(owner).items()}
            _enrol_proposer(owner, settlers)
        with memory.open(OWNER) as owner:
            owner.execute("set search_path = textrawl, public")
            _enrol_proposer(owner, settlers)
        memory.send_directory()
        opening = (
            portal.wrap_async_context_manager(open_connection(url, timeout=20))
            for url in (postgres.cluster.dsn(APP, name), memory.dsn())
        )
        with next(opening) as plain, next(opening) as cells:
            plain_ids = {space: ids[label] for space, label in settlers.names.items()}
            twins = Twins(portal, plain, cells, plain_ids, settlers, [])
            fill(twins, request.param)
            yield twins


def _enrol_proposer(owner: psycopg.Connection[Any], settlers: Settlers) -> None:
    owner.execute("select create_token(%s, 'trl_pip', 'pip', 'space-00', '{read,propose}')", (PIP,))
    for name in settlers.names.values():
        owner.execute("select grant_access('pip', %s, '{read,propose}')", (name,))
        owner.execute("select grant_access('ana', %s, '{read,write,forget,review,admin}')", (name,))
    owner.execute(
        "update token set scopes = array_append(scopes, 'admin') where hash <> %s", (PIP,)
    )


texts = st.lists(st.sampled_from([*WORDS, *NAMES, "unheard"]), min_size=1, max_size=4).map(" ".join)
types = st.none() | st.lists(st.sampled_from(TYPES), min_size=1, max_size=2)
days = st.none() | st.sampled_from(DAYS)
vectors = st.none() | st.lists(st.sampled_from([0.1, 0.4, 0.7, 1]), min_size=3, max_size=3)
chosen = st.none() | st.lists(st.integers(0, 8), min_size=1, max_size=6, unique=True)


def choose(twins: Twins, spaces: list[int] | None) -> list[int] | None:
    return None if spaces is None else [twins.settlers.spaces[place] for place in spaces]


def ask(vector: list[float] | None) -> dict[str, Any]:
    return {} if vector is None else {"model": 1, "vector": np.array(vector, np.float32)}


@bounded
@given(data=st.data())
def test_searches(twins: Twins, data: st.DataObject) -> None:
    vector = data.draw(vectors)
    function = data.draw(st.sampled_from(["search_memory", "search_proposals"]))
    alone = {"neighbours": False} if function == "search_memory" else {}
    twins.compare(
        function,
        "space entity_name entity_type content source author score cosine coverage relation_type "
        "to_entity",
        query=data.draw(texts),
        spaces=choose(twins, data.draw(chosen)),
        entity_types=data.draw(types),
        max_rows=data.draw(st.integers(1, 30)),
        least_score=data.draw(st.none() | st.floats(0, 0.9)),
        since=data.draw(days),
        until=data.draw(days),
        semantic=vector is not None and data.draw(st.booleans()),
        credential=twins.settlers.ana,
        **alone,
        **ask(vector),
    )


@bounded
@given(data=st.data())
def test_searches_of_the_past(twins: Twins, data: st.DataObject) -> None:
    twins.compare(
        "search_memory",
        "space entity_name content score",
        query=data.draw(texts),
        spaces=choose(twins, data.draw(chosen)),
        max_rows=data.draw(st.integers(1, 30)),
        as_of=data.draw(st.sampled_from(twins.moments)),
        neighbours=False,
        credential=twins.settlers.ana,
        **ask(data.draw(vectors)),
    )


@bounded
@given(data=st.data())
def test_entities(twins: Twins, data: st.DataObject) -> None:
    common = {
        "spaces": choose(twins, data.draw(chosen)),
        "as_of": data.draw(st.none() | st.sampled_from(twins.moments)),
        "since": data.draw(days),
        "until": data.draw(days),
        "skip": data.draw(st.integers(0, 6)),
        "credential": twins.settlers.ana,
    }
    twins.compare(
        "list_entities",
        "total entities",
        entity_types=data.draw(types),
        max_rows=data.draw(st.integers(1, 12)),
        **common,
    )
    twins.compare(
        "describe_entity",
        "space name entity_type description observations total_observations outgoing incoming "
        "total_relations revised aliases",
        entity=data.draw(st.sampled_from(NAMES)),
        max_observations=data.draw(st.integers(1, 12)),
        max_relations=data.draw(st.integers(1, 6)),
        **common,
    )


@bounded
@given(data=st.data())
def test_proposals(twins: Twins, data: st.DataObject) -> None:
    common = {"credential": twins.settlers.ana, "max_rows": data.draw(st.integers(1, 12))}
    twins.compare(
        "entity_proposals",
        "space entity_name content author created_at",
        entity=data.draw(st.sampled_from(NAMES)),
        spaces=choose(twins, data.draw(chosen)),
        **common,
    )


@bounded
@given(data=st.data())
def test_summaries(twins: Twins, data: st.DataObject) -> None:
    spaces = choose(twins, data.draw(chosen))
    common = {"spaces": spaces, "credential": twins.settlers.ana}
    twins.compare(
        "digest_memory",
        "space entity_name content section score",
        max_rows=data.draw(st.integers(1, 30)),
        project=data.draw(st.sampled_from([None, *NAMES])),
        **common,
    )
    twins.compare(
        "memory_statistics", "entities facts valid_facts relations events types models", **common
    )
    entity = data.draw(st.sampled_from(NAMES))
    twins.compare("entity_spaces", "space name", entity=entity, **common)


@bounded
@given(data=st.data())
def test_names(twins: Twins, data: st.DataObject) -> None:
    common = {
        "spaces": choose(twins, data.draw(chosen)),
        "credential": twins.settlers.ana,
    }
    twins.compare(
        "complete_name",
        "entity_name",
        beginning=data.draw(st.sampled_from(["", "b", "be", "tea", "l", "c", "o", "x"])),
        max_rows=100,  # one Postgres can leave out names if many spaces have one of them
        **common,
    )
    similar = [
        {
            row["entity_name"]
            for row in twins.ask(
                database, "similar_names", ["entity_name"], {"name": "Benn Lee", **common}
            )
        }
        for database in (twins.plain, twins.cells)
    ]
    assert similar[0] == similar[1]
