"""Faults of a cluster while clients use it: servers that are killed, and cells that move."""

import logging
import os
import random
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import to_thread

from tests.cluster.chaos.clients import Ledger
from tests.support.cluster import ClusterMemory, ClusterNode
from textrawl.cluster.layout import Cell
from textrawl.embedded.postmaster import SUPERUSER

_log = logging.getLogger(__name__)

PROGRAM = Path(sys.executable).parent / "textrawl"
_ENOUGH = 3  # errors of clients until a server is started again
_LONGEST_WAIT = 60  # seconds until a move has come to the point at which it is interrupted

_MOVING = """
    select exists (select from pg_stat_activity
        where query like '%citus_move_shard_placement(%' and pid <> pg_backend_pid()
          and state = 'active' and datname = current_database())"""


@dataclass(frozen=True)
class Plan:
    """The number of each fault, and the least number of acknowledged writes."""

    worker_kills: int
    interrupted_moves: int  # of these kills
    coordinator_kills: int
    moves: int
    isolations: int
    writes: int


@dataclass
class Outcome:
    """What the faults took."""

    recoveries: list[float] = field(default_factory=list[float])  # seconds after each start
    moved: int = 0
    interrupted: list[str] = field(default_factory=list[str])  # what the command said


class Attack:
    """Kills servers and moves cells. `spaces` are the names of the spaces by their ids."""

    def __init__(self, memory: ClusterMemory, spaces: dict[int, str], ledger: Ledger) -> None:
        self._memory, self._spaces, self._ledger = memory, spaces, ledger
        self._dice = random.Random(7)  # noqa: S311 - the same faults in every run
        self.outcome = Outcome()

    async def run(self, plan: Plan) -> None:
        """Cause all faults of the plan, mixed."""
        self._begin("the start of servers", set(self._spaces.values()))
        await self._end()
        faults: list[Callable[[int], Awaitable[None]]] = [
            *[self._kill_worker] * (plan.worker_kills - plan.interrupted_moves),
            *[self._interrupt_move] * plan.interrupted_moves,
            *[self._kill_coordinator] * plan.coordinator_kills,
            *[self._move] * plan.moves,
            *[self._isolate] * plan.isolations,
        ]
        self._dice.shuffle(faults)
        for number, fault in enumerate((*faults, self._rebalance)):
            await fault(number)
        self._ledger.phase = "load"
        await self._ledger.wait_for_writes(plan.writes)

    async def _kill_worker(self, number: int) -> None:
        victim = self._memory.cluster.workers[number % 2]
        self._begin("a worker away", await self._find_spaces(victim))
        await to_thread.run_sync(victim.kill)
        await self._ledger.wait_for_errors(_ENOUGH)
        await self._wait_for_others()
        await self._revive(victim)

    async def _kill_coordinator(self, _: int) -> None:
        self._begin("the coordinator away", set(self._spaces.values()))
        victim = self._memory.cluster.coordinator
        await to_thread.run_sync(victim.kill)
        await self._ledger.wait_for_errors(_ENOUGH)
        await self._revive(victim)

    async def _move(self, _: int) -> None:
        self._begin("a move", set())
        cell, target = await self._choose_move()
        done = await self.run_command(*self._write_move(cell, target))
        assert done.returncode == 0, done.stderr
        self.outcome.moved += 1
        await self._wait_for_others()

    async def _isolate(self, _: int) -> None:
        """Writes to the cell wait meanwhile, some for too long."""
        cells = await self._find_cells()
        space, cell = self._dice.choice(sorted(cells.items(), key=lambda item: item[0]))
        self._begin("isolate", {name for name, other in cells.items() if other == cell})
        done = await self.run_command("cluster", "isolate", space, "--yes")
        assert done.returncode == 0, done.stderr
        await self._end()

    async def _rebalance(self, _: int) -> None:
        self._begin("rebalance", set())
        done = await self.run_command("cluster", "rebalance", "--yes")
        assert done.returncode == 0, done.stderr
        await self._wait_for_others()

    async def _interrupt_move(self, number: int) -> None:
        """Kill the source or the target at one of three points of a move."""
        cell, target = await self._choose_move()
        victim = [self._memory.cluster.find_node(cell.node), target][number % 2]
        cells = await self._find_cells()
        of_cell = {name for name, other in cells.items() if other == cell}
        self._begin("an interrupted move", of_cell | await self._find_spaces(victim))
        point = [self._has_begun, self._is_copied, self._is_switched][number // 2 % 3]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run_interrupted, cell, target)
            with anyio.move_on_after(_LONGEST_WAIT):
                while not await to_thread.run_sync(point, cell, target):  # noqa: ASYNC110 - Citus
                    await anyio.sleep(0.01)
            await to_thread.run_sync(victim.kill)
        await self._wait_for_others()
        await to_thread.run_sync(victim.start)
        done = await self.run_command("cluster", "rebalance", "--yes")
        assert done.returncode == 0, done.stderr
        await self._end()

    async def _run_interrupted(self, cell: Cell, target: ClusterNode) -> None:
        done = await self.run_command(*self._write_move(cell, target))
        lines = done.stderr.decode().strip().splitlines() or ["moved"]
        self.outcome.interrupted.append(f"{done.returncode} {lines[-1]}")

    def _has_begun(self, _: Cell, __: ClusterNode) -> bool:
        with self._memory.open(SUPERUSER) as session:
            return session.execute(_MOVING).fetchall() == [(True,)]

    def _is_copied(self, cell: Cell, target: ClusterNode) -> bool:
        with self._memory.open(SUPERUSER, target) as session:
            query = "select to_regclass(%s) is not null"
            name = f"textrawl_content.entity_{cell.shard}"
            return session.execute(query, (name,)).fetchall() == [(True,)]

    def _is_switched(self, cell: Cell, target: ClusterNode) -> bool:
        return self._memory.cells[cell.shard].node.port == target.port

    async def run_command(self, *words: str) -> "subprocess.CompletedProcess[bytes]":
        """Run textrawl as an administrator."""
        url = {"TEXTRAWL_DATABASE_URL": self._memory.dsn(SUPERUSER)}
        return await anyio.run_process([PROGRAM, *words], env=os.environ | url, check=False)

    def _begin(self, phase: str, excused: set[str]) -> None:
        _log.info("%s: %s", phase, sorted(excused))
        self._ledger.phase = phase
        self._ledger.excused |= excused

    async def _revive(self, victim: ClusterNode) -> None:
        await to_thread.run_sync(victim.start)
        await self._end()

    async def _end(self) -> None:
        """Wait until all spaces work again; from then on no call may fail."""
        took = await self._ledger.wait_for_success(set(self._spaces.values()))
        self.outcome.recoveries.append(took)
        self._ledger.excused.clear()

    async def _wait_for_others(self) -> None:
        """Wait until all spaces that must work have answered."""
        others = set(self._spaces.values()) - self._ledger.excused
        await self._ledger.wait_for_success(others)

    async def _find_cells(self) -> dict[str, Cell]:
        cells = await to_thread.run_sync(self._memory.find_cells, sorted(self._spaces))
        return {self._spaces[space]: cell for space, cell in cells.items()}

    async def _find_spaces(self, node: ClusterNode) -> set[str]:
        cells = await self._find_cells()
        return {name for name, cell in cells.items() if cell.node.port == node.port}

    async def _choose_move(self) -> tuple[Cell, ClusterNode]:
        """A cell with spaces, and the worker that does not have it."""
        cells = await self._find_cells()
        cell = cells[self._dice.choice(sorted(cells))]
        [target] = [one for one in self._memory.cluster.workers if one.port != cell.node.port]
        return cell, target

    def _write_move(self, cell: Cell, target: ClusterNode) -> list[str]:
        [space, *_] = [
            name
            for number, name in self._spaces.items()
            if self._memory.find_cells([number])[number] == cell
        ]
        return ["cluster", "move", space, f"{target.host}:{target.port}", "--yes"]
