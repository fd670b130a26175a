"""A primary that dies: clients continue on the promoted standby, and nothing is lost."""

import logging
import time
from datetime import timedelta

import anyio
import psycopg
import pytest
from mcp.types import CallToolResult

from tests.replicas.conftest import Guest, Visit
from tests.support.clock import set_back
from tests.support.replicas import Pair
from tests.support.tool_calls import read_error, remember, text_of
from textrawl.embedded.postmaster import OWNER, SUPERUSER

_log = logging.getLogger(__name__)

pytestmark = pytest.mark.anyio

_LONG = [pytest.mark.slow, pytest.mark.timeout(1500)]
_AFTERWARDS = 100  # writes on the promoted standby


class Writers:
    """Clients that store facts one after the other, and remember which were acknowledged."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self.acknowledged: list[str] = []
        self.errors: list[str] = []
        self.longest = 0.0
        self._enough = anyio.Event()
        self._wanted = 0
        self._ended = False

    async def write(self, name: str) -> None:
        number = 0
        while not self._ended:
            number += 1
            fact = f"{name} has the number{number}"
            began = time.monotonic()
            answer: CallToolResult = await self._guest.client.call_tool(
                "remember_fact",
                {"entityName": name, "entityType": "person", "observation": fact},
            )
            self.longest = max(self.longest, time.monotonic() - began)
            if answer.is_error:
                self.errors.append(text_of(answer))
            else:
                self.acknowledged.append(fact)
            if len(self.acknowledged) >= self._wanted:
                self._enough.set()

    async def wait_for(self, count: int) -> None:
        self._wanted, self._enough = len(self.acknowledged) + count, anyio.Event()
        await self._enough.wait()

    def end(self) -> None:
        self._ended = True


def find_lost(conninfo: str, acknowledged: list[str]) -> set[str]:
    """Acknowledged facts that are not stored exactly once."""
    with psycopg.connect(conninfo) as connection:
        rows = connection.execute("select content from textrawl.observation").fetchall()
    stored = [str(content) for (content,) in rows]
    assert len(stored) == len(set(stored))
    return set(acknowledged) - set(stored)


async def outlive(pair: Pair, guest: Guest, count: int) -> Writers:
    """Kill the primary after `count` acknowledged writes, promote the standby, and write on."""
    writers = Writers(guest)
    async with anyio.create_task_group() as group:
        for name in ("Ada", "Ben", "Cleo", "Dan"):
            group.start_soon(writers.write, name)
        await writers.wait_for(count)
        await pair.primary.kill()
        pair.standby.promote()
        await writers.wait_for(_AFTERWARDS)
        writers.end()
    return writers


async def test_a_former_primary_that_comes_back_gets_no_writes(
    doomed_pair: Pair, visit: Visit
) -> None:
    """It is the first host in DATABASE_URL, so libpq connects to it."""
    pair = doomed_pair
    async with visit(pair, database_url=pair.both(), database_timeout=4) as guest:
        await remember(guest.client, "Ada", "plays the theremin")
        await pair.primary.kill()
        pair.standby.promote()
        await remember(guest.client, "Ada", "plays the kazoo")
        await pair.primary.start()
        pair.standby.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'textrawl_app'"
        )
        fact = {"entityName": "Ada", "entityType": "person", "observation": "plays the marimba"}
        title, _ = read_error(await guest.client.call_tool("remember_fact", fact))
        assert title == "Database unavailable"
        await pair.primary.kill()
        await remember(guest.client, "Ada", "plays the oboe")
    kept = ["plays the kazoo", "plays the oboe"]
    assert find_lost(pair.standby.dsn(SUPERUSER), kept) == set()


@pytest.mark.slow
async def test_a_promoted_standby_whose_clock_is_behind_revives_nothing_that_was_ended(
    doomed_pair: Pair, visit: Visit
) -> None:
    pair = doomed_pair
    pair.make_synchronous()
    relation = {"fromEntity": "Ada", "relation": "lives in", "toEntity": "Oulu"}
    async with visit(pair, database_url=pair.both(), embedding_provider="none") as guest:
        await remember(guest.client, "Ada", "plays the theremin")
        await remember(guest.client, "Ada", "plays the kazoo", replaces="plays the theremin")
        for ended in (False, True):
            await guest.client.call_tool("relate_entities", {**relation, "ended": ended})
        await pair.primary.kill()
        pair.standby.promote()
        with psycopg.connect(pair.standby.dsn(OWNER), autocommit=True) as owner:
            set_back(owner, timedelta(days=365))

        question = {"mode": "entity", "entityName": "Ada"}
        before = text_of(await guest.client.call_tool("query_memory", question))
        await remember(guest.client, "Ada", "plays the oboe", replaces="plays the kazoo")
        after = text_of(await guest.client.call_tool("query_memory", question))

    words = ("theremin", "Oulu", "kazoo", "oboe")
    assert [word for word in words if word in before] == ["kazoo"]
    assert [word for word in words if word in after] == ["oboe"]


@pytest.mark.parametrize(
    "count",
    [
        100,
        pytest.param(1_000, marks=_LONG),
        pytest.param(5_000, marks=[pytest.mark.release, *_LONG]),
    ],
)
async def test_writers_continue_on_the_promoted_standby_and_no_acknowledged_fact_is_lost(
    doomed_pair: Pair, visit: Visit, count: int
) -> None:
    pair = doomed_pair
    pair.make_synchronous()
    urls = {"database_url": pair.both(), "database_read_url": pair.both("standby")}
    async with visit(pair, **urls, embedding_provider="none") as guest:
        await guest.wait_for_standby()
        writers = await outlive(pair, guest, count)
        answer = await guest.client.call_tool(
            "query_memory", {"query": "number7", "entityName": "Ada"}
        )
        assert "number7" in text_of(answer)
    _log.info("%d writes, longest %.2f s", len(writers.acknowledged), writers.longest)
    assert writers.errors == []
    assert writers.longest < 10
    assert find_lost(pair.standby.dsn("postgres"), writers.acknowledged) == set()
