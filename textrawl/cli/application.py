"""The typer application of all commands. A server over stdio starts without this module."""

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from textrawl import __version__
from textrawl.cli.catalogue import COMMANDS, PANELS
from textrawl.cli.console import format_warnings, write_error
from textrawl.cli.foreground import Interrupted
from textrawl.cli.garbage_collection import pause_collection
from textrawl.cli.interruption import raise_at_interrupt
from textrawl.cli.library_logs import silence_libraries
from textrawl.environment import OPTION

_CONTEXT_SETTINGS = {"psql": {"ignore_unknown_options": True, "allow_interspersed_args": False}}

# Errors of the machine, such as missing rights or a full disk. They are shown without a traceback.
_SYSTEM_ERRORS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)

# Commands that do not show warnings about settings. `serve` logs the warnings. `demo` and the help
# (None) do not use settings. `trust` and `distrust` decide about the file themselves.
_WITHOUT_WARNINGS = (None, "serve", "demo", "trust", "distrust")


def run_command(words: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    silence_libraries()
    name = words[0] if words[0] in COMMANDS else None
    with pause_collection():
        if name != "serve":  # `serve` configures logs
            format_warnings()
        app = build_app(name)
    try:
        if name not in _WITHOUT_WARNINGS and not {"-h", "--help"} & set(words):
            _warn_of_mistakes()
        with raise_at_interrupt():
            return _call(app, words)
    except typer.TyperException as error:
        if message := error.format_message().rstrip("."):  # without a message, the help was shown
            write_error(f"{message}{'' if message.endswith('?') else '.'} {_name_help(error)}")
        return error.exit_code
    except Interrupted as error:
        write_error(str(error))
        return error.code
    except typer.Abort:
        write_error("Interrupted")
        return 130


def _call(app: typer.Typer, words: Sequence[str]) -> int:
    try:
        return app(list(words), prog_name="textrawl", standalone_mode=False) or 0
    except OSError as error:
        if error.errno not in _SYSTEM_ERRORS:
            raise
        if sys.stdout is sys.__stdout__:  # Python flushes its buffer at exit and would fail again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        write_error(f"{error.filename or 'The output'} cannot be used: {error.strerror}")
        return 1


def build_app(name: str | None) -> typer.Typer:
    """Build the application with the command `name`.

    If `name` is None, build the application with the summaries of all commands.
    """
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
                app.command(command, help=summary, rich_help_panel=panel)(_do_nothing)
    else:
        _add_command(app, name)
    return app


def _add_command(app: typer.Typer, name: str) -> None:
    # Only this command is imported, because importing all commands takes seconds.
    module = "import_" if name == "import" else name
    command: Any = getattr(import_module(f"textrawl.cli.commands.{module}"), module)
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name, context_settings=_CONTEXT_SETTINGS.get(name))(command)


def _do_nothing() -> None:
    """Do nothing. The list of all commands shows this function for each command."""


def _show_version(requested: bool) -> None:
    if requested:
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
    """Serve the memory if no command is named."""


def _warn_of_mistakes() -> None:
    from textrawl.examination.setting_mistakes import find_mistakes  # noqa: PLC0415 - not for every command

    for line in find_mistakes():
        write_error(line)


def _name_help(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"See {context.command_path if context else 'textrawl'} --help."
