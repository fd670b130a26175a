"""What `connect` and `disconnect` show: the differences of files, and notes for the user."""

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import takewhile
from pathlib import Path

from rich.text import Text

from textrawl.cli.confirmation import confirm
from textrawl.cli.console import open_console, open_progress
from textrawl.clients.client import Client
from textrawl.clients.connection import Change, Plan, carry_out
from textrawl.clients.edits import measure_difference
from textrawl.clients.secrets import hide_secrets
from textrawl.clients.servers import VARIABLE, Address, Server, Token
from textrawl.environment import find_user_file
from textrawl.settings import find_origins, write_name

_CONTEXT = 3  # lines around a difference
_WIDEST = 1000  # characters of a line that is shown in full
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
        confirm("Write this?", "changed")
    return carry_out(plan) if plan.needed or not plan.is_recorded else []


def _compare(change: Change) -> Iterator[str]:
    """Yield the lines of a unified difference, without secrets."""
    path, text = change.snapshot.path, change.text or ""
    yield f"--- {path if change.snapshot.content is not None else '/dev/null'}"
    yield f"+++ {path if change.text is not None else '/dev/null'}"
    lines = _compare_lines(change.snapshot.text.splitlines(), text.splitlines())
    if max(map(len, lines), default=0) > _WIDEST:
        lines = _compare_characters(change.snapshot.text, text)
    yield from map(hide_secrets, lines)


def _compare_lines(before: Sequence[str], after: Sequence[str]) -> list[str]:
    head = _count_common(before, after)
    rest = min(len(before), len(after)) - head
    tail = _count_common(before[::-1][:rest], after[::-1][:rest])
    first, last = max(head - _CONTEXT, 0), max(tail - _CONTEXT, 0)
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    lines = [*unified_diff(old, new, lineterm="", n=_CONTEXT)]
    return [line for line in lines[2:] if not line.startswith("@@")]  # without the two names


def _compare_characters(before: str, after: str) -> list[str]:
    """Return what goes and what comes. Some programs write their file as one long line."""
    start, end = measure_difference(before, after)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    return [f"-{line}" for line in old.splitlines()] + [f"+{line}" for line in new.splitlines()]


def _count_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines are the same at the beginning. They need no diff, which takes time."""
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
