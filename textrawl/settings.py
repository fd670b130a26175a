"""Every setting, with its type and its checks. `environment` finds the values.

Each field is one variable, `TEXTRAWL_` and the name in capitals. `.env.example` is generated from
this class (`textrawl settings --example`), and a test compares the two.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from textrawl.embedded.location import default_data_dir
from textrawl.environment import PREFIX, Source, Value, find_value, read_sources
from textrawl.errors import StartRefused
from textrawl.values.choice import describe_choice

Format = Literal["compact", "verbose", "lines"]
Provider = Literal["auto", "openai", "ollama", "local", "none"]
RecallContent = Literal["hash", "text", "off"]

FORMATS: dict[str, Format] = {
    **dict.fromkeys(("true", "1", "yes", "on"), "compact"),
    **dict.fromkeys(("false", "0", "no", "off"), "verbose"),
    "lines": "lines",
}

# Descriptions of allowed values, for fields whose type does not show them.
_CHOICES = {
    "compact_responses": "true, false or lines",
    "public_url": "an address such as https://memory.example.com, without a path",
    "data_dir": "a folder, named in UTF-8; ~ is your own home only",
}


class _Sources(PydanticBaseSettingsSource):
    """The values that `environment` finds."""

    def __init__(self, settings_class: type[BaseSettings]) -> None:
        super().__init__(settings_class)
        self._sources = read_sources()

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return the value of a setting or None, its name, and False: no value is JSON."""
        found = find_value(field_name, self._sources)
        return found and found.text, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the value of each setting that a source has."""
        fields = self.settings_cls.model_fields.items()
        values = {name: self.get_field_value(field, name)[0] for name, field in fields}
        return {name: value for name, value in values.items() if value is not None}


class Settings(BaseSettings):
    """The settings of a server; every default works on a bare machine."""

    model_config = SettingsConfigDict(extra="forbid")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the arguments of the class, then textrawl's sources instead of pydantic's."""
        return init_settings, _Sources(settings_cls)

    enable_memory: bool = Field(
        default=True,
        description="Offer the memory tools. If false, there are no tools, and nothing "
        "touches a database.",
    )
    toolsets: Annotated[list[str], NoDecode] = Field(
        default=["memory"],
        description="Toolsets to offer, separated by commas, or all: see `textrawl toolsets`.",
    )
    read_only: bool = Field(
        default=False,
        description="Offer only tools that change nothing. Calls of all others are refused.",
    )
    compact_responses: Format = Field(
        default="compact",
        description="Text format of an answer: true is short keys, false is long keys "
        "indented, lines is plain lines, which cost least.",
    )
    structured_content: Literal["full", "off"] = Field(
        default="full",
        description="Send structured content beside the text. Use off for clients that show "
        "their model only the structured half.",
    )
    max_response_tokens: int = Field(
        default=2000,
        ge=50,
        le=25_000,
        description="Maximum number of tokens of an answer, text and structured content together.",
    )
    max_graph_tokens: int = Field(
        default=25_000,
        ge=50,
        le=200_000,
        description="Maximum number of tokens of an answer from a reading tool of the graph "
        "toolset. Its two halves say the same, so only one is counted.",
    )
    record_recalls: RecallContent = Field(
        default="hash",
        description="Record what each recall found and cost, for `textrawl stats`. hash "
        "stores the question as a hash. text stores its text, to show the "
        "questions without an answer. off records nothing, and neither does a "
        "server with TEXTRAWL_READ_ONLY.",
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="Your Postgres 16 to 18 with pgvector 0.8 or newer. If unset, an embedded "
        "Postgres is started.",
    )
    database_timeout: float = Field(
        default=10.0,
        gt=0,
        le=600,
        description="Time limit of a call to Postgres, in seconds.",
    )
    access_token: SecretStr | None = Field(
        default=None,
        description="Access token that the server acts with over stdio. Over HTTP it vouches "
        "with it for the users of an identity provider. The embedded Postgres "
        "needs none.",
    )
    space: str | None = Field(
        default=None,
        description="The only space to read and write. If unset, the server reads all that "
        "the token may read, and writes to the token's home space.",
    )
    data_dir: Path = Field(
        default_factory=default_data_dir,
        description="Folder of the embedded Postgres. The graph toolset's migrate reads files "
        "in its folder import. If unset, it is the user's data folder.",
    )
    embedding_provider: Provider = Field(
        default="auto",
        description="Provider for a memory that has no vectors yet: openai, ollama, local or "
        "none. A memory that has vectors keeps its model. auto is local: no fact "
        "is sent to another address unless you choose a provider.",
    )
    embedding_model: str | None = Field(
        default=None,
        description="Model of the provider, for a memory that has no vectors yet. The memory "
        "then keeps it: see `textrawl embed`. If unset, it is "
        "text-embedding-3-small, nomic-embed-text or wordllama.",
    )
    openai_api_key: SecretStr | None = Field(
        default=None, description="Key of the OpenAI API, for a memory with vectors of OpenAI."
    )
    openai_base_url: str | None = Field(
        default=None, description="Address of a server that speaks OpenAI's protocol."
    )
    ollama_base_url: str | None = Field(
        default=None,
        description="Address of an Ollama server. If unset, it is this machine's, where "
        "Ollama is used.",
    )
    http_host: str = Field(
        default="127.0.0.1",
        description="Address that serve --http listens on. Others than this machine's own "
        "need TEXTRAWL_PUBLIC_URL.",
    )
    http_port: int = Field(
        default=8000, ge=0, le=65_535, description="Port that serve --http listens on."
    )
    public_url: str | None = Field(
        default=None,
        pattern=r"^https?://[A-Za-z0-9.-]+(:\d{1,5})?$",
        description="Address at which others reach serve --http, such as "
        "https://memory.example.com. The server accepts requests for this name "
        "and for this machine's own.",
    )
    rate_limit: int = Field(
        default=600,
        ge=0,
        description="Maximum number of HTTP requests per minute of one person, with all of "
        "their tokens. 0 sets no limit, for a server that only you use.",
    )
    oauth_issuer: str | None = Field(
        default=None,
        description="Identity provider whose access tokens are accepted over HTTP. Write it "
        "exactly as its metadata names it, such as https://login.example.org. If "
        "unset, there is none.",
    )
    oauth_actor_claim: str = Field(
        default="sub",
        min_length=1,
        description="Claim of such a token that names the actor. Use email if people are "
        "granted access by their address.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="WARNING", description="Least severe level of messages that are logged, to stderr."
    )
    log_format: Literal["text", "json"] = Field(
        default="text",
        description="Format of log messages: text, or json for one object per line.",
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
        return FORMATS.get(str(value).strip().lower(), value)

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
        try:
            return value.expanduser().absolute()
        except RuntimeError as error:  # there is no such user
            raise ValueError(str(error)) from error


def read_settings(**overrides: Any) -> Settings:
    """Return the settings of all sources, with `overrides` in place of theirs.

    Raises StartRefused, which names each invalid variable and its allowed values. It does not
    repeat values, since one of them may be a secret.
    """
    try:
        return Settings(**overrides)
    except ValidationError as error:
        fields = dict.fromkeys(str(item["loc"][0]) for item in error.errors(include_input=False))
    sources = read_sources()
    wrong = "; ".join(
        f"{_find_name(field, () if field in overrides else sources)} must be {_find_choice(field)}"
        for field in fields
    )
    raise StartRefused(f"Settings cannot be used: {wrong}")


def _find_name(field: str, sources: Sequence[Source]) -> str:
    """Return the name that a setting was found under."""
    found = find_value(field, sources)
    return found.name if found else write_name(field)


def _find_choice(name: str) -> str:
    return _CHOICES.get(name) or describe_choice(Settings.model_fields[name])


def write_name(field: str) -> str:
    """Return the name of a setting as people write it."""
    return PREFIX + field.upper()


def find_origins() -> dict[str, Value | None]:
    """Return the source of each setting; None for a default. Raises StartRefused."""
    sources = read_sources()
    return {name: find_value(name, sources) for name in Settings.model_fields}


def is_setting(variable: str) -> bool:
    """Return whether a variable, bare or prefixed, is one of ours."""
    return variable.lower().removeprefix(PREFIX.lower()) in Settings.model_fields


def read_foreign_environment() -> dict[str, str]:
    """Return the environment without our variables, for a server with settings of its own."""
    return {name: value for name, value in os.environ.items() if not is_setting(name)}
