"""The default data folder of the embedded Postgres, and its subfolder for imports."""

import os
from pathlib import Path

import platformdirs

IMPORTS = "import"  # subfolder whose files the graph toolset's `migrate` may read


def default_data_dir() -> Path:
    """Return the user's data folder, or a system folder for root.

    The OS user that Postgres runs as for root cannot enter root's own folders.
    """
    if os.geteuid() == 0:
        return Path("/var/lib/textrawl")
    return platformdirs.user_data_path("textrawl", appauthor=False)
