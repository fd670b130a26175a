"""The bundle of a release, started as a desktop client does, and checked by MCPB's own program."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.clients.installing import Unavailable, find_node, install
from tests.packaging.test_release import BUILDER
from tests.support.artefacts import FIVE, build_environment, run, try_server
from tests.support.installation import find_uv

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(900),
    pytest.mark.usefixtures("uncovered"),
]

MCPB = "@anthropic-ai/mcpb@2.1.2"


@pytest.fixture(scope="module")
def bundle(folder: Path) -> Path:
    """The unpacked bundle."""
    with zipfile.ZipFile(BUILDER.build_bundle(folder)) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


@pytest.mark.slow
async def test_a_client_starts_the_server_of_the_bundle(bundle: Path) -> None:
    manifest: dict[str, Any] = json.loads((bundle / "manifest.json").read_text("utf-8"))
    options = manifest["user_config"]

    def fill(text: str) -> str:
        """Replace the variables as a client does whose user has entered nothing."""
        text = re.sub(r"\$\{user_config\.(\w+)\}", lambda key: options[key[1]]["default"], text)
        return text.replace("${__dirname}", str(bundle))

    started = manifest["server"]["mcp_config"]
    assert started["command"] == "uv"
    given = {name: fill(value) for name, value in started["env"].items()}
    environment = build_environment(bundle.parent) | given
    tools = await try_server(find_uv(), list(map(fill, started["args"])), environment)

    assert tools == FIVE
    assert tools == [tool["name"] for tool in manifest["tools"]]


@pytest.mark.clients
async def test_the_program_of_mcpb_takes_the_bundle(bundle: Path, tmp_path: Path) -> None:
    try:
        node, folder = find_node().program, install("npm", [MCPB])
    except Unavailable as missing:
        pytest.skip(str(missing))
    script = folder / "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js"
    words, env = [node, script], build_environment(tmp_path)
    packed = tmp_path / "packed.mcpb"

    assert "passes" in run(*words, "validate", bundle / "manifest.json", cwd=tmp_path, env=env)
    run(*words, "pack", bundle, packed, cwd=tmp_path, env=env)
    with zipfile.ZipFile(packed) as archive:
        assert "server/main.py" in archive.namelist()
