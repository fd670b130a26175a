"""Creation of the data folder with initdb, completely or not at all. Other data are never lost."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from textrawl.embedded.account import Account
from textrawl.embedded.configuration import SUPERUSER
from textrawl.embedded.paths import ClusterPaths, refuse_few_files
from textrawl.errors import StartRefused

_BUILTIN_PROVIDER = 17  # first major version with a locale C.UTF-8 that does not need the libc
_LIMIT = 300.0  # seconds for initdb, which takes 0.6 s on a fast disk


def create_data_folder(paths: ClusterPaths, programs: Path, account: Account) -> None:
    """Create `paths.pgdata` unless it exists. The caller must hold the lifecycle lock.

    initdb works in a temporary folder, which is renamed to `pgdata` when it is complete. So a kill
    leaves no incomplete `pgdata`. If `pgdata` contains other data, raise StartRefused and change
    nothing.
    """
    remove_drafts(paths)
    if paths.pgdata.exists() and any(paths.pgdata.iterdir()):
        _refuse_other_data(paths)
        return
    draft = Path(tempfile.mkdtemp(prefix=f"{paths.pgdata.name}.new-", dir=paths.data_dir))
    account.chown(draft)
    _run_initdb(draft, paths.major, programs, account)
    draft.rename(paths.pgdata)


def remove_drafts(paths: ClusterPaths) -> None:
    """Remove incomplete folders of killed processes. The caller must hold the lifecycle lock."""
    for draft in paths.data_dir.glob("*.new-*"):
        if draft.name.startswith(("postgres-", "programs-")):
            # An initdb that still runs can write into this folder. The next start removes the rest.
            shutil.rmtree(draft, ignore_errors=True)


def _run_initdb(folder: Path, major: int, programs: Path, account: Account) -> None:
    # The full-text parser asks the libc which characters are letters. With the locale C, the word
    # “quoted” would keep its quotation marks.
    ctype = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
    locale = ["--locale=C", f"--lc-ctype={ctype}"]
    if major >= _BUILTIN_PROVIDER:
        locale += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    options = ["--encoding=UTF8", "--data-checksums", "--auth=peer", f"--username={SUPERUSER}"]
    try:
        done = account.run(
            [programs / "initdb", f"--pgdata={folder}", *options, *locale], limit=_LIMIT
        )
    except subprocess.TimeoutExpired as error:
        raise StartRefused(
            f"initdb did not finish within {_LIMIT:.0f} s in {folder.parent}. "
            "Set TEXTRAWL_DATA_DIR to a faster disk, or set TEXTRAWL_DATABASE_URL."
        ) from error
    if done.returncode:
        refuse_few_files()
        message = (done.stderr.strip() or done.stdout.strip()).replace("\n", " ")
        raise StartRefused(
            f"initdb failed in {folder.parent}: {message[-500:]} "
            "Fix that, set TEXTRAWL_DATA_DIR to another folder, or set TEXTRAWL_DATABASE_URL."
        )


def _refuse_other_data(paths: ClusterPaths) -> None:
    version_file = paths.pgdata / "PG_VERSION"
    if not version_file.exists():
        raise StartRefused(
            f"{paths.pgdata} is not empty, but it is not a data folder of Postgres. "
            "Move it away, or set TEXTRAWL_DATA_DIR to a new folder."
        )
    found = version_file.read_text(encoding="utf-8").strip()
    if found != str(paths.major):
        raise StartRefused(
            f"{paths.pgdata} holds data of Postgres {found}, but this textrawl runs Postgres "
            f"{paths.major}. Dump the data with Postgres {found} and load the dump into a new "
            "TEXTRAWL_DATA_DIR."
        )
