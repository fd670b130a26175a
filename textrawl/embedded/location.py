"""The default data folder of the embedded Postgres, and two of its subfolders."""

import os
import stat
from pathlib import Path

IMPORTS = "import"  # subfolder with files that the graph toolset's `migrate` is allowed to read
RESIDENT = "resident"  # subfolder with the socket for hooks and quick commands


def default_data_dir() -> Path:
    """Return the user's data folder, or a system folder for root.

    Started by root, Postgres runs as another OS user, which cannot enter the folders of root.
    """
    if os.geteuid() == 0:
        return Path("/var/lib/textrawl")
    import platformdirs  # noqa: PLC0415 - quick commands seldom need it, and it takes 5 ms

    return platformdirs.user_data_path("textrawl", appauthor=False)


def is_private(folder: Path) -> bool:
    """Return whether `folder` exists and only the current OS user can enter it."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    closed = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & 0o077
    return closed and status.st_uid == os.geteuid()
