"""The OS user that Postgres runs as.

This is the user of the current process. If this user is root, Postgres runs as a system user,
because it refuses to run as root.
"""

import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textrawl.errors import StartRefused

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
