"""Backups: what pg_dump wrote, and what is in it, row by row."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from textrawl.archive.files import write_whole
from textrawl.archive.programs import find_program, read_program, run_program
from textrawl.errors import StartRefused
from textrawl.postgres.owner_login import OwnerLogin
from textrawl.postgres.owner_session import SCHEMA, open_snapshot, refuse_transaction_pooling
from textrawl.postgres.sql_files import refuse_unreleased

_COPY = re.compile(rb'COPY textrawl\."?(\w+)"? ')
_END = b"\\."


@dataclass
class Contents:
    """What a backup holds: rows by table, and the numbered files that its schema was made by."""

    rows: dict[str, int] = field(default_factory=dict[str, int])
    migrations: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Backup:
    """A backup that was written: bytes, facts in it, and rows by table."""

    file: str
    bytes: int
    facts: int
    tables: dict[str, int]


async def write_backup(login: OwnerLogin, file: Path, *, force: bool = False) -> Backup:
    """Writes all of the memory, as it was at one instant, and reads it back before it counts.

    `file` is absolute.

    Raises StartRefused, DatabaseUnavailable; then there is no file that was not there before.
    """
    await refuse_transaction_pooling(login)
    with write_whole(file, force=force) as draft:
        async with open_snapshot(login) as session:
            program = find_program("pg_dump", login.programs, session.major)
            there = await session.count_rows()
            # Without row security pg_dump would give up; with it, it leaves out what is hidden,
            # silently. That nothing is hidden was asked, and that nothing is missing is counted.
            words = ["--format=custom", f"--schema={SCHEMA}", "--enable-row-security"]
            snapshot = f"--snapshot={await session.export_snapshot()}"
            target = f"--file={draft}"
            await run_program(program, [*words, snapshot, target], login.conninfo)
        contents = await read_contents(draft, login.programs)
        refuse_unreleased(set(contents.migrations), "database")
        if (found := contents.rows) != there:
            raise StartRefused(f"The backup is not kept: {compare_rows(there, found)}. Try again")
        size = draft.stat().st_size
    return Backup(str(file), size, there["observation"], there)


async def read_contents(file: Path, programs: Path | None) -> Contents:
    """What the backup holds, read to its end. Raises StartRefused for any other file."""
    program, contents = find_program("pg_restore", programs), Contents()
    listed = await run_program(program, ["--list", str(file)])
    if not re.search(rf" TABLE {SCHEMA} migration ", listed):
        raise StartRefused(f"{file} is no backup of textrawl")
    words = ["--data-only", f"--schema={SCHEMA}", "--file=-", str(file)]
    async with read_program(program, words) as chunks:
        reader, rest = _Reader(contents), b""
        async for chunk in chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            reader.read(lines)
        reader.read([rest])
    if reader.table is not None:
        raise StartRefused(f"{file} ends in the middle of {reader.table}")
    return contents


class _Reader:
    """Counts the rows between COPY and its end."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self.table: str | None = None

    def read(self, lines: list[bytes]) -> None:
        for line in lines:
            if self.table is not None:
                self._read_row(self.table, line)
            elif match := _COPY.match(line):
                self.table = str(match[1], "utf-8")
                self._contents.rows[self.table] = 0

    def _read_row(self, table: str, line: bytes) -> None:
        if line == _END:
            self.table = None
            return
        self._contents.rows[table] += 1
        if table == "migration":
            self._contents.migrations.append(line.split(b"\t")[0].decode())


def compare_rows(there: dict[str, int], found: dict[str, int]) -> str:
    """Tables whose numbers of rows differ between a database and a file."""
    return ", ".join(
        f"{name} has {there.get(name, 0):,} rows and the file {found.get(name, 0):,}"
        for name in sorted(there.keys() | found.keys())
        if there.get(name) != found.get(name)
    )
