"""What `textrawl doctor`, /readyz and /metrics say about a standby."""

import json
from typing import Any

import httpx2
import pytest
from anyio import to_thread
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.cli.test_serve import read_address
from tests.conftest import TOKEN
from tests.support.commands import Launch, launch
from tests.support.replicas import Pair

__all__ = ["launch"]

pytestmark = pytest.mark.anyio


def find_verdict(report: str) -> tuple[str, str]:
    """The verdict and the message of the finding about the standby."""
    [finding] = [one for one in json.loads(report)["findings"] if one["name"] == "standby"]
    return finding["verdict"], finding["told"]


@pytest.mark.slow
async def test_the_doctor_names_both_servers_and_the_lag(pair: Pair, launch: Launch) -> None:
    async def diagnose(url: str) -> tuple[str, str]:
        urls = {"DATABASE_URL": pair.primary.dsn(), "DATABASE_READ_URL": url}
        process = launch("doctor", "--json", ACCESS_TOKEN=TOKEN, **urls)
        return find_verdict((await to_thread.run_sync(process.end)).out)

    verdict, message = await diagnose(pair.standby.dsn())
    assert verdict == "ok"
    assert all(node.address[0] in message for node in (pair.primary, pair.standby))
    assert message.endswith(" ms")
    verdict, message = await diagnose(pair.primary.dsn())
    assert (verdict, "not a standby" in message) == ("note", True)
    verdict, message = await diagnose("host=127.0.0.1 port=1 dbname=textrawl")
    assert (verdict, message.endswith("The primary answers all calls")) == ("note", True)


async def test_probes_say_whether_the_standby_is_used(pair: Pair, launch: Launch) -> None:
    urls = {"DATABASE_URL": pair.primary.dsn(), "DATABASE_READ_URL": pair.standby.dsn()}
    process = launch("serve", "--http", "--port", "0", "--insecure", ACCESS_TOKEN=TOKEN, **urls)
    root = (await to_thread.run_sync(read_address, process)).removesuffix("/mcp")
    answer: dict[str, Any] = {}
    async with httpx2.AsyncClient() as http:
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.1)):
            with attempt:
                answer = (await http.get(f"{root}/readyz")).json()
                assert answer["standby"] == "used"
        assert answer["status"] == "ready"
        assert 0 <= answer["lag_seconds"] < 5
        metrics = (await http.get(f"{root}/metrics")).text
    names = ("standby_used 1.0", "standby_lag_seconds ", "standby_reads ", "primary_reads ")
    assert [name for name in names if f"\ntextrawl_{name}" not in metrics] == []
