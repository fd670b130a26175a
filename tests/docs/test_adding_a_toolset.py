"""docs/contributing/adding-a-toolset.md: the example is built from the page, and its tests pass."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pages import ROOT
from textrawl.environment import is_setting

PAGE = ROOT / "docs" / "contributing" / "adding-a-toolset.md"
FILES = re.compile(r"^`([\w./]+)`\n\n(`{3,})\w*\n(.*?)^\2$", re.MULTILINE | re.DOTALL)
CHECKS = [
    "tests/toolsets/notes",
    "tests/toolsets/test_toolsets.py",
    "tests/sql/test_catalogue.py",
    "tests/sql/test_schema.py",
]
"""The tests of the example, and tests of every toolset, table and function."""
PAGES = [
    "tests/docs/test_toolsets_page.py",
    "tests/docs/test_readme.py::test_the_legends_have_every_short_key_and_no_other",
]
"""Tests of the pages of toolsets."""


def read_files() -> dict[str, str]:
    """The files of the page by their paths. The migration gets the next number, as it says."""
    newest = max(path.name for path in (ROOT / "sql/migrations").iterdir())
    number = f"{int(newest[:4]) + 1:04}"
    files = FILES.findall(PAGE.read_text("utf-8"))
    return {path.replace("/NNNN_", f"/{number}_"): text for path, _, text in files}


def build(folder: Path) -> list[str]:
    """Copy the project to `folder` and add the files of the page. Return their paths."""
    for name in ("textrawl", "sql", "tests", "docs"):
        # With __pycache__: the copies keep their times, so Python compiles nothing again.
        shutil.copytree(ROOT / name, folder / name)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder)
    files = read_files()
    for path, text in files.items():
        file = folder / path
        assert not file.exists()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    tables = folder / "sql/shared/content_tables.sql"
    [line] = re.findall(r"^ +\('note', .*\n", PAGE.read_text("utf-8"), re.MULTILINE)
    text = tables.read_text(encoding="utf-8")
    tables.write_text(text.replace("    values\n", f"    values\n{line}", 1), encoding="utf-8")
    return list(files)


def run(folder: Path, *arguments: str, **variables: str) -> str:
    """Run a module of the copy in its folder and return its output."""
    clean = {name: value for name, value in os.environ.items() if not is_setting(name)}
    result = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        # Options for the whole suite, such as a bar for its coverage, are not for these few tests.
        env=clean | {"PYTHONPATH": str(folder), "PYTEST_ADDOPTS": ""} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_migration_of_the_page_has_no_number_of_its_own() -> None:
    """A number would become that of another migration, which databases have run already."""
    paths = [path for path, _, _ in FILES.findall(PAGE.read_text("utf-8"))]

    assert [path for path in paths if path.startswith("sql/migrations/")] == [
        "sql/migrations/NNNN_notes.sql"
    ]


@pytest.mark.slow
def test_the_toolset_of_the_page_works_in_a_copy_of_the_project(
    tmp_path: Path, uncovered: None
) -> None:
    folder = tmp_path / "project"
    paths = build(folder)

    assert {Path(path).parts[0] for path in paths} == {"docs", "sql", "tests", "textrawl"}
    assert "notes" in run(folder, "textrawl", "toolsets")
    options = ("-q", "-n0", "-p", "no:cacheprovider")
    update = {"UPDATE_SNAPSHOTS": "1", "UPDATE_PAGES": "1"}
    assert "passed" in run(folder, "pytest", *options, *CHECKS, *PAGES, **update)
    page = (folder / "docs" / "toolsets" / "notes.md").read_text("utf-8")
    assert "| `keep_note` |" in page
    assert '{"content":"water the plants"}\n{"n":1}' in page
    snapshots = (folder / "tests" / "snapshots" / "notes").iterdir()
    assert {file.stem for file in snapshots} == {"keep_note", "list_notes"}
    lint = ("check", "--config", str(ROOT / "pyproject.toml"))
    run(folder, "ruff", *lint, *[path for path in paths if path.endswith(".py")])
