"""pg_dump and pg_restore: which ones, and how they are run."""

import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE
from tempfile import TemporaryFile
from typing import Any, cast

import anyio
from anyio.abc import ByteReceiveStream

from textrawl.embedded.account import Account
from textrawl.embedded.paths import ClusterPaths
from textrawl.embedded.programs import find_programs
from textrawl.errors import StartRefused
from textrawl.postgres.conninfo import read_conninfo, write_conninfo
from textrawl.settings import read_foreign_environment

_NEWEST = 18
_OLDEST = 16  # its pg_restore is the only one that does not set what it does not know
_UNSEEN = ("sslpassword", "oauth_client_secret")  # these have no variable that libpq reads


def find_program(name: str, folder: Path | None = None, server: int = _NEWEST) -> Path:
    """The program `name` in `folder`, else the one that came with textrawl, else one on PATH.

    `server` is the major version of the server that it is to talk to. Raises StartRefused where
    there is none.
    """
    if folder is None:
        try:
            # They run as whoever runs this: no folder is closed to them, nothing is copied.
            own = Account("", 0, 0, foreign=False)
            folder = find_programs(
                ClusterPaths(Path(), _OLDEST if server == _OLDEST else _NEWEST), own
            )
        except StartRefused:
            folder = None
    found = str(folder / name) if folder and (folder / name).exists() else shutil.which(name)
    if found is None:
        raise StartRefused(
            f"There is no {name}: install the client programs of PostgreSQL {_NEWEST}"
        )
    return Path(found)


async def run_program(program: Path, words: Sequence[str], conninfo: str | None = None) -> str:
    """What it says on stdout. Raises StartRefused with its complaint when it fails."""
    given, environment = _split_conninfo(conninfo)
    done = await anyio.run_process(
        [str(program), *words, *given], stdin=DEVNULL, check=False, env=environment
    )
    if done.returncode:
        raise StartRefused(_complain(program, done.stderr))
    return done.stdout.decode("utf-8", "replace")


@asynccontextmanager
async def read_program(program: Path, words: Sequence[str]) -> AsyncGenerator[ByteReceiveStream]:
    """Its stdout as it comes. Raises StartRefused with its complaint when it fails."""
    _, environment = _split_conninfo(None)
    with TemporaryFile() as complaint:
        async with await anyio.open_process(
            [str(program), *words], stdin=DEVNULL, stdout=PIPE, stderr=complaint, env=environment
        ) as process:
            yield cast("ByteReceiveStream", process.stdout)
            code = await process.wait()
        if code:
            complaint.seek(0)
            raise StartRefused(_complain(program, complaint.read()))


def _split_conninfo(conninfo: str | None) -> tuple[list[str], dict[str, str]]:
    """Words and environment: other people of the machine see words, in lists of processes."""
    environment = read_foreign_environment() | {"LC_ALL": "C"}
    if conninfo is None:
        return [], environment
    given: dict[str, Any] = dict(read_conninfo(conninfo))
    if secret := next((name for name in _UNSEEN if given.get(name)), None):
        raise StartRefused(
            f"TEXTRAWL_DATABASE_URL has a {secret}, which pg_dump could not be told unseen: use a "
            "connection without one"
        )
    password = given.pop("password", None)
    if password is not None:
        environment["PGPASSWORD"] = str(password)
    return ["--no-password", f"--dbname={write_conninfo(**given)}"], environment


def _complain(program: Path, stderr: bytes) -> str:
    """The first error, without the rows that Postgres shows after it."""
    if b"unsupported version" in stderr:
        return (
            f"{program.name} of PostgreSQL {_OLDEST} cannot read a file that a newer one wrote: "
            "restore into a newer server, or move the content by `textrawl export` and `import`"
        )
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines()]
    errors = [line for line in lines if "error:" in line or "ERROR:" in line]
    told = [*errors, *lines, "it failed"][0].removeprefix(f"{program.name}: ")
    return f"{program.name} says: {told.removeprefix('error: ')}"
