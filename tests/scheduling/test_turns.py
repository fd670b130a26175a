"""Turns and lines: nobody waits for all that one person or one session asks for."""

import threading

import anyio
import pytest

from textrawl import scheduling
from textrawl.scheduling import WriteOrder, account, run_aside, wait_for_earlier_writes

pytestmark = pytest.mark.anyio


async def test_one_persons_long_jobs_do_not_come_before_everyone_elses() -> None:
    gate, done = threading.Event(), list[str]()

    async def ask(name: str) -> None:
        def work() -> None:
            gate.wait(60)
            done.append(name)

        account.set(name)
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
    lines = WriteOrder()

    async def hold(task_status: anyio.abc.TaskStatus[None]) -> None:
        with lines.join("session"):
            task_status.started()
            await anyio.sleep_forever()

    async with anyio.create_task_group() as beside:
        await beside.start(hold)
        with lines.join("session"), anyio.fail_after(30):
            monkeypatch.setattr(scheduling, "_LONGEST_WAIT", 0.01)
            await wait_for_earlier_writes()
            monkeypatch.setattr(scheduling, "_LONGEST_WAIT", 3600)
            await wait_for_earlier_writes()
        beside.cancel_scope.cancel()
