"""What all commands have in common: help, usage, errors."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tests.conftest import Databases
from tests.support.commands import Launch, Run, name_memory, wait_for
from textrawl import __version__
from textrawl.cli.application import COMMANDS, PANELS
from textrawl.cli.foreground import Interrupted, run_foreground
from textrawl.errors import StartRefused
from textrawl.settings import read_foreign_environment


def test_help_shows_every_command_in_its_group(run: Run) -> None:
    lines = run("--help").out.splitlines()
    group, shown = "", dict[str, list[str]]()
    for line in lines:
        if found := re.match("╭─ ([A-Z][a-z]+) ─", line):
            group = found[1]
        elif found := re.match("│ ([a-z][a-z-]+) ", line):
            shown.setdefault(group, []).append(found[1])

    assert list(shown) == ["Daily", "Clients", "Server", "Team", "Database"]
    assert shown == {group: list(commands) for group, commands in PANELS.items()}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_as_the_help_of_all_does(run: Run, command: str) -> None:
    outcome = run(command, "--help", COLUMNS=100)
    lines = [line.strip() for line in outcome.out.splitlines() if line.strip()]

    assert outcome.code == 0
    assert lines[0].startswith(f"Usage: textrawl {command} ")
    assert lines[1] == PANELS[COMMANDS[command]][command].replace("`", "")


@pytest.mark.parametrize("name", ["tokens", "watch"])
def test_a_name_that_a_command_had_before_is_none(run: Run, name: str) -> None:
    assert run(name).complaint.startswith(f"No such command '{name}'.")


def test_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version").out == f"textrawl {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--no-such"], "No such option: --no-such. See textrawl --help."),
        (["no-such"], "No such command 'no-such'. See textrawl --help."),
        (
            ["serve", "--port", "1"],
            "Invalid value: --host, --port and --insecure need --http. See textrawl serve --help.",
        ),
        (["show"], "Missing argument 'NAME'. See textrawl show --help."),
        (["space", "create"], "Missing argument 'SPACE'. See textrawl space create --help."),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(run: Run, arguments: list[str], complaint: str) -> None:
    outcome = run(*arguments)

    assert (outcome.code, outcome.complaint) == (2, complaint)


@pytest.mark.parametrize("command", ["migrate", "stats"])
def test_a_setting_that_cannot_be_used_is_named_and_its_value_is_not(
    run: Run, command: str
) -> None:
    outcome = run(command, ENABLE_MEMORY="perhaps")

    assert outcome.code == 1
    assert outcome.complaint.startswith(
        "Settings cannot be used: ENABLE_MEMORY must be true or false"
    )
    assert "perhaps" not in outcome.complaint


@pytest.mark.parametrize("command", ["migrate", "stats"])
def test_an_unreadable_address_of_the_database_is_refused_without_repeating_it(
    run: Run, command: str
) -> None:
    outcome = run(command, DATABASE_URL="postgresql://somebody:100%secret@localhost/memory")

    assert outcome.code == 1
    assert outcome.complaint.startswith("TEXTRAWL_DATABASE_URL cannot be read: write postgresql://")
    assert "secret" not in outcome.complaint


@pytest.mark.parametrize("command", ["migrate", "stats"])
def test_a_database_that_is_down_is_one_line_and_code_1(run: Run, command: str) -> None:
    outcome = run(command, DATABASE_URL="postgresql://127.0.0.1:1/memory")

    assert outcome.code == 1
    assert outcome.complaint.startswith("Database unavailable: Start Postgres, or check ")
    assert 'server at "127.0.0.1", port 1 failed' in outcome.complaint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full device")
def test_output_that_finds_no_room_is_one_line_and_code_1() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "textrawl", "settings"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode == 1
    assert done.stderr == "textrawl: The output cannot be used: No space left on device\n"


def test_an_installed_script_and_the_module_are_the_same_command() -> None:
    script = Path(sys.executable).with_name("textrawl")

    output = [
        subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
        for command in ([script], [sys.executable, "-m", "textrawl"])
    ]

    assert output == [f"textrawl {__version__}\n"] * 2


def test_output_that_is_no_terminal_has_no_colours(run: Run) -> None:
    assert "\x1b" not in run("--help").out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_cancels_work_and_lets_it_clean_up(number: signal.Signals) -> None:
    cleaned: list[bool] = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), number)
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                os.kill(os.getpid(), number)  # impatience changes nothing
                await anyio.lowlevel.checkpoint()
            cleaned.append(True)

    with pytest.raises(Interrupted) as caught:
        run_foreground(work)

    assert (cleaned, caught.value.code) == ([True], 128 + number)


def test_an_interrupted_command_says_so_cleans_up_and_exits_as_shells_expect(
    launch: Launch, data_dir: Path, postmasters: Callable[[], list[int]]
) -> None:
    process = launch("log", "--follow", DATA_DIR=data_dir)  # which ends no other way
    wait_for(postmasters)

    outcome = process.end(signal.SIGTERM)

    assert (outcome.code, outcome.complaint) == (143, "Interrupted by SIGTERM")
    assert postmasters() == []


def test_an_error_inside_task_groups_is_raised_as_it_was() -> None:
    async def work() -> None:
        async with anyio.create_task_group(), anyio.create_task_group():
            raise StartRefused("one reason")

    with pytest.raises(StartRefused, match="one reason"):
        run_foreground(work)


LOADED = """
import sys
from textrawl.__main__ import main
try:
    main(sys.argv[1:])
finally:
    heavy = ("mcp", "openai", "ollama", "starlette", "uvicorn", "wordllama", "psycopg")
    sys.stderr.write(" ".join(name for name in heavy if name in sys.modules) + "\\n")
"""


def test_a_command_loads_no_sdk(postgres: Databases, database_url: str, home: Path) -> None:
    access = name_memory(database_url, DATA_DIR=str(home / "data"), EMBEDDING_PROVIDER="none")
    for words, loaded in (
        (["--help"], []),
        (["--version"], []),
        (["search", "tea"], []),
        (["show", "Ada"], []),
        (["remember", "Ada", "likes tea"], []),
        (["forget", "Ada", "--yes"], []),
    ):
        done = subprocess.run(
            [sys.executable, "-c", LOADED, *words],
            capture_output=True,
            text=True,
            check=False,
            env=read_foreign_environment() | access,
        )

        assert done.stderr.splitlines()[-1].split() == loaded
