"""The folder of the embedded Postgres, where DATA_DIR does not name one, and what is in it."""

import os
from pathlib import Path

import platformdirs

IMPORTS = "import"  # folder in it whose files the graph toolset's migrate may read


def default_data_dir() -> Path:
    """Folder of the embedded Postgres: the user's data folder, or as root a system folder.

    Root's own folders are closed to the OS user that Postgres then runs as.
    """
    if os.geteuid() == 0:
        return Path("/var/lib/textrawl")
    return platformdirs.user_data_path("textrawl", appauthor=False)
