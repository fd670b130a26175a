"""`textrawl stats`: contents, growth and costs of a memory."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from textrawl.cli.console import open_console, show_wait, write_json, write_message
from textrawl.cli.database_access import require_memory
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import SpaceName
from textrawl.cli.memory_session import find_reading, read_space_settings
from textrawl.cli.statistics_report import Report, draw_report
from textrawl.distribution.opening import open_connection
from textrawl.errors import StartRefused
from textrawl.settings import Settings
from textrawl.store.opening import open_database
from textrawl.store.report import ReportRow
from textrawl.store.rows import StatisticsRow

_LONGEST = 60.0  # seconds that the counting of a large memory can take


def stats(
    days: Annotated[int, typer.Option(min=1, max=3660, help="How many days to look back.")] = 90,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write an HTML page with charts to FILE. The page loads no other file.",
        ),
    ] = None,
    space: SpaceName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show what the memory holds, how it grows, and what answers cost.

    It also shows the slowest answers, stale facts, and questions without an answer. Questions are
    shown as text only if TEXTRAWL_RECORD_RECALLS=text stored them.
    """
    settings = read_space_settings(space)
    with show_wait("Counting"):
        report = run_foreground(lambda: _count(settings, days))
    if html is not None:
        _save(html, _write_page(report))
    if as_json:
        write_json({**asdict(report.holdings), "days": days, **asdict(report.recent)})
    elif html is None:
        draw_report(open_console(), report)


async def _count(settings: Settings, days: int) -> Report:
    require_memory(settings)
    timeout = max(settings.database_timeout, _LONGEST)
    async with (
        open_database(settings) as site,
        open_connection(site.conninfo, timeout=timeout) as database,
    ):
        reading = await find_reading(database, site.credential, settings)
        [row] = await database.call("memory_statistics", StatisticsRow, **reading)
        [recent] = await database.call("memory_report", ReportRow, days=days, **reading)
    return Report(row, recent, days)


def _write_page(report: Report) -> str:
    # These modules take half a second, and only pages need them.
    from textrawl.explorer.numbers import Numbers  # noqa: PLC0415
    from textrawl.explorer.statistics_page import write_page  # noqa: PLC0415

    return write_page(Numbers(report.holdings, report.recent), report.days)


def _save(file: Path, page: str) -> None:
    try:
        # The page has questions and facts, so only its owner can read it, even if FILE existed.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as out:  # noqa: PTH123 - a descriptor has no path
            os.fchmod(descriptor, 0o600)
            out.write(page)
    except OSError as error:
        raise StartRefused(
            f"{file} cannot be written: {error.strerror}. Name another file"
        ) from error
    write_message(f"Wrote {file}.")
