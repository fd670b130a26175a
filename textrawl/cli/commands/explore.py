"""The command `explore`."""

import webbrowser
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from threading import Thread
from typing import Annotated

from textrawl.cli.administration import open_administration
from textrawl.cli.commands.demo import find_demo_folder
from textrawl.cli.console import open_console
from textrawl.cli.foreground import Interrupted, run_foreground
from textrawl.cli.inputs import option
from textrawl.embedded.postmaster import read_state
from textrawl.errors import StartRefused
from textrawl.explorer.application import serve_explorer
from textrawl.postgres.database import Database
from textrawl.settings import Settings, read_settings

_ExplorerPort = Annotated[
    int, option("", "Port to listen on. 0 means any free port.", min=0, max=65_535)
]
_Browser = Annotated[
    bool,
    option(
        "--open",
        "Also open the link in a browser. Other users of this machine can then see the link "
        "in the list of processes, until it is used.",
    ),
]
_Demo = Annotated[bool, option("--demo", "Open the memory of `textrawl demo`.")]


def explore(port: _ExplorerPort = 0, browser: _Browser = False, demo: _Demo = False) -> None:
    """Look into the memory in a browser: search, entities, history.

    The command listens only on this machine, and prints a link. The link signs you in once, within
    five minutes. Ctrl-C ends the command. If there is no memory yet, an empty one is created.
    """
    settings = _read_demo_settings() if demo else read_settings()
    try:
        run_foreground(partial(_serve, settings, port, browser=browser), use_uvloop=True)
    except Interrupted:
        return  # the regular way to end a server


def _read_demo_settings() -> Settings:
    """Return the settings of the demo's server. Raises StartRefused if the demo did not run."""
    others = dict.fromkeys(("database_url", "server_url", "access_token", "space"))
    folder = find_demo_folder()
    settings = read_settings(data_dir=folder, embedding_provider="local", **others)
    if read_state(folder).phase == "not initialised":
        raise StartRefused("The demo has no memory yet: run `textrawl demo` first")
    return settings


async def _serve(settings: Settings, port: int, *, browser: bool) -> None:
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
