"""Process numbers that begin anew, and a process 1 that buries nobody: as in a container."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

_ENTER = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]

_PRELUDE = """
import os, signal, subprocess, sys
from pathlib import Path
import anyio, psycopg
from textrawl.embedded.cluster import restart, run_embedded
from textrawl.embedded.postmaster import OWNER
from textrawl.embedded.postmaster import find_postmaster

def execute(cluster, statement):
    with psycopg.connect(cluster.dsn(OWNER), autocommit=True) as connection:
        return connection.execute(statement)

def count(cluster):
    return execute(cluster, "select count(*) from note").fetchone()[0]

assert os.getpid() == 1
data_dir = Path(sys.argv[1])
"""

_KILLS_ITS_SERVER = """
async def main():
    async with run_embedded(data_dir) as cluster:
        execute(cluster, "create table note as select from generate_series(1, 1000)")
        server = find_postmaster(cluster.data)
        os.kill(server, signal.SIGKILL)
        while find_postmaster(cluster.data):
            await anyio.sleep(0.01)
        await restart(cluster)
        print(count(cluster), find_postmaster(cluster.data) != server)
    print(find_postmaster(cluster.data))

anyio.run(main)
"""

_CRASHES = """
async def main():
    async with run_embedded(data_dir) as cluster:
        execute(cluster, "create table note as select from generate_series(1, 1000)")
        print(find_postmaster(cluster.data), flush=True)
        os._exit(9)  # the kernel kills whatever is left in the container

anyio.run(main)
"""

_MEETS_A_STRANGER = """
taken = int((data_dir / "postgres-18" / "postmaster.pid").read_text().split()[0])
while (stranger := subprocess.Popen(["sleep", "600"])).pid < taken:
    stranger.kill()
    stranger.wait()
assert stranger.pid == taken

async def main():
    async with run_embedded(data_dir) as cluster:
        print(count(cluster), stranger.poll())

anyio.run(main)
"""


def can_enter() -> bool:
    try:
        return subprocess.run([*_ENTER, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not can_enter(), reason="a process number space needs root on Linux"
)


def run_in_container(script: str, data_dir: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*_ENTER, sys.executable, "-c", _PRELUDE + script, str(data_dir)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_as_process_1_a_killed_server_is_seen_to_be_dead_and_comes_back(data_dir: Path) -> None:
    done = run_in_container(_KILLS_ITS_SERVER, data_dir)

    assert (done.returncode, done.stdout) == (0, "1000 True\nNone\n"), done.stderr


def test_after_a_container_crashed_another_program_with_the_servers_number_is_left_alone(
    data_dir: Path, postmasters: Callable[[], list[int]]
) -> None:
    crashed = run_in_container(_CRASHES, data_dir)
    assert crashed.returncode == 9, crashed.stderr
    assert (data_dir / "postgres-18" / "postmaster.pid").exists()

    done = run_in_container(_MEETS_A_STRANGER, data_dir)

    assert (done.returncode, done.stdout) == (0, "1000 None\n"), done.stderr
    assert postmasters() == []
