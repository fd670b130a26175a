"""A disk that fills up: what was acknowledged stays, and with room again everything goes on."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import psycopg
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent
from psycopg import sql

from textrawl.embedded.cluster import Cluster, restart, run_embedded
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.errors import StartRefused
from textrawl.settings import read_foreign_environment

pytestmark = pytest.mark.anyio

Postmasters = Callable[[], list[int]]

_SIZE = 160 << 20


class Disk:
    """A small disk at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.filler = path / "filler"

    def fill(self) -> None:
        """Leave no room."""
        with self.filler.open("ab") as file, suppress(OSError):
            while True:
                os.write(file.fileno(), bytes(4096))

    def free(self) -> None:
        """Make room again."""
        self.filler.unlink()


@pytest.fixture
def disk(home: Path, postmasters: Postmasters) -> Iterator[Disk]:
    """An empty disk of 160 MB at home/data, in memory."""
    (path := home / "data").mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE},mode=755", "none", str(path)]
    if (
        sys.platform != "linux"
        or subprocess.run(command, check=False, capture_output=True).returncode
    ):
        pytest.skip("mounting a disk needs root on Linux")
    yield Disk(path)
    subprocess.run(["umount", "--lazy", str(path)], check=True)


@pytest.fixture
def data_dir(home: Path) -> Path:
    """A folder that is the small disk."""
    return home / "data"


@pytest.fixture
def furnished(disk: Disk, first: Path) -> Disk:
    """The disk with a stopped cluster."""
    subprocess.run(["cp", "-a", f"{first}/.", disk.path], check=True)
    return disk


def write_until_refused(
    cluster: Cluster, statement: str, role: str = OWNER
) -> tuple[int, psycopg.Error]:
    """Return how many writes were acknowledged, and the error that refused the next."""
    done = 0
    with psycopg.connect(cluster.dsn(role), autocommit=True) as connection:
        while True:
            try:
                connection.execute(statement.encode())
            except psycopg.Error as error:
                return done, error
            done += 1
            assert done < 10_000


def count(cluster: Cluster, *table: str) -> int:
    query = sql.SQL("select count(*) from {}").format(sql.Identifier(*(table or ["note"])))
    with psycopg.connect(cluster.dsn(SUPERUSER)) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def begin(cluster: Cluster) -> None:
    with psycopg.connect(cluster.dsn(OWNER)) as connection:
        connection.execute("create table note (words text)")


_ADD = "insert into note select string_agg(md5(random()::text), '') from generate_series(1, 3000)"
_FILL_THE_LOG = "select pg_logical_emit_message(true, '', repeat('x', 1000000))"


async def test_a_full_disk_refuses_a_write_by_its_name_and_keeps_what_was_acknowledged(
    furnished: Disk, postmasters: Postmasters
) -> None:
    async with run_embedded(furnished.path) as cluster:
        begin(cluster)
        furnished.fill()
        acknowledged, error = write_until_refused(cluster, _ADD)
        assert isinstance(error, psycopg.errors.DiskFull)
        assert count(cluster) == acknowledged

        furnished.free()
        with psycopg.connect(cluster.dsn(OWNER)) as connection:
            connection.execute(_ADD)
        assert count(cluster) == acknowledged + 1


@pytest.mark.slow
async def test_a_server_that_a_full_disk_brought_down_returns_when_there_is_room(
    furnished: Disk, postmasters: Postmasters
) -> None:
    async with run_embedded(furnished.path) as cluster:
        begin(cluster)
        with psycopg.connect(cluster.dsn(OWNER), autocommit=True) as connection:
            connection.execute(_ADD)
        furnished.fill()
        _, error = write_until_refused(cluster, _FILL_THE_LOG, SUPERUSER)
        assert isinstance(error, psycopg.OperationalError)
        with anyio.fail_after(30):
            while postmasters():  # noqa: ASYNC110 - another process wakes nobody
                await anyio.sleep(0.01)
        with pytest.raises(StartRefused, match=f"The disk of {furnished.path} is full"):
            await restart(cluster)

        furnished.free()
        await restart(cluster)
        assert count(cluster) == 1
        with psycopg.connect(cluster.dsn(OWNER)) as connection:
            connection.execute(_ADD)


async def test_a_first_start_on_a_full_disk_says_so_and_leaves_nothing_half_made(
    disk: Disk,
) -> None:
    disk.fill()
    with pytest.raises(StartRefused, match=r"No space left on device|is full"):
        async with run_embedded(disk.path):
            pytest.fail("started")

    disk.free()
    async with run_embedded(disk.path) as cluster:
        begin(cluster)
        assert count(cluster) == 0
    assert not list(disk.path.glob("*.new-*"))


@pytest.mark.slow
async def test_a_client_is_told_of_a_full_disk_and_goes_on_when_there_is_room(
    furnished: Disk,
) -> None:
    stored = 1
    async with Client(describe_server(furnished.path)) as client:
        assert await remember(client, 0) is None
        furnished.fill()
        while (refusal := await remember(client, stored)) is None:
            stored += 1
        furnished.free()
        with anyio.fail_after(30):
            while await remember(client, stored) is not None:
                continue

    assert refusal["error"] == "Database unavailable"
    assert "disk" in refusal["fix"]
    async with run_embedded(furnished.path) as cluster:
        assert count(cluster, "textrawl", "observation") == stored + 1


def describe_server(data_dir: Path) -> StdioServerParameters:
    environment = read_foreign_environment() | {"DATA_DIR": str(data_dir)}
    return StdioServerParameters(command=sys.executable, args=["-m", "textrawl"], env=environment)


async def remember(client: Client, number: int) -> dict[str, str] | None:
    """What is answered when a fact that no disk can compress is refused."""
    fact = {"entityType": "concept", "observation": os.urandom(900).hex()}
    answer = await client.call_tool("remember_fact", {"entityName": f"E{number}", **fact})
    [content] = answer.content
    assert isinstance(content, TextContent)
    if not answer.is_error:
        return None
    title, fix = content.text.split(". ", 1)
    return {"error": title, "fix": fix}
