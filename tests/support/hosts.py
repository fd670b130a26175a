"""The hosts that the processes of a test have started, which outlive them."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from textrawl.host import question

IDLE = {"TEXTRAWL_HOST_IDLE": "0.1"}  # minutes: should a host be forgotten, it ends by itself
_folders = set[Path]()


def note_folder(folder: str | Path) -> None:
    """Note that a process with this data folder was started."""
    _folders.add(Path(folder))


def find_hosts(folder: str | Path) -> Iterator[psutil.Process]:
    """The hosts of the memories whose data folder is `folder` or inside it."""
    for process in psutil.process_iter(["cmdline"]):
        if not _is_host(process):
            continue
        environment = _read_environment(process)
        place = environment.get("TEXTRAWL_DATA_DIR") or environment.get("DATA_DIR")
        if place and Path(folder) in (Path(place), *Path(place).parents):
            yield process


def end_hosts(folder: Path) -> None:
    """End them as a system does that shuts down, and wait until they have ended."""
    _end(list(find_hosts(folder)))


def end_hosts_of_test() -> None:
    """End the hosts that commands of this test have started."""
    own = _find_test(os.environ)
    processes = filter(_is_host, psutil.process_iter(["cmdline"]))
    _end([process for process in processes if _find_test(_read_environment(process)) == own])
    started = question._started  # pyright: ignore[reportPrivateUsage]
    for process in started:
        process.terminate()
        process.wait(timeout=60)
    started.clear()


def _is_host(process: psutil.Process) -> bool:
    command: list[str] = process.info["cmdline"] or []
    return "textrawl" in command and "host" in command[-2:]


def _read_environment(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except psutil.Error:
        return {}


def _find_test(environment: Mapping[str, str]) -> tuple[str, str]:
    test = environment.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    return environment.get("PYTEST_XDIST_TESTRUNUID", ""), test


def _end(hosts: list[psutil.Process]) -> None:
    for host in hosts:
        with suppress(psutil.NoSuchProcess):
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
