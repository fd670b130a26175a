"""The options of `connect` that say what a client connects to."""

import getpass
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import SecretStr

from textrawl.clients.installation import find_command
from textrawl.clients.servers import Address, Program, Server, Token
from textrawl.environment import PREFIX
from textrawl.settings import Settings, read_settings, write_name
from textrawl.values.server_address import read_server_address

_LOCAL = ("localhost", "127.0.0.1", "::1")

Url = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Connect to this server; default: start one over stdio."),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The file that holds the access token of the server."),
]
TokenKeyring = Annotated[
    str | None,
    typer.Option(
        metavar="SERVICE[:USER]",
        help="The entry of the system's keyring that holds the access token.",
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting for the server, such as TEXTRAWL_SPACE=notes.",
    ),
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
        return Program(find_command(), read_assignments(assignments or ()))
    if assignments:
        raise typer.BadParameter("a server at a URL has its own settings: leave --set out")
    return Address(_check_url(url, with_token=token is not None), token)


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
        if SecretStr in _list_types(field):
            raise typer.BadParameter(
                f"{write_name(field)} is secret and does not belong in a client's file: write "
                "it into ~/.config/textrawl/.env."
            )
        read[write_name(field)] = value
    read_settings(**{name.removeprefix(PREFIX).lower(): value for name, value in read.items()})
    return read


def _list_types(field: str) -> tuple[object, ...]:
    annotation = Settings.model_fields[field].annotation
    return (annotation, *getattr(annotation, "__args__", ()))


def _choose_token(file: Path | None, keyring: str | None) -> Token | None:
    if file is not None and keyring is not None:
        raise typer.BadParameter("use --token-file or --token-keyring, not both")
    if file is not None:
        path = file.expanduser().absolute()
        if not path.is_file():
            raise typer.BadParameter(f"{path} is not a file", param_hint="--token-file")
        return Token("file", str(path))
    if keyring is None:
        return None
    service, _, user = keyring.partition(":")
    return Token("keyring", service, user or getpass.getuser())


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
