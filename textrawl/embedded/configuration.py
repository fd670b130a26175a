"""The three configuration files of Postgres, which are written again before each start.

Postgres reads `local.conf` and the settings of `ALTER SYSTEM` last, so they override these files.
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

listen_addresses = ''                   # no connections through a network
unix_socket_permissions = 0700          # none from other OS users of this machine
max_connections = 100

synchronous_commit = on                 # an acknowledged write is never lost
fsync = on
full_page_writes = on
max_wal_size = 256MB                    # short recovery: 1GB of WAL took more than half a minute

shared_buffers = {buffers}MB                  # as much as the data needs, not more
maintenance_work_mem = 256MB            # an HNSW graph that fits is built many times faster
max_parallel_maintenance_workers = 0    # parallel builds need /dev/shm: 64MB in most containers
jit = off                               # compiling costs more than it saves in these queries
huge_pages = off
{queue}max_logical_replication_workers = 0     # there is no replication

timezone = 'UTC'                        # answers do not depend on the machine
datestyle = 'iso, ymd'
default_text_search_config = 'pg_catalog.english'
lc_messages = 'C'

log_timezone = 'UTC'
log_min_messages = warning
log_checkpoints = off
log_line_prefix = '%m [%p] '
log_min_error_statement = panic         # statements and details of errors
log_error_verbosity = terse             # can hold contents of a memory

include_if_exists = 'local.conf'
"""

_LEAST_BUFFERS = 128 << 20
_SPARE_BUFFERS = 512 << 20  # enough for new data until the next start
_FIRST_WITH_QUEUE = 17  # first major version with a setting for the queue of notifications
_MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")  # the memory limit of a container

_HBA = "# Written by textrawl. The OS user decides which roles may log in, without passwords.\n"


def _choose_buffers(pgdata: Path) -> int:
    """Return the size of shared_buffers in MB: twice the size of the stored data, within limits.

    It is at least 512 MB, because the data can grow. It is at most a quarter of the machine's
    memory, but never less than 128 MB. Pages that are not in shared_buffers are copied from the
    cache of the operating system. This copying took a seventh of the time of a search among 100,000
    facts. Postgres takes memory for shared_buffers only when it uses that memory.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if _MEMORY_LIMIT.is_file() and (limit := _MEMORY_LIMIT.read_text("ascii").strip()).isdigit():
        memory = min(memory, int(limit))
    stored = sum(file.stat().st_size for file in pgdata.glob("base/*/*"))
    return max(_LEAST_BUFFERS, min(max(2 * stored, _SPARE_BUFFERS), memory // 4)) >> 20


def _choose_queue(pgdata: Path) -> str:
    """Return the line that limits the notification queue, which any login can fill, to 512 kB."""
    major = int((pgdata / "PG_VERSION").read_text("ascii"))
    limit = "max_notify_queue_pages = 64             # textrawl sends none\n"
    return limit if major >= _FIRST_WITH_QUEUE else ""


def write_configuration(pgdata: Path, account: Account) -> None:
    """Write postgresql.conf, pg_hba.conf and pg_ident.conf into `pgdata`."""
    # Root can become the server's OS user anyway, so a login of root adds no risk.
    users = sorted({account.name, "root"})
    # A + means every member of the role, such as the logins of `textrawl analyst`.
    roles = (SUPERUSER, OWNER, APP, f"+{ANALYST}")
    ident = "".join(f'textrawl "{name}" {role}\n' for name in users for role in roles)
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
