"""A client program: where its configuration is, and what the entry of textrawl looks like there."""

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from textrawl.clients.addition import Addition, FileFormat
from textrawl.clients.servers import HIDDEN, VARIABLE, Address, Program, Server, Token
from textrawl.environment import read_foreign
from textrawl.errors import StartRefused

NAME = "textrawl"
"""The name of the entry."""

CredentialWay = Literal["reference", "file", "command", "input", "written"]
"""How a client gets the token of a server.

The entry has a `reference` to an environment variable, a reference to a `file`, a `command` that
prints the token, or an `input` that the client asks its user for. Otherwise the token is `written`.
"""

WriteProgram = Callable[[Program], dict[str, Any]]
WriteAddress = Callable[[str, str | None], dict[str, Any]]
"""Write the entry for a URL, and for the token or a reference to it."""


@dataclass(frozen=True)
class Folder:
    """A folder of a client. `variable` is an environment variable that names another folder.

    Paths are below the home. `macos` is the path there if it differs. With `xdg`, XDG_CONFIG_HOME
    takes the place of ~/.config on Linux.
    """

    linux: str
    macos: str = ""
    variable: str = ""
    xdg: bool = False

    def locate(self) -> Path:
        """Return the path. It need not exist."""
        if self.variable and (named := read_foreign(self.variable)):
            return Path(named).expanduser()
        if sys.platform == "darwin":
            return Path.home() / (self.macos or self.linux)
        base = read_foreign("XDG_CONFIG_HOME") if self.xdg else None
        return Path(base, self.linux.removeprefix(".config/")) if base else Path.home() / self.linux


@dataclass(frozen=True)
class Client:
    """A client program.

    `files` are the possible names of the configuration in `folder`: the first that exists counts,
    else the first. `project_files` are the same below a project. `settings` are what this client
    needs. `programs` are its commands.
    """

    name: str
    title: str
    programs: tuple[str, ...]
    folder: Folder
    files: tuple[str, ...]
    format: FileFormat
    keys: tuple[str, ...]
    write_program: WriteProgram
    write_address: WriteAddress | None
    credential_way: CredentialWay = "written"
    reference: str = "${{{name}}}"
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    project_files: tuple[str, ...] = ()
    signs: Folder | None = None
    hint: str = ""

    def find_file(self, project: Path | None = None) -> Path:
        """Return the path of the configuration, of the user or of a project.

        Raises StartRefused if the client has no configuration in projects.
        """
        if project is not None and not self.project_files:
            raise StartRefused(f"{self.title} has no configuration for one project")
        folder = self.folder.locate() if project is None else project
        names = self.files if project is None else self.project_files
        return next(
            (folder / name for name in names if (folder / name).exists()), folder / names[0]
        )

    def is_installed(self) -> bool:
        """Return whether a command of the client is on the PATH, or its folder exists."""
        folder = (self.signs or self.folder).locate()
        return any(map(shutil.which, self.programs)) or folder.is_dir()

    def place(self, path: Path) -> Path:
        """Return where a file of the client's usual folder is, such as ~/.codex/hooks.json."""
        folder = self.signs or self.folder
        usual = Path("~", folder.linux)
        return folder.locate() / path.relative_to(usual) if path.is_relative_to(usual) else path

    def list_additions(self, server: Server, path: Path, *, hidden: bool = False) -> list[Addition]:
        """Return what connects the client to `server`. If `hidden`, a token is not shown.

        Raises StartRefused if the client cannot use an address, or the token cannot be read.
        """
        entry = self._write_entry(server, hidden=hidden)
        additions = [Addition(path, self.format, (*self.keys, NAME), entry)]
        if isinstance(server, Address) and server.token and self.credential_way == "input":
            additions.insert(0, Addition(path, self.format, ("inputs",), _INPUT, append=True))
        return additions

    def has_secret(self, server: Server) -> bool:
        """Return whether the entry contains a token."""
        return isinstance(server, Address) and server.token is not None and self.writes_token

    @property
    def writes_token(self) -> bool:
        """Whether the token itself stands in the entry."""
        return self.credential_way == "written"

    def _write_entry(self, server: Server, *, hidden: bool) -> dict[str, Any]:
        if isinstance(server, Program):
            settings = {**self.settings, **server.settings}
            return self.write_program(Program(server.command, settings))
        if self.write_address is None:
            raise StartRefused(f"{self.title} takes no address in its file: {self.hint}")
        token = server.token
        return self.write_address(server.url, token and self._write_token(token, hidden=hidden))

    def _write_token(self, token: Token, *, hidden: bool) -> str:
        if self.credential_way == "input":
            return "${input:textrawl-token}"
        if self.credential_way == "command":
            return token.command
        if self.credential_way == "file" and token.kind == "file":
            return f"{{file:{token.place}}}"
        if self.writes_token:
            return HIDDEN if hidden else token.read()
        return self.reference.format(name=VARIABLE)


_INPUT = {
    "type": "promptString",
    "id": "textrawl-token",
    "description": "Access token of textrawl",
    "password": True,
}
