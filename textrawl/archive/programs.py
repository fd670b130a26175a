"""pg_dump and pg_restore: finding and running these programs."""

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


async def run_program(program: Path, arguments: Sequence[str], conninfo: str | None = None) -> str:
    """Run a program and return its stdout. If it fails, raise StartRefused with its message."""
    connection, environment = _split_conninfo(conninfo)
    done = await anyio.run_process(
        [str(program), *arguments, *connection], stdin=DEVNULL, check=False, env=environment
    )
    if done.returncode:
        raise StartRefused(_describe_failure(program, done.stderr))
    return done.stdout.decode("utf-8", "replace")


@asynccontextmanager
async def read_program(
    program: Path, arguments: Sequence[str]
) -> AsyncGenerator[ByteReceiveStream]:
    """Run a program and yield its stdout. If it fails, raise StartRefused with its message."""
    _, environment = _split_conninfo(None)
    with TemporaryFile() as errors:
        async with await anyio.open_process(
            [str(program), *arguments], stdin=DEVNULL, stdout=PIPE, stderr=errors, env=environment
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
