"""The commands that start this installation of textrawl."""

import shutil
import sys
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2]


def find_command() -> list[str]:
    """Return the words of a command that starts the server from any folder and with any PATH."""
    if uv := _find_uv():
        # A client starts the server in the user's project. A `.env` there is for other programs.
        return [uv, "run", "--directory", str(_CHECKOUT), "textrawl"]
    return find_script()


def find_script() -> list[str]:
    """Return the words that start the installed program itself, which takes less time."""
    script = Path(sys.executable).with_name("textrawl")
    # With -P, Python does not load modules from the folder of a project.
    return [str(script)] if script.is_file() else [sys.executable, "-P", "-m", "textrawl"]


def _find_uv() -> str | None:
    """Return the path of uv if textrawl runs from a checkout that uv installed, else None."""
    if Path(sys.prefix).resolve() != _CHECKOUT / ".venv":
        return None
    own = _CHECKOUT / ".uv/bin/uv"
    return str(own) if own.is_file() else shutil.which("uv")
