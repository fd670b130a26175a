"""`textrawl upgrade`: data of an older embedded Postgres, moved to the current version."""

import shlex
from typing import Annotated

import typer

from textrawl.cli.console import open_console, open_progress, show_wait, write_json
from textrawl.cli.foreground import run_foreground
from textrawl.embedded.cluster import Cluster
from textrawl.embedded.postmaster import OWNER
from textrawl.embedded.upgrade import Upgraded, upgrade_cluster
from textrawl.errors import StartRefused
from textrawl.postgres.migrations import MigrationReport, migrate
from textrawl.settings import Settings, read_settings


def upgrade(
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Move the embedded Postgres to a new major version of PostgreSQL.

    This is not an upgrade of textrawl. You need it when a new version of textrawl brings a new
    major version of PostgreSQL; an error then names this command. The data are copied, compared
    and migrated. The old folder is renamed and kept, so twice the disk space is needed. If anything
    goes wrong, the old data are not changed.
    """
    settings = read_settings()
    if settings.database_url is not None:
        raise StartRefused(
            "TEXTRAWL_DATABASE_URL names a server that is not textrawl's own: upgrade it with its "
            "own tools, or unset TEXTRAWL_DATABASE_URL"
        )
    with show_wait("Upgrading Postgres"):
        upgraded = run_foreground(lambda: _upgrade(settings))
    if as_json:
        write_json(_write_plain(upgraded))
    else:
        open_console().print(_describe(upgraded, settings), soft_wrap=True)


async def _upgrade(settings: Settings) -> Upgraded | None:
    console = open_progress()
    return await upgrade_cluster(
        settings.data_dir, _migrate, report=lambda step: console.print(step, soft_wrap=True)
    )


async def _migrate(cluster: Cluster) -> MigrationReport:
    return await migrate(cluster.dsn(OWNER))


def _write_plain(upgraded: Upgraded | None) -> dict[str, object]:
    if upgraded is None:
        return {"upgraded": False}
    return {"upgraded": True, "from": upgraded.old, "to": upgraded.new, "kept": str(upgraded.kept)}


def _describe(upgraded: Upgraded | None, settings: Settings) -> str:
    if upgraded is None:
        return f"Nothing to upgrade in {settings.data_dir}."
    return (
        f"Upgraded from Postgres {upgraded.old} to {upgraded.new}. "
        f"The old data are kept in {upgraded.kept}: when all is well, delete them with\n"
        f"  rm -r {shlex.quote(str(upgraded.kept))}"
    )
