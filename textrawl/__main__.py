"""The command line: `textrawl`, or `python -m textrawl`."""

import logging
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

from textrawl import __version__
from textrawl.commands.catalogue import COMMANDS, PANELS
from textrawl.garbage import pause_collection

_PASSING_ON = {"psql": {"ignore_unknown_options": True, "allow_interspersed_args": False}}

_QUIET = (None, "serve", "demo")  # help; what logs by itself; what reads no settings


def _build_app(name: str | None) -> typer.Typer:
    """The command line with the command `name`, or for None with the summaries of all."""
    app = typer.Typer(
        name="textrawl",
        help="Shared memory for AI agents on Postgres and pgvector, served over MCP.",
        epilog="Settings come from the environment and from .env: see `textrawl settings`.",
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(start)
    if name is None:
        for panel, summaries in PANELS.items():
            for command, summary in summaries.items():
                app.command(command, help=summary, rich_help_panel=panel)(_stand_in)
    else:
        _add_command(app, name)
    return app


def _add_command(app: typer.Typer, name: str) -> None:
    command = _load(name)
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name, context_settings=_PASSING_ON.get(name))(command)


def _stand_in() -> None:
    """A command in the help of all; `main` loads the real one before it can be called."""


def _load(name: str) -> Any:
    module = "import_" if name == "import" else name
    return getattr(import_module(f"textrawl.commands.{module}"), module)


def _find_command(arguments: Sequence[str]) -> str | None:
    """The command that a line calls: the only one to load, since loading all takes seconds."""
    words = arguments[1:] if arguments[:1] == ["--"] else arguments
    if not words:
        return "serve"
    return words[0] if words[0] in COMMANDS else None


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"textrawl {__version__}")
        raise typer.Exit


def start(
    context: typer.Context,
    _: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
    ] = False,
) -> None:
    """Serve, when no command is named."""
    if context.invoked_subcommand is None:
        _load("serve")()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: 0 done, 1 refused or failed, 2 wrong usage, 128 + signal.

    An expected error is one line on stderr.
    """
    # It warns of every connection that is closed on purpose; what matters we say ourselves.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    words = sys.argv[1:] if arguments is None else list(arguments)
    with pause_collection():
        from textrawl.commands.foreground import Interrupted  # noqa: PLC0415 - while it is paused
        from textrawl.errors import StartRefused, TextrawlError  # noqa: PLC0415

        name = _find_command(words)
        if name != "serve":  # which configures its own logs
            _clean_warnings()
        app = _build_app(name)
    try:
        if name not in _QUIET and not {"-h", "--help"} & set(words):
            _warn_of_names()
        code = app(words, prog_name="textrawl", standalone_mode=False)
    except (StartRefused, TextrawlError) as error:
        _fail(str(error), 1)
    except typer.TyperException as error:
        if not (message := error.format_message().rstrip(".")):  # the help was shown instead
            sys.exit(error.exit_code)
        end = "" if message.endswith("?") else "."
        _fail(f"{message}{end} See textrawl --help.", error.exit_code)
    except Interrupted as error:
        _fail(str(error), error.code)
    except (typer.Abort, KeyboardInterrupt):
        _fail("Interrupted", 130)
    sys.exit(code or 0)


def _clean_warnings() -> None:
    from textrawl.commands.console import clean_warnings  # noqa: PLC0415 - serve does without

    clean_warnings()


def _warn_of_names() -> None:
    from textrawl.commands.console import write_complaint  # noqa: PLC0415 - serve does without
    from textrawl.settings import find_near_names  # noqa: PLC0415

    for line in find_near_names():
        write_complaint(line)


def _fail(message: str, code: int) -> NoReturn:
    from textrawl.commands.console import write_complaint  # noqa: PLC0415 - seldom needed

    write_complaint(message)
    sys.exit(code)


if __name__ == "__main__":
    main()
