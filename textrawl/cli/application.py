"""The typer application of all commands. A server over stdio starts without this module."""

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, Literal

import typer

from textrawl import __version__
from textrawl.cli.console import format_warnings, write_error
from textrawl.cli.foreground import Interrupted, silence_libraries
from textrawl.cli.process_start import pause_collection, raise_at_interrupt
from textrawl.environment import OPTION, find_value, read_sources
from textrawl.errors import StartRefused

PANELS: dict[str, dict[str, str]] = {
    "Daily": {
        "search": "Search the memory by words and by meaning.",
        "recall": "Print facts that answer a question, in few tokens and quickly.",
        "here": "Show your last session in this Git repository, and its newest facts.",
        "check-anchors": "Show the facts that speak of files which changed or are gone.",
        "digest": "Print the facts that matter at the start of a conversation.",
        "explain": "Explain why a search finds some facts and leaves out others.",
        "show": "Show an entity with its newest facts and its relations.",
        "remember": "Store a fact about an entity.",
        "revise": "Mark a fact as wrong, say why, and store what is right.",
        "pin": "Pin a fact, so that every session begins with it, first and whole.",
        "unpin": "Take the pin of a fact away. The fact stays.",
        "entity": "Describe entities, give them aliases, and merge two that are one.",
        "tidy": "Find what is out of order in the memory, and propose to mend it.",
        "me": "Say which entity you are, so that `I` and `my` in your questions mean it.",
        "forget": "Delete an entity, or one fact of it, for good.",
        "ingest": "Add files to a graph, as sources that `recall` searches.",
        "document": "List, show and delete the documents of a sensitive graph.",
        "journal": "Consolidate the journal.",
        "capture": "Store the texts of sessions in the journal, as the hook `capture` does.",
        "explore": "Look into the memory in a browser: search, entities, history.",
        "stats": "Show what the memory holds, how it grows, and what answers cost.",
    },
    "Clients": {
        "connect": "Add textrawl to the configuration of a client.",
        "disconnect": "Take back what `textrawl connect` added to a client.",
    },
    "Server": {
        "serve": "Serve the memory to an MCP client. `textrawl` without a command does the same.",
        "status": "Show which processes of yours have the memory open.",
        "sessions": "Show which facts hooks gave the models of your sessions of the last week.",
        "stop": "End the processes of yours that have the memory open.",
        "hook": "Answer an event of a client program, such as a prompt. Client programs run it.",
        "demo": "See memory at work: store facts about PostgreSQL, ask questions, count tokens.",
        "doctor": "Check everything that a call needs, from settings to embeddings.",
        "settings": "Show the current settings and where each value comes from.",
        "trust": "Let the `.env` of a folder set all settings, until the file changes.",
        "distrust": "Take back the trust in the `.env` of a folder.",
        "toolsets": "List the toolsets that a server can offer.",
        "cost": "Show what the server costs a client in tokens.",
    },
    "Team": {
        "space": "Create, list, rename and archive spaces: named parts of the memory.",
        "review": "See proposals, and accept or reject them.",
        "grant": "Set, list and revoke what actors may do in spaces.",
        "token": "Create, list, rotate and revoke access tokens.",
        "share": "Copy or move an entity, or some of its facts, to another space.",
        "log": "Show who did what to the memory, newest first, without the content.",
        "undo": "Undo what one author wrote since a time.",
        "erase": "Erase what is about or by a person, and write a receipt without content.",
        "webhook": "Post the events of a space to an address, signed and in their order.",
        "analyst": "Create, list and drop logins that read the memory in SQL.",
    },
    "Database": {
        "migrate": "Create the database schema, or bring it up to date.",
        "cluster": "See the workers of a distributed memory, and move spaces between them.",
        "backup": "Write the whole memory to a file.",
        "restore": "Restore a backup into an empty database.",
        "export": "Write entities, facts, relations, reflections and documents as JSON Lines.",
        "import": "Add an export of textrawl or of another system.",
        "embed": "Change the embedding model while servers keep answering.",
        "psql": "Open psql on the memory, as a role that can only read.",
    },
}
"""The groups of the help with the summaries of their commands, in the order of the help."""

MODULES = {
    name: module
    for module, names in {
        "access": ("grant", "token"),
        "analyst": ("psql",),
        "archive": ("backup", "restore", "export"),
        "connect": ("disconnect",),
        "cost": ("toolsets",),
        "curation": ("revise", "pin", "unpin", "forget", "share"),
        "doctor": ("settings", "trust", "distrust"),
        "entity": ("me",),
        "imports": ("import",),
        "ingest": ("document",),
        "recall": ("digest", "remember"),
        "here": ("check-anchors",),
        "review": ("tidy",),
        "search": ("explain", "show"),
        "status": ("stop",),
        "trail": ("log", "undo"),
    }.items()
    for name in names
}
"""The module of each command that has not a module of its own name."""

COMMANDS = {name: panel for panel, names in PANELS.items() for name in names}
"""The group of each command, by name."""


_CONTEXT_SETTINGS = {"psql": {"ignore_unknown_options": True, "allow_interspersed_args": False}}

# Errors of the machine, such as missing rights or a full disk. They are shown without a traceback.
_SYSTEM_ERRORS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)

# Commands that do not show warnings about settings. `serve` logs the warnings. `demo` does not use
# settings. `trust` and `distrust` decide about the file themselves.
_WITHOUT_WARNINGS = ("serve", "demo", "trust", "distrust")


def run_command(words: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    silence_libraries()
    name = words[0] if words[0] in COMMANDS else None
    with pause_collection():
        if name != "serve":  # `serve` configures logs
            format_warnings()
        app = build_app(name)
    try:
        if name is not None and not {"-h", "--help"} & set(words):
            _check_settings(name)
        with raise_at_interrupt():
            return _call(app, words)
    except typer.TyperException as error:
        if message := error.format_message().rstrip("."):  # without a message, the help was shown
            context = getattr(error, "ctx", None)
            help = f"See {context.command_path if context else 'textrawl'} --help."
            write_error(f"{message}{'' if message.endswith('?') else '.'} {help}")
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
        return app
    # Only this command is imported, because importing all commands takes seconds.
    module = import_module(f"textrawl.cli.commands.{MODULES.get(name, name)}")
    command: Any = getattr(module, "import_" if name == "import" else name.replace("-", "_"))
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name, help=PANELS[COMMANDS[name]][name])
    else:
        app.command(name, context_settings=_CONTEXT_SETTINGS.get(name))(command)
    return app


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


def _check_settings(name: str) -> None:
    """Warn of mistakes in settings, and refuse a command that cannot work with them."""
    refuse_beside_server(name)
    if name in _WITHOUT_WARNINGS:
        return
    from textrawl.doctor.setting_mistakes import find_mistakes  # noqa: PLC0415 - not for every command

    for line in find_mistakes():
        write_error(line)


Place = Literal["server", "none", "database"]

_COMMANDS: Mapping[Place, tuple[str, ...]] = {
    "server": (
        *("search", "recall", "here", "check-anchors", "digest", "explain", "show", "remember"),
        *("revise", "pin", "unpin", "entity", "me", "sessions", "forget", "stats", "hook"),
        *("doctor", "review", "tidy", "share", "log"),
        *("undo", "erase"),
    ),
    # `serve` is a server itself, and `demo` has a memory of its own.
    "none": (
        *("connect", "disconnect", "serve", "demo", "settings", "trust", "distrust", "toolsets"),
        *("status", "stop"),
    ),
    "database": (
        *("ingest", "journal", "capture", "explore", "cost", "space", "grant", "token", "analyst"),
        *("migrate", "cluster", "backup", "restore", "export", "import"),
        *("embed", "psql", "webhook", "document"),
    ),
}
PLACES: Mapping[str, Place] = {name: place for place, names in _COMMANDS.items() for name in names}
"""The place of each command: the server, none because it needs no memory, or only a database."""

_OTHERWISE = {
    "explore": "Open the pages of the server instead: its address with /explore, if it has them on",
    "ingest": "Let a client of the server add files with the toolset corpus",
}


def refuse_beside_server(command: str) -> None:
    """Raise StartRefused for a command that needs a database if SERVER_URL names a server.

    Nothing of a memory on this machine was read then.
    """
    if PLACES[command] != "database":
        return
    url = find_value("server_url", read_sources())
    if url is None:
        return
    raise StartRefused(
        f"`textrawl {command}` needs a database, and TEXTRAWL_SERVER_URL ({url.source}) names the "
        f"server {url.text}. {_OTHERWISE.get(command, 'Run it on the machine of the server')}, or "
        "unset TEXTRAWL_SERVER_URL to use the memory of this machine"
    )
