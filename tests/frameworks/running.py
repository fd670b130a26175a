"""A program in the environment of a framework, with a real server and a stand-in of the APIs."""

import os
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio.to_thread import run_sync

from tests.clients.installing import Registry, Unavailable, find_node, install
from tests.clients.script import DONE, Call, Move, Step, Turn
from tests.clients.standin import StandIn
from tests.frameworks.catalogue import Framework, find_framework
from tests.frameworks.table import name_run, tell_result
from tests.support.listening import listen
from tests.support.pages import ROOT
from textrawl import Settings

PROGRAMS = Path(__file__).parent / "programs"
_CLIENT = ROOT / "packages/client"
_PATIENCE = 600  # seconds for one program
MARKS = [
    pytest.mark.anyio, pytest.mark.frameworks, pytest.mark.timeout(900),
    pytest.mark.usefixtures("uncovered"),
]  # fmt: skip
"""The marks of a test that runs programs of frameworks."""


@dataclass(frozen=True)
class Outcome:
    """What a program printed, and what it asked its model, oldest first."""

    output: str
    turns: Sequence[Turn]


@dataclass(frozen=True)
class Frameworks:
    """The frameworks of one test, which has a memory of its own."""

    settings: Callable[..., Settings]
    node: pytest.Item
    home: Path

    async def run(
        self,
        name: str,
        program: str,
        *,
        script: Sequence[Step] = (),
        ending: str = DONE,
        variables: Mapping[str, str] | None = None,
        **changes: Any,
    ) -> Outcome:
        """Run `programs/{program}` of a framework until its end, which has to be a success.

        The model of its stand-in makes the calls of `script`, and then says `ending`. `variables`
        are more of the program's environment, `changes` are settings of the server. The last line
        that the program prints is its result in the table. Skips the test with the reason where
        the packages cannot be had.
        """
        outcome = await self.run_text(
            name,
            (PROGRAMS / program).read_text(encoding="utf-8"),
            script=script,
            ending=ending,
            variables=variables,
            **changes,
        )
        tell_result(self.node, outcome.output)
        return outcome

    async def run_text(
        self,
        name: str,
        text: str,
        *,
        script: Sequence[Step] = (),
        ending: str = DONE,
        variables: Mapping[str, str] | None = None,
        **changes: Any,
    ) -> Outcome:
        """Run a program whose lines are `text`, as `run` does."""
        framework = find_framework(name)
        name_run(self.node, framework)
        installed = await run_sync(provide, framework.registry, framework.packages)
        with play(script, ending) as model:
            async with listen(self.settings(**changes)) as address:
                environment = self._write_environment(address.mcp, model.url, installed)
                command = self._write_command(framework, installed, text)
                done = await run_sync(
                    run_command, command, {**environment, **(variables or {})}, self.home
                )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return Outcome(done.stdout, model.turns)

    def _write_environment(self, server: str, model: str, installed: Path) -> dict[str, str]:
        """A home of its own, the server, the stand-in, and no way out but to loopback."""
        away = dict.fromkeys(("HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:9")
        near = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        return {
            "PATH": os.pathsep.join([str(installed / "bin"), "/usr/bin", "/bin"]),
            "HOME": str(self.home), "TMPDIR": str(self.home), "LANG": "C.UTF-8", "CI": "1",
            "PYTHONPATH": str(_CLIENT), "TEXTRAWL_SERVER_URL": server,
            "OPENAI_BASE_URL": f"{model}/v1", "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": "none",
            **away, **near,
        }  # fmt: skip

    def _write_command(self, framework: Framework, installed: Path, text: str) -> list[str]:
        if framework.registry == "PyPI":
            program = self.home / "program.py"
            program.write_text(text, encoding="utf-8")
            return [str(installed / "bin/python"), str(program)]
        program = self.home / "program.mjs"  # Node looks for packages beside the program
        program.write_text(text, encoding="utf-8")
        packages = self.home / "node_modules"
        if not packages.exists():
            packages.symlink_to(installed / "node_modules")
        return [str(find_node().program), str(program)]


@pytest.fixture
def frameworks(
    settings: Callable[..., Settings], request: pytest.FixtureRequest, tmp_path: Path
) -> Frameworks:
    """Runs programs of frameworks against a server on a fresh memory."""
    home = tmp_path / "home"
    home.mkdir()
    return Frameworks(settings, request.node, home)


def provide(registry: Registry, packages: Sequence[str]) -> Path:
    """Return the folder of some packages, or skip the test with the reason."""
    try:
        return install(registry, packages)
    except Unavailable as missing:
        pytest.skip(str(missing))


@contextmanager
def play(script: Sequence[Step], ending: str) -> Generator[StandIn]:
    """A stand-in whose model makes the calls of a script that a program offers, then ends."""

    def choose(turn: Turn, steps: Sequence[Step]) -> Move:
        for step in steps:
            if step.name not in turn.results and step.tool in turn.tools:
                return Call(step.name, step.tool, step.arguments)
        return ending

    with StandIn(script, choose) as model:
        yield model


def run_command(
    command: Sequence[str], environment: Mapping[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run a command until its end, which has to come within some minutes."""
    return subprocess.run(
        command,
        env=environment,
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=_PATIENCE,
        check=False,
    )
