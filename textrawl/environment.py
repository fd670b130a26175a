"""The sources of settings: the process environment and up to three `.env` files.

The variable of a setting is `TEXTRAWL_<NAME>`. The name without the prefix is accepted too, but not
in the `.env` of the working directory. Editors start servers in the folder of a project, and the
`DATABASE_URL` of a project is not a setting of textrawl.

The project can also be anybody's repository. Its `.env` must not decide where facts are sent, or
what is done with them. So it sets only PROJECT_SETTINGS, unless the user trusts the folder.

The greeting needs some settings before `settings` is loaded. Therefore this module imports only the
standard library until there is a file to parse.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from textrawl.errors import StartRefused

if TYPE_CHECKING:
    from platformdirs.api import PlatformDirsABC

_FOLDER = "trusted"
_NEW = ".new"  # the end of the name of a record that is being written

State = Literal["trusted", "changed", "missing"]


class TrustedFile(NamedTuple):
    """A file that was trusted once. `state` says whether it still has the same content."""

    path: Path
    state: State


def is_trusted(config: Path, file: Path, content: bytes) -> bool:
    """Return whether the user trusts `file` with this content. `config` is the user's folder."""
    return _find_record(config, file, content).is_file()


def trust(config: Path, file: Path, content: bytes) -> None:
    """Record the trust in `file` with this content, and drop that in a former content.

    Raises OSError.
    """
    record = _find_record(config, file, content)
    record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = record.with_name(f"{record.name}.{os.getpid()}{_NEW}")
    new.write_bytes(os.fsencode(_resolve(file)))
    new.replace(record)
    for other in _find_records_of(config, file):
        if other != record:
            other.unlink(missing_ok=True)


def distrust(config: Path, file: Path) -> bool:
    """Take the trust in `file` back, and return whether there was any. Raises OSError."""
    found = list(_find_records_of(config, file))
    for record in found:
        record.unlink(missing_ok=True)
    return bool(found)


def list_trusted(config: Path) -> list[TrustedFile]:
    """Return every file that was trusted, by path. Raises OSError."""
    found = [(path, record) for record, path in _read_records(config)]
    return [TrustedFile(path, _find_state(config, path, record)) for path, record in sorted(found)]


def _find_state(config: Path, path: Path, record: Path) -> State:
    try:
        content = path.read_bytes()
    except OSError:
        return "missing"
    return "trusted" if _find_record(config, path, content) == record else "changed"


def _find_records_of(config: Path, file: Path) -> Iterator[Path]:
    wanted = _resolve(file)
    return (record for record, path in _read_records(config) if path == wanted)


def _read_records(config: Path) -> list[tuple[Path, Path]]:
    """Return each record with the path of its file."""
    folder = config / _FOLDER
    if not folder.is_dir():
        return []
    records = [entry for entry in folder.iterdir() if entry.suffix != _NEW]
    return [(record, Path(os.fsdecode(record.read_bytes()))) for record in records]


def _find_record(config: Path, file: Path, content: bytes) -> Path:
    digest = sha256(os.fsencode(_resolve(file)) + b"\0" + content)
    return config / _FOLDER / digest.hexdigest()


def _resolve(file: Path) -> Path:
    """Return the path without links in its folders. The file itself can be a link."""
    return Path(os.path.realpath(file.parent), file.name)


IMPORTS = "import"  # subfolder of the data folder: the graph toolset's `migrate` reads its files
PREFIX = "TEXTRAWL_"
OPTION = "--env-file"

PROJECT_SETTINGS = frozenset(
    {
        "close_facts",
        "compact_responses",
        "digest_tokens",
        "log_format",
        "max_graph_tokens",
        "max_recall_tokens",
        "max_response_tokens",
        "structured_content",
    }
)
"""The settings that any `.env` of a working directory can set: formats and sizes of answers.

None of them names an address, a folder or a key, or decides which facts are read, sent, stored or
deleted. A new setting does not belong here before somebody has asked what a repository can do with
it. The list is not in `settings.py`, because it is needed before pydantic is loaded.
"""

SETTINGS = frozenset((
    "access_token", "access_token_file", "close_facts", "compact_responses",
    "consolidate_journal", "correction_mode", "data_dir", "database_read_url", "database_timeout",
    "database_url", "digest_authors", "digest_tokens", "embedding_model", "embedding_provider",
    "enable_memory", "enable_memory_extraction", "encryption_key", "explorer", "graphs",
    "hook_least_score", "hook_recall_tokens", "hooks", "host_idle", "http_host", "http_port",
    "llm_api_key", "llm_base_url", "llm_model", "llm_provider", "llm_timeout", "log_format",
    "log_level", "max_graph_tokens", "max_recall_tokens", "max_response_tokens",
    "oauth_actor_claim", "oauth_client_id", "oauth_issuer", "ollama_base_url", "openai_api_key",
    "openai_base_url", "propose_facts", "public_url", "rate_limit", "read_only", "record_recalls",
    "resources", "secrets", "server_url", "snapshot_retention_days", "space",
    "structured_content", "summarize_entities", "toolsets", "vault", "webhook_hosts",
))  # fmt: skip
"""The names of all settings. `settings` describes them, and takes 300 ms to load."""

SESSION_SETTINGS = (
    "compact_responses", "correction_mode", "digest_authors", "digest_tokens", "explorer",
    "graphs", "max_graph_tokens", "max_recall_tokens", "max_response_tokens", "public_url",
    "resources", "secrets", "space", "structured_content", "toolsets",
)  # fmt: skip
"""The settings that each session of a host can have for itself, beside its access token."""

_FOREIGN_NAMES = {"VAULT": ("LTM_VAULT_PATH",)}
"""Names of settings in another program, CortexGraph, with the same meaning."""

_LOCAL = Path(".env")
_USER_FOLDERS = ("~/.config", "~/Library/Application Support")  # on Linux, on macOS
_ENCODING = "utf-8-sig"  # editors on Windows write a byte order mark before the first name
_PASSES_ON = "psql"  # a command that passes its arguments on to another program


def write_name(field: str) -> str:
    """Return the variable of a setting, with the prefix and in capitals."""
    return PREFIX + field.upper()


def is_setting(variable: str) -> bool:
    """Return whether a variable, with or without the prefix, is a setting of textrawl."""
    return variable.lower().removeprefix(PREFIX.lower()) in SETTINGS


class Value(NamedTuple):
    """The value of a setting, with the name of its variable and with its source."""

    text: str
    name: str
    source: str


class EnvFile(NamedTuple):
    """A `.env` file. If other programs use it too (`shared`), only names with the prefix count.

    `fault` says why a shared file could not be read.
    """

    label: str
    content: bytes
    shared: bool = False
    fault: str | None = None

    def mentions(self, name: str) -> bool:
        """Return whether `name` occurs in the file, in UTF-8 or UTF-16."""
        return name.lower().encode() in self.content.replace(b"\0", b"").lower()

    def is_trusted(self) -> bool:
        """Return whether all settings in this file count."""
        return not self.shared or is_trusted(
            find_user_file().parent, Path(self.label), self.content
        )

    def find_fault(self) -> str | None:
        """Return why the file cannot be used, or None. A file that nobody trusts is then ignored.

        Raises StartRefused for any other file.
        """
        try:
            self.decode()
        except StartRefused as refusal:
            if self.is_trusted():
                raise
            return str(refusal)
        return self.fault

    def decode(self) -> str:
        """Return the text. Raises StartRefused if the file is not UTF-8."""
        try:
            text = self.content.decode(_ENCODING)
        except UnicodeDecodeError as error:
            line = self.content.count(b"\n", 0, error.start) + 1
            raise StartRefused(
                f"{self.label} is not UTF-8 (line {line}): save it as UTF-8"
            ) from None
        if "\0" in text:
            raise StartRefused(f"{self.label} is not UTF-8 but UTF-16: save it as UTF-8")
        return text


class ValueSource(NamedTuple):
    """Names in capitals with their values. Empty values are left out.

    If nobody trusts the folder (`trusted`), `withheld` has the names with the prefix that do not
    count, and `fault` says why a file is ignored.
    """

    label: str
    values: Mapping[str, str]
    shared: bool = False
    withheld: frozenset[str] = frozenset()
    trusted: bool = True
    fault: str | None = None

    def find(self, setting: str) -> Value | None:
        """Return the value of `setting`. Prefer the name with the prefix."""
        bare = setting.upper()
        names = (PREFIX + bare, bare, *_FOREIGN_NAMES.get(bare, ()))
        for name in names[:1] if self.shared else names:
            if name in self.values:
                return Value(self.values[name], name, self.label)
        return None


_chosen: list[EnvFile] = []  # the file of --env-file


def take_env_file(words: Sequence[str]) -> list[str]:
    """Read the file of --env-file, and return the command line without this option.

    Raises StartRefused for a file that cannot be read.
    """
    _chosen.clear()
    rest, remaining = list[str](), list(words)
    while remaining and remaining[0] not in ("--", _PASSES_ON):
        word = remaining.pop(0)
        option, equals, path = word.partition("=")
        if option != OPTION:
            rest.append(word)
            continue
        if not (equals or remaining):
            return [OPTION]  # the command line reports the missing value
        path = path if equals else remaining.pop(0)
        _chosen[:] = [EnvFile(path, _read_bytes(Path(path)))]
    return rest + remaining


def list_options() -> list[str]:
    """Return the option --env-file of this process, for another process with the same settings."""
    return [word for file in _chosen for word in (OPTION, file.label)]


def read_files() -> list[EnvFile]:
    """Return the files that exist, in order of precedence. Raises StartRefused."""
    local, own = str(_LOCAL.absolute()), str(find_user_file()) if _may_have_user_file() else ""
    named = {str(Path(file.label).absolute()) for file in _chosen} | {own}
    found = [path for path in (local, own) if _is_file(path)]
    return [*_chosen, *(_read_file(path, shared=path not in named) for path in found)]


def _read_file(path: str, *, shared: bool) -> EnvFile:
    try:
        return EnvFile(path, _read_bytes(Path(path)), shared)
    except StartRefused as refusal:
        if not shared:
            raise
        return EnvFile(path, b"", shared, str(refusal))


def name_local_file(folder: Path) -> Path:
    """Return the path of the `.env` of a working directory."""
    return Path(os.path.abspath(folder)) / _LOCAL  # noqa: PTH100 - Path keeps ..


def read_local_file(folder: Path) -> EnvFile:
    """Return the `.env` of a working directory. Raises StartRefused."""
    path = name_local_file(folder)
    return EnvFile(str(path), _read_bytes(path), shared=True)


def find_user_file() -> Path:
    """Return the path of the user's `.env`, such as ~/.config/textrawl/.env."""
    return _find_user_folders().user_config_path / _LOCAL


def default_data_dir() -> Path:
    """Return the user's data folder, or a system folder for root.

    Started by root, Postgres runs as another OS user, which cannot enter the folders of root.
    """
    if os.geteuid() == 0:
        return Path("/var/lib/textrawl")
    return _find_user_folders().user_data_path


def _find_user_folders() -> "PlatformDirsABC":
    from platformdirs import PlatformDirs  # noqa: PLC0415 - quick commands seldom need its 10 ms

    return PlatformDirs("textrawl", appauthor=False)


def _may_have_user_file() -> bool:
    """Return whether the user may have a `.env`, without asking platformdirs.

    Importing platformdirs takes 10 of the 60 ms that a greeting takes.
    """
    folders = [os.environ.get("XDG_CONFIG_HOME", ""), *map(os.path.expanduser, _USER_FOLDERS)]
    return any(_is_file(str(Path(folder, "textrawl", _LOCAL))) for folder in folders)


def read_sources() -> list[ValueSource]:
    """Return every source in order of precedence. Raises StartRefused."""
    return [read_environment(), *map(parse_file, read_files())]


def read_environment() -> ValueSource:
    """Return the environment of this process."""
    values = {name.upper(): value for name, value in os.environ.items() if value}
    return ValueSource("environment", values)


def parse_file(file: EnvFile) -> ValueSource:
    """Return the values that `file` sets. Raises StartRefused if it is not UTF-8.

    A shared file that does not mention textrawl is not parsed, so it can have any encoding.
    """
    if file.shared and not file.fault and not file.mentions(PREFIX):
        return ValueSource(file.label, {}, file.shared)
    if fault := file.find_fault():
        return ValueSource(file.label, {}, file.shared, trusted=False, fault=fault)
    from dotenv import dotenv_values  # noqa: PLC0415 - most starts have no file

    values = dotenv_values(stream=StringIO(file.decode()))
    named = {name.upper(): value for name, value in values.items() if value}
    trusted = file.is_trusted()
    ours = {name for name in named if name.startswith(PREFIX) and not trusted}
    withheld = {one for one in ours if one.removeprefix(PREFIX).lower() not in PROJECT_SETTINGS}
    counting = {name: value for name, value in named.items() if name not in withheld}
    return ValueSource(file.label, counting, file.shared, frozenset(withheld), trusted)


def find_value(setting: str, sources: Sequence[ValueSource]) -> Value | None:
    """Return the value of `setting` in the first source that has it."""
    return next((value for source in sources if (value := source.find(setting))), None)


def find_data_dir(sources: Sequence[ValueSource]) -> Path:
    """Return the data folder that `sources` name, or the default one, as an absolute path."""
    folder = find_value("data_dir", sources)
    return (Path(folder.text) if folder else default_data_dir()).expanduser().absolute()


def find_access_token(sources: Sequence[ValueSource]) -> str | None:
    """Return the value of ACCESS_TOKEN, or else the content of ACCESS_TOKEN_FILE, or None.

    Raises StartRefused for a file that other OS users can read, and for an empty file.
    """
    if value := find_value("access_token", sources):
        return value.text
    path = find_value("access_token_file", sources)
    return read_token_file(Path(path.text)) if path else None


def read_token_file(path: Path) -> str:
    """Return the token in `path`. Raises StartRefused as `find_access_token` does."""
    try:
        path = path.expanduser().absolute()
        closed = not path.stat().st_mode & 0o077
    except (OSError, RuntimeError) as error:
        raise StartRefused(f"{path} cannot be read: {error}") from error
    if not closed:
        raise StartRefused(f"Other OS users can use the token file {path}: run chmod 600 {path}")
    if token := EnvFile(str(path), _read_bytes(path)).decode().strip():
        return token
    raise StartRefused(f"The token file {path} is empty: write an access token into it")


def protect_children() -> None:
    """Let Python processes that this process starts load no modules from the working directory.

    anyio starts its worker processes with `python -m`, in the folder of a project.
    """
    os.environ["PYTHONSAFEPATH"] = "1"


def silence_onnx_runtime() -> None:
    """Switch off the telemetry of ONNX Runtime, which reads this variable when it is imported.

    From version 1.29 on, it would write a lasting id of the machine into the user's cache folder,
    and report each process, with the path of its Python, to a server of its maker.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def read_foreign(name: str) -> str | None:
    """Return a variable of the environment that belongs to another program, or None."""
    return os.environ.get(name) or None


def names_collector() -> bool:
    """Return whether the variables of OpenTelemetry ask for an export of spans."""
    disabled = (read_foreign("OTEL_SDK_DISABLED") or "").lower() == "true"
    if disabled or read_foreign("OTEL_TRACES_EXPORTER") == "none":
        return False
    variables = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    return any(map(read_foreign, variables))


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StartRefused(f"{path.absolute()} cannot be read: {error.strerror}") from error


def _is_file(path: str) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises in a folder without access
