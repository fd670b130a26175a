"""Plans and merges of calls, on a map of cells that the test wrote: this needs no Citus."""

from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textrawl.access.access_token import hash_token
from textrawl.cluster.merging import MERGES, UPKEEP
from textrawl.cluster.planning import Planner, SpaceCells, find_route
from textrawl.errors import ArgumentInvalid
from textrawl.postgres.connection import Connection

pytestmark = pytest.mark.anyio

ANA = hash_token("ana")
NAMES = ["space-0", "space-1", "space-2", "space-3"]
# Each of two cells has the spaces whose numbers leave the same rest.
_MAP = """
    create schema textrawl_content;
    create function textrawl_content.find_shards(spaces integer[])
    returns table (space integer, shard bigint) language sql
    begin atomic select each, (100 + each % 2)::bigint from unnest(spaces) each; end;
"""


@pytest.fixture
def spaces(owner: psycopg.Connection) -> dict[str, int]:
    """The ids of four spaces of Ana. Each cell has two of them."""
    owner.execute(_MAP)
    for name in NAMES:
        owner.execute("select create_space(%s)", (name,))
    query = "select create_token(%s, 'trl_ana', 'ana', %s, '{read,write,forget}')"
    owner.execute(query, (ANA, NAMES[0]))
    for name in NAMES[1:]:
        owner.execute("select grant_access('ana', %s, '{read,write,forget}')", (name,))
    rows = owner.execute("select name, id from space where name = any(%s)", (NAMES,)).fetchall()
    return dict(rows)


@pytest.fixture
def planner(owner: psycopg.Connection, spaces: dict[str, int]) -> Planner:
    """A planner that asks the ordinary Postgres as its coordinator."""

    async def ask(question: Callable[[Connection], Awaitable[Any]]) -> Any:
        async with await Connection.connect(owner.info.dsn, autocommit=True) as connection:
            return await question(connection)

    assert spaces
    return Planner(SpaceCells(ask))


async def plan(planner: Planner, function: str, *, writes: bool, **given: Any) -> dict[int, Any]:
    """The spaces of each visit, by its shard."""
    route = find_route(function, {"space"} if writes else {"spaces"})
    assert route is not None
    arguments = {"credential": ANA, **given}
    visits = await planner.plan(function, route, arguments, writes=writes)
    return {visit.shard: visit.arguments.get("spaces") for visit in visits}


async def test_a_search_of_some_spaces_gives_each_cell_its_own(
    planner: Planner, spaces: dict[str, int]
) -> None:
    chosen = [spaces[name] for name in NAMES[:3]]

    visits = await plan(planner, "search_memory", writes=False, spaces=chosen)

    assert len(visits) == 2
    for shard, part in visits.items():
        assert part == [space for space in chosen if 100 + space % 2 == shard]


async def test_a_search_of_everything_asks_each_cell_and_a_write_only_one(
    planner: Planner, spaces: dict[str, int]
) -> None:
    everywhere = await plan(planner, "search_memory", writes=False)
    here = await plan(planner, "remember_fact", writes=True, space=spaces["space-1"])
    home = await plan(planner, "remember_fact", writes=True)

    assert everywhere == {100: None, 101: None}
    assert [*here] == [100 + spaces["space-1"] % 2]
    assert [*home] == [100 + spaces["space-0"] % 2]


async def test_facts_do_not_go_to_the_space_of_another_cell(
    planner: Planner, spaces: dict[str, int]
) -> None:
    same, other = spaces["space-2"], spaces["space-1"]

    assert await plan(planner, "share_memories", writes=True, space=spaces["space-0"], target=same)
    with pytest.raises(ArgumentInvalid, match="different cells"):
        await plan(planner, "share_memories", writes=True, space=spaces["space-0"], target=other)


rows = st.fixed_dictionaries(
    {"score": st.integers(0, 5), "created_at": st.integers(0, 5), "observation_id": st.integers()}
)


@given(st.lists(st.lists(rows, max_size=6), max_size=4), st.integers(1, 8))
def test_the_best_rows_of_all_cells_are_the_best_rows(cells: list[list[Any]], most: int) -> None:
    merge = MERGES["search_proposals"]

    merged = merge.combine(cells, {"max_rows": most})

    every = [row for cell in cells for row in cell]
    best = sorted(every, key=lambda row: (-row["score"], -row["created_at"], row["observation_id"]))
    assert merged == best[:most]


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=4))
def test_upkeep_adds_numbers_and_says_whether_a_cell_did_something(
    answers: list[tuple[int, bool]],
) -> None:
    cells = [[{"rows": number, "refreshed": done}] for number, done in answers]

    [row] = UPKEEP.combine(cells, {})

    numbers, done = zip(*answers, strict=True)
    assert row == {"rows": sum(numbers), "refreshed": any(done)}
