"""Everything that can be configured: the one module that reads the environment.

Each field is one environment variable of the same name in capitals, read from the process
environment first and from a `.env` file in the working directory second. `.env.example` is
generated from this class (`textrawl settings`), and a test keeps the two equal.
"""

import os
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import PydanticUndefined
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

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


class Settings(BaseSettings):
    """What a server may be told from outside; every default works on a bare machine."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", env_ignore_empty=True)

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
        description="openai, ollama, local or none; auto takes OpenAI when OPENAI_API_KEY is set, "
        "else Ollama when OLLAMA_BASE_URL is set, else local.",
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
    openai_api_key: SecretStr | None = Field(default=None, description="Key of the OpenAI API.")
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
        description="Requests a minute that one token may make over HTTP; 0 sets no limit, for "
        "tokens that are all your own.",
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

    @field_validator("data_dir", mode="after")
    @classmethod
    def _expand_home(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @model_validator(mode="after")
    def _resolve_provider(self) -> Self:
        if self.embedding_provider == "auto":
            if self.openai_api_key:
                self.embedding_provider = "openai"
            else:
                self.embedding_provider = "ollama" if self.ollama_base_url else "local"
        return self


def read_settings(**overrides: Any) -> Settings:
    """Settings from the environment and `.env`, `overrides` first.

    Raises StartRefused naming each variable that cannot be used and what it may be; values are
    not repeated, since one of them may be a secret.
    """
    try:
        return Settings(**overrides)
    except ValidationError as error:
        wrong = "; ".join(
            f"{str(item['loc'][0]).upper()}: {item['msg']}" if item["loc"] else item["msg"]
            for item in error.errors(include_input=False, include_url=False)
        )
        raise StartRefused(f"Settings cannot be used. {wrong}") from None


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
    """The default as the environment would say it; empty where it depends on the machine."""
    value = Settings.model_fields[name].default
    if name == "compact_responses":
        value = next(word for word, chosen in _FORMATS.items() if chosen == value)
    if isinstance(value, list):
        value = ",".join(cast("list[str]", value))
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(value, float):
        value = f"{value:g}"
    return "" if value in (None, PydanticUndefined) else str(value)
