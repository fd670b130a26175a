"""The default data folder of the embedded Postgres, and two of its subfolders."""

import os
from pathlib import Path

IMPORTS = "import"  # subfolder with files that the graph toolset's `migrate` is allowed to read


def default_data_dir() -> Path:
    """Return the user's data folder, or a system folder for root.

    Started by root, Postgres runs as another OS user, which cannot enter the folders of root.
    """
    if os.geteuid() == 0:
        return Path("/var/lib/textrawl")
    import platformdirs  # noqa: PLC0415 - quick commands seldom need it, and it takes 5 ms

    return platformdirs.user_data_path("textrawl", appauthor=False)
