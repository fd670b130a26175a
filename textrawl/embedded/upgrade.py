"""Data of an older major version, carried over to this one: upgrade_cluster.

pg_upgrade copies them into a draft, which is compared with the original, brought up to date and
only then renamed. Until that moment the original is what counts, and it is only read; afterwards
it is kept under a name that nobody looks for. Both locks of the folder are held throughout.
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

from textrawl.embedded.account import Account, find_account
from textrawl.embedded.cluster import Cluster, start
from textrawl.embedded.configuration import SUPERUSER, write_configuration
from textrawl.embedded.creation import create_data_folder
from textrawl.embedded.inventory import Inventory, take_inventory
from textrawl.embedded.locks import FileLock
from textrawl.embedded.postmaster import end_programs, stop
from textrawl.embedded.programs import find_programs
from textrawl.embedded.site import Site, choose_socket_dir, claim_folder, find_others
from textrawl.errors import StartRefused

_MARK = "upgraded-from"  # in a finished copy, until the original is out of the way
_OWN_SETTINGS = ("local.conf", "postgresql.auto.conf")
_ROOM = 200_000_000  # bytes that a copy takes beyond the size of the original
_PROGRAMS = {"pg_upgrade", "pg_ctl", "pg_dump", "pg_dumpall", "pg_restore", "psql", "initdb"}
_UNQUOTABLE = set("'\"\\$`\n")  # pg_upgrade puts paths between quotation marks, for a shell
_LONGEST_END = 60.0

BringUpToDate = Callable[[Cluster], Awaitable[object]]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Upgraded:
    """Major versions `old` and `new`; `kept` is the folder of the original, no longer used."""

    old: int
    new: int
    kept: Path


async def upgrade_cluster(
    data_dir: Path,
    bring_up_to_date: BringUpToDate,
    *,
    tell: Tell,
    postgres_version: int = 18,
    start_limit: float = 300.0,
) -> Upgraded | None:
    """Carry data of an older major version over; None when there are none.

    `bring_up_to_date` is awaited with the running copy before it counts, `tell` hears of each
    step. Raises StartRefused, with the original as it was, when the cluster is in use, a disk is
    too small, or the copy fails or differs. Killed at any moment, it can be run again.
    """
    account = await to_thread.run_sync(find_account)
    site = await to_thread.run_sync(_claim_others, data_dir, postgres_version, account)
    if site is None:
        return None  # and nothing was made
    with FileLock(site.lifecycle, account) as lifecycle, FileLock(site.clients, account) as clients:
        if not lifecycle.take_alone():
            tell("Waiting for another process that starts, stops or upgrades this Postgres")
            await lifecycle.wait_alone()
        old = _find_old(site)
        if old is None:
            return None
        if not clients.take_alone():
            raise StartRefused(
                f"The Postgres in {old.pgdata} is in use: end every editor, server and command "
                "that uses this memory, then run `textrawl upgrade` again."
            )
        if not (site.pgdata / _MARK).exists():
            await _Upgrade(site, old, account, tell, start_limit).run(bring_up_to_date)
        return await to_thread.run_sync(_put_aside, old, site)


def _claim_others(data_dir: Path, major: int, account: Account) -> Site | None:
    site = Site(data_dir.expanduser().resolve(), major)
    if not find_others(site):
        return None
    if set(str(site.data_dir)) & _UNQUOTABLE:
        raise StartRefused(
            f"pg_upgrade does not understand the path {site.data_dir}. Rename the folder to "
            "letters, digits and spaces, set TEXTRAWL_DATA_DIR and run `textrawl upgrade` again."
        )
    return claim_folder(data_dir, major, account)


def _find_old(site: Site) -> Site | None:
    others = find_others(site)
    if not others:
        return None
    if others[0].major > site.major:
        raise StartRefused(
            f"{others[0].pgdata} is of a newer Postgres than this textrawl runs: upgrade textrawl."
        )
    also = (site.pgdata / "PG_VERSION").exists() and not (site.pgdata / _MARK).exists()
    if len(others) > 1 or also:
        more = others[1] if len(others) > 1 else site
        raise StartRefused(
            f"Both {others[0].pgdata} and {more.pgdata} hold data, and which ones count cannot be "
            "told. Rename the folder of those that do not, for instance by adding .old."
        )
    return others[0]


@dataclass(frozen=True)
class _Upgrade:
    site: Site
    old: Site
    account: Account
    tell: Tell
    limit: float

    @property
    def draft(self) -> Site:
        """A whole site inside the data folder, whose name every start removes as half-made."""
        name = f"postgres-{self.site.major}.new-upgrade"
        return Site(self.site.data_dir / name, self.site.major)

    @property
    def log(self) -> Path:
        """What pg_upgrade says."""
        return self.site.data_dir / "upgrade.log"

    async def run(self, bring_up_to_date: BringUpToDate) -> None:
        """Make the copy and give it its name."""
        await self._clear()
        try:
            before = await self._count_original()
            await to_thread.run_sync(self._refuse_full_disk)
            await to_thread.run_sync(self._prepare_draft)
            self.tell(f"Copying to Postgres {self.site.major}")
            await self._run_pg_upgrade()
            self.tell("Comparing the copy with the original")
            async with self._running(self.draft) as cluster:
                await self._compare(before, cluster)
                await bring_up_to_date(cluster)
            await to_thread.run_sync(self._give_name)
        except (OSError, psycopg.Error) as error:
            raise self._refuse(str(error).strip().replace("\n", " ")) from error
        finally:
            with anyio.move_on_after(_LONGEST_END, shield=True):
                await self._clear()

    async def _clear(self) -> None:
        """End and remove what a killed run left, or this one."""
        await end_programs(_PROGRAMS, self.draft.data_dir)
        await stop(self.draft.pgdata)
        await stop(self.old.pgdata)
        await end_programs({"postgres"}, self.draft.data_dir)  # one that has no pid file yet
        await to_thread.run_sync(lambda: shutil.rmtree(self.draft.data_dir, ignore_errors=True))

    async def _count_original(self) -> Inventory:
        self.tell(f"Starting Postgres {self.old.major} to count what there is")
        async with self._running(self.old) as cluster:
            return await to_thread.run_sync(take_inventory, cluster)

    @asynccontextmanager
    async def _running(self, site: Site) -> AsyncGenerator[Cluster]:
        programs = await self._find_programs(site.major)
        try:
            try:
                cluster = await start(site, programs, self.account, self.limit)
            except StartRefused as refused:
                await to_thread.run_sync(self._keep_words)
                raise self._refuse(f"Postgres {site.major} does not start") from refused
            yield cluster
        finally:
            with anyio.move_on_after(_LONGEST_END, shield=True):
                await stop(site.pgdata)

    async def _find_programs(self, major: int) -> Path:
        # Not those of the draft: where they have to be copied, they stay.
        site = Site(self.site.data_dir, major)
        return await to_thread.run_sync(find_programs, site, self.account)

    def _refuse_full_disk(self) -> None:
        files = (path for path in self.old.pgdata.rglob("*") if path.is_file())
        needed = sum(path.stat().st_size for path in files) + _ROOM
        free = shutil.disk_usage(self.site.data_dir).free
        if free < needed:
            raise StartRefused(
                f"The copy takes {needed >> 20} MB and the disk of {self.site.data_dir} has "
                f"{free >> 20} MB free. Free some, or move the folder and set TEXTRAWL_DATA_DIR."
            )

    def _prepare_draft(self) -> None:
        draft, account = self.draft, self.account
        draft.data_dir.mkdir(mode=0o700)
        account.take(draft.data_dir)
        create_data_folder(draft, find_programs(self.site, account), account)
        write_configuration(draft.pgdata, account)
        for name in _OWN_SETTINGS:
            original, copy = self.old.pgdata / name, draft.pgdata / name
            if original.exists():
                copy.write_bytes(original.read_bytes())

    async def _run_pg_upgrade(self) -> None:
        programs = await self._find_programs(self.site.major)
        socket_dir = await to_thread.run_sync(choose_socket_dir, self.draft, self.account)
        options = {
            "old-bindir": await self._find_programs(self.old.major), "new-bindir": programs,
            "old-datadir": self.old.pgdata, "new-datadir": self.draft.pgdata,
            "socketdir": socket_dir, "username": SUPERUSER,
        }  # fmt: skip
        command = [f"{programs}/pg_upgrade", *(f"--{k}={v}" for k, v in options.items())]
        process_options: dict[str, Any] = self.account.process_options()
        process_options["cwd"] = self.draft.data_dir
        try:
            with os.fdopen(self.account.open(self.log, os.O_WRONLY | os.O_TRUNC), "wb") as log:
                done = await anyio.run_process(
                    command, stdin=None, stdout=log, stderr=log, check=False,
                    start_new_session=True, **process_options,
                )  # fmt: skip
        finally:
            with suppress(OSError):
                socket_dir.rmdir()  # it may lie in a folder for temporary things
        if done.returncode:
            await to_thread.run_sync(self._keep_words)
            raise self._refuse("pg_upgrade failed")

    def _keep_words(self) -> None:
        """Append to our log what pg_upgrade wrote into files of the draft, which will be gone."""
        with os.fdopen(self.account.open(self.log, os.O_WRONLY | os.O_APPEND), "ab") as log:
            for path in sorted(self.draft.data_dir.glob("**/*")):
                if path.suffix in {".log", ".txt"}:
                    log.write(f"\n== {path.name}\n".encode() + path.read_bytes()[-20_000:])

    async def _compare(self, before: Inventory, cluster: Cluster) -> None:
        after = await to_thread.run_sync(take_inventory, cluster)
        if differences := before.find_differences(after):
            raise self._refuse(f"the copy is not the same ({'; '.join(differences[:5])})")

    def _give_name(self) -> None:
        draft = self.draft
        if (draft.pgdata / "postmaster.pid").exists():
            raise self._refuse(f"Postgres {self.site.major} does not stop")
        (draft.pgdata / _MARK).write_text(f"{self.old.pgdata.name}\n", encoding="utf-8")
        _flush(draft.pgdata / _MARK)
        _flush(draft.pgdata)
        draft.pgdata.rename(self.site.pgdata)
        _flush(self.site.data_dir)

    def _refuse(self, reason: str) -> StartRefused:
        return StartRefused(
            f"The upgrade failed: {reason}. Your data are unchanged in {self.old.pgdata}. "
            f"See {self.log} and {self.old.log}, mend that and run `textrawl upgrade` again."
        )


def _put_aside(old: Site, site: Site) -> Upgraded:
    """Rename the original, now that a finished copy has its place."""
    kept = old.pgdata.with_name(f"{old.pgdata.name}.old")
    number = 2
    while kept.exists():
        kept = old.pgdata.with_name(f"{old.pgdata.name}.old-{number}")
        number += 1
    old.pgdata.rename(kept)
    _flush(site.data_dir)
    (site.pgdata / _MARK).unlink()
    return Upgraded(old.major, site.major, kept)


def _flush(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
