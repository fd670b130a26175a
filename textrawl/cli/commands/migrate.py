"""`textrawl migrate`: the schema of this version, in the database that the settings name."""

import sys
from typing import Annotated

from textrawl.cli.console import open_console, open_progress, show_wait, write_json
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import AsJson, option
from textrawl.cluster.migration import migrate_distributed
from textrawl.cluster.nodes import enable_login_on_nodes
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.environment import read_sources
from textrawl.errors import StartRefused
from textrawl.host.entrance import choose_host
from textrawl.host.running import end_running
from textrawl.memory.opening import name_memory
from textrawl.postgres.migrations import MigrationReport, enable_login
from textrawl.postgres.migrations import migrate as bring_up_to_date
from textrawl.postgres.vector_indexes import build_missing_indexes
from textrawl.settings import Settings, read_settings

_CELLS = option(
    "--cells",
    "With --distributed: parts of a new memory that can move to another node (default 32).",
    min=1,
    max=1024,
)


def migrate(
    login: Annotated[
        bool,
        option(
            "--login",
            "Also give the servers' login a password, and write their TEXTRAWL_DATABASE_URL.",
        ),
    ] = False,
    distributed: Annotated[
        bool, option("--distributed", "Distribute the spaces over a Citus cluster.")
    ] = False,
    cells: Annotated[int | None, _CELLS] = None,
    as_json: AsJson = False,
) -> None:
    """Create the database schema, or bring it up to date.

    TEXTRAWL_DATABASE_URL needs the rights of the database's owner. The embedded Postgres, used
    without TEXTRAWL_DATABASE_URL, is also migrated at each start of a server. Existing roles keep
    their passwords and rights. Hosts on this machine end first, and start when they are needed.
    """
    settings = read_settings()
    if settings.database_url is None and (login or distributed):
        raise StartRefused(
            "The embedded Postgres is one server without passwords: set TEXTRAWL_DATABASE_URL"
        )
    folder = choose_host(read_sources()).folder
    end_running(folder, name_memory(settings), beside_servers=True)
    with show_wait("Bringing the database up to date"):
        report = run_foreground(lambda: _migrate(settings, distributed=distributed, cells=cells))
    if as_json:
        write_json(report)
    else:
        done = "Rebuilt the functions." if report.rebuilt else "Up to date already: nothing to do."
        if report.applied:
            done = f"Applied {', '.join(report.applied)} and built the functions."
        (open_progress() if login else open_console()).print(done, soft_wrap=True)
    if login and settings.database_url is not None:
        conninfo, timeout = settings.database_url.get_secret_value(), settings.database_timeout
        enable = enable_login_on_nodes if distributed else enable_login
        url = run_foreground(lambda: enable(conninfo, connect_timeout=timeout))
        sys.stdout.write(f"{url}\n")


async def _migrate(settings: Settings, *, distributed: bool, cells: int | None) -> MigrationReport:
    if settings.database_url is None:
        async with run_embedded(settings.data_dir) as cluster:
            return await bring_up_to_date(cluster.dsn(OWNER), thorough=True)
    conninfo = settings.database_url.get_secret_value()
    if distributed:
        return await migrate_distributed(conninfo, cells=cells)
    report = await bring_up_to_date(
        conninfo, connect_timeout=settings.database_timeout, thorough=True
    )
    await build_missing_indexes(conninfo)
    return report
