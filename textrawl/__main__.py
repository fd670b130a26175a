"""The command line: `textrawl`, or `python -m textrawl`."""

import logging
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from textrawl import __version__
from textrawl.commands.backup import backup
from textrawl.commands.console import write_complaint
from textrawl.commands.demo import demo
from textrawl.commands.doctor import doctor
from textrawl.commands.embed import embed
from textrawl.commands.export import export
from textrawl.commands.foreground import Interrupted
from textrawl.commands.grant import grant
from textrawl.commands.import_ import import_
from textrawl.commands.log import log
from textrawl.commands.migrate import migrate
from textrawl.commands.restore import restore
from textrawl.commands.serve import serve
from textrawl.commands.settings import settings
from textrawl.commands.space import space
from textrawl.commands.stats import stats
from textrawl.commands.token import token
from textrawl.commands.tokens import tokens
from textrawl.commands.undo import undo
from textrawl.commands.upgrade import upgrade
from textrawl.commands.watch import watch
from textrawl.errors import StartRefused, TextrawlError

app = typer.Typer(
    name="textrawl",
    help="Shared memory for AI agents on Postgres and pgvector, served over MCP.",
    epilog="Settings come from the environment and from .env: see `textrawl settings`.",
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (serve, demo, doctor, migrate, upgrade, stats, tokens, log, watch, undo, settings):
    app.command()(command)
for name, command in {
    "backup": backup, "restore": restore, "export": export, "import": import_
}.items():  # fmt: skip
    app.command(name)(command)
for name, group in {"space": space, "grant": grant, "token": token, "embed": embed}.items():
    app.add_typer(group, name=name)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"textrawl {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    _: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
    ] = False,
) -> None:
    """Serve, when no command is named."""
    if context.invoked_subcommand is None:
        serve()


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command and exits: 0 done, 1 refused or failed, 2 wrong usage, 128 + signal.

    An error that was to be expected is one line on stderr.
    """
    # It warns of every connection that is closed on purpose; what matters we say ourselves.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    try:
        code = app(arguments, prog_name="textrawl", standalone_mode=False)
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
    write_complaint(message)
    sys.exit(code)


if __name__ == "__main__":
    main()
