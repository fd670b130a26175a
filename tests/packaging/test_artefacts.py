"""The packages of a release, installed with uvx and pipx into an environment of their own."""

import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

from tests.support.artefacts import FIVE, build_environment, run, try_server
from tests.support.installation import ROOT, find_uv
from textrawl import __version__

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.usefixtures("uncovered"),
]

PIPX = "pipx==1.18.4"


@pytest.fixture(scope="module")
def packages(folder: Path) -> dict[str, Path]:
    """The sdist, and the wheel that is built from it. The client's packages lie beside them."""
    environment = build_environment(folder)
    words = ["build", "--all-packages", "--out-dir", folder / "dist", ROOT]
    run(find_uv(), *words, cwd=folder, env=environment)
    built = {path.suffix: path for path in (folder / "dist").glob("textrawl-*")}
    return {"sdist": built[".gz"], "wheel": built[".whl"]}


def test_the_metadata_are_valid_and_name_the_server(packages: dict[str, Path]) -> None:
    with zipfile.ZipFile(packages["wheel"]) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Metadata.from_email(archive.read(name), validate=True)

    assert (metadata.name, str(metadata.version)) == ("textrawl", __version__)
    assert metadata.description_content_type == "text/markdown"
    assert "<!-- mcp-name: " in (metadata.description or "")


async def test_uvx_runs_both_packages(packages: dict[str, Path], folder: Path) -> None:
    environment = build_environment(folder, UV_FIND_LINKS=folder / "dist")
    for package in packages.values():
        words = ["tool", "run", "--from", str(package), "textrawl"]
        shown = run(find_uv(), *words, "--version", cwd=folder, env=environment)
        assert shown == f"textrawl {__version__}\n"
        assert await try_server(find_uv(), words, environment) == FIVE


async def test_pipx_installs_the_wheel(packages: dict[str, Path], folder: Path) -> None:
    environment = build_environment(
        folder,
        PIPX_HOME=folder / "pipx",
        PIPX_BIN_DIR=folder / "bin",
        PIPX_MAN_DIR=folder / "man",
        PIP_FIND_LINKS=folder / "dist",
        UV_FIND_LINKS=folder / "dist",
    )
    words = ["tool", "run", "--from", PIPX, "pipx", "install", str(packages["wheel"])]
    run(find_uv(), *words, cwd=folder, env=environment)
    program = folder / "bin/textrawl"

    assert run(program, "--version", cwd=folder, env=environment) == f"textrawl {__version__}\n"
    assert await try_server(str(program), [], environment) == FIVE
