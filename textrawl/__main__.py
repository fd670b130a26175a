"""The command line: `textrawl`, or `python -m textrawl`."""

import logging
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

from textrawl import __version__
from textrawl.garbage import pause_collection

_COMMANDS = (
    "serve", "demo", "doctor", "migrate", "upgrade", "stats", "tokens", "toolsets", "log", "watch",
    "undo", "settings", "backup", "restore", "export", "import", "space", "grant", "token", "embed",
    "analyst", "psql",
)  # fmt: skip
"""All commands, in the order of the help; each is a module of textrawl.commands."""
_PASSING_ON = {"psql": {"ignore_unknown_options": True, "allow_interspersed_args": False}}


def _build_app(names: Iterable[str]) -> typer.Typer:
    """The command line with the commands of these names alone."""
    app = typer.Typer(
        name="textrawl",
        help="Shared memory for AI agents on Postgres and pgvector, served over MCP.",
        epilog="Settings come from the environment and from .env: see `textrawl settings`.",
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in names:
        command = _load(name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, context_settings=_PASSING_ON.get(name))(command)
    app.callback(invoke_without_command=True)(start)
    return app


def _load(name: str) -> Any:
    module = "import_" if name == "import" else name
    return getattr(import_module(f"textrawl.commands.{module}"), module)


def _name_needed(arguments: Sequence[str]) -> Sequence[str]:
    """The commands that a line may speak of: loading all of them takes longer than most need."""
    if not arguments:
        return ("serve",)
    return arguments[:1] if arguments[0] in _COMMANDS else _COMMANDS


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
    """Runs a command and exits: 0 done, 1 refused or failed, 2 wrong usage, 128 + signal.

    An error that was to be expected is one line on stderr.
    """
    # It warns of every connection that is closed on purpose; what matters we say ourselves.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    words = sys.argv[1:] if arguments is None else arguments
    with pause_collection():
        from textrawl.commands.foreground import Interrupted  # noqa: PLC0415 - while it is paused
        from textrawl.errors import StartRefused, TextrawlError  # noqa: PLC0415

        app = _build_app(_name_needed(words))
    try:
        code = app(words, prog_name="textrawl", standalone_mode=False)
    except (StartRefused, TextrawlError) as error:
        _fail(str(error), 1)
    except typer.TyperException as error:
        if not (message := error.format_message().rstrip(".")):  # the help was shown instead
            sys.exit(error.exit_code)
        _fail(f"{message}. See textrawl --help.", error.exit_code)
    except Interrupted as error:
        _fail(str(error), error.code)
    except (typer.Abort, KeyboardInterrupt):
        _fail("Interrupted", 130)
    sys.exit(code or 0)


def _fail(message: str, code: int) -> NoReturn:
    from textrawl.commands.console import write_complaint  # noqa: PLC0415 - seldom needed

    write_complaint(message)
    sys.exit(code)


if __name__ == "__main__":
    main()
