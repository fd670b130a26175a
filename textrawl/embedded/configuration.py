"""The three configuration files, written anew before each start.

`ALTER SYSTEM` and `local.conf` in the data folder come last, so an owner's own settings win.
"""

import os
from pathlib import Path

from textrawl.embedded.account import Account

OWNER = "textrawl_owner"
APP = "textrawl_app"
ANALYST = "textrawl_analyst"
SUPERUSER = "postgres"

_POSTGRESQL = """\
# Written by textrawl before each start. Put your own settings into local.conf beside this file.

listen_addresses = ''                   # nobody reaches it through a network
unix_socket_permissions = 0700          # nor another OS user of this machine
max_connections = 100

synchronous_commit = on                 # what was acknowledged is never lost
fsync = on
full_page_writes = on
max_wal_size = 256MB                    # short recovery: 1GB of WAL took more than half a minute

shared_buffers = {buffers}MB                  # a guest on somebody's machine: what its data needs
maintenance_work_mem = 256MB            # an HNSW graph that fits is built many times faster
max_parallel_maintenance_workers = 0    # parallel builds need /dev/shm: 64MB in most containers
jit = off                               # costs more than any query here can win back
huge_pages = off
{queue}max_logical_replication_workers = 0     # nothing is replicated

timezone = 'UTC'                        # answers do not depend on the machine
datestyle = 'iso, ymd'
default_text_search_config = 'pg_catalog.english'
lc_messages = 'C'

log_timezone = 'UTC'
log_min_messages = warning
log_checkpoints = off
log_line_prefix = '%m [%p] '
log_min_error_statement = panic         # statements and
log_error_verbosity = terse             # details of errors can hold what users told us

include_if_exists = 'local.conf'
"""

_LEAST_BUFFERS = 128 << 20
_SPARE_BUFFERS = 512 << 20  # room to grow until the next start
_FIRST_WITH_QUEUE = 17  # major version whose queue of notifications has a limit
_MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container

_HBA = "# Written by textrawl. Who you are on this machine decides; there are no passwords.\n"


def _choose_buffers(pgdata: Path) -> int:
    """MB for twice the data that is there or some growth, but at most a quarter of the memory.

    What is not in shared_buffers is copied from the system's cache, page by page: a seventh of a
    search among 100,000 facts. Postgres takes the memory only as it fills it.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if _MEMORY_LIMIT.is_file() and (limit := _MEMORY_LIMIT.read_text("ascii").strip()).isdigit():
        memory = min(memory, int(limit))
    stored = sum(file.stat().st_size for file in pgdata.glob("base/*/*"))
    return max(_LEAST_BUFFERS, min(max(2 * stored, _SPARE_BUFFERS), memory // 4)) >> 20


def _choose_queue(pgdata: Path) -> str:
    """A limit of half a megabyte for notifications, which any login can fill."""
    major = int((pgdata / "PG_VERSION").read_text("ascii"))
    limit = "max_notify_queue_pages = 64             # nothing of ours notifies\n"
    return limit if major >= _FIRST_WITH_QUEUE else ""


def write_configuration(pgdata: Path, account: Account) -> None:
    """Write postgresql.conf, pg_hba.conf and pg_ident.conf into `pgdata`."""
    # Root may become the server's OS user anyway, so letting it in opens nothing.
    people = sorted({account.name, "root"})
    # With + any member: the logins of `textrawl analyst`.
    roles = (SUPERUSER, OWNER, APP, f"+{ANALYST}")
    ident = "".join(f'textrawl "{name}" {role}\n' for name in people for role in roles)
    files = {
        "postgresql.conf": _POSTGRESQL.format(
            buffers=_choose_buffers(pgdata), queue=_choose_queue(pgdata)
        ),
        "pg_hba.conf": f"{_HBA}local all all peer map=textrawl\n",
        "pg_ident.conf": f"# Written by textrawl.\n{ident}",
    }
    os.close(account.open(pgdata / "local.conf", os.O_RDWR))
    for name, text in files.items():
        draft = pgdata / f"{name}.new"
        draft.unlink(missing_ok=True)
        with os.fdopen(account.open(draft, os.O_WRONLY), "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(pgdata / name)
