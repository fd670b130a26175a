"""Real programs run the hooks and install the plugins: their model reads what the hooks said."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.clients.programs.claude_code import CLAUDE_CODE
from tests.clients.programs.codex import CODEX
from tests.clients.programs.copilot_cli import COPILOT_CLI
from tests.clients.programs.gemini_cli import GEMINI_CLI
from tests.clients.programs.program import PROMPT, Place, Program, Server
from tests.clients.script import Json, flatten
from tests.clients.snippets import provide
from tests.clients.standin import StandIn
from tests.hooks.sessions import PROGRAM
from tests.support.commands import Launch, data_dir, home, launch, seed, wait_for
from tests.support.pages import ROOT
from tests.support.sockets import is_answered, remember
from textrawl.connect.clients import Addition
from textrawl.hooks.plugins import find_additions
from textrawl.values.text import DIGEST_SOURCE, SOURCE

__all__ = ["data_dir", "home", "launch", "seed"]

pytestmark = [pytest.mark.clients, pytest.mark.timeout(900), pytest.mark.usefixtures("uncovered")]

QUESTION = "Who repairs the lighthouse of Skagen?"
ROOMS = [f"room {number} of its tower" for number in range(18)]
LONG = f"repairs the lighthouse of Skagen, {', '.join(ROOMS)}"
PROJECT = "is a project about lamps"
TRUSTING = {"codex": ["--dangerously-bypass-hook-trust"]}  # a person reviews them with /hooks
PROGRAMS: dict[str, Program] = {
    "claude-code": CLAUDE_CODE, "codex": CODEX, "gemini-cli": GEMINI_CLI, "copilot-cli": COPILOT_CLI
}  # fmt: skip
INSTALLING: dict[str, tuple[tuple[str, ...], ...]] = {
    "claude-code": (
        ("plugin", "validate", "--strict", "CHECKOUT/plugins/claude-code"),
        ("plugin", "validate", "--strict", "CHECKOUT"),
        ("plugin", "marketplace", "add", "CHECKOUT"),
        ("plugin", "install", "textrawl@textrawl"),
        ("plugin", "details", "textrawl"),
    ),
    "codex": (
        ("plugin", "marketplace", "add", "CHECKOUT"),
        ("plugin", "add", "textrawl@textrawl"),
        ("plugin", "list"),
    ),
    "gemini-cli": (
        ("extensions", "validate", "CHECKOUT/plugins/gemini-cli"),
        ("extensions", "install", "CHECKOUT/plugins/gemini-cli", "--consent"),
        ("extensions", "list"),
    ),
    "copilot-cli": (
        ("plugin", "marketplace", "add", "CHECKOUT"),
        ("plugin", "install", "textrawl@textrawl"),
        ("plugin", "list"),
    ),
}
_PATIENCE = 150  # seconds for one program


@pytest.fixture
def memory(data_dir: Path, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Settings of a memory that a server has open. Its digest leaves the long fact out."""
    monkeypatch.setenv("TEXTRAWL_DATA_DIR", str(data_dir))
    launch("serve", TEXTRAWL_DATA_DIR=data_dir).open()
    wait_for(is_answered)
    for entity, fact in (("Ada", LONG), ("work", PROJECT)):
        remember(entity, fact)
    return {"TEXTRAWL_DATA_DIR": str(data_dir)}


def add(place: Place, addition: Addition) -> None:
    """Add a value to a file of the program's home, which is JSON."""
    path = str(addition.path).removeprefix("~/")
    file = place.home / path
    content: Json = json.loads(file.read_text("utf-8")) if file.exists() else {}
    inner = content
    for key in addition.keys[:-1]:
        inner = inner.setdefault(key, {})
    if addition.append:
        inner.setdefault(addition.keys[-1], []).append(addition.value)
    else:
        inner[addition.keys[-1]] = addition.value
    place.write(path, content)


def run(program: Program, place: Place, command: Sequence[str], **settings: str) -> str:
    """Run a command of a program in its home, with textrawl in the PATH. Return what it wrote."""
    environment = {**program.write_environment(place), **settings}
    environment["PATH"] = f"{PROGRAM.parent}:{environment['PATH']}"
    done = subprocess.run(
        command,
        env=environment,
        cwd=place.work,
        input="",
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize("client", PROGRAMS)
def test_the_model_of_a_program_reads_the_digest_and_the_recalled_fact(
    client: str, memory: dict[str, str], home: Path
) -> None:
    program, work = PROGRAMS[client], home / "work"
    (work / ".git").mkdir(parents=True)
    installed = provide(program)
    with StandIn(()) as model:
        place = Place(installed, home, work, Server(str(PROGRAM), (), memory), model.url)
        program.configure(place)
        for addition in find_additions(client, [str(PROGRAM)], memory):
            add(place, addition)

        command = [*program.write_command(place), *TRUSTING.get(client, [])]
        output = run(program, place, [QUESTION if word == PROMPT else word for word in command])

    first = flatten(model.talk[0].body) if model.talk else ""
    digest, _, recalled = first.partition(SOURCE)
    assert DIGEST_SOURCE in digest, output
    assert PROJECT in digest
    assert ROOMS[-1] not in digest
    assert recalled.count(ROOMS[-1]) == 1


def copy_plugins(checkout: Path) -> None:
    """Make a checkout that has only the plugins and their catalogues."""
    for folder in ("plugins", ".claude-plugin", ".agents", ".github/plugin"):
        shutil.copytree(ROOT / folder, checkout / folder)


def install_plugin(client: str, place: Place, checkout: Path) -> list[str]:
    """Install the plugin from a checkout, and return what the program wrote."""
    program = PROGRAMS[client]
    return [
        run(program, place, [*program.locate(place.installed), *(
            word.replace("CHECKOUT", str(checkout)) for word in words
        )])
        for words in INSTALLING[client]
    ]  # fmt: skip


@pytest.mark.parametrize("client", INSTALLING)
def test_the_hooks_of_a_plugin_that_is_installed_from_the_checkout_run(
    client: str, memory: dict[str, str], home: Path
) -> None:
    program, work = PROGRAMS[client], home / "work"
    (work / ".git").mkdir(parents=True)
    copy_plugins(home / "checkout")
    installed = provide(program)
    with StandIn(()) as model:
        place = Place(installed, home, work, Server(str(PROGRAM), (), memory), model.url)
        program.configure(place)
        outputs = install_plugin(client, place, home / "checkout")
        command = [*program.write_command(place), *TRUSTING.get(client, [])]
        words = [QUESTION if word == PROMPT else word for word in command]
        output = run(program, place, words, **memory)

    first = flatten(model.talk[0].body) if model.talk else ""
    assert "textrawl" in outputs[-1]
    assert DIGEST_SOURCE in first, output
    assert first.partition(SOURCE)[2].count(ROOMS[-1]) == 1
