"""Write the exact version of every package of a checkout into pyproject.toml.

    .venv/bin/python deploy/versions.py
    .uv/bin/uv sync --group dev

The versions are the newest that the ranges in pyproject.toml allow, for each Python and system that
textrawl supports. uv installs them, and so do .ci/run, the workflows and the Dockerfile. A file
uv.lock would do the same, but it would name the host of a package index.

`--remove versions` removes the exact versions, and `--remove bounds` also removes the upper bounds
of the ranges. The weekly workflow tests newer packages in this way.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomlkit
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from tomlkit.items import Array

ROOT = Path(__file__).parents[1]
PROJECT = ROOT / "pyproject.toml"
VERSIONS = "constraint-dependencies"
BUILD_VERSIONS = "build-constraint-dependencies"

_READ_BY_BUILD = (
    "README.md",
    "LICENSE",
    "textrawl/__init__.py",
    "packages/client/README.md",
    "packages/client/LICENSE",
    "packages/client/pyproject.toml",
    "packages/client/textrawl_client/__init__.py",
)
_EDITABLE = "editables"  # hatchling needs it for an editable installation, and does not say so
_PLAIN = ("--quiet", "--no-header", "--no-annotate")
_UPPER = ("<", "<=", "==", "~=")


def find_uv() -> str:
    """Return the path of uv. Exit with a message if it is not installed."""
    if uv := shutil.which("uv", path=f"{ROOT}/.uv/bin:{os.environ.get('PATH', os.defpath)}"):
        return uv
    sys.exit("uv is missing: run `python3 -m venv .uv && .uv/bin/pip install uv`")


def remove_versions(document: Any) -> None:
    """Remove the exact versions from the content of pyproject.toml."""
    for table in (VERSIONS, BUILD_VERSIONS):
        document["tool"]["uv"].pop(table, None)


def remove_bounds(dependencies: list[Any]) -> None:
    """Remove the upper bounds of `dependencies`."""
    for place, text in enumerate(list(dependencies)):
        requirement = Requirement(text)
        lower = [str(one) for one in requirement.specifier if one.operator not in _UPPER]
        requirement.specifier = SpecifierSet(",".join(lower))
        dependencies[place] = str(requirement)


def resolve(document: Any) -> tuple[list[str], list[str]]:
    """Return the newest versions of all packages, and those of the packages that build textrawl."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in _READ_BY_BUILD:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
        (folder / "pyproject.toml").write_text(tomlkit.dumps(document), encoding="utf-8")
        run_uv(folder, "lock", "--quiet", "--refresh")
        wanted = ("--all-extras", "--group", "dev", "--no-emit-workspace", "--no-hashes")
        packages = run_uv(folder, "export", "--frozen", *_PLAIN, *wanted)
        needed = [*document["build-system"]["requires"], _EDITABLE]
        (folder / "build.in").write_text("\n".join(needed), encoding="utf-8")
        builders = run_uv(folder, "pip", "compile", "--universal", *_PLAIN, "build.in")
    return packages.splitlines(), builders.splitlines()


def run_uv(folder: Path, *words: str) -> str:
    """Return the output of uv. Exit with its message if it fails."""
    done = subprocess.run(  # noqa: S603 - the words are ours
        [find_uv(), *words], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def write_array(lines: Sequence[str]) -> Array:
    """Return a TOML array with one line for each package."""
    array: Any = tomlkit.array()
    array.extend(lines)
    return array.multiline(multiline=True)


def main() -> None:
    """Renew the exact versions, or remove them."""
    parser = argparse.ArgumentParser(description="Renew the exact versions in pyproject.toml.")
    parser.add_argument("--remove", choices=("versions", "bounds"), help="for tests of newer ones")
    removed: str | None = parser.parse_args().remove
    text = PROJECT.read_text(encoding="utf-8")
    document: Any = tomlkit.parse(text)
    remove_versions(document)
    if removed == "bounds":
        project = document["project"]
        for dependencies in (project["dependencies"], *project["optional-dependencies"].values()):
            remove_bounds(dependencies)
    if removed is None:
        packages, builders = resolve(document)
        document = tomlkit.parse(text)  # the lists keep their places and comments
        document["tool"]["uv"][VERSIONS] = write_array(packages)
        document["tool"]["uv"][BUILD_VERSIONS] = write_array(builders)
    PROJECT.write_text(tomlkit.dumps(document), encoding="utf-8")


if __name__ == "__main__":
    main()
