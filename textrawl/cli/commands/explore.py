"""`textrawl explore`: the memory in a browser."""

import webbrowser
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from threading import Thread
from typing import Annotated

import typer

from textrawl.cli.administration import open_administration
from textrawl.cli.console import open_console
from textrawl.cli.database_access import require_memory
from textrawl.cli.foreground import Interrupted, run_foreground
from textrawl.postgres.database import Database
from textrawl.settings import Settings, read_settings

_Port = Annotated[
    int, typer.Option(min=0, max=65_535, help="Port to listen on. 0 means any free port.")
]
_Browser = Annotated[
    bool,
    typer.Option(
        "--open",
        help="Also open the link in a browser. Other users of this machine can then see the link "
        "in the list of processes, until it is used.",
    ),
]


def explore(port: _Port = 0, browser: _Browser = False) -> None:
    """Look into the memory in a browser: search, entities, history.

    The command listens only on this machine, and prints a link. The link signs you in once, within
    five minutes. Ctrl-C ends the command.
    """
    settings = read_settings()
    require_memory(settings)
    try:
        run_foreground(partial(_serve, settings, port, browser=browser), use_uvloop=True)
    except Interrupted:
        return  # the regular way to end a server


async def _serve(settings: Settings, port: int, *, browser: bool) -> None:
    from textrawl.explorer.serving import serve_explorer  # noqa: PLC0415 - it takes half a second

    def announce(link: str) -> None:
        open_console().print(link, soft_wrap=True, highlight=False, markup=False)
        if browser:
            # In a thread, because the call waits for some browsers until they end.
            Thread(target=webbrowser.open, args=(link,), daemon=True).start()

    await serve_explorer(settings, port, announce, partial(open_owner, settings))


@asynccontextmanager
async def open_owner(settings: Settings) -> AsyncGenerator[Database]:
    """Open the memory as its owner. Raises StartRefused if the login does not own the memory."""
    async with open_administration(settings) as administration:
        yield administration.database
