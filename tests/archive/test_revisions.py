"""Reasons, ends and replacements in exports, imports and backups, also where a clock is behind."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.archive.conftest import succeed, write_backup, write_export
from tests.archive.material import fetch, tell
from tests.support.clock import set_back
from tests.support.commands import Run

REVISIONS = """
    select entity_name, wrong, reason, instead, revised_by, revised_at
    from textrawl.memory_revisions order by wrong"""

VALID = "select content from textrawl.memory_observations where valid and entity_name = 'Jeff'"


def test_revisions_are_exported_and_imported_once(
    run: Run, url: str, fresh: str, tmp_path: Path
) -> None:
    tell(
        url,
        "select textrawl.remember_fact('Jeff', 'person', 'drinks tea')",
        "select textrawl.revise_fact('Jeff', 'drinks tea', 'he is allergic', 'drinks coffee')",
        "select textrawl.remember_fact('Jeff', 'person', 'is tall')",
        "select textrawl.revise_fact('Jeff', 'is tall', 'that was Kim')",
    )
    file = tmp_path / "memory.jsonl"

    write_export(run, url, file)
    first = succeed(run, "import", str(file), DATABASE_URL=fresh)
    again = succeed(run, "import", str(file), DATABASE_URL=fresh)

    assert "2 revisions" in first.out
    assert again.code == 0
    assert len(fetch(url, REVISIONS)) == 2
    assert fetch(fresh, REVISIONS) == fetch(url, REVISIONS)


def test_the_reason_of_a_fact_that_is_valid_here_is_left_out(
    run: Run, url: str, fresh: str, tmp_path: Path
) -> None:
    tell(
        url,
        "select textrawl.remember_fact('Jeff', 'person', 'is tall')",
        "select textrawl.revise_fact('Jeff', 'is tall', 'that was Kim')",
    )
    fetch(fresh, "select textrawl.remember_fact('Jeff', 'person', 'is tall')")
    file = tmp_path / "memory.jsonl"

    write_export(run, url, file)
    succeed(run, "import", str(file), DATABASE_URL=fresh)

    assert fetch(fresh, VALID) == [("is tall",)]


def test_what_was_ended_stays_ended_on_a_machine_whose_clock_is_behind(
    run: Run, url: str, fresh: str, tmp_path: Path
) -> None:
    tell(
        url,
        "select textrawl.remember_fact('Jeff', 'person', 'drinks tea')",
        "select textrawl.revise_fact('Jeff', 'drinks tea', 'he is allergic', 'drinks coffee')",
        "select textrawl.remember_fact('Jeff', 'person', 'drinks water',"
        " replaces => 'drinks coffee')",
        "select textrawl.relate_entities('Jeff', 'works at', 'Old Company')",
        "select textrawl.end_relation('Jeff', 'works at', 'Old Company')",
        "select textrawl.remember_fact('Jeff', 'person', 'slept', valid_until => now())",
    )
    with psycopg.connect(url, options="-c search_path=textrawl,public") as owner:
        set_back(owner, timedelta(days=365))
    file = tmp_path / "memory.jsonl"

    write_export(run, url, file)
    succeed(run, "import", str(file), DATABASE_URL=fresh)

    relations = (
        "select to_entity from textrawl.memory_relations where valid and to_entity = 'Old Company'"
    )
    assert fetch(fresh, VALID) == fetch(url, VALID) == [("drinks water",)]
    assert fetch(fresh, relations) == fetch(url, relations) == []


def test_what_was_replaced_stays_so_if_the_file_is_of_an_earlier_version(
    run: Run, url: str, fresh: str, tmp_path: Path
) -> None:
    tell(
        url,
        "select textrawl.remember_fact('Jeff', 'person', 'drinks coffee')",
        "select textrawl.remember_fact('Jeff', 'person', 'drinks water',"
        " replaces => 'drinks coffee')",
    )
    with psycopg.connect(url, options="-c search_path=textrawl,public") as owner:
        set_back(owner, timedelta(days=365))
    file = tmp_path / "memory.jsonl"
    write_export(run, url, file)
    earlier = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    lines = [{key: value for key, value in line.items() if key != "closed_at"} for line in earlier]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")

    succeed(run, "import", str(file), DATABASE_URL=fresh)

    assert lines != earlier
    assert fetch(fresh, VALID) == [("drinks water",)]


_VALID = """
    select space, entity_name, content from memory_observations where valid
    union all select space, from_entity, relation_type from memory_relations where valid
    order by 1, 2, 3"""


def connect(url: str) -> psycopg.Connection[Any]:
    owner = psycopg.connect(url, autocommit=True)
    owner.execute("set search_path = textrawl, public")
    return owner


@pytest.mark.slow
@pytest.mark.parametrize("way", ["backup", "export"])
def test_what_was_ended_stays_ended_where_the_clock_is_behind(
    run: Run, url: str, empty: str, tmp_path: Path, way: str
) -> None:
    """The memory has a replaced fact, a wrong fact, an ended relation and an end to come."""
    with connect(url) as owner:
        owner.execute("select remember_fact('Ada', 'person', 'was born in Turku')")
        owner.execute("select revise_fact('Ada', 'was born in Turku', 'that was Bo')")
        owner.execute("select relate_entities('Ada', 'lives in', 'Oulu')")
        owner.execute("select end_relation('Ada', 'lives in', 'Oulu')")
        valid = owner.execute(_VALID).fetchall()
    if way == "backup":
        succeed(run, "restore", str(write_backup(run, url, tmp_path)), DATABASE_URL=empty)
    else:
        file = str(tmp_path / "memory.jsonl")
        succeed(run, "export", file, DATABASE_URL=url)
        succeed(run, "migrate", DATABASE_URL=empty)
        succeed(run, "import", file, DATABASE_URL=empty)

    with connect(empty) as owner:
        set_back(owner, timedelta(days=365))
        restored = owner.execute(_VALID).fetchall()
    shown = succeed(run, "show", "Ada", DATABASE_URL=empty).out

    assert restored == valid
    assert ("default", "Ada", "likes coffee") in valid
    assert "likes coffee" in shown
    assert not [word for word in ("likes tea", "Oulu") if word in shown]
