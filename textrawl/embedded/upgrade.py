"""The upgrade of data from an older major version of Postgres: `upgrade_cluster`.

pg_upgrade copies the data into a draft. The draft is compared with the original and migrated. After
that the draft gets the name of the data folder. Until then, the original keeps its name and is only
read. Afterwards the original is kept under a name that textrawl does not use. During the upgrade,
this process holds both locks of the folder.
"""

import os
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import psycopg
from anyio import to_thread
from psycopg import sql

from textrawl.embedded.cluster import Cluster, FileLock, create_data_folder, find_programs, start
from textrawl.embedded.paths import (
    Account,
    ClusterPaths,
    choose_socket_dir,
    find_account,
    find_others,
    prepare_folder,
)
from textrawl.embedded.postmaster import SUPERUSER, end_programs, stop, write_configuration
from textrawl.errors import StartRefused

_DATABASES = """
    select datname from pg_database where datallowconn and not datistemplate order by datname
"""
_TABLES = """
    select nspname, relname from pg_class join pg_namespace n on n.oid = relnamespace
    where relkind in ('r', 'm', 'p') and nspname !~ '^pg_' and nspname <> 'information_schema'
"""
_EXTENSIONS = "select extname from pg_extension"
_ROLES = "select rolname, rolpassword from pg_authid where rolname !~ '^pg_'"


@dataclass(frozen=True)
class Inventory:
    """Row counts of tables by full name, roles with their passwords, and extensions."""

    tables: dict[str, int]
    roles: frozenset[tuple[str, str | None]]
    extensions: frozenset[str]

    def find_differences(self, other: "Inventory") -> list[str]:
        """Describe each table, role or extension that is different in `other`."""
        names = sorted(self.tables.keys() | other.tables.keys())
        counts = [(name, self.tables.get(name), other.tables.get(name)) for name in names]
        return [
            *(f"{name} has {was} rows, not {now}" for name, now, was in counts if now != was),
            *(f"role {name}" for name in sorted({name for name, _ in self.roles ^ other.roles})),
            *(f"extension {name}" for name in sorted(self.extensions ^ other.extensions)),
        ]


def take_inventory(cluster: Cluster) -> Inventory:
    """Return the inventory of all databases of `cluster`. Raises psycopg.Error."""
    with psycopg.connect(cluster.dsn(SUPERUSER, "postgres")) as connection:
        databases = [str(name) for (name,) in connection.execute(_DATABASES)]
        roles = frozenset((name, password) for name, password in connection.execute(_ROLES))
    tables: dict[str, int] = {}
    extensions: set[str] = set()
    for database in databases:
        with psycopg.connect(cluster.dsn(SUPERUSER, database)) as connection:
            extensions |= {f"{database}.{name}" for (name,) in connection.execute(_EXTENSIONS)}
            for schema, table in connection.execute(_TABLES).fetchall():
                tables[f"{database}.{schema}.{table}"] = _count(connection, schema, table)
    return Inventory(tables, roles, frozenset(extensions))


def _count(connection: psycopg.Connection, schema: str, table: str) -> int:
    query = sql.SQL("select count(*) from {}").format(sql.Identifier(schema, table))
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0


_MARK = "upgraded-from"  # file in a finished copy, until the original is renamed
_OWN_SETTINGS = ("local.conf", "postgresql.auto.conf")
_COPY_OVERHEAD = 200_000_000  # bytes that a copy needs in addition to the size of the original
_PROGRAMS = {"pg_upgrade", "pg_ctl", "pg_dump", "pg_dumpall", "pg_restore", "psql", "initdb"}
_UNQUOTABLE = set("'\"\\$`\n")  # characters that pg_upgrade does not escape in a shell command
_LONGEST_END = 60.0

Migrate = Callable[[Cluster], Awaitable[object]]
Report = Callable[[str], None]


@dataclass(frozen=True)
class Upgraded:
    """A finished upgrade from major version `old` to `new`. `kept` is the path of the original."""

    old: int
    new: int
    kept: Path


async def upgrade_cluster(
    data_dir: Path,
    migrate: Migrate,
    *,
    report: Report,
    postgres_version: int = 18,
    start_limit: float = 300.0,
) -> Upgraded | None:
    """Upgrade the data of an older major version. Return None if there are no such data.

    `migrate` is called with the running copy before the copy replaces the original. `report` is
    called with the name of each step. If the cluster is in use, the disk is too small, or the copy
    fails or is different, raise StartRefused and leave the original unchanged. After a kill, the
    upgrade can be run again.
    """
    account = await to_thread.run_sync(find_account)
    paths = await to_thread.run_sync(_prepare_upgrade, data_dir, postgres_version, account)
    if paths is None:
        return None  # no file or folder was created
    with (
        FileLock(paths.lifecycle, account) as lifecycle,
        FileLock(paths.clients, account) as clients,
    ):
        if not lifecycle.take_exclusive():
            report("Waiting for another process that starts, stops or upgrades this Postgres")
            await lifecycle.wait_exclusive()
        old = _find_old(paths)
        if old is None:
            return None
        if not clients.take_exclusive():
            raise StartRefused(
                f"The Postgres in {old.pgdata} is in use: end every editor, server and command "
                "that uses this memory, run `textrawl resident --stop`, and then upgrade again."
            )
        if not (paths.pgdata / _MARK).exists():
            await _Upgrade(paths, old, account, report, start_limit).run(migrate)
        return await to_thread.run_sync(_rename_original, old, paths)


def _prepare_upgrade(data_dir: Path, major: int, account: Account) -> ClusterPaths | None:
    paths = ClusterPaths(data_dir.expanduser().resolve(), major)
    if not find_others(paths):
        return None
    if set(str(paths.data_dir)) & _UNQUOTABLE:
        raise StartRefused(
            f"pg_upgrade does not understand the path {paths.data_dir}. Rename the folder to "
            "letters, digits and spaces, set TEXTRAWL_DATA_DIR and run `textrawl upgrade` again."
        )
    return prepare_folder(data_dir, major, account)


def _find_old(paths: ClusterPaths) -> ClusterPaths | None:
    others = find_others(paths)
    if not others:
        return None
    if others[0].major > paths.major:
        raise StartRefused(
            f"{others[0].pgdata} holds data of Postgres {others[0].major}, but this textrawl runs "
            f"Postgres {paths.major}: upgrade textrawl."
        )
    has_own_data = (paths.pgdata / "PG_VERSION").exists() and not (paths.pgdata / _MARK).exists()
    if len(others) > 1 or has_own_data:
        second = others[1] if len(others) > 1 else paths
        raise StartRefused(
            f"Both {others[0].pgdata} and {second.pgdata} hold data, but textrawl can use only one "
            "of them. Rename the other folder, for instance by adding .old."
        )
    return others[0]


@dataclass(frozen=True)
class _Upgrade:
    paths: ClusterPaths
    old: ClusterPaths
    account: Account
    report: Report
    limit: float

    @property
    def draft(self) -> ClusterPaths:
        """The paths of the copy in the data folder. Each start removes a folder of this name."""
        name = f"postgres-{self.paths.major}.new-upgrade"
        return ClusterPaths(self.paths.data_dir / name, self.paths.major)

    @property
    def log(self) -> Path:
        """The output of pg_upgrade."""
        return self.paths.data_dir / "upgrade.log"

    async def run(self, migrate: Migrate) -> None:
        """Create the copy, and give it the name of the data folder."""
        await self._clear()
        try:
            before = await self._count_original()
            await to_thread.run_sync(self._refuse_full_disk)
            await to_thread.run_sync(self._prepare_draft)
            self.report(f"Copying to Postgres {self.paths.major}")
            await self._run_pg_upgrade()
            self.report("Comparing the copy with the original")
            async with self._running(self.draft) as cluster:
                await self._compare(before, cluster)
                await migrate(cluster)
            await to_thread.run_sync(self._rename_draft)
        except (OSError, psycopg.Error) as error:
            raise self._refuse(str(error).strip().replace("\n", " ")) from error
        finally:
            with anyio.move_on_after(_LONGEST_END, shield=True):
                await self._clear()

    async def _clear(self) -> None:
        """End the programs and remove the files of this upgrade, or of a killed upgrade."""
        await end_programs(_PROGRAMS, self.draft.data_dir)
        await stop(self.draft.pgdata)
        await stop(self.old.pgdata)
        await end_programs({"postgres"}, self.draft.data_dir)  # a server without a pid file yet
        await to_thread.run_sync(lambda: shutil.rmtree(self.draft.data_dir, ignore_errors=True))

    async def _count_original(self) -> Inventory:
        self.report(f"Starting Postgres {self.old.major} to count its rows")
        async with self._running(self.old) as cluster:
            return await to_thread.run_sync(take_inventory, cluster)

    @asynccontextmanager
    async def _running(self, paths: ClusterPaths) -> AsyncGenerator[Cluster]:
        programs = await self._find_programs(paths.major)
        try:
            try:
                cluster = await start(paths, programs, self.account, self.limit)
            except StartRefused as refused:
                await to_thread.run_sync(self._append_logs)
                raise self._refuse(f"Postgres {paths.major} does not start") from refused
            yield cluster
        finally:
            with anyio.move_on_after(_LONGEST_END, shield=True):
                await stop(paths.pgdata)

    async def _find_programs(self, major: int) -> Path:
        # Use the data folder, because copied programs must stay when the draft is removed.
        paths = ClusterPaths(self.paths.data_dir, major)
        return await to_thread.run_sync(find_programs, paths, self.account)

    def _refuse_full_disk(self) -> None:
        files = (path for path in self.old.pgdata.rglob("*") if path.is_file())
        needed = sum(path.stat().st_size for path in files) + _COPY_OVERHEAD
        free = shutil.disk_usage(self.paths.data_dir).free
        if free < needed:
            raise StartRefused(
                f"The copy needs {needed >> 20} MB, but the disk of {self.paths.data_dir} has only "
                f"{free >> 20} MB free. Free some space, or move the folder and set "
                "TEXTRAWL_DATA_DIR."
            )

    def _prepare_draft(self) -> None:
        draft, account = self.draft, self.account
        draft.data_dir.mkdir(mode=0o700)
        account.chown(draft.data_dir)
        create_data_folder(draft, find_programs(self.paths, account), account)
        write_configuration(draft.pgdata, account)
        for name in _OWN_SETTINGS:
            original, copy = self.old.pgdata / name, draft.pgdata / name
            if original.exists():
                copy.write_bytes(original.read_bytes())

    async def _run_pg_upgrade(self) -> None:
        programs = await self._find_programs(self.paths.major)
        socket_dir = await to_thread.run_sync(choose_socket_dir, self.draft, self.account)
        options = {
            "old-bindir": await self._find_programs(self.old.major),
            "new-bindir": programs,
            "old-datadir": self.old.pgdata,
            "new-datadir": self.draft.pgdata,
            "socketdir": socket_dir,
            "username": SUPERUSER,
        }
        command = [f"{programs}/pg_upgrade", *(f"--{k}={v}" for k, v in options.items())]
        try:
            failed = await self._run_logged(command)
        finally:
            with suppress(OSError):
                socket_dir.rmdir()  # it can be outside the draft, among temporary files
        if failed:
            await to_thread.run_sync(self._append_logs)
            raise self._refuse("pg_upgrade failed")

    async def _run_logged(self, command: list[str]) -> bool:
        """Run `command` in the draft with its output in the log. Return True if it failed."""
        options: dict[str, Any] = self.account.process_options()
        options["cwd"] = self.draft.data_dir
        with os.fdopen(self.account.open(self.log, os.O_WRONLY | os.O_TRUNC), "wb") as log:
            done = await anyio.run_process(
                command,
                stdin=None,
                stdout=log,
                stderr=log,
                check=False,
                start_new_session=True,
                **options,
            )
        return bool(done.returncode)

    def _append_logs(self) -> None:
        """Append the log files of the draft to the upgrade's log, before the draft is removed."""
        with os.fdopen(self.account.open(self.log, os.O_WRONLY | os.O_APPEND), "ab") as log:
            for path in sorted(self.draft.data_dir.glob("**/*")):
                if path.suffix in {".log", ".txt"}:
                    log.write(f"\n== {path.name}\n".encode() + path.read_bytes()[-20_000:])

    async def _compare(self, before: Inventory, cluster: Cluster) -> None:
        after = await to_thread.run_sync(take_inventory, cluster)
        if differences := before.find_differences(after):
            raise self._refuse(f"the copy is different ({'; '.join(differences[:5])})")

    def _rename_draft(self) -> None:
        draft = self.draft
        if (draft.pgdata / "postmaster.pid").exists():
            raise self._refuse(f"Postgres {self.paths.major} does not stop")
        (draft.pgdata / _MARK).write_text(f"{self.old.pgdata.name}\n", encoding="utf-8")
        _flush(draft.pgdata / _MARK)
        _flush(draft.pgdata)
        draft.pgdata.rename(self.paths.pgdata)
        _flush(self.paths.data_dir)

    def _refuse(self, reason: str) -> StartRefused:
        return StartRefused(
            f"The upgrade failed: {reason}. Your data are unchanged in {self.old.pgdata}. "
            f"See {self.log} and {self.old.log}, fix the cause and run `textrawl upgrade` again."
        )


def _rename_original(old: ClusterPaths, paths: ClusterPaths) -> Upgraded:
    """Rename the original after a finished copy has replaced it."""
    kept = old.pgdata.with_name(f"{old.pgdata.name}.old")
    number = 2
    while kept.exists():
        kept = old.pgdata.with_name(f"{old.pgdata.name}.old-{number}")
        number += 1
    old.pgdata.rename(kept)
    _flush(paths.data_dir)
    (paths.pgdata / _MARK).unlink()
    return Upgraded(old.major, paths.major, kept)


def _flush(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
