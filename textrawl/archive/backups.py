"""Backups and their restores, by the programs of Postgres."""

import hashlib
import re
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, PIPE
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import Any, BinaryIO, cast

import anyio
from anyio import to_thread
from anyio.abc import ByteReceiveStream

from textrawl.archive.encryption import Identities, Opener, Recipients
from textrawl.archive.exports import write_whole
from textrawl.archive.receipts import Receipts, keep_receipts
from textrawl.embedded.cluster import find_programs
from textrawl.embedded.paths import Account, ClusterPaths
from textrawl.errors import StartRefused
from textrawl.postgres.connection import OwnerLogin, is_distributed, read_conninfo, write_conninfo
from textrawl.postgres.inspection import Report, ignore, watch_copies
from textrawl.postgres.migrations import migrate
from textrawl.postgres.owner_session import (
    SCHEMA,
    SchemaSwap,
    Session,
    open_snapshot,
    refuse_transaction_pooling,
)
from textrawl.postgres.sql_files import find_missing, refuse_unreleased
from textrawl.settings import read_foreign_environment

_NEWEST = 18
_OLDEST = 16  # a newer pg_restore sets parameters that a server of version 16 does not have
_SECRETS = ("sslpassword", "oauth_client_secret")  # libpq has no environment variables for these


def find_program(name: str, folder: Path | None = None, server: int = _NEWEST) -> Path:
    """Return the path of the program `name`.

    Without `folder`, use the programs of the embedded Postgres. If the program is not there, look
    for it on PATH. `server` is the major version of the server that the program connects to. Raises
    StartRefused if the program is not found.
    """
    if folder is None:
        try:
            # The programs run as the current user, so they need not be copied for another user.
            own = Account("", 0, 0, foreign=False)
            folder = find_programs(
                ClusterPaths(Path(), _OLDEST if server == _OLDEST else _NEWEST), own
            )
        except StartRefused:
            folder = None
    path = str(folder / name) if folder and (folder / name).exists() else shutil.which(name)
    if path is None:
        raise StartRefused(
            f"The program {name} is missing: install the client programs of PostgreSQL {_NEWEST}"
        )
    return Path(path)


async def run_program(
    program: Path,
    arguments: Sequence[str],
    stdin: BinaryIO | None = None,
    conninfo: str | None = None,
) -> str:
    """Run a program and return its stdout. If it fails, raise StartRefused with its message."""
    async with read_program(program, arguments, stdin, conninfo) as chunks:
        stdout = b"".join([chunk async for chunk in chunks])
    return stdout.decode("utf-8", "replace")


@asynccontextmanager
async def read_program(
    program: Path,
    arguments: Sequence[str],
    stdin: BinaryIO | None = None,
    conninfo: str | None = None,
) -> AsyncGenerator[ByteReceiveStream]:
    """Run a program and yield its stdout. If it fails, raise StartRefused with its message."""
    connection, environment = _split_conninfo(conninfo)
    with TemporaryFile() as errors:
        async with await anyio.open_process(
            [str(program), *arguments, *connection],
            stdin=stdin or DEVNULL,
            stdout=PIPE,
            stderr=errors,
            env=environment,
        ) as process:
            yield cast("ByteReceiveStream", process.stdout)
            code = await process.wait()
        if code:
            errors.seek(0)
            raise StartRefused(_describe_failure(program, errors.read()))


def _split_conninfo(conninfo: str | None) -> tuple[list[str], dict[str, str]]:
    """Return arguments, which other users can see, and an environment, which has the password."""
    environment = read_foreign_environment() | {"LC_ALL": "C"}
    if conninfo is None:
        return [], environment
    parts: dict[str, Any] = dict(read_conninfo(conninfo))
    if secret := next((name for name in _SECRETS if parts.get(name)), None):
        raise StartRefused(
            f"TEXTRAWL_DATABASE_URL has a {secret}, which other users could see in the arguments "
            "of pg_dump: use a TEXTRAWL_DATABASE_URL without it"
        )
    password = parts.pop("password", None)
    if password is not None:
        environment["PGPASSWORD"] = str(password)
    return ["--no-password", f"--dbname={write_conninfo(**parts)}"], environment


def _describe_failure(program: Path, stderr: bytes) -> str:
    """Return the first error in `stderr`, without the contents of rows after it."""
    if b"unsupported version" in stderr:
        return (
            f"{program.name} of PostgreSQL {_OLDEST} cannot read the file of a newer version: "
            "restore it into a newer server, or move the content with `textrawl export` and "
            "`textrawl import`"
        )
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines()]
    errors = [line for line in lines if "error:" in line or "ERROR:" in line]
    message = [*errors, *lines, "it failed"][0].removeprefix(f"{program.name}: ")
    return f"{program.name} says: {message.removeprefix('error: ')}"


_MARK = b"\ntextrawl sha256 "
_LENGTH = len(_MARK) + 64 + 1  # bytes: the mark, the hash in hexadecimal, and the end of the line
_PIECE = 1 << 20  # bytes that are read at once


def add_checksum(file: Path) -> str:
    """Append the checksum of a file to it, and return the checksum."""
    with file.open("r+b") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
        opened.write(_write_line(digest))
    return digest


def verify_checksum(file: Path, open_content: Opener | None = None) -> str | None:
    """Return the checksum of a file, or None if an older version wrote the file without one.

    `open_content` opens the file, if it is encrypted. Raises StartRefused if it was changed.
    """
    digest, end = hashlib.sha256(), b""
    try:
        with (open_content or partial(file.open, "rb"))() as opened:
            while piece := opened.read(_PIECE):
                end += piece
                digest.update(end[: -2 * _LENGTH])
                end = end[-2 * _LENGTH :]
    except OSError as error:
        raise StartRefused(f"{file} cannot be read: {error.strerror}") from error
    if not _has_mark(end):
        return None
    digest.update(end[:-_LENGTH])
    if end[-_LENGTH:] != _write_line(digest.hexdigest()):
        raise StartRefused(
            f"{file} was changed after it was written: its checksum is wrong. Use another copy"
        )
    return digest.hexdigest()


def _has_mark(end: bytes) -> bool:
    """Return whether the end of a file has a mark, also if the mark is damaged, moved or cut."""
    same = sum(one == other for one, other in zip(end[-_LENGTH:], _MARK, strict=False))
    cut = any(end.endswith(_MARK[:length]) for length in range(4, len(_MARK)))
    return same > len(_MARK) // 2 or _MARK in end or cut


def _write_line(digest: str) -> bytes:
    return _MARK + digest.encode() + b"\n"


_NO_DUMP = re.compile("input file (?:is too short|does not appear to be)")  # of pg_restore
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


async def write_backup(
    login: OwnerLogin,
    file: Path,
    report: Report = ignore,
    recipients: Recipients | None = None,
    *,
    force: bool = False,
) -> Backup:
    """Write a snapshot of the whole memory to a file, and check the file by reading it.

    `file` is an absolute path, and `report` gets the progress. With `recipients`, only they can
    read the file. Raises StartRefused and DatabaseUnavailable. In these cases no new file is left.
    """
    await refuse_transaction_pooling(login)
    with write_whole(file, force=force) as draft:
        async with open_snapshot(login) as session:
            if await is_distributed(session.connection):
                raise StartRefused(
                    "A backup is of one server, but this memory is distributed: use `textrawl "
                    "export`, or back up each node with the tools of Postgres"
                )
            expected = await session.count_rows()
            rows = sum(expected.values())
            async with watch_copies(login, "Writing rows", rows, report):
                checksum, open_draft = await _dump(login, session, draft, recipients)
            if expected.get("erasure"):  # a memory of an older version has no such table
                keep_receipts(file, await session.read_receipts())
        contents = await read_contents(draft, open_draft, login.programs, report, rows)
        refuse_unreleased(set(contents.migrations), "database")
        if contents.rows != expected:
            differences = compare_rows(expected, contents.rows)
            raise StartRefused(f"The backup is not kept: {differences}. Try again")
        checksum = checksum or await to_thread.run_sync(add_checksum, draft)
        size = draft.stat().st_size
    return Backup(str(file), size, count_facts(expected), expected, checksum)


async def _dump(
    login: OwnerLogin, session: Session, file: Path, recipients: Recipients | None
) -> tuple[str | None, Opener]:
    """Write the rows. Return the checksum of an encrypted file, and its opener."""
    program = find_program("pg_dump", login.programs, session.major)
    # Without --enable-row-security, pg_dump fails. With this option, pg_dump silently leaves out
    # hidden rows. Therefore `count_rows` refuses hidden rows, and the counts are compared later.
    snapshot = f"--snapshot={await session.export_snapshot()}"
    options = ["--format=custom", f"--schema={SCHEMA}", "--enable-row-security", snapshot]
    if recipients is None:
        await run_program(program, [*options, f"--file={file}"], conninfo=login.conninfo)
        return None, partial(file.open, "rb")
    digest, (known, witness) = hashlib.sha256(), recipients.add_witness()
    with file.open("wb") as out, known.encrypt(out) as sealed:
        async with read_program(program, options, conninfo=login.conninfo) as chunks:
            async for chunk in chunks:
                digest.update(chunk)
                await to_thread.run_sync(sealed.write, chunk)
        sealed.write(_write_line(digest.hexdigest()))
    return digest.hexdigest(), await to_thread.run_sync(witness.verify, file)


async def read_contents(
    file: Path,
    open_content: Opener,
    programs: Path | None,
    report: Report = ignore,
    expected: int | None = None,
) -> Contents:
    """Read a backup to its end and return its contents. Raises StartRefused for another file.

    `report` gets the progress. `expected` is the number of rows, or None if it is not known.
    """
    program, contents = find_program("pg_restore", programs), Contents()
    if not re.search(rf" TABLE {SCHEMA} migration ", await _list_content(program, open_content)):
        raise StartRefused(
            f"{file} is not a backup of textrawl. `textrawl import` reads exports and other files"
        )
    arguments = ["--data-only", f"--schema={SCHEMA}", "--file=-"]
    with open_content() as opened:
        async with read_program(program, arguments, opened) as chunks:
            reader, rest = _DumpReader(contents), b""
            async for chunk in chunks:
                *lines, rest = (rest + chunk).split(b"\n")
                reader.read(lines)
                report("Checking rows", sum(contents.rows.values()), expected)
            reader.read([rest])
    if reader.table is not None:
        raise StartRefused(f"{file} is incomplete: it ends within the table {reader.table}")
    return contents


async def _list_content(program: Path, open_content: Opener) -> str:
    """Return the listing of pg_restore, or nothing for a file that is no dump."""
    try:
        with open_content() as opened:
            return await run_program(program, ["--list"], stdin=opened)
    except StartRefused as error:
        if _NO_DUMP.search(str(error)):
            return ""
        raise


class _DumpReader:
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


_ENTRY = re.compile(rf"\d+; \d+ \d+ (?P<kind>[A-Z ]+?) (?P<schema>{SCHEMA}|-) (?P<rest>.*)")


async def restore_backup(
    login: OwnerLogin, file: Path, report: Report, receipts: Receipts, identities: Identities
) -> tuple[Backup, int]:
    """Restore `file`, migrate the memory, and apply receipts of erasures again.

    `identities` decrypt the file if it is encrypted. Return the counts of the file, and the number
    of applied receipts. Raises DatabaseUnavailable, and StartRefused if a file was changed or
    cannot be used, or if this memory is not empty.
    """
    checksum, open_content = await _check_file(file, identities)
    contents = await read_contents(file, open_content, login.programs, report)
    swap = SchemaSwap(login)
    await refuse_transaction_pooling(login)
    await _refuse_unfit(contents, swap)
    former, major = await swap.find_owner()
    # Migrate an empty database too, because this creates the extension and the roles.
    await migrate(login.conninfo, connect_timeout=login.timeout)
    owner, _ = await swap.find_owner()
    await swap.set_aside(owner)
    done = False
    try:
        async with watch_copies(login, "Restoring rows", sum(contents.rows.values()), report):
            program = find_program("pg_restore", login.programs, major)
            await _load(login, program, owner, open_content)
        _refuse_losses(await swap.protect(owner), contents.rows)
        await migrate(login.conninfo, connect_timeout=login.timeout)
        erased = await _erase_again(swap, owner, receipts, contents)
        await swap.finish(owner)
        done = True
    finally:
        if not done:
            with anyio.CancelScope(shield=True):
                await swap.put_back(owner, keep=bool(former))
    size, rows = (await anyio.Path(file).stat()).st_size, contents.rows
    return Backup(str(file), size, count_facts(rows), rows, checksum), erased


async def _erase_again(swap: SchemaSwap, owner: str, receipts: Receipts, contents: Contents) -> int:
    """Apply receipts, each once, and return how many erased something. Raises StartRefused."""
    unsigned = "receipt_secret" not in contents.rows  # older backups have no key to check with
    known, erased = set[object](), 0
    for file, some in receipts.items():
        for receipt in some:
            if (number := (receipt.get("erasure"), receipt.get("space_id"))) in known:
                continue
            known.add(number)
            state = await swap.erase_again(owner, receipt, unsigned=unsigned)
            if state == "altered":
                raise StartRefused(
                    f"Nothing was restored: a receipt in {file} was changed. Use another copy"
                )
            erased += state == "applied"
    return erased


async def _check_file(file: Path, identities: Identities) -> tuple[str | None, Opener]:
    """Return the checksum of a complete file, and its opener. Raises StartRefused."""
    try:
        is_file = await anyio.Path(file).is_file()
    except OSError as error:  # no access to a parent folder
        raise StartRefused(f"{file} cannot be read: {error.strerror}") from error
    if not is_file:
        raise StartRefused(f"There is no file {file}")
    open_content = await to_thread.run_sync(identities.find_opener, file)
    return await to_thread.run_sync(verify_checksum, file, open_content), open_content


async def _refuse_unfit(contents: Contents, swap: SchemaSwap) -> None:
    find_missing(set(contents.migrations), "backup")
    if holdings := await swap.find_holdings():
        counts = ", ".join(f"{number:,} {kind}" for kind, number in holdings.items())
        raise StartRefused(
            f"There is a memory already, with {counts}: restore into another database or "
            "TEXTRAWL_DATA_DIR, or back up this memory and delete it"
        )


async def _load(login: OwnerLogin, program: Path, owner: str, open_content: Opener) -> None:
    with NamedTemporaryFile("w", prefix="textrawl-", suffix=".list", encoding="utf-8") as chosen:
        listing = await _list_content(program, open_content)
        chosen.write("".join(f"{line}\n" for line in listing.splitlines() if _is_restored(line)))
        chosen.flush()
        options = ["--single-transaction", "--exit-on-error", "--no-owner", f"--role={owner}"]
        with open_content() as opened:
            arguments = [*options, f"--use-list={chosen.name}"]
            await run_program(program, arguments, opened, login.conninfo)


def _refuse_losses(restored: dict[str, int], rows: dict[str, int]) -> None:
    if restored != rows:
        raise StartRefused(f"Nothing was changed: {compare_rows(restored, rows)}")


def _is_restored(line: str) -> bool:
    """Return True for an entry of the schema textrawl that is not a policy.

    Policies name the owner of the memory in the former database. So they are not restored but
    created again. Until then, row-level security hides all restored rows.
    """
    entry = _ENTRY.match(line)
    if entry is None or entry["kind"] == "POLICY":
        return False
    about_schema = entry["rest"].removeprefix("SCHEMA ").startswith(f"{SCHEMA} ")
    return entry["schema"] == SCHEMA or about_schema
