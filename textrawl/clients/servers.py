"""What a client connects to: a command that starts textrawl, or the address of a server."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from textrawl.errors import StartRefused

VARIABLE = "TEXTRAWL_ACCESS_TOKEN"
"""The environment variable that clients are told to read a token from."""

HIDDEN = "***"


@dataclass(frozen=True)
class Program:
    """A command that starts textrawl over stdio, with settings in its environment."""

    command: Sequence[str]
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Token:
    """Where the access token of a server is kept: in a file, or in the keyring of the system.

    `place` is the absolute path of the file, or the name of the service in the keyring. `user` is
    the name of the user in the keyring.
    """

    kind: Literal["file", "keyring"]
    place: str
    user: str = ""

    def read(self) -> str:
        """Return the token. Raises StartRefused if it cannot be read."""
        text = Path(self.place).read_text("utf-8") if self.kind == "file" else self._ask_keyring()
        token = text.strip()
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise StartRefused(f"{self.place} does not hold one access token")
        return token

    @property
    def command(self) -> str:
        """The line of a shell that prints the token."""
        if self.kind == "file":
            return shlex.join(["cat", self.place])
        return shlex.join([sys.executable, "-m", "keyring", "get", self.place, self.user])

    def _ask_keyring(self) -> str:
        try:
            import keyring  # noqa: PLC0415 - an extra
            from keyring.errors import KeyringError  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise StartRefused(
                "The keyring needs an extra package: install textrawl[keyring]"
            ) from error
        try:
            found = keyring.get_password(self.place, self.user)
        except KeyringError as error:
            raise StartRefused(f"The keyring cannot be used: {error}") from error
        if found is None:
            raise StartRefused(
                f"The keyring has no token: run `keyring set {self.place} {self.user}` first"
            )
        return found


@dataclass(frozen=True)
class Address:
    """The URL of a server, and where its token is. A server without tokens needs none."""

    url: str
    token: Token | None = None


Server = Program | Address


def write_program(program: Program, **more: Any) -> dict[str, Any]:
    """Return the entry of a program as most clients have it: command, arguments, environment."""
    entry = {**more, "command": program.command[0], "args": [*program.command[1:]]}
    return {**entry, "env": {**program.settings}} if program.settings else entry


def write_headers(value: str | None) -> dict[str, Any]:
    """Return the part of an entry that sends a token, or nothing."""
    return {} if value is None else {"headers": {"Authorization": f"Bearer {value}"}}
