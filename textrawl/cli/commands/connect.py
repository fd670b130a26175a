"""The commands `connect` and `disconnect`."""

import getpass
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from difflib import unified_diff
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer
from pydantic import SecretStr
from rich.table import Table
from rich.text import Text

from textrawl.cli.commands.entity import introduce
from textrawl.cli.console import (
    can_ask,
    confirm,
    open_console,
    open_progress,
    write_json,
    write_line,
    write_message,
    write_row,
)
from textrawl.cli.inputs import AsJson, Yes, argument, option
from textrawl.cli.questions import ask
from textrawl.cli.server_session import find_obstacle
from textrawl.connect.clients import (
    CLIENTS,
    NAME,
    OTHER,
    VARIABLE,
    Addition,
    ClientProgram,
    LocalServer,
    Server,
    ServerAddress,
    ServerToken,
    find_command,
    find_script,
    hide_secrets,
)
from textrawl.connect.connection import (
    Change,
    ConfigurationPlan,
    carry_out,
    find_recorded,
    plan_connection,
    plan_disconnection,
    read_snapshot,
    write_entry,
)
from textrawl.connect.edits import FORMATS, MISSING, find, is_made, measure_difference
from textrawl.connect.json_edits import EditRefused, NotUnderstood
from textrawl.environment import PREFIX, find_user_file, find_value, read_sources, write_name
from textrawl.errors import StartRefused, TextrawlError
from textrawl.hooks.plugins import find_additions
from textrawl.settings import Settings, find_origins, read_settings
from textrawl.values.names import read_server_address


def choose_client(name: str | None) -> ClientProgram:
    """Return the client of this name. Raises BadParameter, which lists the names."""
    known = ", ".join(CLIENTS)
    if name is None:
        raise typer.BadParameter(f"name a client: {known}. --list shows what is connected.")
    if name in CLIENTS:
        return CLIENTS[name]
    raise typer.BadParameter(
        f"{name!r} is not one of {known}. `textrawl connect --print` shows what most others read."
    )


def list_hooks(client: ClientProgram, server: Server | None = None) -> list[Addition]:
    """Return the hooks of a client, with the settings that they need to reach the server."""
    found = find_additions(client.name, find_script(), _list_settings(server))
    return [replace(addition, path=client.place(addition.path)) for addition in found]


def find_recorded_hooks(client: ClientProgram) -> list[Addition]:
    """Return the hooks that an earlier `connect` added. Raises EditRefused."""
    return [each for each in find_recorded(client.name, None) if each.keys[0] == "hooks"]


def require_hooks(client: ClientProgram, server: Server, project: Path | None) -> list[Addition]:
    """Return the hooks of a client. Raises StartRefused if there are none."""
    if project is not None:
        raise StartRefused("Hooks are for all projects: leave --project or --with-hooks out")
    hooks = list_hooks(client, server)
    if not hooks:
        raise StartRefused(f"textrawl has no hooks for {client.title}: leave --with-hooks out")
    return hooks


def _list_settings(server: Server | None) -> dict[str, str]:
    if isinstance(server, LocalServer):
        return {**server.settings}
    if not isinstance(server, ServerAddress):
        return {}
    settings = {f"{PREFIX}SERVER_URL": server.url}
    if server.token is not None and server.token.kind == "file":
        settings[f"{PREFIX}ACCESS_TOKEN_FILE"] = server.token.place
    return settings


Answer = Literal["yes", "no", "unknown"]
"""Whether something is in a file. It is unknown for a file that is not understood."""


class ConnectedClient(NamedTuple):
    """A client, and what its configuration has of textrawl."""

    client: str
    title: str
    installed: bool
    connected: Answer
    hooks: Answer
    file: str


def list_connections(project: Path | None) -> list[ConnectedClient]:
    """Return all clients, with the configuration of the user or of a project."""
    rows: list[ConnectedClient] = []
    for client in CLIENTS.values():
        if project is None or client.project_files:
            path = client.find_file(project)
            found = client.is_installed(), _find_entry(client, path)
            hooks = _find_hooks(client) if project is None else "no"
            rows.append(ConnectedClient(client.name, client.title, *found, hooks, str(path)))
    return rows


def show_connections(rows: Sequence[ConnectedClient], *, as_json: bool) -> None:
    """Write the list as a table, as lines for other programs, or as JSON."""
    if as_json:
        write_json([row._asdict() for row in rows])
        return
    console, table = open_console(), Table()
    for title in ("client", "installed", "connected", "hooks", "file"):
        table.add_column(title, overflow="fold")
    for row in rows:
        cells = (row.client, _answer(row.installed), row.connected, row.hooks, row.file)
        if console.is_terminal:
            table.add_row(*cells, style="" if row.installed else "dim")
        else:
            write_row(cells)
    if console.is_terminal:
        console.print(table)


def _find_entry(client: ClientProgram, path: Path) -> Answer:
    try:
        document = FORMATS[client.format].read(read_snapshot(path).text)
    except (NotUnderstood, EditRefused):
        return "unknown"
    return _answer(find(document, (*client.keys, NAME)) is not MISSING)


def _find_hooks(client: ClientProgram) -> Answer:
    """Return whether the hooks of the record are there, or those without any settings."""
    try:
        hooks = find_recorded_hooks(client) or [hook for hook in list_hooks(client) if hook.append]
        made = [is_made(read_snapshot(hook.path).text, hook) for hook in hooks]
    except (NotUnderstood, EditRefused):
        return "unknown"
    return _answer(bool(made) and all(made))


def _answer(holds: bool) -> Answer:
    return "yes" if holds else "no"


_CONTEXT = 3  # lines around a difference
_WIDEST = 1000  # characters of a line that is shown in full
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def confirm_plan(plan: ConfigurationPlan, *, yes: bool, as_json: bool) -> list[Path]:
    """Show the differences, ask unless `yes`, and carry the plan out.

    Returns the copies of the files as they were. Raises Abort for no, StartRefused if there is no
    terminal to ask on, and EditRefused.
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
    if max(map(len, lines), default=0) > _WIDEST:  # some programs write one long line
        before, (start, end) = change.snapshot.text, measure_difference(change.snapshot.text, text)
        lines = [f"-{line}" for line in before[start : len(before) - end].splitlines()]
        lines += [f"+{line}" for line in text[start : len(text) - end].splitlines()]
    yield from map(hide_secrets, lines)


def _compare_lines(before: Sequence[str], after: Sequence[str]) -> list[str]:
    head = _count_common(before, after)
    rest = min(len(before), len(after)) - head
    tail = _count_common(before[::-1][:rest], after[::-1][:rest])
    first, last = max(head - _CONTEXT, 0), max(tail - _CONTEXT, 0)
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    lines = [*unified_diff(old, new, lineterm="", n=_CONTEXT)]
    return [line for line in lines[2:] if not line.startswith("@@")]  # without the two names


def _count_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines are the same at the beginning. They need no diff, which takes time."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


_REQUIRED = (
    "With `required = true`, {0} waits for the tools, and does not start if the server cannot "
    "start: `textrawl doctor` says why. Without this line {0} starts without a memory."
)
_UNSEEN = (
    "{} does not see these settings of this shell: {}. Repeat them with --set, or write them into "
    "{}."
)


_STAYS_OPEN = (
    "The memory stays open for ten minutes after its last client: `textrawl status` shows what "
    "runs."
)


def list_notes(client: ClientProgram, server: Server) -> list[str]:
    """Return what the user still has to do or to know after connecting."""
    notes = [f"{client.title} reads this when it starts: restart it if it runs."]
    if isinstance(server, ServerAddress):
        notes += [_describe_token(client, server.token)] if server.token else []
    else:
        notes.append(_STAYS_OPEN)
        if hidden := _list_hidden_settings(server.settings):
            notes.append(_UNSEEN.format(client.title, ", ".join(hidden), find_user_file()))
        if client.write_program(server).get("required"):
            notes.append(_REQUIRED.format(client.title))
    return [*notes, client.hint] if client.hint else notes


def _describe_token(client: ClientProgram, token: ServerToken) -> str:
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


def _list_hidden_settings(given: Container[str]) -> list[str]:
    """Return the settings of this process that a client's server will not have.

    The server reads only its entry, which has the `given` ones, the environment of the client, and
    the user's own file.
    """
    user_file = str(find_user_file())
    return [
        name
        for field, origin in find_origins().items()
        if origin is not None and origin.source != user_file
        if (name := write_name(field)) not in given
    ]


_ConnectedName = Annotated[str, argument("CLIENT", f"The client: {', '.join(CLIENTS)}.")]
_Project = Annotated[
    bool, option("--project", "Use the file of the project in the working directory.")
]


def disconnect(
    client: _ConnectedName,
    project: _Project = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take back what `textrawl connect` added to a client.

    This includes hooks. An entry that `connect` replaced is there again. What you changed elsewhere
    in the file since then stays. The memory itself is not touched.
    """
    chosen = choose_client(client)
    place = Path.cwd() if project else None
    # What a connection adds for the server, whatever its entry is.
    server = chosen.list_additions(LocalServer(find_command()), chosen.find_file(place))
    hooks = [] if project else [hook for hook in list_hooks(chosen) if hook.append]
    plan = plan_disconnection(chosen.name, place, [*server, *hooks])
    confirm_plan(plan, yes=yes, as_json=as_json)
    files = [str(change.snapshot.path) for change in plan.needed or plan.changes[:1]]
    if as_json:
        write_json({"client": chosen.name, "changed": bool(plan.needed), "files": files})
    state = "is disconnected" if plan.needed else "is not connected"
    write_message(f"{chosen.title} {state}: {', '.join(files)}.")


_LOCAL = ("localhost", "127.0.0.1", "::1")

Url = Annotated[str | None, option("URL", "Connect to this server; default: start one over stdio.")]
TokenFile = Annotated[
    Path | None, option("FILE", "The file that holds the access token of the server.")
]
TokenKeyring = Annotated[
    str | None,
    option("SERVICE[:USER]", "The entry of the system's keyring that holds the access token."),
]
Assignments = Annotated[
    list[str] | None,
    option("--set NAME=VALUE", "A setting for the server, such as TEXTRAWL_SPACE=notes."),
]


def choose_server(
    url: str | None,
    token_file: Path | None,
    token_keyring: str | None,
    assignments: Sequence[str] | None,
) -> Server:
    """Return what the options say. Raises BadParameter for options that do not fit together."""
    token = _choose_token(token_file, token_keyring)
    if url is None:
        if token is not None:
            raise typer.BadParameter("a token needs --url")
        return LocalServer(find_command(), read_assignments(assignments or ()))
    if assignments:
        raise typer.BadParameter("a server at a URL has its own settings: leave --set out")
    return ServerAddress(_check_url(url, with_token=token is not None), token)


def read_assignments(assignments: Sequence[str]) -> dict[str, str]:
    """Return the settings by the names of their variables.

    Raises BadParameter for unknown names and for secrets, and StartRefused for invalid values.
    """
    read = dict[str, str]()
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        field = name.strip().upper().removeprefix(PREFIX).lower()
        if not equals or field not in Settings.model_fields:
            raise typer.BadParameter(
                f"{assignment!r} is not a setting: write NAME=VALUE with a name that "
                "`textrawl settings` lists."
            )
        annotation = Settings.model_fields[field].annotation
        if SecretStr in (annotation, *getattr(annotation, "__args__", ())):
            raise typer.BadParameter(
                f"{write_name(field)} is secret and does not belong in a client's file: write "
                "it into ~/.config/textrawl/.env."
            )
        read[write_name(field)] = value
    read_settings(**{name.removeprefix(PREFIX).lower(): value for name, value in read.items()})
    return read


def _choose_token(file: Path | None, keyring: str | None) -> ServerToken | None:
    if file is not None and keyring is not None:
        raise typer.BadParameter("use --token-file or --token-keyring, not both")
    if file is not None:
        path = file.expanduser().absolute()
        if not path.is_file():
            raise typer.BadParameter(f"{path} is not a file", param_hint="--token-file")
        return ServerToken("file", str(path))
    if keyring is None:
        return None
    service, _, user = keyring.partition(":")
    return ServerToken("keyring", service, user or getpass.getuser())


def _check_url(url: str, *, with_token: bool) -> str:
    """Return the address of the MCP endpoint. A host alone stands for its path /mcp."""
    try:
        parts = read_server_address(url)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if parts.username or parts.password:
        raise typer.BadParameter("a URL must not contain a password: use --token-file")
    if with_token and parts.scheme == "http" and parts.hostname not in _LOCAL:
        raise typer.BadParameter("a token is sent only to https:// or to this machine")
    return parts.geturl()


_ClientName = Annotated[str | None, argument("CLIENT", f"The client: {', '.join(CLIENTS)}.")]
_List = Annotated[bool, option("--list", "List which clients are connected.")]
_Print = Annotated[bool, option("--print", "Write the entry to stdout, and change nothing.")]
_Hooks = Annotated[bool, option("--with-hooks", "Add the hooks as well: see docs/hooks.md.")]


def connect(  # noqa: PLR0913, PLR0917 - each argument is an option
    client: _ClientName = None,
    listing: _List = False,
    printing: _Print = False,
    project: _Project = False,
    url: Url = None,
    token_file: TokenFile = None,
    token_keyring: TokenKeyring = None,
    assignments: Assignments = None,
    with_hooks: _Hooks = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Add textrawl to the configuration of a client.

    The command shows the difference and asks before it changes a file. Comments and everything else
    in the file stay. A copy of the file is kept beside it. `textrawl disconnect CLIENT` takes back
    exactly what was added. Then it asks once who you are, for questions with `I` and `my`.
    """
    place = Path.cwd() if project else None
    if listing:
        show_connections(list_connections(place), as_json=as_json)
        return
    server = choose_server(url, token_file, token_keyring, assignments)
    if printing:
        if with_hooks:
            raise typer.BadParameter("--print shows only the server: leave --with-hooks out")
        shown = CLIENTS.get(client or "") or OTHER
        for addition in shown.list_additions(server, shown.find_file(place), hidden=True):
            write_line(write_entry(addition))
        return
    chosen = choose_client(client)
    plan = _plan(chosen, server, place, with_hooks=with_hooks)
    backups = confirm_plan(plan, yes=yes, as_json=as_json)
    if as_json:
        files = [str(change.snapshot.path) for change in plan.changes]
        changed = {"changed": bool(plan.needed), "files": files}
        write_json({"client": chosen.name, **changed, "backups": list(map(str, backups))})
    _report(chosen, server, plan, backups)
    if can_ask() and not (yes or as_json) and server == LocalServer(find_command()):
        _meet()


def _meet() -> None:
    """Ask who the user is. The client is connected in any case."""
    if find_value("server_url", read_sources()) is not None:
        return
    try:
        if introduce():
            write_message(*ask("offer_model", list[str]))
    except (TextrawlError, StartRefused) as error:
        write_message(f"The memory does not know yet who you are: {error}.")


def _plan(
    client: ClientProgram, server: Server, project: Path | None, *, with_hooks: bool
) -> ConfigurationPlan:
    additions = client.list_additions(server, client.find_file(project))
    hooks = list[Addition]()
    if with_hooks:
        hooks = require_hooks(client, server, project)
    elif project is None and find_recorded_hooks(client):
        hooks = list_hooks(client, server)  # they stay, and ask the same server
    secret = client.has_secret(server)
    return plan_connection(client.name, project, [*additions, *hooks], private=secret)


def _report(
    client: ClientProgram, server: Server, plan: ConfigurationPlan, backups: list[Path]
) -> None:
    files = ", ".join(str(change.snapshot.path) for change in plan.changes)
    if not plan.needed:
        write_message(f"{client.title} is already connected: {files}.")
        return
    write_message(f"{client.title} {_find_state(server)}: {files}.")
    write_message(*(f"The file as it was before is {backup}." for backup in backups))
    write_message(*list_notes(client, server))


def _find_state(server: Server) -> str:
    """Return that the client is connected, or why the server of its new entry cannot be used."""
    if not isinstance(server, ServerAddress):
        return "is connected"
    try:
        obstacle = find_obstacle(server.url, server.token.read() if server.token else None)
    except StartRefused as error:
        obstacle = str(error)
    if obstacle is None:
        return "is connected"
    return f"has the entry, but {server.url} cannot be used ({obstacle})"
