"""`textrawl migrate`: the schema of this version, in whatever database the settings name."""

from dataclasses import asdict
from typing import Annotated

import typer

from textrawl.archive.indexes import mend_indexes
from textrawl.commands.console import open_console, show_wait, write_json
from textrawl.commands.foreground import run_foreground
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.configuration import OWNER
from textrawl.migrations import Report
from textrawl.migrations import migrate as bring_up_to_date
from textrawl.settings import Settings, read_settings


def migrate(
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Bring the database up to date, or make it.

    DATABASE_URL needs the rights of the database's owner for this. Without DATABASE_URL it is
    the embedded Postgres, which every start brings up to date by itself.
    """
    settings = read_settings()
    with show_wait("Bringing the database up to date"):
        report = run_foreground(lambda: _migrate(settings))
    if as_json:
        write_json(asdict(report))
    else:
        open_console().print(_tell(report), soft_wrap=True)


async def _migrate(settings: Settings) -> Report:
    if settings.database_url is None:
        async with run_embedded(settings.data_dir) as cluster:
            return await bring_up_to_date(cluster.dsn(OWNER))
    conninfo = settings.database_url.get_secret_value()
    report = await bring_up_to_date(conninfo, connect_timeout=settings.database_timeout)
    await mend_indexes(conninfo)
    return report


def _tell(report: Report) -> str:
    if report.applied:
        return f"Applied {', '.join(report.applied)} and built the functions."
    return "Rebuilt the functions." if report.rebuilt else "Up to date already: nothing to do."
