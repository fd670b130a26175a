"""The reasons of wrong facts come back from an export."""

import json
from datetime import timedelta
from pathlib import Path

import psycopg

from tests.archive.conftest import succeed, write_export
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
