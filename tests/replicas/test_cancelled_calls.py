"""Calls that are cancelled at any moment leave no connection behind, and no answer for others."""

import random
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
import psycopg
import pytest

from tests.support.replicas import Pair, probe_both
from textrawl.embedded.postmaster import OWNER
from textrawl.postgres.database import Database

pytestmark = pytest.mark.anyio

_ROUNDS = 1000


@dataclass(frozen=True)
class Read:
    echo_read: int


@dataclass(frozen=True)
class Written:
    echo_write: int


@contextmanager
def add_echoes(pair: Pair) -> Generator[None]:
    """Add a read and a write that answer a number after a moment."""
    with psycopg.connect(pair.primary.dsn(OWNER), autocommit=True) as owner:
        for name, kind in (("echo_read", "stable"), ("echo_write", "volatile")):
            owner.execute(
                f"create function textrawl.{name}(number integer) returns integer {kind} begin"
                " atomic select pg_sleep(0.002 * (number % 3)); select number; end".encode()
            )
        try:
            yield
        finally:
            owner.execute("drop function textrawl.echo_read, textrawl.echo_write")


async def check(pool: Database, number: int) -> None:
    """Fail if a call gets the answer of another call."""
    assert await pool.call("echo_write", Written, number=number) == [Written(number)]
    assert await pool.call("echo_read", Read, number=number) == [Read(number)]


@pytest.mark.slow
# psycopg drops the generator that ends a pipeline, and closes the connection.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("with_standby", [False, True])
async def test_calls_that_are_cancelled_at_any_moment_cost_no_connection_and_mix_no_answers(
    pair: Pair, *, with_standby: bool
) -> None:
    dice = random.Random(7)  # noqa: S311 - not a secret
    read_url = pair.standby.dsn() if with_standby else None
    with add_echoes(pair):
        pool = Database(pair.primary.dsn(), timeout=20, max_size=2, read_url=read_url)
        await pool.open()
        try:
            if with_standby:
                await probe_both(pool)
            async with anyio.create_task_group() as group:
                for number in range(_ROUNDS):
                    group.start_soon(run_for, pool, number, dice.expovariate(100))
                    if number % 10 == 0:
                        await check(pool, -number)
            async with anyio.create_task_group() as group:
                for number in range(20):
                    group.start_soon(check, pool, number)
            async with pool.lend(), pool.lend():  # both are still there
                pass
        finally:
            await pool.close()


async def run_for(pool: Database, number: int, seconds: float) -> None:
    """Check until cancelled."""
    with anyio.move_on_after(seconds):
        await check(pool, number)
