"""Lint, format and types, with the configuration of pyproject.toml."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ["textrawl", "packages", "tests", "benchmarks", "deploy"]


def check(*words: str, **variables: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.fail(done.stdout + done.stderr, pytrace=False)


def test_ruff_has_nothing_to_say() -> None:
    check("ruff", "check", *FOLDERS)


def test_every_file_is_formatted() -> None:
    check("ruff", "format", "--check", *FOLDERS)


def test_pyright_strict_finds_no_error() -> None:
    # Room for new objects: otherwise an eighth of the time goes into looking for those in use.
    options = "--max-semi-space-size=128"
    check("pyright", "--pythonpath", sys.executable, *FOLDERS, NODE_OPTIONS=options)
