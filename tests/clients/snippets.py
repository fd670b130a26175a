"""What a program needs on this machine: itself, and the command of the snippets."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.clients.installing import Unavailable, install
from tests.clients.programs.program import Program, Server
from tests.support.installation import find_uv
from tests.support.pages import ROOT

# The snippet's uv changes nothing here, and a new memory downloads no model.
_SETTLED = {"UV_NO_SYNC": "1", "UV_FROZEN": "1", "HF_HUB_OFFLINE": "1"}


def write_snippet(environment: Mapping[str, str]) -> Server:
    """Return the server as a snippet starts it, with other settings."""
    command = ("run", "--directory", str(ROOT), "textrawl")
    return Server(find_uv(), command, {**_SETTLED, **environment})


def provide(program: Program) -> Path:
    """Return the folder of a program's packages, or skip the test with the reason."""
    try:
        return install(program.registry, program.packages)
    except Unavailable as missing:
        pytest.skip(str(missing))
