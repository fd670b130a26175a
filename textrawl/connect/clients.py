"""Client programs: their configuration files, entries and servers."""

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from textrawl.environment import read_foreign
from textrawl.errors import StartRefused
from textrawl.installation import write_install_command

FileFormat = Literal["json", "jsonc", "toml"]
"""The format of a file. `json` is strict: without comments and without trailing commas."""


@dataclass(frozen=True)
class Addition:
    """A value and its place in a file.

    `path` may begin with `~`. `keys` leads from the root of the document to the place: missing
    objects are created. Without `append` the value stands at the last key. With `append` the last
    key holds a list, and the value is a new element at its end. `value` is plain JSON data.
    """

    path: Path
    format: FileFormat
    keys: tuple[str, ...]
    value: object
    append: bool = False


VARIABLE = "TEXTRAWL_ACCESS_TOKEN"
"""The environment variable from which the entry of a client reads a token."""

HIDDEN = "***"


@dataclass(frozen=True)
class LocalServer:
    """A command that starts textrawl over stdio, with settings in its environment."""

    command: Sequence[str]
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class ServerToken:
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
            import keyring.errors  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise StartRefused(
                f"The keyring needs an extra package: run `{write_install_command('keyring')}`"
            ) from error
        try:
            found = keyring.get_password(self.place, self.user)
        except keyring.errors.KeyringError as error:
            raise StartRefused(f"The keyring cannot be used: {error}") from error
        if found is None:
            raise StartRefused(
                f"The keyring has no token: run `keyring set {self.place} {self.user}` first"
            )
        return found


@dataclass(frozen=True)
class ServerAddress:
    """The URL of a server, and where its token is. A server without tokens needs none."""

    url: str
    token: ServerToken | None = None


Server = LocalServer | ServerAddress


def write_program(program: LocalServer, **more: Any) -> dict[str, Any]:
    """Return the entry of a program as most clients have it: command, arguments, environment."""
    entry = {**more, "command": program.command[0], "args": [*program.command[1:]]}
    return {**entry, "env": {**program.settings}} if program.settings else entry


def write_headers(value: str | None) -> dict[str, Any]:
    """Return the part of an entry that sends a token, or nothing."""
    return {} if value is None else {"headers": {"Authorization": f"Bearer {value}"}}


NAME = "textrawl"
"""The name of the entry."""

CredentialWay = Literal["reference", "file", "command", "input", "written"]
"""How a client gets the token of a server.

The entry has a `reference` to an environment variable, a reference to a `file`, a `command` that
prints the token, or an `input` that the client asks its user for. Otherwise the token is `written`.
"""

WriteProgram = Callable[[LocalServer], dict[str, Any]]
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
class ClientProgram:
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
        if isinstance(server, ServerAddress) and server.token and self.credential_way == "input":
            additions.insert(0, Addition(path, self.format, ("inputs",), _INPUT, append=True))
        return additions

    def has_secret(self, server: Server) -> bool:
        """Return whether the entry contains a token."""
        return isinstance(server, ServerAddress) and server.token is not None and self.writes_token

    @property
    def writes_token(self) -> bool:
        """Whether the token itself stands in the entry."""
        return self.credential_way == "written"

    def _write_entry(self, server: Server, *, hidden: bool) -> dict[str, Any]:
        if isinstance(server, LocalServer):
            settings = {**self.settings, **server.settings}
            return self.write_program(LocalServer(server.command, settings))
        if self.write_address is None:
            raise StartRefused(f"{self.title} takes no address in its file: {self.hint}")
        token = server.token
        return self.write_address(server.url, token and self._write_token(token, hidden=hidden))

    def _write_token(self, token: ServerToken, *, hidden: bool) -> str:
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


_TEXT_ONLY = {"TEXTRAWL_STRUCTURED_CONTENT": "off"}
_SERVERS = ("mcpServers",)


def _write_claude_address(url: str, command: str | None) -> dict[str, Any]:
    entry = {"type": "http", "url": url}
    if command is None:
        return entry
    # Claude Code runs the command at each connection, and adds the headers that it prints.
    line = f"""printf '{{"Authorization":"Bearer %s"}}' "$({command})\""""
    return {**entry, "headersHelper": line}


def _write_codex_program(program: LocalServer) -> dict[str, Any]:
    # Codex waits one second for a server that is not required, and ten for one that is. The very
    # first start creates the database, and takes longer.
    extra = {"required": True, "startup_timeout_sec": 60}
    entry = write_program(program)
    environment = {"env": entry.pop("env")} if "env" in entry else {}
    return {**entry, **extra, **environment}


def _write_google_address(url: str, token: str | None) -> dict[str, Any]:
    return {"httpUrl": url, **write_headers(token)}


_CLIENTS = (
    ClientProgram(
        "claude-code", "Claude Code", ("claude",),
        Folder("", variable="CLAUDE_CONFIG_DIR"), (".claude.json",), "json", _SERVERS,
        lambda program: write_program(program, type="stdio"), _write_claude_address,
        credential_way="command", settings=_TEXT_ONLY, project_files=(".mcp.json",),
        signs=Folder(".claude", variable="CLAUDE_CONFIG_DIR"),
        hint="In a session, `/mcp` shows whether the server is connected.",
    ),
    ClientProgram(
        "claude-desktop", "Claude Desktop", ("claude-desktop",),
        Folder(".config/Claude", "Library/Application Support/Claude", xdg=True),
        ("claude_desktop_config.json",), "json", _SERVERS, write_program, None,
        hint="add it in Settings, Connectors",
    ),
    ClientProgram(
        "cursor", "Cursor", ("cursor",), Folder(".cursor"), ("mcp.json",), "jsonc", _SERVERS,
        write_program, lambda url, token: {"url": url, **write_headers(token)},
        credential_way="reference", reference="${{env:{name}}}", settings=_TEXT_ONLY,
        project_files=(".cursor/mcp.json",),
    ),
    ClientProgram(
        "vscode", "VS Code", ("code",),
        Folder(".config/Code/User", "Library/Application Support/Code/User", xdg=True),
        ("mcp.json",), "jsonc", ("servers",),
        lambda program: write_program(program, type="stdio"),
        lambda url, token: {"type": "http", "url": url, **write_headers(token)},
        credential_way="input", settings=_TEXT_ONLY, project_files=(".vscode/mcp.json",),
        hint="VS Code shows tools only in agent mode.",
    ),
    ClientProgram(
        "codex", "Codex", ("codex",), Folder(".codex", variable="CODEX_HOME"), ("config.toml",),
        "toml", ("mcp_servers",), _write_codex_program,
        lambda url, token: {"url": url, **({"bearer_token_env_var": token} if token else {})},
        credential_way="reference", reference="{name}", settings=_TEXT_ONLY,
        project_files=(".codex/config.toml",),
    ),
    ClientProgram(
        "gemini-cli", "Gemini CLI", ("gemini",), Folder(".gemini"), ("settings.json",), "jsonc",
        _SERVERS, write_program, _write_google_address, credential_way="reference",
        project_files=(".gemini/settings.json",),
        hint="Gemini CLI starts servers only in folders that it trusts.",
    ),
    ClientProgram(
        "opencode", "opencode", ("opencode",), Folder(".config/opencode", xdg=True),
        ("opencode.json", "opencode.jsonc"), "jsonc", ("mcp",),
        lambda program: {"type": "local", "command": [*program.command]}
        | ({"environment": {**program.settings}} if program.settings else {}),
        lambda url, token: {"type": "remote", "url": url, **write_headers(token)},
        credential_way="file", reference="{{env:{name}}}",
        # opencode adds three tools to every request if a server offers resources.
        settings={"TEXTRAWL_RESOURCES": "false"},
        project_files=("opencode.json", "opencode.jsonc"),
    ),
    ClientProgram(
        "zed", "Zed", ("zed", "zeditor"), Folder(".config/zed", xdg=True), ("settings.json",),
        "jsonc", ("context_servers",), write_program,
        lambda url, token: {"url": url, **write_headers(token)},
    ),
    ClientProgram(
        "windsurf", "Windsurf", ("windsurf",), Folder(".codeium/windsurf"), ("mcp_config.json",),
        "jsonc", _SERVERS, write_program,
        lambda url, token: {"serverUrl": url, **write_headers(token)},
        credential_way="reference", reference="${{env:{name}}}", settings=_TEXT_ONLY,
        hint="Windsurf reads its file anew when you press Refresh in its list of servers.",
    ),
    ClientProgram(
        "copilot-cli", "Copilot CLI", ("copilot",), Folder(".copilot", variable="COPILOT_HOME"),
        ("mcp-config.json",), "jsonc", _SERVERS,
        lambda program: {**write_program(program, type="local"), "tools": ["*"]},
        lambda url, token: {"type": "http", "url": url, **write_headers(token), "tools": ["*"]},
        credential_way="reference", settings=_TEXT_ONLY,
    ),
    ClientProgram(
        "qwen-code", "Qwen Code", ("qwen",), Folder(".qwen", variable="QWEN_HOME"),
        ("settings.json",), "jsonc", _SERVERS, write_program, _write_google_address,
        credential_way="reference", settings=_TEXT_ONLY, project_files=(".qwen/settings.json",),
    ),
)  # fmt: skip

CLIENTS: Mapping[str, ClientProgram] = {client.name: client for client in _CLIENTS}
"""The clients by name."""


OTHER = ClientProgram(
    "other",
    "Other clients",
    (),
    Folder(""),
    ("mcp.json",),
    "json",
    _SERVERS,
    write_program,
    lambda url, token: {"type": "http", "url": url, **write_headers(token)},
)
"""A client that is not in the table: most programs read `mcpServers` in some file."""


_WORDS = "token|key|secret|passw|credential|auth|cookie|dsn|database_(?:read_)?url"
_NAMES = rf"(?<![\w-])(?=[\w-]*?(?:{_WORDS}))[\w-]++"  # whole words, in linear time
_NAMED = re.compile(
    rf"""((?:["']?{_NAMES}(?<!_FILE)["']?)\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[\w.+/-]+)""",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(Bearer\s+)(?!\$|\{|%s|\*)[\w.~+/=-]+", re.IGNORECASE)
_PASSWORD = re.compile(r"(?<=://)[^/@\s\"']+(?=@)")
_LONG = re.compile(r"(?<![\w/.-])(?=[\w-]*\d)(?=[\w-]*[a-zA-Z])[\w-]{24,}(?![\w/.-])")
_HARMLESS = re.compile(r"""["']?(?:\$|\{(?:env|file):|Bearer \$|Bearer \{|TEXTRAWL_ACCESS_TOKEN)""")


def hide_secrets(line: str) -> str:
    """Return a line of configuration with `***` for what may be a secret.

    These are the values of names such as token or key, tokens after Bearer, passwords in URLs, and
    long words of letters and digits. References to variables and files stay.
    """
    line = _NAMED.sub(_hide_value, line)
    for pattern, shown in ((_BEARER, rf"\1{HIDDEN}"), (_PASSWORD, HIDDEN), (_LONG, HIDDEN)):
        line = pattern.sub(shown, line)
    return line


def _hide_value(match: re.Match[str]) -> str:
    name, value = match.groups()
    if _HARMLESS.match(value) or value in ("true", "false", "null"):
        return match[0]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{name}{quote}{HIDDEN}{quote}"


_CHECKOUT = Path(__file__).resolve().parents[2]


def find_command() -> list[str]:
    """Return the words of a command that starts the server from any folder and with any PATH.

    The `.env` of a checkout counts for clients too, which start the server in other folders.
    """
    file = _CHECKOUT / ".env"
    own = ["--env-file", str(file)] if find_checkout() is not None and file.is_file() else []
    return [*find_script(), *own]


def find_script() -> list[str]:
    """Return the words that start the installed program itself."""
    script = Path(sys.executable).with_name("textrawl")
    # With -P, Python does not load modules from the folder of a project.
    return [str(script)] if script.is_file() else [sys.executable, "-P", "-m", "textrawl"]


def find_checkout() -> Path | None:
    """Return the checkout that textrawl runs from, if uv installed it there, else None."""
    return _CHECKOUT if Path(sys.prefix).resolve() == _CHECKOUT / ".venv" else None
