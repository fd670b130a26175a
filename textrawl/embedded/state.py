"""The state of an embedded cluster. Reading it does not start or change anything."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from psycopg import pq

from textrawl.embedded.paths import ClusterPaths, refuse_other_major
from textrawl.embedded.postmaster import find_postmaster, ping, read_pid_file
from textrawl.errors import StartRefused

Phase = Literal["not initialised", "stopped", "starting", "running"]


@dataclass(frozen=True)
class State:
    """The state of a cluster. `size` is the size of its files in bytes. `log` need not exist."""

    phase: Phase
    version: str | None
    size: int
    log: Path


def read_state(data_dir: Path, *, postgres_version: int = 18) -> State:
    """Return the state of the cluster in `data_dir`.

    Raises StartRefused if the folder cannot be read or contains data of another major version.
    """
    paths = ClusterPaths(data_dir.expanduser().resolve(), postgres_version)
    try:
        refuse_other_major(paths)
        return _read_state(paths)
    except PermissionError as error:
        raise StartRefused(
            f"{error.filename} cannot be read. Run textrawl as the user who owns {paths.data_dir}."
        ) from error


def _read_state(paths: ClusterPaths) -> State:
    version_file = paths.pgdata / "PG_VERSION"
    if not version_file.exists():
        return State("not initialised", None, 0, paths.log)
    version = version_file.read_text(encoding="utf-8").strip()
    return State(_find_phase(paths.pgdata), version, _measure(paths.pgdata), paths.log)


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
            continue  # a running server has removed this file meanwhile
    return size
