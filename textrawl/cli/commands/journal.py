"""`textrawl journal`: the consolidation of the journal, for example from cron."""

from dataclasses import asdict
from typing import Annotated

import typer

from textrawl.cli.console import count, open_console, write_cell, write_json, write_message
from textrawl.cli.inputs import AsJson, WrittenSpace, argument, option
from textrawl.cli.memory_session import change_memory, read_memory
from textrawl.errors import LlmNotConfigured
from textrawl.memory.commands import Session
from textrawl.memory.journal import (
    GRANULARITIES,
    Outcome,
    PeriodOperations,
    PeriodRow,
)
from textrawl.values.choice import join_choices

journal = typer.Typer(no_args_is_help=True)


@journal.callback()
def _group() -> None:
    """Consolidate the journal."""


def _read_granularity(text: str) -> str:
    if text not in GRANULARITIES:
        raise typer.BadParameter(f"use {join_choices(GRANULARITIES)}")
    return text


@journal.command()
def consolidate(
    granularity: Annotated[
        str | None,
        argument(
            "[GRANULARITY]",
            "weekly, monthly or yearly; default: all three, in this order.",
            _read_granularity,
        ),
    ] = None,
    date: Annotated[
        str | None, option("DATE", "Only this period, or the one with this day.")
    ] = None,
    dry_run: Annotated[
        bool, option("--dry-run", "Show the periods that are due, and store nothing.")
    ] = False,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Sum up every week, month and year that is over and has no entry yet.

    The LLM of TEXTRAWL_LLM_PROVIDER writes the new entries. The former entries stay. If a period
    fails, the exit code is 1, and the next run tries it again.
    """
    if date is not None and granularity is None:
        raise typer.BadParameter("give a granularity too", param_hint="--date")
    chosen = GRANULARITIES if granularity is None else (granularity,)
    if dry_run:
        _show_plan(_plan(chosen, date, space), as_json=as_json)
        return
    outcomes = _consolidate(chosen, date, space)
    _show(outcomes, as_json=as_json)
    if any(outcome.error for outcome in outcomes):
        raise typer.Exit(1)


def _plan(
    granularities: tuple[str, ...], date: str | None, space: str | None
) -> list[tuple[str, PeriodRow]]:
    async def work(session: Session) -> list[tuple[str, PeriodRow]]:
        operations = PeriodOperations(session)
        return [
            (granularity, row)
            for granularity in granularities
            for row in await operations.plan(granularity, date, every=date is None)
        ]

    return read_memory("textrawl journal consolidate", space, work)


def _consolidate(
    granularities: tuple[str, ...], date: str | None, space: str | None
) -> list[Outcome]:
    async def work(session: Session) -> list[Outcome]:
        if session.store.llm is None:
            raise LlmNotConfigured
        session.caller.principal.require("write")
        operations = PeriodOperations(session)
        return [
            outcome
            for granularity in granularities
            for outcome in await operations.consolidate(granularity, date, every=date is None)
        ]

    return change_memory("textrawl journal consolidate", space, work)


def _show_plan(plan: list[tuple[str, PeriodRow]], *, as_json: bool) -> None:
    if as_json:
        write_json([{"granularity": granularity} | asdict(row) for granularity, row in plan])
        return
    console = open_console()
    for granularity, row in plan:
        entries = f"{row.sources} entries" if row.sources != 1 else "1 entry"
        console.print(write_cell(f"{granularity} {row.period}: {row.state}, {entries}"))
    write_message(f"{count(sum(row.state == 'due' for _, row in plan), 'period')} to consolidate.")


def _show(outcomes: list[Outcome], *, as_json: bool) -> None:
    if as_json:
        write_json(
            [
                {
                    "granularity": outcome.period.granularity,
                    "period": outcome.period.name,
                    "success": outcome.error is None,
                    "error": outcome.error,
                }
                for outcome in outcomes
            ]
        )
        return
    console = open_console()
    for outcome in outcomes:
        name = f"{outcome.period.granularity} {outcome.period.name}"
        console.print(write_cell(f"{name}: {outcome.error or 'consolidated'}"), soft_wrap=True)
    stored = sum(outcome.error is None for outcome in outcomes)
    write_message(f"Consolidated {count(stored, 'period')}.")
