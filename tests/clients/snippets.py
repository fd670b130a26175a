"""What a program needs on this machine: itself, and the command of the snippets."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.clients.installing import Unavailable, install
from tests.clients.programs.program import Program, Server
from textrawl.connect.clients import find_script

_SETTLED = {"HF_HUB_OFFLINE": "1"}  # a new memory downloads no model


def write_snippet(environment: Mapping[str, str]) -> Server:
    """Return the server as a snippet starts it, with other settings."""
    program, *arguments = find_script()
    return Server(program, tuple(arguments), {**_SETTLED, **environment})


def provide(program: Program) -> Path:
    """Return the folder of a program's packages, or skip the test with the reason."""
    try:
        return install(program.registry, program.packages)
    except Unavailable as missing:
        pytest.skip(str(missing))
