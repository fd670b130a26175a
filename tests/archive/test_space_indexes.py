"""A space's own index of vectors: asked for, kept, carried along and given up."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest

from tests.archive.conftest import create_empty, succeed, write_backup
from tests.archive.material import fetch
from tests.archive.test_vector_indexes import CLAIMS, find_state, write
from tests.conftest import Databases
from tests.support.commands import Run, wait_for
from textrawl.embedded.postmaster import OWNER
from textrawl.postgres.vector_indexes import build_missing_indexes

OWN = "embedding_1_space_2_idx"
STATES = "select model_id, space_id, name, valid from own_indexes()"
NAMES = r"""
    select c.relname::text, i.indisvalid from pg_index i join pg_class c on c.oid = indexrelid
    where c.relname like 'embedding\_1\_%idx%'
      and relnamespace = 'textrawl'::regnamespace order by 1
"""
READY = [(OWN, True), ("embedding_1_vector_idx", True)]


@pytest.fixture
def url(fresh: str) -> str:
    """A memory with a model, and with a space team, whose number is 2."""
    fetch(fresh, "select register_embedding_model('test:eight', 8, 0, 1, 0.5)")
    fetch(fresh, "select create_space('team')")
    return fresh


def tell(run: Run, url: str, *more: str) -> str:
    return succeed(run, "space", "index", "team", *more, DATABASE_URL=url).err.strip()


def start_building(url: str) -> None:
    """Another model, beside the first."""
    fetch(url, "select start_embedding_model('test:other', 8)")


def break_off(url: str, statement: str) -> None:
    """Begins with an index, which waits for a writer, and gives up."""
    with psycopg.connect(url) as writer, psycopg.connect(url, autocommit=True) as builder:
        writer.execute("delete from textrawl.embedding_1 where observation_id is null")
        builder.execute("set statement_timeout = '300ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            builder.execute(statement.encode())


@contextmanager
def claim(url: str) -> Generator[None]:
    """Another session makes indexes meanwhile."""
    with psycopg.connect(url, autocommit=True) as other:
        assert other.execute("select textrawl.claim_vector_indexes()").fetchone() == (True,)
        yield


def test_a_space_gets_an_index_of_its_own_and_gives_it_up(run: Run, url: str) -> None:
    assert tell(run, url) == "team has its own index: test:eight in team."
    assert fetch(url, STATES) == [(1, 2, OWN, True)]
    [(definition,)] = fetch(url, f"select pg_get_indexdef('{OWN}'::regclass)")
    assert definition.endswith(
        "USING hnsw (vector halfvec_cosine_ops) WITH (m='16', ef_construction='128')"
        " WHERE (space_id = 2)"
    )
    assert fetch(url, "select own from assess_spaces(array[2], model => 1)") == [(True,)]
    assert fetch(url, "select own from assess_spaces(array[1], model => 1)") == [(False,)]
    assert find_state(url)[0] == "embedding_1_vector_idx"

    assert tell(run, url) == "team has its own index already."

    assert tell(run, url, "--drop") == "team no longer has its own index."
    assert fetch(url, NAMES) == [("embedding_1_vector_idx", True)]
    assert tell(run, url, "--drop") == "team did not have its own index."


def test_lists_tell_which_spaces_have_one(run: Run, url: str) -> None:
    tell(run, url)

    listed = json.loads(succeed(run, "space", "list", "--json", DATABASE_URL=url).out)

    assert [(row["name"], row["own_index"]) for row in listed] == [
        ("default", None),
        ("team", "ready"),
    ]
    assert "ready" in succeed(run, "space", "list", DATABASE_URL=url).out


def test_another_name_and_an_archive_leave_it_where_it_is(run: Run, url: str) -> None:
    tell(run, url)
    fetch(url, "select rename_space('team', 'crew')")
    fetch(url, "select archive_space('crew')")

    assert anyio.run(build_missing_indexes, url) == []

    assert fetch(url, NAMES) == READY


def test_one_that_a_crash_left_half_built_is_built_anew_and_never_forgotten(
    run: Run, url: str
) -> None:
    [(definition,)] = fetch(url, "select vector_index_definition(1, true, 2)")
    break_off(url, definition)
    assert fetch(url, STATES) == [(1, 2, OWN, False)]
    assert fetch(url, "select own from assess_spaces(array[2], model => 1)") == [(False,)]
    listed = json.loads(succeed(run, "space", "list", "--json", DATABASE_URL=url).out)
    assert listed[-1]["own_index"] == "unfinished"
    health = "select unfinished_indexes from memory_health where unfinished_indexes is not null"
    assert fetch(url, health) == [(OWN,)]
    # Cut off once more, while it is made anew.
    [(_, _, [statement])] = fetch(url, "select * from missing_vector_indexes()")
    break_off(url, statement)
    assert fetch(url, NAMES)[:2] == [(OWN, False), (f"{OWN}_ccnew", False)]

    assert anyio.run(build_missing_indexes, url) == ["test:eight in team"]

    assert fetch(url, NAMES) == READY


def test_what_a_killed_rebuild_left_beside_it_goes(run: Run, url: str) -> None:
    tell(run, url)
    break_off(url, f"reindex index concurrently textrawl.{OWN}")
    assert fetch(url, NAMES)[:2] == [(OWN, True), (f"{OWN}_ccnew", False)]

    anyio.run(build_missing_indexes, url)
    assert fetch(url, NAMES) == READY

    break_off(url, f"reindex index concurrently textrawl.{OWN}")
    tell(run, url, "--drop")
    assert fetch(url, NAMES) == READY[1:]


def test_a_new_model_gets_it_when_it_is_full(run: Run, url: str) -> None:
    tell(run, url)
    start_building(url)
    assert anyio.run(build_missing_indexes, url) == []
    assert tell(run, url).endswith("already.")

    with_building = anyio.run(lambda: build_missing_indexes(url, building=True))

    assert with_building == ["test:other", "test:other in team"]
    fetch(url, "select switch_embedding_model()")
    fetch(url, "select drop_embedding_model('test:eight')")
    assert fetch(url, STATES) == [(2, 2, "embedding_2_space_2_idx", True)]


def test_the_model_before_has_it_too_and_both_lose_it(run: Run, url: str) -> None:
    start_building(url)
    anyio.run(lambda: build_missing_indexes(url, building=True))
    fetch(url, "select switch_embedding_model()")

    assert tell(run, url).endswith(": test:eight in team, test:other in team.")

    tell(run, url, "--drop")
    assert fetch(url, STATES) == []


@pytest.mark.slow
def test_a_large_import_keeps_it_while_that_of_all_is_made_anew(
    run: Run, url: str, tmp_path: Path
) -> None:
    tell(run, url)
    own = "select to_regclass(name)::oid from own_indexes()"
    before, whole = fetch(url, own), find_state(url)

    succeed(run, "import", write(tmp_path, range(3_000)), DATABASE_URL=url)

    assert fetch(url, own) == before
    assert find_state(url)[:2] == whole[:2]
    assert find_state(url)[2] != whole[2]


@pytest.mark.slow
def test_a_backup_brings_it_back(run: Run, url: str, postgres: Databases, tmp_path: Path) -> None:
    tell(run, url)
    file = write_backup(run, url, tmp_path)

    with create_empty(postgres) as name:
        other = postgres.cluster.dsn(OWNER, name)
        succeed(run, "restore", str(file), DATABASE_URL=other)
        assert fetch(other, STATES) == [(1, 2, OWN, True)]
        assert fetch(other, NAMES) == READY


def test_two_do_not_make_or_drop_indexes_at_once(run: Run, url: str) -> None:
    with claim(url):
        for more in ((), ("--drop",)):
            outcome = run("space", "index", "team", *more, DATABASE_URL=url)
            assert (outcome.code, outcome.complaint[:33]) == (
                1,
                "Another session is building vecto",
            )

    wait_for(lambda: fetch(url, CLAIMS) == [(0,)])
    assert tell(run, url).endswith("in team.")


def test_whoever_does_not_own_the_memory_makes_none(run: Run, database_url: str) -> None:
    outcome = run("space", "index", "default", DATABASE_URL=database_url)

    assert outcome.code == 1
    assert "does not own this memory" in outcome.complaint


def test_facts_stored_later_are_in_it(run: Run, url: str) -> None:
    tell(run, url)
    stored: list[Any] = []
    for number in range(20):
        text = f"fact {number}"
        vector = str([float(number == place) + 0.1 for place in range(8)])
        stored += fetch(
            url,
            f"select remember_fact('Ada', 'person', '{text}', space => 2, model => 1,"
            f" embedding => '{vector}')",
        )

    assert len(stored) == 20
    with psycopg.connect(url) as owner:
        owner.execute("set search_path = textrawl, public; set enable_sort = off")
        query = b"""select vector from embedding_1 where space_id = 2
                    order by vector <=> '[1,0,0,0,0,0,0,0]' limit 20"""
        plan = str(owner.execute(b"explain " + query).fetchall())
        assert OWN in plan
        assert len(owner.execute(query).fetchall()) == 20
