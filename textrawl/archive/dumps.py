"""Backups: files of pg_dump with a checksum, and with the number of rows of each table checked."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from anyio import to_thread

from textrawl.archive.checksums import add_checksum
from textrawl.archive.files import write_whole
from textrawl.archive.programs import find_program, read_program, run_program
from textrawl.errors import StartRefused
from textrawl.postgres.connection import is_distributed
from textrawl.postgres.owner_login import OwnerLogin
from textrawl.postgres.owner_session import SCHEMA, open_snapshot, refuse_transaction_pooling
from textrawl.postgres.sql_files import refuse_unreleased

_COPY = re.compile(rb'COPY textrawl\."?(\w+)"? ')
_END = b"\\."


@dataclass
class Contents:
    """The contents of a backup: row counts by table, and the applied migrations."""

    rows: dict[str, int] = field(default_factory=dict[str, int])
    migrations: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Backup:
    """A backup: its size in bytes, its number of facts, row counts by table, and its checksum."""

    file: str
    bytes: int
    facts: int
    tables: dict[str, int]
    sha256: str | None  # None: an older version wrote the file


async def write_backup(login: OwnerLogin, file: Path, *, force: bool = False) -> Backup:
    """Write a snapshot of the whole memory to a file, and check the file by reading it.

    `file` is an absolute path. Raises StartRefused and DatabaseUnavailable. In these cases no new
    file is left.
    """
    await refuse_transaction_pooling(login)
    with write_whole(file, force=force) as draft:
        async with open_snapshot(login) as session:
            if await is_distributed(session.connection):
                raise StartRefused(
                    "A backup is of one server, but this memory is distributed: use `textrawl "
                    "export`, or back up each node with the tools of Postgres"
                )
            program = find_program("pg_dump", login.programs, session.major)
            expected = await session.count_rows()
            # Without --enable-row-security, pg_dump fails. With this option, pg_dump silently
            # leaves out hidden rows. Therefore `count_rows` refuses hidden rows, and the counts are
            # compared below.
            options = ["--format=custom", f"--schema={SCHEMA}", "--enable-row-security"]
            snapshot = f"--snapshot={await session.export_snapshot()}"
            target = f"--file={draft}"
            await run_program(program, [*options, snapshot, target], login.conninfo)
        contents = await read_contents(draft, login.programs)
        refuse_unreleased(set(contents.migrations), "database")
        if contents.rows != expected:
            differences = compare_rows(expected, contents.rows)
            raise StartRefused(f"The backup is not kept: {differences}. Try again")
        checksum = await to_thread.run_sync(add_checksum, draft)
        size = draft.stat().st_size
    return Backup(str(file), size, count_facts(expected), expected, checksum)


async def read_contents(file: Path, programs: Path | None) -> Contents:
    """Read a backup to its end and return its contents. Raises StartRefused for another file."""
    program, contents = find_program("pg_restore", programs), Contents()
    listing = await run_program(program, ["--list", str(file)])
    if not re.search(rf" TABLE {SCHEMA} migration ", listing):
        raise StartRefused(f"{file} is not a backup of textrawl")
    arguments = ["--data-only", f"--schema={SCHEMA}", "--file=-", str(file)]
    async with read_program(program, arguments) as chunks:
        reader, rest = _Reader(contents), b""
        async for chunk in chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            reader.read(lines)
        reader.read([rest])
    if reader.table is not None:
        raise StartRefused(f"{file} is incomplete: it ends within the table {reader.table}")
    return contents


class _Reader:
    """A counter of the rows between each COPY command and its end."""

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


def count_facts(rows: dict[str, int]) -> int:
    """Return the number of facts: the rows of observation minus one statement per relation."""
    return rows["observation"] - rows["relation"]


def compare_rows(database: dict[str, int], file: dict[str, int]) -> str:
    """Return the tables with different numbers of rows in a database and a file."""
    return ", ".join(
        f"{name} has {database.get(name, 0):,} rows, but {file.get(name, 0):,} in the file"
        for name in sorted(database.keys() | file.keys())
        if database.get(name) != file.get(name)
    )
