"""What can be said about an embedded cluster without starting or changing anything."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from psycopg import pq

from textrawl.embedded.postmaster import find_postmaster, ping, read_pid_file
from textrawl.embedded.site import Site, refuse_other_major
from textrawl.errors import StartRefused

Phase = Literal["not initialised", "stopped", "starting", "running"]


@dataclass(frozen=True)
class State:
    """A cluster as it is found: `size` in bytes of files, `log` a file that may not exist."""

    phase: Phase
    version: str | None
    size: int
    log: Path


def read_state(data_dir: Path, *, postgres_version: int = 18) -> State:
    """State of the cluster in `data_dir`; nothing is started, created or changed.

    Raises StartRefused when the folder may not be read or holds data of another major version.
    """
    site = Site(data_dir.expanduser().resolve(), postgres_version)
    try:
        refuse_other_major(site)
        return _read_state(site)
    except PermissionError as error:
        raise StartRefused(
            f"{error.filename} cannot be read. Run textrawl as the user who owns {site.data_dir}."
        ) from error


def _read_state(site: Site) -> State:
    version_file = site.pgdata / "PG_VERSION"
    if not version_file.exists():
        return State("not initialised", None, 0, site.log)
    version = version_file.read_text(encoding="utf-8").strip()
    return State(_find_phase(site.pgdata), version, _measure(site.pgdata), site.log)


def _find_phase(pgdata: Path) -> Phase:
    if ping(read_pid_file(pgdata)) is pq.Ping.OK:
        return "running"
    return "starting" if find_postmaster(pgdata) else "stopped"


def _measure(folder: Path) -> int:
    size = 0
    for path in folder.rglob("*"):
        try:
            size += path.lstat().st_size
        except FileNotFoundError:
            continue  # a running server removes files while we look
    return size
