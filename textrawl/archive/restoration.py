"""The restoration of a backup into a database without a memory, completely or not at all."""

import re
from pathlib import Path
from tempfile import NamedTemporaryFile

import anyio
from anyio import to_thread

from textrawl.archive.checksums import verify_checksum
from textrawl.archive.dumps import Backup, Contents, compare_rows, count_facts, read_contents
from textrawl.archive.programs import find_program, run_program
from textrawl.errors import StartRefused
from textrawl.postgres.migrations import migrate
from textrawl.postgres.owner_login import OwnerLogin
from textrawl.postgres.owner_session import SCHEMA, SchemaSwap, refuse_transaction_pooling
from textrawl.postgres.sql_files import find_missing

_ENTRY = re.compile(rf"\d+; \d+ \d+ (?P<kind>[A-Z ]+?) (?P<schema>{SCHEMA}|-) (?P<rest>.*)")


async def restore_backup(login: OwnerLogin, file: Path) -> Backup:
    """Restore `file`, migrate the memory to this version, and return the counts of the file.

    Raises DatabaseUnavailable. Raises StartRefused in these cases:

    - The file was changed or is incomplete, or is not a backup.
    - The file has a version that cannot be migrated.
    - The current memory is not empty.
    """
    path = anyio.Path(file)
    await _require_file(path)
    checksum = await to_thread.run_sync(verify_checksum, file)
    contents, swap = await read_contents(file, login.programs), SchemaSwap(login)
    await refuse_transaction_pooling(login)
    await _refuse_unfit(contents, swap)
    former, major = await swap.find_owner()
    # Migrate an empty database too, because this creates the extension and the roles.
    await migrate(login.conninfo, connect_timeout=login.timeout)
    owner, _ = await swap.find_owner()
    await swap.set_aside(owner)
    done = False
    try:
        await _load(login, find_program("pg_restore", login.programs, major), owner, file)
        _refuse_losses(await swap.protect(owner), contents.rows)
        await migrate(login.conninfo, connect_timeout=login.timeout)
        await swap.finish(owner)
        done = True
    finally:
        if not done:
            with anyio.CancelScope(shield=True):
                await swap.put_back(owner, keep=bool(former))
    size, facts = (await path.stat()).st_size, count_facts(contents.rows)
    return Backup(str(file), size, facts, contents.rows, checksum)


async def _require_file(path: anyio.Path) -> None:
    try:
        is_file = await path.is_file()
    except OSError as error:  # no access to a parent folder
        raise StartRefused(f"{path} cannot be read: {error.strerror}") from error
    if not is_file:
        raise StartRefused(f"There is no file {path}")


async def _refuse_unfit(contents: Contents, swap: SchemaSwap) -> None:
    find_missing(set(contents.migrations), "backup")
    if holdings := await swap.find_holdings():
        counts = ", ".join(f"{number:,} {kind}" for kind, number in holdings.items())
        raise StartRefused(
            f"There is a memory already, with {counts}: restore into another database or "
            "TEXTRAWL_DATA_DIR, or back up this memory and delete it"
        )


async def _load(login: OwnerLogin, program: Path, owner: str, file: Path) -> None:
    with NamedTemporaryFile("w", prefix="textrawl-", suffix=".list", encoding="utf-8") as chosen:
        listing = await run_program(program, ["--list", str(file)])
        chosen.write("".join(f"{line}\n" for line in listing.splitlines() if _is_restored(line)))
        chosen.flush()
        options = ["--single-transaction", "--exit-on-error", "--no-owner", f"--role={owner}"]
        content = [f"--use-list={chosen.name}", str(file)]
        await run_program(program, [*options, *content], login.conninfo)


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
