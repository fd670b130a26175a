"""A folder in which packages are built and installed."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that another OS user can enter: as root, Postgres runs as one."""
    with tempfile.TemporaryDirectory(prefix="textrawl-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield Path(name)
