"""The hosts that the processes of a test have started, which outlive them."""

from collections.abc import Iterator
from pathlib import Path

import psutil

IDLE = {"TEXTRAWL_HOST_IDLE": "0.1"}  # minutes: should a host be forgotten, it ends by itself
_folders = set[Path]()


def note_folder(folder: str | Path) -> None:
    """Note that a process with this data folder was started."""
    _folders.add(Path(folder))


def find_hosts(folder: str | Path) -> Iterator[psutil.Process]:
    """The hosts of the memories whose data folder is `folder` or inside it."""
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or []
        if command[-1:] != ["host"] or "textrawl" not in command:
            continue
        try:
            environment = process.environ()
        except psutil.Error:
            continue
        place = environment.get("TEXTRAWL_DATA_DIR") or environment.get("DATA_DIR")
        if place and Path(folder) in (Path(place), *Path(place).parents):
            yield process


def end_hosts(folder: Path) -> None:
    """End them as a system does that shuts down, and wait until they have ended."""
    hosts = list(find_hosts(folder))
    for host in hosts:
        host.terminate()
    _, alive = psutil.wait_procs(hosts, timeout=60)
    for host in alive:
        host.kill()
    assert not alive


def end_noted_hosts() -> None:
    """End the hosts of all folders that were noted."""
    while _folders:
        end_hosts(_folders.pop())


def read_logs(data_dir: Path) -> str:
    """What the hosts of a data folder have logged."""
    return "".join(
        path.read_text(encoding="utf-8") for path in sorted(data_dir.glob("resident/*.log"))
    )
