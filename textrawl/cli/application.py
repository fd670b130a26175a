"""The command line of typer: every command but a server over stdio, which does without it."""

import errno
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from textrawl import __version__
from textrawl.cli.catalogue import COMMANDS, PANELS
from textrawl.cli.console import clean_warnings, write_complaint
from textrawl.cli.foreground import Interrupted
from textrawl.cli.garbage_collection import pause_collection
from textrawl.environment import OPTION

_PASSING_ON = {"psql": {"ignore_unknown_options": True, "allow_interspersed_args": False}}

# Faults of the machine or its rights rather than of ours, which would be worth a traceback.
_SURROUNDINGS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)

_QUIET = (None, "serve", "demo")  # help; what logs by itself; what reads no settings


def run_line(words: Sequence[str]) -> int:
    """Run a command; its exit code."""
    _quiet_libraries()
    name = words[0] if words[0] in COMMANDS else None
    with pause_collection():
        if name != "serve":  # which configures its own logs
            clean_warnings()
        app = build_app(name)
    try:
        if name not in _QUIET and not {"-h", "--help"} & set(words):
            _warn_of_slips()
        return _call(app, words)
    except typer.TyperException as error:
        if message := error.format_message().rstrip("."):  # else the help was shown
            write_complaint(f"{message}{'' if message.endswith('?') else '.'} {_name_help(error)}")
        return error.exit_code
    except Interrupted as error:
        write_complaint(str(error))
        return error.code
    except typer.Abort:
        write_complaint("Interrupted")
        return 130


def _call(app: typer.Typer, words: Sequence[str]) -> int:
    try:
        return app(list(words), prog_name="textrawl", standalone_mode=False) or 0
    except OSError as error:
        if error.errno not in _SURROUNDINGS:
            raise
        if sys.stdout is sys.__stdout__:  # what it still holds would fail once more at the exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        write_complaint(f"{error.filename or 'The output'} cannot be used: {error.strerror}")
        return 1


def build_app(name: str | None) -> typer.Typer:
    """The command line with the command `name`, or for None with the summaries of all."""
    app = typer.Typer(
        name="textrawl",
        help="Shared memory for AI agents on Postgres and pgvector, served over MCP.",
        epilog="Settings come from the environment and from files: see `textrawl settings --help`.",
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_start)
    if name is None:
        for panel, summaries in PANELS.items():
            for command, summary in summaries.items():
                app.command(command, help=summary, rich_help_panel=panel)(_stand_in)
    else:
        _add_command(app, name)
    return app


def _add_command(app: typer.Typer, name: str) -> None:
    # The only one that is loaded, since loading all takes seconds.
    module = "import_" if name == "import" else name
    command: Any = getattr(import_module(f"textrawl.cli.commands.{module}"), module)
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name, context_settings=_PASSING_ON.get(name))(command)


def _stand_in() -> None:
    """A command in the help of all; `run_line` loads the real one before it can be called."""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"textrawl {__version__}")
        raise typer.Exit


def _start(
    _: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
    ] = False,
    __: Annotated[
        str | None,
        typer.Option(OPTION, metavar="FILE", help="Read settings from FILE, in the form of .env."),
    ] = None,
) -> None:
    """Serve, when no command is named."""


def _warn_of_slips() -> None:
    from textrawl.cli.setting_mistakes import find_slips  # noqa: PLC0415 - serve does without

    for line in find_slips():
        write_complaint(line)


def _quiet_libraries() -> None:
    # psycopg warns of every connection that is closed on purpose, dotenv once for each look at a
    # bad line; what matters we say ourselves.
    for library in ("psycopg", "dotenv"):
        logging.getLogger(library).setLevel(logging.ERROR)


def _name_help(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"See {context.command_path if context else 'textrawl'} --help."
