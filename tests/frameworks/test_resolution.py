"""The client installs beside the newest version of each framework, and changes none of them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.installation import ROOT, find_uv

pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(900)]

CLIENT = ROOT / "packages/client"
FRAMEWORKS = [
    "langgraph", "langmem", "openai-agents", "google-adk", "llama-index-core", "autogen-agentchat",
    "agno", "crewai", "mem0ai", "pydantic-ai", "smolagents", "mcp-use", "strands-agents",
]  # fmt: skip


def resolve(folder: Path, *wanted: str) -> dict[str, str]:
    """The version of each package that uv chooses. Skips the test where the registry is away."""
    words = [find_uv(), "pip", "compile", "--quiet", "--no-header", "--no-annotate", "-"]
    done = subprocess.run(
        [*words, "--python-version", f"{sys.version_info.major}.{sys.version_info.minor}"],
        input="\n".join(wanted), cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode and re.search("(?i)error sending request|timed out|dns", done.stderr):
        pytest.skip(f"the registry of packages is away: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    return dict(re.findall(r"^([\w.-]+)==(\S+)", done.stdout, re.MULTILINE))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_client_resolves_beside_the_newest_version(framework: str, tmp_path: Path) -> None:
    alone = resolve(tmp_path, framework)
    beside = resolve(tmp_path, framework, f"textrawl-client @ {CLIENT.as_uri()}")

    assert beside[framework] == alone[framework]
    assert {name: beside[name] for name in alone} == alone
