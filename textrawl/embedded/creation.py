"""The data folder: made once, completely or not at all, and never over anything."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from textrawl.embedded.account import Account
from textrawl.embedded.configuration import SUPERUSER
from textrawl.embedded.site import Site
from textrawl.errors import StartRefused

_BUILTIN_PROVIDER = 17  # first major version whose C.UTF-8 does not depend on the libc
_LIMIT = 300.0  # seconds; 0.6 s on a quick disk


def create_data_folder(site: Site, programs: Path, account: Account) -> None:
    """Make `site.pgdata` unless it is there; the lifecycle lock is held.

    initdb works in a temporary folder that is renamed when complete, so a kill leaves nothing
    half-made. Raises StartRefused when the folder holds anything else, unchanged.
    """
    remove_drafts(site)
    if site.pgdata.exists() and any(site.pgdata.iterdir()):
        _refuse_other_data(site)
        return
    draft = Path(tempfile.mkdtemp(prefix=f"{site.pgdata.name}.new-", dir=site.data_dir))
    account.take(draft)
    _run_initdb(draft, site.major, programs, account)
    draft.rename(site.pgdata)


def remove_drafts(site: Site) -> None:
    """Remove what a killed process left half-made; the lifecycle lock is held."""
    for draft in site.data_dir.glob("*.new-*"):
        if draft.name.startswith(("postgres-", "programs-")):
            # A forgotten initdb may still write into it; the next start finishes the removal.
            shutil.rmtree(draft, ignore_errors=True)


def _run_initdb(folder: Path, major: int, programs: Path, account: Account) -> None:
    # The full-text parser asks the libc what a letter is: with C, “quoted” keeps its quotes.
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
        said = (done.stderr.strip() or done.stdout.strip()).replace("\n", " ")
        raise StartRefused(
            f"initdb failed in {folder.parent}: {said[-500:]} "
            "Fix that, set TEXTRAWL_DATA_DIR to another folder, or set TEXTRAWL_DATABASE_URL."
        )


def _refuse_other_data(site: Site) -> None:
    version_file = site.pgdata / "PG_VERSION"
    if not version_file.exists():
        raise StartRefused(
            f"{site.pgdata} is not empty and not the data folder of a Postgres. "
            "Move it away, or set TEXTRAWL_DATA_DIR to a new folder."
        )
    found = version_file.read_text(encoding="utf-8").strip()
    if found != str(site.major):
        raise StartRefused(
            f"{site.pgdata} holds data of Postgres {found} and this textrawl runs Postgres "
            f"{site.major}. Dump it with Postgres {found} and load the dump into a new "
            "TEXTRAWL_DATA_DIR."
        )
