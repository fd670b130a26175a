"""A real PgBouncer in front of a test's database, with nothing configured for textrawl."""

import logging
import shutil
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from tenacity import Retrying, stop_after_delay, wait_fixed

from textrawl.embedded.paths import find_account

PoolMode = Literal["transaction", "session"]

_log = logging.getLogger(__name__)

_PORT = 6432
_CONFIGURATION = """\
[databases]
* = host={host} port={port}

[pgbouncer]
unix_socket_dir = {folder}
listen_addr =
listen_port = {here}
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = {mode}
default_pool_size = 10
query_wait_timeout = 20
logfile = {folder}/pgbouncer.log
"""


def find_pgbouncer() -> str | None:
    """The program, which Debian keeps where only root looks."""
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")


@contextmanager
def run_pgbouncer(
    folder: Path, conninfo: str, mode: PoolMode, users: Sequence[str]
) -> Generator[str]:
    """Conninfo of the same database and role through PgBouncer, which lets `users` in."""
    program, account = find_pgbouncer(), find_account()
    assert program is not None
    place = conninfo_to_dict(conninfo)
    text = _CONFIGURATION.format(
        host=place["host"], port=place["port"], folder=folder, here=_PORT, mode=mode
    )
    files = {"pgbouncer.ini": text, "users.txt": "".join(f'"{user}" ""\n' for user in users)}
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
        account.chown(folder / name)
    account.chown(folder)
    with subprocess.Popen(
        [program, "--quiet", str(folder / "pgbouncer.ini")], **account.process_options()
    ) as process:
        try:
            pooled = make_conninfo(conninfo, host=str(folder), port=_PORT)
            for attempt in Retrying(stop=stop_after_delay(60), wait=wait_fixed(0.02), reraise=True):
                with attempt, psycopg.connect(pooled):
                    pass
            yield pooled
        finally:
            if process.poll() is not None:  # pytest shows why, below the failure that follows
                log = (folder / "pgbouncer.log").read_text(encoding="utf-8")
                _log.error("PgBouncer ended with %s:\n%s", process.returncode, log)
            process.kill()
