"""`textrawl stats`: what a memory holds, how it grows, and what its answers cost."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from textrawl.commands.administration import tell
from textrawl.commands.console import open_console, show_wait, write_json
from textrawl.commands.foreground import run_foreground
from textrawl.commands.inspection import require_memory
from textrawl.commands.page import require_plots, write_page
from textrawl.commands.report import Report, ReportRow, draw_report
from textrawl.database import Database
from textrawl.errors import StartRefused
from textrawl.opening import open_database
from textrawl.rows import StatisticsRow
from textrawl.settings import Settings, read_settings

_LONGEST = 60.0  # seconds that counting a large memory may take


def stats(
    days: Annotated[int, typer.Option(min=1, max=3660, help="How far back it looks.")] = 90,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page with plots, which needs no other file."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show what the memory holds, how it grows, what answers cost, and what is missing or stale.

    Questions are shown where RECORD_RECALLS=text keeps them, else their hashes.
    """
    if html is not None:
        require_plots()
    settings = read_settings()
    with show_wait("Counting"):
        report = run_foreground(lambda: _count(settings, days))
    if html is not None:
        _save(html, write_page(report))
    if as_json:
        write_json({**asdict(report.holdings), "days": days, **asdict(report.told)})
    elif html is None:
        draw_report(open_console(), report)


async def _count(settings: Settings, days: int) -> Report:
    await require_memory(settings)
    async with open_database(settings) as site:
        timeout = max(settings.database_timeout, _LONGEST)
        database = Database(site.conninfo, timeout=timeout, max_size=1)
        await database.open()
        try:
            [row] = await database.call(
                "memory_statistics", StatisticsRow, credential=site.credential
            )
            [told] = await database.call(
                "memory_report", ReportRow, days=days, credential=site.credential
            )
        finally:
            await database.close()
    return Report(row, told, days)


def _save(file: Path, page: str) -> None:
    try:
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise StartRefused(
            f"{file} cannot be written: {error.strerror}. Name another file"
        ) from error
    tell(f"Wrote {file}.")
