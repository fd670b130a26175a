"""Every setting, with its type and its checks. `environment` finds the values.

Each field has one variable: `TEXTRAWL_` and the name in capitals. `.env.example` is generated from
the class `Settings` with `textrawl settings --example`. A test compares the file with the class.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic.functional_validators import BeforeValidator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from textrawl.environment import (
    IMPORTS,
    PROJECT_SETTINGS,
    SESSION_SETTINGS,
    Value,
    ValueSource,
    default_data_dir,
    find_value,
    is_setting,
    read_sources,
    read_token_file,
    write_name,
)
from textrawl.errors import StartRefused
from textrawl.values import word_lists
from textrawl.values.choice import describe_choice
from textrawl.values.text import DIGEST_TOKENS, LEAST_TOKENS, MOST_TOKENS


class SettingSource(PydanticBaseSettingsSource):
    """The values of all settings that a source contains."""

    def __init__(self, settings_class: type[BaseSettings]) -> None:
        super().__init__(settings_class)
        self._sources = _read_usable_sources()

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return the value of a setting (or None), its name, and False.

        False tells pydantic that the value is not JSON.
        """
        found = find_value(field_name, self._sources)
        return found and found.text, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the values of all settings that a source contains."""
        fields = self.settings_cls.model_fields.items()
        values = {name: self.get_field_value(field, name)[0] for name, field in fields}
        return {name: value for name, value in values.items() if value is not None}


Format = Literal["compact", "verbose", "lines"]
Provider = Literal["auto", "encoder", "local", "openai", "ollama", "none"]
LlmProvider = Literal["none", "openai", "ollama"]
CorrectionMode = Literal["llm", "deterministic"]
RecallContent = Literal["hash", "text", "off"]

FORMATS: dict[str, Format] = {
    **dict.fromkeys(("true", "1", "yes", "on"), "compact"),
    **dict.fromkeys(("false", "0", "no", "off"), "verbose"),
    "lines": "lines",
}


class Settings(BaseSettings):
    """The settings of a server. The defaults work on a machine without other services."""

    model_config = SettingsConfigDict(extra="forbid")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return two sources of values: first the arguments of the class, then `_Sources`.

        pydantic's own sources are not used.
        """
        return init_settings, SettingSource(settings_cls)

    enable_memory: bool = Field(
        default=True,
        description="Offer the memory tools. If false, there are no tools, and the server does "
        "not use a database.",
    )
    toolsets: Annotated[list[str], NoDecode] = Field(
        default=["memory"],
        description="Toolsets to offer, separated by commas, or `all`: see `textrawl toolsets`.",
    )
    resources: bool = Field(
        default=True,
        description="Offer MCP resources, such as memory://entity/{name}. Use `false` for clients "
        "that add tools to every conversation if a server has resources.",
    )
    read_only: bool = Field(
        default=False,
        description="Offer only tools that change nothing. Calls of other tools are refused.",
    )
    compact_responses: Format = Field(
        default="compact",
        description="Text format of an answer. `true` means JSON with short keys. `false` means "
        "indented JSON with long keys. `lines` means plain lines, which cost the fewest tokens.",
    )
    structured_content: Literal["full", "off"] = Field(
        default="full",
        description="Send structured content in addition to the text. Use `off` for clients that "
        "show their model only the structured content.",
    )
    max_response_tokens: int = Field(
        default=2000,
        ge=LEAST_TOKENS,
        le=MOST_TOKENS,
        description="Maximum number of tokens of an answer, text and structured content together.",
    )
    close_facts: bool = Field(
        default=True,
        description="Name the closest stored fact in the answer to a new fact (`like`), so that a "
        "model can replace it. If false, the answers cost a few tokens less.",
    )
    max_graph_tokens: int = Field(
        default=25_000,
        ge=LEAST_TOKENS,
        le=200_000,
        description="Maximum number of tokens of one answer, for the reading tools of the graph "
        "and corpus toolsets and the lists of the mind toolset. Text and structured content have "
        "the same content, so only the larger of them is counted.",
    )
    graphs: Annotated[list[str] | None, NoDecode] = Field(
        default=None,
        description="Names of graphs, separated by commas. The tools of this server use only these "
        "graphs, and no client finds out whether others exist. If unset, they use all graphs that "
        "the access token of a call allows.",
    )
    max_recall_tokens: int = Field(
        default=8000,
        ge=0,
        le=100_000,
        description="Maximum number of tokens of documents in one answer, from all graphs "
        "together. Each graph has its own maximum too: see `textrawl space tier`.",
    )
    record_recalls: RecallContent = Field(
        default="hash",
        description="Record the facts and the tokens of each recall, for `textrawl stats`. `hash` "
        "stores only a hash of the query. `text` stores the query itself, so that `textrawl stats` "
        "can show the queries that found nothing. `off` records nothing. A server with "
        "TEXTRAWL_READ_ONLY records nothing.",
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="Your Postgres 16 to 18 with pgvector 0.8 or newer. If unset, an embedded "
        "Postgres is started.",
    )
    database_read_url: SecretStr | None = Field(
        default=None, description="A standby of TEXTRAWL_DATABASE_URL, for calls that only read."
    )
    database_timeout: float = Field(
        default=10.0, gt=0, le=600, description="Time limit of a call to Postgres, in seconds."
    )
    access_token: SecretStr | None = Field(
        default=None,
        description="Access token of the server. Over stdio, all calls use it. Over HTTP, the "
        "server uses it to confirm to the database who the users of an identity provider are. The "
        "embedded Postgres needs no token.",
    )
    access_token_file: Path | None = Field(
        default=None,
        description="File with the access token, for an access token that is not in "
        "TEXTRAWL_ACCESS_TOKEN. Only your OS user may have rights to the file (chmod 600).",
    )
    server_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s/]+(/\S*)?$",
        description="Address of a textrawl server, such as https://memory.example.com/mcp. The "
        "commands for every day and the hooks then use this server with the access token, and "
        "open no database. Commands that need a database refuse.",
    )
    space: str | None = Field(
        default=None,
        description="The only space to read and write. If unset, the server reads all spaces "
        "that the token can read, and writes to the token's home space.",
    )
    data_dir: Path = Field(
        default_factory=default_data_dir,
        description="Folder of the embedded Postgres. The tool `migrate` of the graph toolset "
        "reads files in the subfolder `import` of this folder. If unset, it is the user's data "
        "folder.",
    )
    host_idle: float = Field(
        default=10.0,
        gt=0,
        le=525_600,
        description="Minutes after which the process that has the memory open ends, if nobody has "
        "used it. Clients, commands and hooks start it again.",
    )
    vault: Path | None = Field(
        default=None,
        description="Folder of Markdown notes, such as an Obsidian vault. `promote_memory` of the "
        "decay toolset writes notes into its subfolder `textrawl`, and `search_unified` reads all "
        "its notes. `LTM_VAULT_PATH` means the same. If unset, memories cannot be promoted.",
    )
    snapshot_retention_days: int = Field(
        default=30,
        ge=1,
        le=36_500,
        description="Days for which former texts are kept: snapshots of identity files that are "
        "not pinned, and replaced versions of identity files and journal entries. Servers delete "
        "older texts in the spaces in which their access token has the scope forget.",
    )
    embedding_provider: Provider = Field(
        default="auto",
        description="Provider for a memory that has no vectors yet: `encoder`, `local`, `openai`, "
        "`ollama` or `none`. A memory that has vectors keeps its model. `auto` means the best "
        "model on this machine: `encoder` if it is installed, else `local`. Neither downloads "
        "anything or sends facts to another address.",
    )
    embedding_model: str | None = Field(
        default=None,
        description="Model of the provider, for a memory that has no vectors yet. The memory "
        "then keeps this model: see `textrawl embed`. If unset, it is all-minilm-l6-v2-int8 "
        "(`encoder`), wordllama (`local`), text-embedding-3-small (`openai`) or nomic-embed-text "
        "(`ollama`).",
    )
    openai_api_key: SecretStr | None = Field(
        default=None, description="Key of the OpenAI API, for the provider `openai`."
    )
    openai_base_url: str | None = Field(
        default=None,
        description="Address of another server with OpenAI's protocol, for the provider `openai`.",
    )
    ollama_base_url: str | None = Field(
        default=None,
        description="Address of an Ollama server. If unset, it is the Ollama server on this "
        "machine.",
    )
    llm_provider: LlmProvider = Field(
        default="none",
        description="Provider of the LLM that consolidates the journal and extracts knowledge from "
        "texts: `openai`, `ollama` or `none`. All other tools work without an LLM. The LLM gets "
        "texts of the memory. `openai` also means other servers with OpenAI's protocol.",
    )
    llm_model: str | None = Field(
        default=None,
        description="Model of the LLM provider. If unset, it is gpt-4.1-mini (`openai`) or "
        "llama3.2:3b-instruct-q4_K_M (`ollama`).",
    )
    llm_base_url: str | None = Field(
        default=None,
        description="Address of the LLM server. If unset, it is OpenAI's own server (`openai`) or "
        "the Ollama server on this machine (`ollama`).",
    )
    llm_api_key: SecretStr | None = Field(
        default=None, description="Key of the LLM server, if it needs one."
    )
    llm_timeout: float = Field(
        default=60.0,
        gt=0,
        le=3600,
        description="Time limit of a call to the LLM with its retries, in seconds.",
    )
    enable_memory_extraction: bool = Field(
        default=False,
        description="Extract nodes and edges of the mind toolset from journal entries, in the "
        "background, with the LLM. Offer the tool extract_memories of the memory toolset, too.",
    )
    propose_facts: bool = Field(
        default=False,
        description="Propose the facts and relations that new journal entries say, in the "
        "background, with the LLM. `textrawl review` shows each with its sentence, and nothing is "
        "stored until somebody accepts it. The text is sent to the address of the LLM.",
    )
    summarize_entities: bool = Field(
        default=False,
        description="Write a summary of each entity with ten facts or more, in the background, "
        "with the LLM. Each clause quotes a fact with its id. The facts are sent to the address of "
        "the LLM, at most once an hour for each entity, and again after an answer that could not "
        "be used.",
    )
    correction_mode: CorrectionMode = Field(
        default="llm",
        description="Origin of the new text when a client corrects a chunk of a document with the "
        "tool correct. `llm`: the LLM writes it. `deterministic`: the client writes it, and no LLM "
        "is needed.",
    )
    consolidate_journal: bool = Field(
        default=False,
        description="Consolidate the journal in the background, every hour, with the LLM. If "
        "false, use the tool memory_consolidate or `textrawl journal consolidate`.",
    )
    hooks: Annotated[list[word_lists.HookPart], NoDecode] = Field(
        default=list(word_lists.HOOKS),
        description="What hooks of client programs do, separated by commas, or `off`. `digest` "
        "gives the model a digest at the start of a session. `recall` gives it the facts that "
        "match a prompt. `remind` asks it once to store what lasts. `capture` stores the session's "
        "texts in the journal.",
    )
    secrets: word_lists.SecretMode = Field(
        default="mask",
        description="Treatment of a text with a password, token, private key or card number: store "
        "it with `[masked …]` in place of the secret, refuse it, or store it as it is. The reply "
        "says so.",
    )
    encryption_key: Annotated[str | None, Field(pattern=r"^(keyring|(file|command):.*\S.*)$")] = (
        Field(
            default=None,
            description="Place of your key, which wraps the keys of sensitive graphs: `file:PATH`, "
            "`keyring` (needs textrawl[keyring]), or `command:COMMAND`, which prints 32 bytes in "
            "base64. Default: `encryption.key` in the folder of your configuration, made at first "
            "use.",
        )
    )
    digest_tokens: int = Field(
        default=DIGEST_TOKENS,
        ge=100,
        le=5000,
        description="Maximum number of tokens of a digest, if the caller gives no other.",
    )
    digest_authors: Annotated[list[str], NoDecode, BeforeValidator(word_lists.read_authors)] = (
        Field(
            default=list(word_lists.EVERYBODY),
            description="Whose facts digests and hooks give to a model: `all`, `members` (who may "
            "write to the space; without documents and imports), or names separated by commas.",
        )
    )
    hook_recall_tokens: int = Field(
        default=word_lists.RECALL_TOKENS,
        ge=100,
        le=5000,
        description="Maximum number of tokens that a hook gives the model at a prompt.",
    )
    hook_least_score: float = Field(
        default=word_lists.LEAST_SCORE,
        ge=0,
        le=1,
        description="Least score of a fact that a hook gives the model at a prompt.",
    )
    http_host: str = Field(
        default="127.0.0.1",
        description="Address that `serve --http` listens on. An address that other machines can "
        "reach needs TEXTRAWL_PUBLIC_URL.",
    )
    http_port: int = Field(
        default=8000, ge=0, le=65_535, description="Port that `serve --http` listens on."
    )
    public_url: str | None = Field(
        default=None,
        pattern=r"^https?://[A-Za-z0-9.-]+(:\d{1,5})?$",
        description="Address at which other machines reach `serve --http`, such as "
        "https://memory.example.com. The server accepts requests for this name and for the local "
        "names of this machine.",
    )
    explorer: bool = Field(
        default=False, description="Offer the explorer, a web page, at /explore of `serve --http`."
    )
    rate_limit: int = Field(
        default=600,
        ge=0,
        description="Maximum number of HTTP requests per minute of one person, with all their "
        "tokens together. `0` means no limit, for a server that only you use.",
    )
    webhook_hosts: Annotated[list[str], NoDecode, BeforeValidator(word_lists.read_hosts)] = Field(
        default=[],
        description="Hosts that webhooks may lead to, separated by commas, such as "
        "hooks.example.com or 127.0.0.1:9000. Without a port, it is 443. Servers post to no other "
        "host, and to a private address only if it is named here too.",
    )
    oauth_issuer: str | None = Field(
        default=None,
        description="Address of an identity provider, exactly as in the provider's metadata, such "
        "as https://login.example.org. The server then accepts access tokens of this provider "
        "over HTTP. If unset, only tokens of textrawl are accepted.",
    )
    oauth_client_id: str | None = Field(
        default=None,
        min_length=1,
        description="Client id of the explorer at OAUTH_ISSUER. Register a public client there "
        "with the redirect address PUBLIC_URL/explore/signed-in. People can then sign in to the "
        "explorer there.",
    )
    oauth_actor_claim: str = Field(
        default="sub",
        min_length=1,
        description="Claim in the identity provider's tokens that names the actor. Use `email` if "
        "your grants name people by their email address.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="WARNING", description="Lowest level of messages that are logged to stderr."
    )
    log_format: Literal["text", "json"] = Field(
        default="text",
        description="Format of log messages: `text`, or `json` for one object per line.",
    )

    @property
    def import_dir(self) -> Path:
        """The folder with files that the graph toolset's `migrate` is allowed to read."""
        return self.data_dir / IMPORTS

    @property
    def explorer_url(self) -> str | None:
        """The address of the explorer for other machines, or None if there is none."""
        return f"{self.public_url}/explore" if self.explorer and self.public_url else None

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

    @field_validator("toolsets", "graphs", mode="before")
    @classmethod
    def _split_commas(cls, value: object) -> object:
        if isinstance(value, str):
            return [name.strip() for name in value.split(",") if name.strip()]
        return value

    @field_validator("hooks", mode="before")
    @classmethod
    def _read_hooks(cls, value: object) -> object:
        return word_lists.read_hooks(value) if isinstance(value, str) else value

    @field_validator("data_dir", "vault", "access_token_file", mode="after")
    @classmethod
    def _expand_home(cls, value: Path | None) -> Path | None:
        try:
            return value.expanduser().absolute() if value is not None else None
        except RuntimeError as error:  # there is no such user
            raise ValueError(str(error)) from error

    @model_validator(mode="after")
    def _read_token(self) -> Self:
        if self.access_token is None and self.access_token_file is not None:
            self.access_token = SecretStr(read_token_file(self.access_token_file))
        return self


def read_settings(**overrides: Any) -> Settings:
    """Return the settings of all sources. `overrides` replace the values of the sources.

    Raises StartRefused with the name and the allowed values of each invalid variable. The message
    does not repeat the invalid values, because a value can be a secret.
    """
    try:
        return Settings(**overrides)
    except ValidationError as error:
        fields = dict.fromkeys(str(item["loc"][0]) for item in error.errors(include_input=False))
    sources, wrong = _read_usable_sources(), list[str]()
    for field in fields:
        found = None if field in overrides else find_value(field, sources)
        wrong.append(_say_choice(field, found.name if found else write_name(field)))
    raise StartRefused(f"Settings cannot be used: {'; '.join(wrong)}")


def adapt_settings(settings: Settings, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a session of a process with `settings`. Raises StartRefused.

    `given` has those of SESSION_SETTINGS that the client sets. The others are the default. A wrong
    value is ignored if its name begins with `?`.
    """
    fields = Settings.model_fields
    everything = {name: getattr(settings, name) for name in fields}
    everything |= {name: fields[name].get_default() for name in SESSION_SETTINGS}
    everything |= {name: str(given[name]) for name in SESSION_SETTINGS if name in given}
    for name in SESSION_SETTINGS:
        if f"?{name}" in given:
            with suppress(StartRefused):
                value = {name: str(given[f"?{name}"])}
                read_settings(**everything | value)
                everything |= value
    return read_settings(**everything)


def _say_choice(field: str, name: str) -> str:
    return f"{name} must be {describe_choice(field, Settings.model_fields[field])}"


def _read_usable_sources() -> list[ValueSource]:
    """Return every source, without the values that `_list_wrong` finds. Raises StartRefused."""
    usable = list[ValueSource]()
    for source in read_sources():
        wrong = set(map(write_name, _list_wrong(source)))
        values = {name: text for name, text in source.values.items() if name not in wrong}
        usable.append(source._replace(values=values))
    return usable


def _list_wrong(source: ValueSource) -> list[str]:
    """Return the settings with a wrong value in a file that nobody trusts. They are ignored.

    A repository can bring such a file, and would otherwise end every command in its folder.
    """
    if source.trusted:
        return []
    found = {field: source.find(field) for field in sorted(PROJECT_SETTINGS)}
    return [field for field, value in found.items() if value and not _is_allowed(field, value.text)]


def _is_allowed(field: str, text: str) -> bool:
    try:
        defaults = Settings.model_construct()
        Settings.__pydantic_validator__.validate_assignment(defaults, field, text)
    except ValidationError:
        return False
    return True


def find_origins() -> dict[str, Value | None]:
    """Return the source of each setting, or None for a default. Raises StartRefused."""
    sources = _read_usable_sources()
    return {name: find_value(name, sources) for name in Settings.model_fields}


def find_withheld() -> list[str]:
    """Return lines about what is ignored in a `.env`, because the user does not trust the folder.

    They say how to allow settings, and which values are wrong. Raises StartRefused.
    """
    lines = list[str]()
    for source in read_sources():
        if source.fault:
            lines.append(f"textrawl ignores this file: {source.fault}")
        if names := sorted(filter(is_setting, source.withheld)):
            lines.append(
                f"{source.label} sets {', '.join(names)}, which textrawl ignores there, because a "
                "repository can bring this file. If you trust it, run textrawl trust "
                f"{quote(str(Path(source.label).parent))}"
            )
        if wrong := _list_wrong(source):
            choices = "; ".join(_say_choice(field, write_name(field)) for field in wrong)
            lines.append(f"{source.label} has values that textrawl ignores: {choices}")
    return lines


def read_foreign_environment() -> dict[str, str]:
    """Return the environment without textrawl's settings, for another program."""
    return {name: value for name, value in os.environ.items() if not is_setting(name)}
