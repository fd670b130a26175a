"""The wheel has everything that it needs, and nothing else."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installation import ROOT, find_uv
from textrawl import Settings, __version__

CLIENT = ROOT / "packages/client"


def run(*words: str | Path, cwd: Path) -> str:
    """What a program writes to stdout; nothing leads it to this checkout but its arguments."""
    ours = {
        "VIRTUAL_ENV",
        "PYTHONPATH",
        "PYTHONHOME",
        *(name.upper() for name in Settings.model_fields),
    }
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    done = subprocess.run(
        words, cwd=cwd, env=kept, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def uv() -> str:
    return find_uv()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that another OS user can enter: as root, Postgres runs as one."""
    path = Path(tempfile.mkdtemp(prefix="textrawl-wheel-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def wheel(uv: str, folder: Path) -> Path:
    """The wheel, built as a release would be."""
    run(uv, "build", "--wheel", "--all-packages", "--out-dir", folder / "dist", ROOT, cwd=folder)
    [built] = (folder / "dist").glob("textrawl-*.whl")
    return built


@pytest.fixture(scope="module")
def client_wheel(wheel: Path) -> Path:
    """The wheel of the client, which is built together with that of the server."""
    [built] = wheel.parent.glob("textrawl_client-*.whl")
    return built


@pytest.fixture(scope="module")
def python(uv: str, folder: Path, wheel: Path, client_wheel: Path) -> Path:
    """An environment with both wheels and what they need, in the versions tested here."""
    installed = run(
        uv, "pip", "freeze", "--exclude-editable", "--python", sys.executable, cwd=folder
    )
    (folder / "constraints.txt").write_text(installed, encoding="utf-8")
    run(uv, "venv", "--python", sys.executable, folder / "venv", cwd=folder)
    python = folder / "venv/bin/python"
    run(
        uv,
        "pip",
        "install",
        "--python",
        python,
        "--constraints",
        folder / "constraints.txt",
        wheel,
        client_wheel,
        cwd=folder,
    )
    return python


def test_the_wheel_has_the_sql_the_demonstration_and_the_marker_of_types_and_no_strays(
    wheel: Path,
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}

    tracked = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "textrawl").rglob("*")
        if is_source(path)
    }
    shipped = {f"textrawl/{path.relative_to(ROOT)}" for path in (ROOT / "sql").rglob("*.sql")}
    shipped.remove("textrawl/sql/schema.sql")  # for readers of the repository
    shipped.add("textrawl/sql/catalogue.txt")
    assert names == tracked | shipped
    assert {"textrawl/py.typed", "textrawl/cli/postgresql.json"} <= names
    assert shipped


def test_the_clients_wheel_has_its_modules_and_needs_only_httpx_and_pydantic(
    client_wheel: Path,
) -> None:
    with zipfile.ZipFile(client_wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        [metadata] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        text = archive.read(metadata).decode()
    tracked = {
        path.relative_to(CLIENT).as_posix()
        for path in (CLIENT / "textrawl_client").rglob("*")
        if is_source(path)
    }

    assert names == tracked
    assert "textrawl_client/py.typed" in names
    assert re.findall(r"^Requires-Dist: (\w+)", text, re.MULTILINE) == ["httpx", "pydantic"]
    assert f"\nVersion: {__version__}\n" in text
    assert (CLIENT / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert f"textrawl-client=={__version__}" in (ROOT / "pyproject.toml").read_text("utf-8")


def is_source(path: Path) -> bool:
    return (
        path.is_file()
        and path.suffix
        in {
            ".css",
            ".described",
            ".html",
            ".js",
            ".json",
            ".md",
            ".py",
            ".svg",
            ".toml",
            ".txt",
            ".typed",
        }
        and "__pycache__" not in path.parts
    )


def test_the_wheel_says_who_made_it_under_which_licence_for_which_pythons(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        [metadata] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        text = archive.read(metadata).decode()
        licences = [name for name in archive.namelist() if name.endswith("licenses/LICENSE")]

    assert "License-Expression: MIT" in text
    assert "Requires-Python: <3.14,>=3.11" in text
    assert len(licences) == 1


@pytest.mark.slow
def test_the_demo_works_from_the_wheel_with_the_sources_out_of_reach(
    python: Path, folder: Path
) -> None:
    where = run(python, "-c", "import textrawl; print(textrawl.__file__)", cwd=folder)
    assert Path(where.strip()).is_relative_to(folder)

    shown = run(python.with_name("textrawl"), "demo", "--data-dir", folder / "demo", cwd=folder)

    assert re.search(r"Stored \d{3} facts and \d+ relations", shown)
    assert "textrawl connect claude-code" in shown
