"""A small chaos: servers and Postgres are killed while clients write."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.chaos.__main__ import run
from benchmarks.chaos.deeds import STORED
from benchmarks.chaos.faults import Plan
from tests.support.folders import open_folder

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.usefixtures("uncovered")]

PLAN = Plan(
    server_kills=2,
    postmaster_kills=1,
    restarts=1,
    terminations=5,
    freeze=0,
    server_freezes=0,
    clocks=1,
    writes=200,
    clients=4,
    pipes=1,
)


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


async def test_nothing_acknowledged_is_lost_doubled_or_torn_whatever_is_killed(
    folder: Path,
) -> None:
    outcome = await run(PLAN, folder)

    verdict = outcome.verdict
    assert verdict.acknowledged + verdict.deeds >= PLAN.writes
    assert verdict.acknowledged > 0
    # A clock that is set between a question and its answer leaves nothing to tidy.
    assert outcome.ledger.kept.keys() >= STORED.keys() - {"finding"}
    assert verdict.is_clean, verdict
    assert all(max(seconds) < 60 for seconds in outcome.wounds.healed.values())
    assert outcome.starts >= 2 + PLAN.server_kills
    assert not any("Internal error" in title for title in outcome.ledger.errors)
