"""The installation of textrawl, and the command that adds an extra to it."""

import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


def write_install_command(extra: str) -> str:
    """Return the command that installs an extra of textrawl, such as `encoder`.

    A checkout, which is not on an index, is installed again from its folder. An environment of uv
    has no pip.
    """
    target = f"textrawl[{extra}]"
    origin = _read_origin()
    checkout = None
    if url := origin.get("url"):
        path = unquote(urlsplit(str(url)).path)
        checkout = Path(path) if "dir_info" in origin else None
        target = f"{path}[{extra}]" if checkout else f"{target} @ {url}"
    editable = ["-e"] if origin.get("dir_info", {}).get("editable") else []
    interpreter = ["--python", sys.executable]
    if find_spec("pip") is not None:
        words = [sys.executable, "-m", "pip", "install", *editable, target]
    else:
        own = checkout / ".uv/bin/uv" if checkout else None
        uv = str(own) if own and own.exists() else "uv"
        words = [uv, "pip", "install", *interpreter, *editable, target]
    return shlex.join(words)


def _read_origin() -> dict[str, Any]:
    """Return the record of a package that does not come from an index, or an empty one."""
    try:
        return json.loads(distribution("textrawl").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return {}
