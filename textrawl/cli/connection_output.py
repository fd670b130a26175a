"""What `connect` and `disconnect` show: differences of files, and the list of clients."""

import sys
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import takewhile
from pathlib import Path

import typer
from rich.text import Text

from textrawl.cli.console import open_console, open_progress
from textrawl.clients.client import Client
from textrawl.clients.connection import Change, Plan, carry_out
from textrawl.clients.secrets import hide_secrets
from textrawl.clients.servers import VARIABLE, Address, Server, Token
from textrawl.environment import find_user_file
from textrawl.errors import StartRefused
from textrawl.settings import find_origins, write_name

_CONTEXT = 3  # lines around a difference
_WIDEST = 200  # characters: some programs write a file as one long line
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def confirm_plan(plan: Plan, *, yes: bool, as_json: bool) -> list[Path]:
    """Show the differences, ask unless `yes`, and carry the plan out.

    Returns the copies of the files as they were. Raises Abort for no, StartRefused if there is no
    terminal to ask on, and FileRefused.
    """
    console = open_progress() if as_json else open_console()
    for change in plan.needed:
        for line in _compare(change):
            console.print(Text(line, style=_STYLES.get(line[:1], "")), soft_wrap=True)
    if plan.needed and not yes:
        if not sys.stdin.isatty():
            raise StartRefused("Nothing was changed: without a terminal, add --yes")
        typer.confirm("Write this?", abort=True, err=True)
    return carry_out(plan) if plan.needed or not plan.is_recorded else []


def _compare(change: Change) -> Iterator[str]:
    """Yield the lines of a unified difference."""
    path = change.snapshot.path
    before = change.snapshot.text.splitlines()
    after = (change.text or "").splitlines()
    yield f"--- {path if change.snapshot.content is not None else '/dev/null'}"
    yield f"+++ {path if change.text is not None else '/dev/null'}"
    head = _count_common(before, after)
    rest = min(len(before), len(after)) - head
    tail = _count_common(before[::-1][:rest], after[::-1][:rest])
    first = max(head - _CONTEXT, 0)
    last = max(tail - _CONTEXT, 0)
    lines = unified_diff(
        before[first : len(before) - last],
        after[first : len(after) - last],
        lineterm="",
        n=_CONTEXT,
    )
    for number, line in enumerate(lines):
        if number >= 2 and not line.startswith("@@"):  # noqa: PLR2004 - the two names of files
            shown = hide_secrets(line)
            yield shown if len(shown) <= _WIDEST else f"{shown[:_WIDEST]}…"


def _count_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines are the same at the begin. They need no diff, which takes time."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def list_notes(client: Client, server: Server) -> list[str]:
    """Return what the user still has to do or to know after connecting."""
    notes = [f"{client.title} reads this when it starts: restart it if it runs."]
    if isinstance(server, Address):
        notes += [_describe_token(client, server.token)] if server.token else []
    elif hidden := _list_hidden_settings():
        notes.append(
            f"{client.title} does not see these settings of this shell: {', '.join(hidden)}. "
            f"Repeat them with --set, or write them into {find_user_file()}."
        )
    return [*notes, client.hint] if client.hint else notes


def _describe_token(client: Client, token: Token) -> str:
    match client.credential_way:
        case "written":
            return "The file contains the token. Only you can read the file."
        case "command":
            return f"{client.title} runs a command that prints the token at each connection."
        case "input":
            return f"{client.title} asks for the token once: `{token.command}` prints it."
        case "file" if token.kind == "file":
            return f"{client.title} reads the token from {token.place}."
        case _:
            return (
                f"{client.title} reads the token from the environment: write "
                f'`export {VARIABLE}="$({token.command})"` into the profile of your shell.'
            )


def _list_hidden_settings() -> list[str]:
    """Return the settings of this process that a client's server will not have.

    The server reads only the environment of the client and the user's own file.
    """
    user_file = str(find_user_file())
    return [
        write_name(name)
        for name, origin in find_origins().items()
        if origin is not None and origin.source != user_file
    ]
