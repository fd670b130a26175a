"""docs/commands.md: its examples are run, its lists are written from the commands."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from tests.conftest import TOKEN
from tests.docs.test_readme import keep_up_to_date
from tests.support.commands import Run
from tests.support.pages import ROOT, read_commands, rewrite_generated, write_table
from textrawl.cli.application import COMMANDS, PANELS, build_app
from textrawl.environment import PROJECT_SETTINGS, write_name

PAGE = ROOT / "docs" / "commands.md"


def read_examples(page: Path) -> list[list[str]]:
    """The daily commands of a page, in its order."""
    lines = [shlex.split(line) for line in read_commands(page)]
    return [
        words[1:]
        for words in lines
        if words[0].endswith("/textrawl")
        and {"search", "show", "remember", "revise", "entity", "forget", "me", "pin"}
        & set(words[1:2])
    ]


@pytest.mark.parametrize("page", [PAGE, ROOT / "README.md"], ids=lambda page: page.name)
def test_the_daily_commands_of_a_page_do_what_it_says(
    run: Run, database_url: str, page: Path
) -> None:
    examples = read_examples(page)

    outcomes = [run(*words, DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN) for words in examples]

    assert {words[0] for words in examples} >= {"search", "show", "remember", "forget"}
    assert [outcome.err for outcome in outcomes if outcome.code] == []
    assert all(outcome.out for outcome in outcomes)


def write_commands() -> str:
    rows = [
        [f"`{name}`", panel, summary]
        for panel, summaries in PANELS.items()
        for name, summary in summaries.items()
    ]
    return write_table(["command", "group", "what it does"], rows)


def write_project_settings() -> str:
    return "\n".join(f"- `{write_name(name)}`" for name in sorted(PROJECT_SETTINGS))


def list_commands(name: str) -> Iterator[tuple[str, str, list[list[str]]]]:
    """A command, or each of those below it: name, help, and a row for each parameter."""
    group: Any = get_command(build_app(name))
    yield from _walk(name, group.commands[name])


def _walk(name: str, command: Any) -> Iterator[tuple[str, str, list[list[str]]]]:
    if below := getattr(command, "commands", {}):
        for inner, one in below.items():
            yield from _walk(f"{name} {inner}", one)
        return
    rows = [_describe(parameter) for parameter in command.params]
    yield name, command.help or "", [row for row in rows if row]


def _describe(parameter: Any) -> list[str]:
    if parameter.name == "help":
        return []
    shown = parameter.metavar or ""
    if parameter.param_type_name == "argument":
        names = shown or parameter.name.upper()
    else:
        value = "" if parameter.is_flag else f" {shown or parameter.name.upper()}"
        names = ", ".join(parameter.opts) + value
    return [f"`{names}`", parameter.help or ""]


def test_the_page_lists_every_command() -> None:
    writers = {"commands": write_commands, "project settings": write_project_settings}
    written = rewrite_generated(PAGE.read_text(encoding="utf-8"), writers)

    keep_up_to_date(PAGE, written)


def test_every_option_of_every_command_says_what_happens() -> None:
    rows = [
        (name, *row)
        for command in COMMANDS
        for name, _, each in list_commands(command)
        for row in each
    ]

    assert [row for row in rows if not row[2].partition(" [")[0].endswith(".")] == []
    assert [row for row in rows if " alone" in row[2] or "; else " in row[2]] == []
