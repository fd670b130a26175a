"""Everything that can be configured: the one module that reads the environment.

Each field is one environment variable of the same name in capitals, read from the process
environment first and from a `.env` file in the working directory second. `.env.example` is
generated from this class (`textrawl settings --example`), and a test keeps the two equal.
"""

import os
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any, Literal, cast

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_core import PydanticUndefined
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    NoDecode,
    SettingsConfigDict,
)

from textrawl.choices import describe_choice
from textrawl.embedded.location import default_data_dir
from textrawl.errors import StartRefused

Format = Literal["compact", "verbose", "lines"]
Provider = Literal["auto", "openai", "ollama", "local", "none"]
Kept = Literal["hash", "text", "off"]

_FORMATS: dict[str, Format] = {
    **dict.fromkeys(("true", "1", "yes", "on"), "compact"),
    **dict.fromkeys(("false", "0", "no", "off"), "verbose"),
    "lines": "lines",
}

# Where the type of a field does not tell people what they may write.
_CHOICES = {
    "compact_responses": "true, false or lines",
    "public_url": "an address such as https://memory.example.com, without a path",
    "data_dir": "a folder, named in UTF-8; ~ is your own home only",
    "import_dir": "a folder, named in UTF-8; ~ is your own home only",
}

Source = Literal["environment", ".env", "default"]

_FILE = Path(".env")
_ENCODING = "utf-8-sig"  # editors on Windows begin a file with a mark, which is no part of a name
_PREFIX = "TEXTRAWL_"  # which people expect, as other programs have one
_LONG, _DISTINCT = 12, 8  # letters of a name that may have two wrong; of one to look for at all


class Settings(BaseSettings):
    """What a server may be told from outside; every default works on a bare machine."""

    model_config = SettingsConfigDict(
        env_file=_FILE, env_file_encoding=_ENCODING, extra="ignore", env_ignore_empty=True
    )

    enable_memory: bool = Field(
        default=True,
        description="Offer the memory tools; off, they are absent and nothing touches a database.",
    )
    toolsets: Annotated[list[str], NoDecode] = Field(
        default=["memory"],
        description="Toolsets to offer, separated by commas, or all: see `textrawl toolsets`.",
    )
    import_dir: Path | None = Field(
        default=None,
        description="Folder whose files the graph toolset's migrate may read; unset: none, for "
        "servers whose callers are not those who own the files.",
    )
    read_only: bool = Field(
        default=False, description="Offer only tools that change nothing; all others are refused."
    )
    compact_responses: Format = Field(
        default="compact",
        description="Text of an answer: true = short keys, false = long keys indented, "
        "lines = plain lines, the cheapest.",
    )
    structured_content: Literal["full", "off"] = Field(
        default="full",
        description="Send structured content beside the text; off for clients that show "
        "their model only the structured half.",
    )
    max_response_tokens: int = Field(
        default=2000,
        ge=50,
        le=25_000,
        description="Most tokens that one answer may cost, all channels together.",
    )
    max_graph_tokens: int = Field(
        default=25_000,
        ge=50,
        le=200_000,
        description="Most tokens that an answer of a reading tool of the graph toolset may cost; "
        "of its two halves, which say the same, one counts.",
    )
    tokenizer: Literal["o200k_base", "cl100k_base"] = Field(
        default="o200k_base", description="Encoding that tokens are counted in."
    )
    record_recalls: Kept = Field(
        default="hash",
        description="Log what each recall found and cost, for `textrawl stats`: hash keeps what "
        "was asked as a hash, text as it is, for finding out what nobody has told yet; off logs "
        "nothing, nor does READ_ONLY.",
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="Postgres 16 to 18 with pgvector 0.8 or newer; unset, an embedded "
        "Postgres is started.",
    )
    database_timeout: float = Field(
        default=10.0,
        gt=0,
        le=600,
        description="Seconds after which a call to Postgres is given up.",
    )
    access_token: SecretStr | None = Field(
        default=None,
        description="Token that this server acts with over stdio, and for identity providers over "
        "HTTP; the embedded Postgres needs none.",
    )
    space: str | None = Field(
        default=None,
        description="The one space to read and write; unset: all that the token may read, and its "
        "home for writes.",
    )
    data_dir: Path = Field(
        default_factory=default_data_dir,
        description="Folder of the embedded Postgres; unset: the user's data folder.",
    )
    embedding_provider: Provider = Field(
        default="auto",
        description="openai, ollama, local or none, for a memory that has no vectors yet; one that "
        "has keeps its model. auto takes local: no fact leaves for an address unless this says so.",
    )
    embedding_model: str | None = Field(
        default=None,
        description="Model of the provider for a memory that has no vectors yet, and keeps it: see "
        "`textrawl embed`; unset: text-embedding-3-small, nomic-embed-text or wordllama.",
    )
    embedding_timeout: float = Field(
        default=5.0,
        gt=0,
        le=120,
        description="Seconds after which the embedding provider counts as down for this call.",
    )
    openai_api_key: SecretStr | None = Field(
        default=None, description="Key of the OpenAI API, for a memory whose vectors are its."
    )
    openai_base_url: str | None = Field(
        default=None, description="Address of a server that speaks OpenAI's protocol."
    )
    ollama_base_url: str | None = Field(
        default=None,
        description="Address of an Ollama server; unset and asked for: this machine's.",
    )
    http_host: str = Field(
        default="127.0.0.1",
        description="Address that serve --http listens on; others than this machine's need "
        "PUBLIC_URL.",
    )
    http_port: int = Field(
        default=8000, ge=0, le=65_535, description="Port that serve --http listens on."
    )
    public_url: str | None = Field(
        default=None,
        pattern=r"^https?://[A-Za-z0-9.-]+(:\d{1,5})?$",
        description="Address that others reach serve --http at, such as "
        "https://memory.example.com: its name is answered to beside this machine's.",
    )
    rate_limit: int = Field(
        default=600,
        ge=0,
        description="Requests a minute that one person may make over HTTP, with all of their "
        "tokens; 0 sets no limit, for a server that is all your own.",
    )
    oauth_issuer: str | None = Field(
        default=None,
        description="Identity provider whose access tokens are accepted over HTTP, exactly as its "
        "metadata names itself, such as https://login.example.org; unset: none.",
    )
    oauth_audience: str | None = Field(
        default=None,
        description="What such a token has to be issued for; unset: PUBLIC_URL with /mcp.",
    )
    oauth_actor_claim: str = Field(
        default="sub",
        min_length=1,
        description="Claim of such a token that names who writes: sub, or email where people are "
        "granted access by their address.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="WARNING", description="Least severe messages that are logged, to stderr."
    )
    log_format: Literal["text", "json"] = Field(
        default="text",
        description="How they are written: text, or json for one object a line.",
    )

    @field_validator("*", mode="before")
    @classmethod
    def _require_utf8(cls, value: object) -> object:
        if isinstance(value, str):
            value.encode()  # a UnicodeEncodeError is a ValueError
        return value

    @field_validator("compact_responses", mode="before")
    @classmethod
    def _name_format(cls, value: object) -> object:
        return _FORMATS.get(str(value).strip().lower(), value)

    @field_validator("log_level", mode="before")
    @classmethod
    def _raise_case(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @field_validator("public_url", mode="before")
    @classmethod
    def _strip_slash(cls, value: object) -> object:
        return value.rstrip("/") if isinstance(value, str) else value

    @field_validator("toolsets", mode="before")
    @classmethod
    def _split_commas(cls, value: object) -> object:
        if isinstance(value, str):
            return [name.strip() for name in value.split(",") if name.strip()]
        return value

    @field_validator("data_dir", "import_dir", mode="after")
    @classmethod
    def _expand_home(cls, value: Path | None) -> Path | None:
        try:
            return value.expanduser().absolute() if value else value
        except RuntimeError as error:  # there is no such user
            raise ValueError(str(error)) from error


def read_settings(**overrides: Any) -> Settings:
    """Return the settings of the environment and `.env`, with `overrides` in place of theirs.

    Raises StartRefused naming each variable that cannot be used and what it may be; values are
    not repeated, since one of them may be a secret.
    """
    _read_file()
    try:
        return Settings(**overrides)
    except ValidationError as error:
        names = dict.fromkeys(str(item["loc"][0]) for item in error.errors(include_input=False))
    wrong = "; ".join(f"{name.upper()} must be {_find_choice(name)}" for name in names)
    raise StartRefused(f"Settings cannot be used: {wrong}")


def _find_choice(name: str) -> str:
    return _CHOICES.get(name) or describe_choice(Settings.model_fields[name])


def _read_file() -> Mapping[str, str]:
    """Return what `.env` sets. Raises StartRefused for a file that is not UTF-8, or unreadable."""
    if not _FILE.is_file():
        return {}
    try:
        content = _FILE.read_bytes()
    except OSError as error:
        raise StartRefused(f"{_FILE.absolute()} cannot be read: {error.strerror}") from error
    try:
        content.decode(_ENCODING)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise StartRefused(
            f"{_FILE.absolute()} is not UTF-8 (line {line}): save it as UTF-8"
        ) from None
    if b"\0" in content:
        raise StartRefused(f"{_FILE.absolute()} is not UTF-8 but UTF-16: save it as UTF-8")
    found = DotEnvSettingsSource(Settings, env_ignore_empty=True).env_vars
    return {name.upper(): value for name, value in found.items() if value}


def find_sources() -> dict[str, Source]:
    """Return where each setting that is in force comes from. Raises StartRefused."""
    environment = {name.lower() for name, value in os.environ.items() if value}
    file = {name.lower() for name in _read_file()}
    return {
        name: "environment" if name in environment else ".env" if name in file else "default"
        for name in Settings.model_fields
    }


def find_slips() -> list[str]:
    """Return a line for each slip in the settings. Raises StartRefused.

    A slip is a line of `.env` that is no assignment, or a name that is probably a setting,
    misspelt. Of the environment, which belongs to all programs, only names that are long enough to
    be ours are looked at.
    """
    return [*_find_bad_lines(), *_find_near_names()]


def _find_bad_lines() -> Iterator[str]:
    if not _read_file() and not _FILE.is_file():
        return
    from dotenv.parser import parse_stream  # noqa: PLC0415 - with a file only

    for part in parse_stream(StringIO(_FILE.read_text(_ENCODING))):
        if part.error:
            yield (
                f"Line {part.original.line} of {_FILE.absolute()} is left out: write NAME=value, "
                "and close every quote"
            )


def _find_near_names() -> list[str]:
    file = _read_file()
    unset = [name.upper() for name, source in find_sources().items() if source == "default"]
    return [
        f"{name} in {place} is no setting: did you mean {meant}?"
        for place, names in ((".env", file), ("the environment", os.environ))
        for name, meant in _match_names(names, unset, short=names is file)
    ]


def _match_names(
    names: Mapping[str, str], unset: list[str], *, short: bool
) -> Iterator[tuple[str, str]]:
    for name in names:
        if name.lower() in Settings.model_fields:
            continue
        plain = name.upper().removeprefix(_PREFIX)
        ours = short or plain != name.upper()
        for setting in unset:
            most = 2 if len(setting) >= _LONG else 1
            if abs(len(plain) - len(setting)) > most or not (ours or len(setting) >= _DISTINCT):
                continue
            if plain == setting or _count_slips(plain, setting) <= most:
                yield name, setting
                break


def _count_slips(one: str, other: str) -> int:
    """Return how many letters are missing, too many, wrong, or swapped with the next."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - few environments have a name that needs it

    return OSA.distance(one, other)


def read_foreign_environment() -> dict[str, str]:
    """The environment without any variable of ours, for a server with settings of its own."""
    return {k: v for k, v in os.environ.items() if k.lower() not in Settings.model_fields}


def describe_settings() -> str:
    """Every setting with its sentence and its default, as the text of a `.env` file."""
    return "\n\n".join(map(_describe_setting, Settings.model_fields)) + "\n"


def _describe_setting(name: str) -> str:
    sentence = wrap(Settings.model_fields[name].description or "", 78)
    return "\n".join(f"# {line}" for line in [*sentence, f"{name.upper()}={_write_default(name)}"])


def _write_default(name: str) -> str:
    """Return the default as the environment would say it; empty if it depends on the machine."""
    value = Settings.model_fields[name].default
    return "" if value is PydanticUndefined else write_value(name, value)


def write_value(name: str, value: object) -> str:
    """Return the value of a setting as the environment would say it; empty for None."""
    if name == "compact_responses":
        value = next(word for word, chosen in _FORMATS.items() if chosen == value)
    if isinstance(value, list):
        value = ",".join(cast("list[str]", value))
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(value, float):
        value = f"{value:g}"
    return "" if value is None else str(value)
