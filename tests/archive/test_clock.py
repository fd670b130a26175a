"""A backup and an export on a machine whose clock is behind: what was ended stays ended."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.archive.conftest import succeed, write_backup
from tests.support.clock import set_back
from tests.support.commands import Run

pytestmark = pytest.mark.slow

_VALID = """
    select space, entity_name, content from memory_observations where valid
    union all select space, from_entity, relation_type from memory_relations where valid
    order by 1, 2, 3"""


def connect(url: str) -> psycopg.Connection[Any]:
    owner = psycopg.connect(url, autocommit=True)
    owner.execute("set search_path = textrawl, public")
    return owner


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
