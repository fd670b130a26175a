"""A small run of the benchmark of webhooks."""

from pathlib import Path

import pytest

from benchmarks.webhooks import Place, run
from tests.conftest import TOKEN, Databases
from textrawl.embedded.postmaster import OWNER


@pytest.mark.slow
@pytest.mark.follows
def test_each_event_arrives_and_first_in_order_whatever_is_killed(
    postgres: Databases, database: str, database_url: str, tmp_path: Path
) -> None:
    place = Place(postgres.cluster.dsn(OWNER, database), database_url, TOKEN, tmp_path)
    outcome = run(place, events=200, kills=2)
    assert (outcome.kills, len(outcome.expected)) == (2, 200)
    assert outcome.is_sound
