"""Turns and lines: nobody waits for all that one person or one session asks for."""

import threading

import anyio
import pytest

from textrawl.scheduling import turns
from textrawl.scheduling.lines import Lines, wait_in_line
from textrawl.scheduling.turns import keep_account
from textrawl.scheduling.workers import run_aside

pytestmark = pytest.mark.anyio


async def test_one_persons_long_jobs_do_not_come_before_everyone_elses() -> None:
    gate, done = threading.Event(), list[str]()

    async def ask(name: str) -> None:
        def work() -> None:
            gate.wait(60)
            done.append(name)

        with keep_account(name):
            await run_aside(work)

    async with anyio.create_task_group() as together:
        for name in [*["ada"] * 5, "ben"]:
            together.start_soon(ask, name)
        await anyio.wait_all_tasks_blocked()
        gate.set()

    assert done == ["ada", "ben", *["ada"] * 4]


async def test_a_tool_call_waits_in_its_line_once_however_often_it_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = Lines()

    async def hold(task_status: anyio.abc.TaskStatus[None]) -> None:
        with lines.join("session"):
            task_status.started()
            await anyio.sleep_forever()

    async with anyio.create_task_group() as beside:
        await beside.start(hold)
        with lines.join("session"), anyio.fail_after(30):
            monkeypatch.setattr(turns, "_PATIENCE", 0.01)
            await wait_in_line()
            monkeypatch.setattr(turns, "_PATIENCE", 3600)
            await wait_in_line()
        beside.cancel_scope.cancel()
