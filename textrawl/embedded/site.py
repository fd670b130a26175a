"""Every path of one embedded cluster, and whether textrawl may use them."""

import hashlib
import os
import pwd
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from textrawl.embedded.account import Account
from textrawl.embedded.location import IMPORTS, default_data_dir
from textrawl.errors import StartRefused

PORT = 5432
_LEAST_FREE = 32 << 20  # bytes: two files of the write-ahead log
_LONGEST_SOCKET = 103  # bytes; sun_path has 104 on macOS and 108 on Linux, with a NUL


@dataclass(frozen=True)
class Site:
    """Where one cluster lies; nothing needs to exist."""

    data_dir: Path
    major: int

    @property
    def pgdata(self) -> Path:
        """Postgres's own data folder."""
        return self.data_dir / f"postgres-{self.major}"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.data_dir / f"postgres-{self.major}.log"

    @property
    def lifecycle(self) -> Path:
        """Lock of whoever starts or stops the server."""
        return self.data_dir / "lifecycle.lock"

    @property
    def clients(self) -> Path:
        """Lock that each user of the server shares."""
        return self.data_dir / "clients.lock"


def claim_site(data_dir: Path, major: int, account: Account) -> Site:
    """The site under `data_dir`, whose folder exists afterwards.

    Raises StartRefused when the folder cannot be used or holds data of another major version,
    before anything in it is touched.
    """
    site = claim_folder(data_dir, major, account)
    refuse_other_major(site)
    return site


def claim_folder(data_dir: Path, major: int, account: Account) -> Site:
    """As claim_site, whatever major version the data are of."""
    site = Site(data_dir.expanduser().resolve(), major)
    try:
        _refuse_strangers(site, account)
        refuse_closed_folder(site.data_dir.parent, account)
        site.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        refuse_closed_folder(site.data_dir.parent, account)
    except OSError as error:
        raise refuse_folder(site.data_dir, error) from error
    return site


def refuse_folder(data_dir: Path, fault: OSError) -> StartRefused:
    """Return what to say about a data folder in which nothing can be made."""
    return StartRefused(
        f"The data folder {data_dir} cannot be used: {fault.strerror}. "
        "Set TEXTRAWL_DATA_DIR to a folder that you may write, or set TEXTRAWL_DATABASE_URL."
    )


def find_others(site: Site) -> list[Site]:
    """Sites of other major versions in the same folder, the newest first."""
    # A name with a dot is a draft of ours or a copy that was put aside.
    folders = site.data_dir.glob("postgres-*/PG_VERSION")
    names = [path.parent.name.removeprefix("postgres-") for path in folders]
    majors = {int(name) for name in names if name.isdecimal()} - {site.major}
    return [Site(site.data_dir, major) for major in sorted(majors, reverse=True)]


def refuse_other_major(site: Site) -> None:
    """Raise StartRefused when the folder holds data of another major version."""
    for other in find_others(site):
        fix = "run `textrawl upgrade`" if other.major < site.major else "upgrade textrawl"
        raise StartRefused(
            f"{other.pgdata} holds data of another major version and this textrawl runs Postgres "
            f"{site.major}: {fix}, or set TEXTRAWL_DATA_DIR to a new folder."
        )


def give_new_folder(site: Site, account: Account) -> None:
    """As root, give a new data folder to Postgres's OS user.

    It is new if it holds nothing but our locks and files to import.
    """
    ours = {site.lifecycle.name, site.clients.name, IMPORTS}
    is_new = all(entry.name in ours for entry in site.data_dir.iterdir())
    if is_new and site.data_dir.stat().st_uid == 0:
        account.take(site.data_dir)


def refuse_closed_folder(path: Path, account: Account) -> None:
    """Raise StartRefused naming the first existing folder down to `path` closed to `account`."""
    while not path.exists():
        path = path.parent
    closed = account.find_closed_folder(path)
    if closed is not None:
        raise StartRefused(
            f"As root, Postgres runs as the OS user {account.name}, who cannot enter {closed}. Set "
            f"TEXTRAWL_DATA_DIR={default_data_dir()}, or run textrawl as another user than root."
        )


def refuse_full_disk(site: Site) -> None:
    """Raise StartRefused when the disk is too full for a server to start, for callers who ask why.

    Its own log cannot tell: it lies on the same disk.
    """
    free = shutil.disk_usage(site.data_dir).free
    if free < _LEAST_FREE:
        raise StartRefused(
            f"The disk of {site.data_dir} is full ({free >> 20} MB free) and Postgres cannot "
            "start. Free some space, or move the folder and set TEXTRAWL_DATA_DIR: no data are "
            "lost."
        )


def choose_socket_dir(site: Site, account: Account) -> Path:
    """Folder for the server's socket, existing and open to its OS user only.

    In the data folder, unless the path is too long for a socket or has a character that
    libpq takes for a separator. The data folder's inode is part of the other name: a server
    whose data were deleted must not be mistaken for the one on a new folder of that name.
    """
    folder = site.data_dir / "socket"
    length = len(os.fsencode(folder / f".s.PGSQL.{PORT}"))
    if length > _LONGEST_SOCKET or set(str(folder)) & set(',"'):
        identity = f"{site.pgdata}:{site.pgdata.stat().st_ino}"
        name = f"textrawl-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
        folder = Path(tempfile.gettempdir()).resolve() / name
        refuse_closed_folder(folder.parent, account)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        _refuse_shared_folder(folder, account)
    else:
        account.take(folder)
    return folder


def _refuse_shared_folder(folder: Path, account: Account) -> None:
    # In a temporary folder anybody may have made this one first, to hear what we send.
    found = folder.lstat()
    private = stat.S_ISDIR(found.st_mode) and not stat.S_IMODE(found.st_mode) & 0o077
    if not private or found.st_uid != account.uid:
        raise StartRefused(
            f"The socket folder {folder} is not private to the OS user {account.name}. "
            "Remove it, or set TEXTRAWL_DATA_DIR to a shorter path."
        )


def _refuse_strangers(site: Site, account: Account) -> None:
    if not site.data_dir.exists():
        return
    owner = site.data_dir.stat().st_uid
    if account.foreign and owner not in (0, account.uid):
        raise StartRefused(
            f"The data folder {site.data_dir} belongs to {_name_user(owner)}. "
            "Run textrawl as that user, or set TEXTRAWL_DATA_DIR to another folder."
        )
    if site.pgdata.exists() and site.pgdata.stat().st_uid != account.uid:
        raise StartRefused(
            f"{site.pgdata} belongs to {_name_user(site.pgdata.stat().st_uid)} and Postgres would "
            f"run as {account.name}. Run textrawl as its owner, or give it away with chown -R."
        )
    if (site.data_dir / "PG_VERSION").exists():
        raise StartRefused(
            f"{site.data_dir} is the data folder of another Postgres. Set TEXTRAWL_DATA_DIR to a "
            "new folder."
        )


def _name_user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"OS user {uid}"
