"""The packages of a checkout: each is declared, and installed in the version of pyproject.toml."""

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.pages import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RENEW = (
    "`.venv/bin/python deploy/versions.py` writes the newest versions, and "
    "`.uv/bin/uv sync --group dev` installs the written ones"
)
OURS = {"textrawl", "textrawl-client"}
BOUNDS = {"<", "<=", "==", "~="}


def read_versions() -> dict[str, str]:
    """The exact version of each package for this machine."""
    written = [Requirement(text) for text in PROJECT["tool"]["uv"]["constraint-dependencies"]]
    assert [
        str(one) for one in written if [each.operator for each in one.specifier] != ["=="]
    ] == []
    return {
        canonicalize_name(one.name): next(iter(one.specifier)).version
        for one in written
        if one.marker is None or one.marker.evaluate()
    }


def test_every_package_is_installed_in_the_version_of_the_project() -> None:
    others = (one for one in distributions() if one.name not in OURS)
    installed = {canonicalize_name(one.name): one.version for one in others}

    assert installed == read_versions(), RENEW


def test_the_image_gets_the_versions_of_a_checkout() -> None:
    recipe = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
    [code, file] = re.findall(r'^RUN python -c "(.*)" > (\S+) ', recipe, re.MULTILINE)[0]
    words = [sys.executable, "-c", code.replace("/source", str(ROOT))]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    uv = PROJECT["tool"]["uv"]

    assert set(printed.splitlines()) == {
        *uv["constraint-dependencies"],
        *uv["build-constraint-dependencies"],
    }
    assert f"ENV PIP_CONSTRAINT={file}\n" in recipe


def list_ranges(project: dict[str, Any]) -> list[Requirement]:
    """The ranges that users of the wheel and of its extras get."""
    extras = project["project"]["optional-dependencies"].values()
    return [
        Requirement(text)
        for group in (project["project"]["dependencies"], *extras)
        for text in group
    ]


def is_bounded(requirement: Requirement) -> bool:
    return bool(BOUNDS & {one.operator for one in requirement.specifier})


def test_every_range_for_users_ends_before_a_version_that_nobody_has_tried() -> None:
    ranges = list_ranges(PROJECT)

    assert len(ranges) > 40
    assert [one.name for one in ranges if not is_bounded(one)] == []


@pytest.mark.parametrize("removed", ["versions", "bounds"])
def test_the_weekly_run_is_free_of_the_versions_and_keeps_everything_else(
    tmp_path: Path, removed: str
) -> None:
    (tmp_path / "deploy").mkdir()
    script = shutil.copy(ROOT / "deploy/versions.py", tmp_path / "deploy")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    subprocess.run([sys.executable, script, "--remove", removed], check=True)
    left: dict[str, Any] = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))
    uv = {name: table for name, table in PROJECT["tool"]["uv"].items() if "constraint" not in name}

    assert left["tool"] == PROJECT["tool"] | {"uv": uv}
    kept, before = list_ranges(left), list_ranges(PROJECT)
    assert [one.name for one in kept] == [one.name for one in before]
    assert kept == before if removed == "versions" else not any(map(is_bounded, kept))


@pytest.mark.parametrize(
    ("place", "folders", "ignored"),
    [
        (".", ["textrawl"], []),
        (".", ["tests", "benchmarks", "deploy"], ["--ignore", "DEP002,DEP004"]),
        ("packages/client", ["textrawl_client"], []),
    ],
    ids=["program", "tests", "client"],
)
def test_every_imported_package_is_declared_and_every_declared_one_is_imported(
    place: str, folders: list[str], ignored: list[str]
) -> None:
    words = [sys.executable, "-m", "deptry", *folders, *ignored, "--no-ansi"]
    done = subprocess.run(words, cwd=ROOT / place, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
