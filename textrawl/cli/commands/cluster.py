"""`textrawl cluster`: the workers of a distributed memory, and the places of its spaces."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import asdict, dataclass
from typing import Annotated, TypeVar

import typer
from rich.filesize import decimal

from textrawl.cli.console import (
    confirm,
    count,
    open_console,
    show_progress,
    show_table,
    show_wait,
    write_json,
    write_message,
)
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import AsJson, LongYes, NamedSpace, argument
from textrawl.cluster.layout import Cell, CitusNode, find_shards, read_map
from textrawl.cluster.nodes import Nodes, find_nodes
from textrawl.cluster.placement import (
    CellFindings,
    ClusterSizes,
    claim_cluster,
    explain_refusals,
    find_cell,
    find_faults,
    isolate_space,
    list_spaces,
    measure_cluster,
    move_cell,
    plan_rebalance,
    repair_cells,
)
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.postgres.connection import Connection, connect, is_distributed
from textrawl.postgres.migrations import check
from textrawl.settings import Settings, read_settings

Result = TypeVar("Result")

cluster = typer.Typer(invoke_without_command=True)


@dataclass(frozen=True)
class _Cluster:
    """The nodes, and a connection to the coordinator."""

    connection: Connection
    nodes: Nodes

    async def find_space(self, name: str) -> int:
        for space, known in (await list_spaces(self.connection)).items():
            if known == name:
                return space
        raise ArgumentInvalid(
            "see `textrawl space list` for all spaces", title=f"No such space: {name}"
        )

    async def list_neighbours(self, cell: Cell, name: str) -> list[str]:
        """Return the names of the other spaces of a cell."""
        spaces = await list_spaces(self.connection)
        shards = await find_shards(self.connection, list(spaces))
        return [
            other
            for space, other in spaces.items()
            if shards[space] == cell.shard and other != name
        ]

    def find_node(self, name: str) -> CitusNode:
        for node in self.nodes.workers:
            if node.address == name:
                return node
        known = ", ".join(node.address for node in self.nodes.workers)
        raise ArgumentInvalid(f"the workers are {known}", title=f"No such worker: {name}")


@cluster.callback()
def group(context: typer.Context) -> None:
    """See the workers of a distributed memory, and move spaces between them."""
    if context.invoked_subcommand is None:
        list_nodes()


@cluster.command(name="list")
def list_nodes(as_json: AsJson = False) -> None:
    """Show the workers and the spaces with their sizes, and cells that need a repair.

    A cell holds one space or several, and moves as a whole.
    """

    async def work(opened: _Cluster) -> tuple[ClusterSizes, CellFindings]:
        sizes = await measure_cluster(opened.connection, opened.nodes)
        return sizes, await find_faults(opened.nodes, await read_map(opened.connection))

    sizes, findings = _manage(work)
    if as_json:
        faults = [
            {"cell": fault.schema, "node": fault.node.address, "fault": fault.kind}
            for fault in findings.faults
        ]
        away = [node.address for node in findings.away]
        write_json({**asdict(sizes), "faults": faults, "away": away})
        return
    _show_sizes(sizes)
    for fault in findings.faults:
        write_message(f"{fault.schema} is {fault.kind} on {fault.node.address}.")
    if findings.faults:
        write_message("A move was interrupted: `textrawl migrate --distributed` repairs cells.")
    _show_away(findings)


@cluster.command()
def move(
    space: NamedSpace,
    node: Annotated[str, argument("HOST:PORT", "The worker; see `textrawl cluster list`.")],
    yes: LongYes = False,
) -> None:
    """Move a space to another worker while it is read and written.

    The other spaces of its cell go along. `textrawl cluster isolate` gives a space its own cell.
    """

    async def plan(opened: _Cluster) -> tuple[Cell, CitusNode, list[str]]:
        target = opened.find_node(node)
        cells = await read_map(opened.connection)
        cell = await find_cell(opened.connection, cells, await opened.find_space(space))
        return cell, target, await opened.list_neighbours(cell, space)

    cell, target, others = _manage(plan)
    if cell.node == target:
        write_message(f"{space} is on {node} already.")
        _report_repairs(_manage(_repair, wait="Comparing cells"))
        return
    along = f" with {count(len(others), 'other space')} ({', '.join(others)})" if others else ""
    if not yes:
        confirm(f"Move {space}{along} from {cell.node.address} to {node}?", "moved")

    async def work(opened: _Cluster) -> None:
        async with claim_cluster(opened.connection):
            await repair_cells(opened.connection, opened.nodes)
            await move_cell(opened.connection, opened.nodes, cell, target)

    _manage(work, wait=f"Moving {space} to {node}")
    write_message(f"{space}{along} is on {node} now.")


@cluster.command()
def isolate(space: NamedSpace, yes: LongYes = False) -> None:
    """Give a large space a cell of its own, so that it can move without others.

    Writes to all spaces of its cell wait meanwhile.
    """
    if not yes:
        confirm(f"Let writes wait until {space} has its own cell?", "isolated")

    async def work(opened: _Cluster) -> Cell | None:
        number = await opened.find_space(space)
        async with claim_cluster(opened.connection):
            await repair_cells(opened.connection, opened.nodes)
            return await isolate_space(opened.connection, opened.nodes, number)

    cell = _manage(work, wait=f"Isolating {space}")
    if cell is None:
        write_message(f"{space} has its own cell already.")
    else:
        write_message(f"{space} has the cell {cell.shard} on {cell.node.address} now.")


@cluster.command()
def rebalance(yes: LongYes = False) -> None:
    """Move cells until the workers have about the same sizes. Spaces stay in use meanwhile."""
    _report_repairs(_manage(_repair, wait="Comparing cells"))
    moves = _manage(lambda opened: plan_rebalance(opened.connection), wait="Comparing sizes")
    if not moves:
        write_message("The workers are balanced: nothing to move.")
        return
    if not yes:
        confirm(f"Move {count(len(moves), 'cell')}?", "moved")

    async def work(opened: _Cluster) -> int:
        async with claim_cluster(opened.connection):
            await repair_cells(opened.connection, opened.nodes)
            with show_progress("Moving cells", len(moves)) as report:
                for done, planned in enumerate(moves):
                    report(done)
                    cell = (await read_map(opened.connection)).find_cell(planned.shard)
                    target = opened.find_node(f"{planned.host}:{planned.port}")
                    if cell is not None and cell.node != target:
                        await move_cell(opened.connection, opened.nodes, cell, target)
        return len(moves)

    write_message(f"Moved {count(_manage(work, wait=None), 'cell')}.")


def _manage(
    work: Callable[[_Cluster], Awaitable[Result]], *, wait: str | None = "Asking the cluster"
) -> Result:
    settings = read_settings()

    async def run() -> Result:
        async with _open(settings) as opened:
            with explain_refusals():
                return await work(opened)

    with show_wait(wait) if wait else nullcontext():
        return run_foreground(run)


@asynccontextmanager
async def _open(settings: Settings) -> AsyncGenerator[_Cluster]:
    if settings.database_url is None:
        raise StartRefused(
            "The embedded Postgres is one server: a cluster needs TEXTRAWL_DATABASE_URL"
        )
    conninfo = settings.database_url.get_secret_value()
    timeout = settings.database_timeout
    async with await connect(conninfo, timeout) as connection:
        if not await is_distributed(connection):
            raise StartRefused(
                "The memory of this database is not distributed: `textrawl migrate --distributed` "
                "makes a distributed memory in an empty database"
            )
        nodes = await find_nodes(conninfo)
        await check(conninfo, connect_timeout=timeout, serving=False)
        yield _Cluster(connection, nodes)


async def _repair(opened: _Cluster) -> CellFindings:
    async with claim_cluster(opened.connection):
        return await repair_cells(opened.connection, opened.nodes)


def _report_repairs(findings: CellFindings) -> None:
    if findings.faults:
        write_message(f"Repaired {count(len(findings.faults), 'cell')}.")
    _show_away(findings)


def _show_sizes(sizes: ClusterSizes) -> None:
    console = open_console()
    nodes = [
        (row.node, str(row.cells), str(row.spaces), _number(row.facts), _size(row.bytes))
        for row in sizes.nodes
    ]
    show_table(("worker", "cells", "spaces", "facts", "size"), nodes)
    console.print()
    spaces = [
        (row.space, row.node, str(row.cell), _number(row.facts), _size(row.cell_bytes))
        for row in sizes.spaces
    ]
    show_table(("space", "worker", "cell", "facts", "size of cell"), spaces)


def _show_away(findings: CellFindings) -> None:
    for node in findings.away:
        write_message(f"{node.address} does not answer: start it to use its spaces.")


def _number(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _size(size: int | None) -> str:
    return "unknown" if size is None else decimal(size)
