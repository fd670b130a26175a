"""The programs that the README's two commands install in a checkout."""

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PREPARATION = "python3 -m venv .uv && .uv/bin/pip install -q uv && "


def find_uv() -> str:
    """Return the uv that runs the tests, else the checkout's, else the one on PATH."""
    local = ROOT / ".uv/bin/uv"
    found = os.environ.get("UV") or (str(local) if local.exists() else shutil.which("uv"))
    assert found, f"uv is not there: {_PREPARATION.removesuffix(' && ')}"
    return found


def drop_preparation(line: str) -> str:
    """Return a command of the pages without the part that installs uv into the checkout."""
    return line.removeprefix(_PREPARATION)
