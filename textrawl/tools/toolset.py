"""A toolset: a named group of tools, and each tool as the SDK serves it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from inspect import signature
from typing import Annotated, Any

from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.types import Resource, ToolAnnotations
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from textrawl.access.principal import WRITES_OR_PROPOSES, Principal, Scope
from textrawl.errors import TextrawlError
from textrawl.memory.watches import Watch
from textrawl.settings import Settings
from textrawl.tools.call import Call
from textrawl.values.leaks import guard_arguments
from textrawl.values.text import NAME_LENGTH, clean_fact, clean_name, count_cleaned
from textrawl.values.word_lists import SecretMode
from textrawl.wire.arguments import apply, explain, merge, shorten_items, slim
from textrawl.wire.replies import Reply

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
DELETES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


Refuse = Callable[[Settings], type[TextrawlError] | None]
"""A function that returns the error of a tool that the settings turn off, or else None."""

Complete = Callable[[Call, str], Awaitable[Sequence[str]]]
"""A function that returns the values with a beginning, the most likely first, or only some."""

CALL = "call"
"""The parameter that the server, not the client, gives to every tool."""


class Prepared(dict[str, Any]):
    """Valid arguments of a call, which are not validated again.

    `cleaned` is the number of texts that are stored without hidden characters, and `secrets` are
    the kinds of secrets in the texts.
    """

    cleaned: int = 0
    secrets: Sequence[str] = ()


class _Metadata(FuncMetadata):
    """The parameters of a tool. `texts` names those that can be a text, which stays one."""

    texts: frozenset[str]

    def validate_arguments(self, arguments_to_validate: dict[str, Any]) -> dict[str, Any]:
        """Return the valid arguments. Raises ValidationError."""
        if isinstance(arguments_to_validate, Prepared):
            return arguments_to_validate
        parsed = self.pre_parse_json(arguments_to_validate)  # has lists and objects for their texts
        for name in self.texts & parsed.keys():
            parsed[name] = arguments_to_validate[name]
        return self.arg_model.model_validate(parsed).model_dump_one_level()


@dataclass(frozen=True)
class ToolSpec:
    """A tool as it is declared, with the `scope` that its callers need.

    `required` names parameters that the schema requires although the server can infer them.
    `dry_run` names a parameter. A call that sets this parameter to true needs only the scope
    `read`. If `anywhere`, callers can have the scope in any space, and not only in their home
    space. `aliases` has other names of parameters, which clients use although no schema shows them.
    If `refuse` returns an error for the settings, the tool is not listed, and its calls get the
    error. Each scope in `also` is enough too. `exact` names optional parameters for which "" and
    "null" are texts like others.
    """

    function: Callable[..., Any]
    annotations: ToolAnnotations
    replies: tuple[type[Reply], ...]
    required: tuple[str, ...]
    scope: Scope
    dry_run: str | None
    anywhere: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    refuse: Refuse | None = None
    also: tuple[Scope, ...] = ()
    exact: tuple[str, ...] = ()
    _built: dict[bool, Tool] = field(default_factory=dict[bool, Tool], repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.function.__name__

    def find_scope(self, arguments: Mapping[str, Any]) -> Scope:
        """Return the scope that a call with these arguments needs.

        The database also checks the scope.
        """
        if self.dry_run is None:
            return self.scope
        default = signature(self.function).parameters[self.dry_run].default
        only_reads = arguments.get(self.dry_run, default) is True
        return "read" if only_reads else self.scope

    def is_for(self, principal: Principal) -> bool:
        """Return whether a principal can call the tool. Its home can depend on the address."""
        anywhere = self.anywhere or principal.home is None
        return principal.allows(self.find_scope({}), *self.also, anywhere=anywhere)

    @cached_property
    def metadata(self) -> FuncMetadata:
        """The parameters of the tool, which validate the arguments of a call."""
        return self.build(structured=False).fn_metadata

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The schema of the arguments with all limits, also those that clients do not see."""
        return slim(self.metadata.arg_model.model_json_schema())

    def prepare(self, given: dict[str, Any], scope: Scope, mode: SecretMode) -> Prepared:
        """Do all work on the arguments that takes longer for long texts.

        `scope` is that of the call. Raises SecretRefused, ArgumentInvalid.
        """
        kept, secrets = given, list[str]()
        if scope in WRITES_OR_PROPOSES:
            kept, secrets = guard_arguments(given, mode)
        try:
            prepared = Prepared(self.metadata.validate_arguments(kept))
        except ValidationError as error:
            raise explain(error, self.schema) from error
        prepared.secrets = secrets
        prepared.cleaned = 0 if scope == "read" else count_cleaned(given)
        return prepared

    def build(self, *, structured: bool) -> Tool:
        """Return the tool as the SDK serves it. The tool refuses unknown arguments.

        The models are made once, because that takes longer than the rest of a server's start.
        """
        if structured not in self._built:
            self._built[structured] = self._build(structured=structured)
        return self._built[structured].model_copy()

    def _build(self, *, structured: bool) -> Tool:
        tool = Tool.from_function(
            self.function,
            context_kwarg=CALL,
            title=self.function.__name__.replace("_", " ").capitalize(),
            description=" ".join((self.function.__doc__ or "").split()),
            annotations=self.annotations,
            structured_output=False,
        )
        tool.context_kwarg = None  # the server adds the call to the arguments
        arguments = tool.fn_metadata.arg_model
        arguments.model_config["extra"] = "forbid"
        arguments.model_rebuild(force=True)
        tool.parameters = shorten_items(slim(tool.parameters))
        kinds = {name: part["type"] for name, part in tool.parameters["properties"].items()}
        fields = arguments.model_fields
        texts = frozenset(
            name
            for name, kind in kinds.items()
            if kind == "string" or (name in fields and fields[name].annotation is Any)
        )
        tool.fn_metadata = _Metadata(**dict(tool.fn_metadata), texts=texts)
        if self.required:
            required = {*self.required, *tool.parameters.get("required", [])}
            tool.parameters["required"] = [
                n for n in tool.parameters["properties"] if n in required
            ]
        if structured:
            schemas = [reply.model_json_schema(mode="serialization") for reply in self.replies]
            tool.fn_metadata.output_schema = merge(*schemas)
        return tool


@dataclass(frozen=True)
class Document:
    """An MCP resource: JSON text that `read` returns to callers with the scope `read`."""

    uri: str
    name: str
    title: str
    description: str
    read: Callable[[Call], Awaitable[str]]


@dataclass(frozen=True)
class Collection:
    """MCP resources whose addresses have the form `template`, for callers with the scope `read`.

    `list` returns the resources of a caller. `read` returns the text of an address, or None.
    `complete` has a function for each variable of the template that can be completed. `watch`
    returns what to watch for changes of an address, or None. If it is None, clients cannot
    subscribe to these resources.
    """

    template: str
    name: str
    title: str
    description: str
    mime_type: str
    list: Callable[[Call], Awaitable[Sequence[Resource]]]
    read: Callable[[Call, str], Awaitable[str | None]]
    complete: Mapping[str, Complete] = field(default_factory=dict[str, Complete])
    watch: Callable[[Call, str], Watch | None] | None = None


@dataclass(frozen=True)
class Argument:
    """An argument of a prompt: a text of at most `longest` characters, with hidden ones removed."""

    name: str
    description: str
    required: bool = False
    longest: int = 1000
    complete: Complete | None = None


@dataclass(frozen=True)
class PromptSpec:
    """An MCP prompt. `write` returns its text, for the scope `read`, or also the `_meta` of it.

    It gets the arguments that the client gave. If `tool` is not None, only servers that offer this
    tool offer the prompt.
    """

    name: str
    title: str
    description: str
    write: Callable[[Call, Mapping[str, str]], Awaitable[str | tuple[str, dict[str, Any]]]]
    arguments: tuple[Argument, ...] = ()
    tool: str | None = None


@dataclass(frozen=True)
class Toolset:
    """A named group of tools. Servers list them in `order` or as they are declared, then `extras`.

    `extras` are tools that a setting turns on. `purpose` is the sentence that describes the toolset
    in the documentation.
    """

    name: str
    purpose: str
    order: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    documents: list[Document] = field(default_factory=list[Document])
    collections: list[Collection] = field(default_factory=list[Collection])
    prompts: list[PromptSpec] = field(default_factory=list[PromptSpec])
    _specs: dict[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])

    @property
    def tools(self) -> dict[str, ToolSpec]:
        """The tools by name, in order, without `extras`."""
        return {name: self._specs[name] for name in self.order or self._specs}

    @property
    def every_tool(self) -> dict[str, ToolSpec]:
        """The tools by name, in order, and then `extras`."""
        return {**self.tools, **{name: self._specs[name] for name in self.extras}}

    def tool(
        self,
        annotations: ToolAnnotations,
        *replies: type[Reply],
        required: tuple[str, ...] = (),
        dry_run: str | None = None,
        anywhere: bool = False,
        aliases: Mapping[str, str] | None = None,
        refuse: Refuse | None = None,
        scopes: tuple[Scope, ...] = (),
        exact: tuple[str, ...] = (),
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a function as a tool that answers with one of `replies`.

        Callers need the first of `scopes`, or another one of them. By default they need `read`,
        `write` or `forget`, as the annotations say.
        """
        default: Scope = "write" if not annotations.destructive_hint else "forget"
        scope, *also = scopes or ("read" if annotations.read_only_hint else default,)

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self._specs[function.__name__] = ToolSpec(
                function,
                annotations,
                replies,
                required,
                scope,
                dry_run,
                anywhere,
                aliases or {},
                refuse,
                tuple(also),
                exact,
            )
            return function

        return register


CLEAN_NAME = apply(clean_name)
CLEAN_FACT = apply(clean_fact)

Name = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=NAME_LENGTH)]
OptionalName = Annotated[str, CLEAN_NAME, Field(max_length=NAME_LENGTH)]

Share = Annotated[
    float,
    Field(ge=0, le=1, allow_inf_nan=False),
    # Postgres stores six digits, and refuses a number that is too small for its type.
    AfterValidator(lambda value: round(value, 6)),
]


def read_time(read: Callable[[str], datetime | str], *fillers: str) -> BeforeValidator:
    """Return a validator that reads a time. Each word in `fillers` stands for no time.

    A number is read as text, because Pydantic would take it for seconds since 1970.
    """

    def read_given(value: object) -> datetime | str | None:
        absent = value is None or str(value).strip().lower() in fillers
        return None if absent else read(str(value))

    return BeforeValidator(read_given)
