"""The conformance suites find nothing that fails, and what benchmarks/clients.md says they find."""

import pytest

from benchmarks.conformance import UNEXPLAINED, run, write_outcomes
from tests.clients.installing import Unavailable
from tests.clients.matrix import PAGE

pytestmark = [
    pytest.mark.anyio, pytest.mark.clients, pytest.mark.timeout(900),
    pytest.mark.usefixtures("uncovered"),
]  # fmt: skip


async def test_no_check_of_the_conformance_suites_fails_for_a_reason_of_ours() -> None:
    try:
        outcomes = await run()
    except Unavailable as missing:
        pytest.skip(str(missing))

    checks = [check for outcome in outcomes for check in outcome.failures]
    assert [check for check in checks if check.reason == UNEXPLAINED] == []
    assert write_outcomes(outcomes) in PAGE.read_text(encoding="utf-8"), write_outcomes(outcomes)
