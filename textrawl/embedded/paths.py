"""The paths of one embedded cluster, and checks that textrawl can use them."""

import hashlib
import os
import pwd
import resource
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textrawl.environment import IMPORTS, default_data_dir
from textrawl.errors import StartRefused
from textrawl_client.unix_socket import RESIDENT

SERVICE = "textrawl"
_FIND_CLOSED = 'for d; do test -x "$d" || { printf %s "$d"; exit 1; }; done'


@dataclass(frozen=True)
class Account:
    """An OS user. `foreign` is true if this process runs as another user."""

    name: str
    uid: int
    gid: int
    foreign: bool

    def process_options(self) -> dict[str, Any]:
        """Return arguments of subprocess.Popen that make a child run as this user.

        The child starts in `/`, because this user may have no access to the current folder. The
        child does not inherit the environment, which can contain API keys.
        """
        options: dict[str, Any] = {"cwd": "/", "umask": 0o077, "env": environment()}
        if self.foreign:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return options

    def run(
        self, command: Sequence[str | Path], *, limit: float
    ) -> "subprocess.CompletedProcess[str]":
        """Run `command` as this user for at most `limit` seconds. Do not raise if it fails."""
        return subprocess.run(  # noqa: S603 - fixed commands, no shell
            [str(part) for part in command],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=limit,
            **self.process_options(),
        )

    def open(self, path: Path, flags: int) -> int:
        """Open a file, or create it for this user. Do not follow symbolic links."""
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return os.open(path, flags)
        self.chown(file)
        return file

    def chown(self, path: Path | int) -> None:
        """Make this user the owner of a new file or folder."""
        if self.foreign:
            os.chown(path, self.uid, self.gid)

    def find_closed_folder(self, path: Path) -> Path | None:
        """Return the first folder from the root down to `path` that this user cannot enter.

        A process of this user tries to enter each folder, because access lists and mounts matter as
        much as permissions.
        """
        if not self.foreign:
            return None
        folders = [*reversed(path.parents), path]
        done = self.run(["/bin/sh", "-c", _FIND_CLOSED, "sh", *folders], limit=30)
        return Path(done.stdout) if done.returncode else None


def environment(**more: str) -> Mapping[str, str]:
    """Return the environment for programs of Postgres: English messages, and no secrets."""
    return {"PATH": os.defpath, "LC_ALL": "C", **more}


def find_account() -> Account:
    """Return the user that Postgres runs as. As root, create it if it is missing.

    Raises StartRefused if the current user has no name or no system user can be created.
    """
    uid = os.geteuid()
    if uid == 0:
        entry = _ensure_service_user()
        return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, foreign=True)
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise StartRefused(
            f"The embedded Postgres needs a named OS user, but user id {uid} has no name. "
            "Run textrawl as a user in /etc/passwd, or set TEXTRAWL_DATABASE_URL."
        ) from None
    return Account(entry.pw_name, uid, entry.pw_gid, foreign=False)


def _ensure_service_user() -> pwd.struct_passwd:
    reason = "useradd is not installed"
    useradd = shutil.which("useradd", path=f"{os.defpath}:/usr/sbin:/sbin")
    # Several processes can add the user at the same time. All except one fail, and then find it.
    for _ in range(20):
        with suppress(KeyError):
            return pwd.getpwnam(SERVICE)
        if useradd is None:
            break
        done = subprocess.run(  # noqa: S603 - fixed arguments
            [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SERVICE],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            reason = done.stderr.strip()
            time.sleep(0.1)
    raise StartRefused(
        f"Postgres does not run as root, and the OS user {SERVICE} cannot be created ({reason}). "
        "Run textrawl as another user than root, or set TEXTRAWL_DATABASE_URL."
    )


PORT = 5432
_LEAST_FREE = 32 << 20  # bytes for two files of the write-ahead log
_LEAST_FILES = 80  # Postgres needs 48 that it can open in addition to those that are open
_LONGEST_SOCKET = 103  # bytes without the NUL; sun_path has 104 on macOS and 108 on Linux


@dataclass(frozen=True)
class ClusterPaths:
    """The paths of one cluster. The files and folders need not exist."""

    data_dir: Path
    major: int

    @property
    def pgdata(self) -> Path:
        """The data folder of Postgres."""
        return self.data_dir / f"postgres-{self.major}"

    @property
    def log(self) -> Path:
        """The log of the server."""
        return self.data_dir / f"postgres-{self.major}.log"

    @property
    def lifecycle(self) -> Path:
        """The lock for starting and stopping the server."""
        return self.data_dir / "lifecycle.lock"

    @property
    def clients(self) -> Path:
        """The lock that all users of the server share."""
        return self.data_dir / "clients.lock"


def prepare_paths(data_dir: Path, major: int, account: Account) -> ClusterPaths:
    """Create the folder `data_dir` if needed, and return the paths in it.

    If the folder cannot be used or contains data of another major version, raise StartRefused and
    change nothing in it.
    """
    paths = ClusterPaths(data_dir.expanduser().resolve(), major)
    try:
        _refuse_other_owner(paths, account)
        refuse_closed_folder(paths.data_dir.parent, account)
        paths.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        refuse_closed_folder(paths.data_dir.parent, account)
    except OSError as error:
        raise refuse_folder(paths.data_dir, error) from error
    refuse_other_major(paths)
    return paths


def refuse_folder(data_dir: Path, fault: OSError) -> StartRefused:
    """Return the error for a data folder that cannot be written."""
    return StartRefused(
        f"The data folder {data_dir} cannot be used: {fault.strerror}. "
        "Set TEXTRAWL_DATA_DIR to a folder in which you may write, or set TEXTRAWL_DATABASE_URL."
    )


def refuse_other_major(paths: ClusterPaths) -> None:
    """Raise StartRefused if the folder holds data of another major version."""
    for file in sorted(paths.data_dir.glob("postgres-*/PG_VERSION")):
        major = file.parent.name.removeprefix("postgres-")
        if not major.isdecimal() or int(major) == paths.major:
            continue  # a name with a dot is an incomplete folder
        raise StartRefused(
            f"{file.parent} holds data of another major version, but this textrawl runs Postgres "
            f"{paths.major}: use the textrawl that made them, or set TEXTRAWL_DATA_DIR to a new "
            "folder. `textrawl backup` there and then `textrawl restore` here move older data."
        )


def refuse_damaged_folder(paths: ClusterPaths) -> None:
    """Raise StartRefused if the data folder of Postgres has files, but no version."""
    file = paths.pgdata / "PG_VERSION"
    if file.exists() and file.read_text("utf-8", "replace").strip().isdecimal():
        return
    if paths.pgdata.exists() and any(paths.pgdata.iterdir()):
        raise describe_damage(paths, "it is not empty, but it is not a data folder of Postgres")


def describe_damage(paths: ClusterPaths, reason: str) -> StartRefused:
    """Return the error for data that no start can use."""
    return StartRefused(
        f"{paths.pgdata} cannot be used, because {reason}. Move it away. If your memory was in it, "
        "run `textrawl restore FILE` with your newest backup then. Or set TEXTRAWL_DATA_DIR to "
        "another folder."
    )


def chown_new_folder(paths: ClusterPaths, account: Account) -> None:
    """As root, make Postgres' OS user the owner of a new data folder.

    A folder is new if it contains only the lock files and the folders for imports and sockets.
    """
    expected = {paths.lifecycle.name, paths.clients.name, IMPORTS, RESIDENT}
    is_new = all(entry.name in expected for entry in paths.data_dir.iterdir())
    if is_new and paths.data_dir.stat().st_uid == 0:
        account.chown(paths.data_dir)


def refuse_closed_folder(path: Path, account: Account) -> None:
    """Raise StartRefused if `account` cannot enter `path`, or its first parent that exists."""
    while not path.exists():
        path = path.parent
    closed = account.find_closed_folder(path)
    if closed is not None:
        raise StartRefused(
            f"Started by root, Postgres runs as the OS user {account.name}, who cannot enter "
            f"{closed}. Set TEXTRAWL_DATA_DIR={default_data_dir()}, or run textrawl as another "
            "user than root."
        )


def refuse_full_disk(paths: ClusterPaths) -> None:
    """Raise StartRefused if the disk is too full for a server to start.

    The server's log does not contain this error, because the log is on the same disk.
    """
    free = shutil.disk_usage(paths.data_dir).free
    if free < _LEAST_FREE:
        raise StartRefused(
            f"The disk of {paths.data_dir} is full ({free >> 20} MB free), so Postgres cannot "
            "start. Free some space, or move the folder and set TEXTRAWL_DATA_DIR. No data are "
            "lost."
        )


def refuse_few_files() -> None:
    """Raise StartRefused if this process may open too few files for a server to start."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= allowed < _LEAST_FILES:
        raise StartRefused(
            f"This process may open only {allowed} files at once, and Postgres needs more. Raise "
            "the limit: ulimit -n 1024 in a shell, or LimitNOFILE=1024 in a unit of systemd."
        )


def choose_socket_dir(paths: ClusterPaths, account: Account) -> Path:
    """Create the folder of the server's socket, which only its OS user can enter, and return it.

    The folder is in the data folder if that path is not too long for a socket and has no character
    that libpq takes for a separator. Otherwise it is a temporary folder. The temporary name depends
    on the inode of `pgdata`, because a server with deleted data must not be mistaken for the
    server of a new `pgdata`.
    """
    folder = paths.data_dir / "socket"
    length = len(os.fsencode(folder / f".s.PGSQL.{PORT}"))
    if length > _LONGEST_SOCKET or set(str(folder)) & set(',"'):
        identity = f"{paths.pgdata}:{paths.pgdata.stat().st_ino}"
        name = f"textrawl-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
        folder = Path(tempfile.gettempdir()).resolve() / name
        refuse_closed_folder(folder.parent, account)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        _refuse_shared_folder(folder, account)
    else:
        account.chown(folder)
    return folder


def _refuse_shared_folder(folder: Path, account: Account) -> None:
    # Another OS user may have created this temporary folder earlier, to read the connections.
    status = folder.lstat()
    private = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & 0o077
    if not private or status.st_uid != account.uid:
        raise StartRefused(
            f"The socket folder {folder} is not private to the OS user {account.name}. "
            "Remove it, or set TEXTRAWL_DATA_DIR to a shorter path."
        )


def _refuse_other_owner(paths: ClusterPaths, account: Account) -> None:
    if not paths.data_dir.exists():
        return
    owner = paths.data_dir.stat().st_uid
    if account.foreign and owner not in (0, account.uid):
        raise StartRefused(
            f"The data folder {paths.data_dir} belongs to {_name_user(owner)}. "
            "Run textrawl as that user, or set TEXTRAWL_DATA_DIR to another folder."
        )
    if paths.pgdata.exists() and paths.pgdata.stat().st_uid != account.uid:
        raise StartRefused(
            f"{paths.pgdata} belongs to {_name_user(paths.pgdata.stat().st_uid)}, but Postgres "
            f"would run as {account.name}. Run textrawl as the owner of the folder, or change the "
            "owner with chown -R."
        )
    if (paths.data_dir / "PG_VERSION").exists():
        raise StartRefused(
            f"{paths.data_dir} is the data folder of another Postgres. Set TEXTRAWL_DATA_DIR to a "
            "new folder."
        )


def _name_user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"OS user {uid}"
