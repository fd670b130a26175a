"""The index of vectors goes for a large import and comes back, whatever happens in between."""

import base64
import json
import random
import struct
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest

from tests.archive.material import ENTITY, FACT, SPACE, fetch, number
from tests.support.commands import Launch, Run, wait_for
from textrawl.postgres.vector_indexes import build_missing_indexes

MODEL = {
    "name": "test:eight", "dimensions": 8, "cosine_floor": 0, "cosine_ceiling": 1, "trust": 0.5
}  # fmt: skip
MANY = 2_200
CLAIMS = """
    select count(*) from pg_stat_activity a join vector_index_claim c using (pid, backend_start)
"""
STATE = "select name, valid, to_regclass(name)::oid from vector_index(1)"
NEAREST = (
    "select observation_id from search_memory('x', model => 1, vector => %s, semantic => true)"
)

pytestmark = pytest.mark.slow


def make_lines(facts: range, *, vectors: bool = True) -> Iterator[dict[str, Any]]:
    """An export of facts of one entity."""
    yield {"textrawl": "export", "version": 1, "model": MODEL}
    yield from (SPACE, ENTITY)
    for place in facts:
        dice = random.Random(place)  # noqa: S311 - the same in every run
        vector = struct.pack("<8e", *(dice.gauss(0, 1) for _ in range(8)))
        fact = {"id": number(2, place), "text": f"fact {place}"}
        yield FACT | fact | ({"vector": base64.b64encode(vector).decode()} if vectors else {})
    yield {"textrawl": "end", "space": 1, "entity": 1, "fact": len(facts), "relation": 0}


def write(folder: Path, facts: range) -> str:
    file = folder / f"{facts.start}.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in make_lines(facts)))
    return str(file)


@pytest.fixture
def url(fresh: str) -> str:
    """A memory with a model and without facts."""
    fetch(fresh, "select register_embedding_model('test:eight', 8, 0, 1, 0.5)")
    return fresh


def find_state(url: str) -> tuple[Any, ...]:
    [state] = fetch(url, STATE)
    return state


def test_a_large_import_builds_the_index_at_its_end(run: Run, url: str, tmp_path: Path) -> None:
    name, _, before = find_state(url)

    assert run("import", write(tmp_path, range(MANY)), DATABASE_URL=url).code == 0

    after = find_state(url)
    assert after[:2] == (name, True)
    assert after[2] != before
    assert fetch(url, "select count(*) from embedding_1") == [(MANY,)]


def test_an_import_that_is_small_beside_what_is_there_keeps_the_index(
    run: Run, url: str, tmp_path: Path
) -> None:
    run("import", write(tmp_path, range(3 * MANY)), DATABASE_URL=url)
    before = find_state(url)
    more = write(tmp_path, range(3 * MANY, 4 * MANY))

    assert run("import", more, DATABASE_URL=url).code == 0

    assert find_state(url) == before
    assert fetch(url, "select count(*) from embedding_1") == [(4 * MANY,)]


def test_importing_again_what_is_there_keeps_the_index(run: Run, url: str, tmp_path: Path) -> None:
    file = write(tmp_path, range(MANY))
    run("import", file, DATABASE_URL=url)
    before = find_state(url)

    assert run("import", file, DATABASE_URL=url).code == 0

    assert find_state(url) == before


def test_a_dry_run_keeps_the_index(run: Run, url: str, tmp_path: Path) -> None:
    before = find_state(url)

    assert run("import", write(tmp_path, range(MANY)), "--dry-run", DATABASE_URL=url).code == 0

    assert find_state(url) == before


def test_a_killed_import_leaves_searches_right_and_the_next_one_makes_the_index(
    run: Run, launch: Launch, url: str, tmp_path: Path
) -> None:
    importing = launch("import", "-", DATABASE_URL=url)
    stdin = importing.popen.stdin
    assert stdin is not None
    lines = chain(make_lines(range(2 * MANY)))
    stdin.writelines(f"{json.dumps(line)}\n" for line in islice(lines, 2 * MANY))
    stdin.flush()
    wait_for(lambda: find_state(url)[0] is None)
    wait_for(lambda: fetch(url, "select count(*) >= 2000 from embedding_1") == [(True,)])
    importing.popen.kill()
    importing.popen.wait()

    check_nearest(url)
    # A server process notices the end of its client when it next reads.
    wait_for(lambda: fetch(url, CLAIMS) == [(0,)])
    assert run("import", write(tmp_path, range(1)), DATABASE_URL=url).code == 0
    assert find_state(url)[1] is True
    check_nearest(url)


def check_nearest(url: str) -> None:
    """Searches find what comparing with every vector finds."""
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("set search_path = textrawl, public")
        for seed in range(5):
            dice = random.Random(seed)  # noqa: S311 - the same in every run
            vector = str([dice.gauss(0, 1) for _ in range(8)])
            exact = owner.execute(
                "select observation_id from embedding_1 order by (vector <=> %s) + 0 limit 10",
                (vector,),
            ).fetchall()
            found = owner.execute(NEAREST, (vector,)).fetchall()
            assert len(set(found) & set(exact)) >= 9


def test_an_index_that_a_crash_left_half_built_is_built_anew(
    run: Run, url: str, tmp_path: Path
) -> None:
    run("import", write(tmp_path, range(MANY)), DATABASE_URL=url)
    drop_index(url)
    break_off_build(url)
    assert find_state(url)[1] is False

    assert anyio.run(build_missing_indexes, url) == ["test:eight"]

    assert find_state(url)[1] is True
    assert fetch(url, "select count(*) from pg_indexes where tablename = 'embedding_1'") == [(2,)]
    check_nearest(url)


def drop_index(url: str) -> None:
    with psycopg.connect(url) as owner:
        owner.execute("drop index textrawl.embedding_1_vector_idx")


def break_off_build(url: str) -> None:
    """Begins to build the index, which waits for a writer, and gives up."""
    with psycopg.connect(url) as writer, psycopg.connect(url, autocommit=True) as builder:
        writer.execute("delete from textrawl.embedding_1 where observation_id is null")
        builder.execute("set statement_timeout = '300ms'")
        row = builder.execute("select textrawl.vector_index_definition(1, true)").fetchone()
        assert row is not None
        with pytest.raises(psycopg.errors.QueryCanceled):
            builder.execute(row[0])


def test_two_do_not_build_at_once(url: str) -> None:
    drop_index(url)
    with psycopg.connect(url, autocommit=True) as other:
        claimed = other.execute("select textrawl.claim_vector_indexes()").fetchone()
        assert claimed == (True,)

        assert anyio.run(build_missing_indexes, url) == []
        assert find_state(url)[0] is None

    wait_for(lambda: fetch(url, CLAIMS) == [(0,)])
    assert anyio.run(build_missing_indexes, url) == ["test:eight"]
