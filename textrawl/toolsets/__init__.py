"""Toolsets: groups of tools that a server offers, each a module of this package."""

import secrets
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, ToolAnnotations

from textrawl.access import Caller, Principal, Scope, find_caller
from textrawl.declines import Declines
from textrawl.directory import Directory
from textrawl.errors import NotAuthenticated
from textrawl.memory import Memory
from textrawl.offering import TOOLSETS, choose_names
from textrawl.recalls import NOTHING, Finding, Recall, Recalls
from textrawl.replies import Renderer, Reply, Written
from textrawl.schemas import merge, shorten_items, slim
from textrawl.texts import clean_name
from textrawl.transports.authentication import find_principal
from textrawl.transports.requests import find_request_id, find_space
from textrawl.turns import run_aside

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
DELETES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


@dataclass(frozen=True)
class Identity:
    """Whom a server takes its callers for: `credential` is its own, `space` pins all of them.

    With `tokens_needed` nobody is taken for the server itself.
    """

    directory: Directory
    credential: bytes | None
    space: str | None = None
    tokens_needed: bool = False


class App:
    """What a tool has at hand while the server runs; without `recalls` none are noted.

    `import_dir` is the folder whose files a tool may read, None for no folder.
    """

    import_dir: Path | None = None

    def __init__(
        self, memory: Memory, renderer: Renderer, identity: Identity, recalls: Recalls | None = None
    ) -> None:
        self.memory = memory
        self.declines = Declines()
        self.identity = identity
        self.render = renderer.render
        self._renderer = renderer
        self._recalls = recalls

    @property
    def takes_notes(self) -> bool:
        """Whether what was looked at is noted: not with READ_ONLY or without RECORD_RECALLS."""
        return self._recalls is not None

    async def identify(self, ctx: "Context[App]", tool: str) -> Caller:
        """Who calls `tool`: by the token of the request, else the server itself.

        Raises NotAuthenticated, SpaceNotFound, DatabaseUnavailable.
        """
        if (known := find_caller()) is not None:
            return known
        request = ctx.request_context.request
        bearer = find_principal(request) if request is not None else None
        principal = bearer or await self._find_own()
        named = find_space(request) if request is not None else None
        for space in (self.identity.space, named):
            principal = principal.pin(space) if space else principal
        number = find_request_id(request) if request is not None else ""
        return Caller(
            principal, _name_client(ctx), tool, number or secrets.token_hex(8),
            sharing=bearer is not None,
        )  # fmt: skip

    async def _find_own(self) -> Principal:
        identity = self.identity
        found = None
        if not identity.tokens_needed:
            found = await identity.directory.find(identity.credential)
        if found is None and identity.credential is None:
            raise NotAuthenticated(
                "This server has no token for the database: set TEXTRAWL_ACCESS_TOKEN to one that "
                "`textrawl token create` made"
            )
        if found is None:
            raise NotAuthenticated
        return found

    def recall(
        self,
        caller: Caller,
        mode: str,
        reply: Reply,
        max_tokens: int | None,
        finding: Finding = NOTHING,
    ) -> CallToolResult:
        """The result that tells what `caller` recalled in `mode`, noted with what it cost."""
        written = self._renderer.write(reply, max_tokens)
        return self._note(caller, mode, reply, written, finding)

    async def recall_aside(self, caller: Caller, mode: str, reply: Reply) -> CallToolResult:
        """As recall does, for a long reply: other calls are answered while it is written."""
        written = await run_aside(self._renderer.write, reply)
        return self._note(caller, mode, reply, written, NOTHING)

    def _note(
        self, caller: Caller, mode: str, reply: Reply, written: Written, finding: Finding
    ) -> CallToolResult:
        if self._recalls is not None:
            recall = Recall(
                credential=caller.principal.credential, space=caller.principal.home,
                client=caller.client, mode=mode,
                format=self._renderer.format, structured=self._renderer.structured,
                tokens=written.tokens, budget=written.budget, items=written.items,
                dropped=written.dropped, finding=finding,
                milliseconds=1000 * (time.perf_counter() - caller.begun),
            )  # fmt: skip
            self._recalls.add(recall, reply)
        return written.result


def name_session(ctx: Context[App]) -> Hashable:
    """Return what tells the sessions of a server apart.

    The transport's session id, with whose it is. Without one (2026-07-28) it is the client's name:
    one person's calls by one program count as a session. Over stdio there is only one.
    """
    request = ctx.request_context.request
    bearer = find_principal(request) if request is not None else None
    session = request.headers.get("mcp-session-id") if request is not None else None
    owner = (bearer.token, bearer.actor) if bearer is not None else None
    return owner, session or _name_client(ctx)


def _name_client(ctx: Context[App]) -> str | None:
    """Name and version of the client, as far as it told them."""
    params = ctx.session.client_params
    if params is None:
        return None
    return _clean_client(f"{params.client_info.name} {params.client_info.version}"[:200])


@lru_cache  # every call of a client has the same
def _clean_client(name: str) -> str:
    return clean_name(name)


@dataclass(frozen=True)
class ToolSpec:
    """A tool as it is declared: `required` adds to the schema what the server can still infer.

    `scope` is what its callers need, `looking` the argument that makes it need no more than read.
    """

    function: Callable[..., Any]
    annotations: ToolAnnotations
    replies: tuple[type[Reply], ...]
    required: tuple[str, ...]
    scope: Scope
    looking: str | None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.function.__name__

    def find_scope(self, given: Mapping[str, Any]) -> Scope:
        """What a call with these arguments needs; the database decides the same by itself."""
        looks = self.looking is not None and given.get(self.looking) is True
        return "read" if looks else self.scope

    def build(self, *, structured: bool) -> Tool:
        """The tool as the SDK serves it, its schemas slimmed, unknown arguments refused."""
        tool = Tool.from_function(
            self.function,
            title=self.function.__name__.replace("_", " ").capitalize(),
            description=" ".join((self.function.__doc__ or "").split()),
            annotations=self.annotations,
            structured_output=False,
        )
        arguments = tool.fn_metadata.arg_model
        arguments.model_config["extra"] = "forbid"
        arguments.model_rebuild(force=True)
        tool.parameters = shorten_items(slim(tool.parameters))
        if self.required:
            tool.parameters["required"] = [*self.required, *tool.parameters.get("required", [])]
        if structured:
            schemas = [reply.model_json_schema(mode="serialization") for reply in self.replies]
            tool.fn_metadata.output_schema = merge(*schemas)
        return tool


@dataclass(frozen=True)
class Document:
    """A resource: JSON that `read` writes for whoever may read."""

    uri: str
    name: str
    title: str
    description: str
    read: Callable[[App, Caller], Awaitable[str]]


@dataclass(frozen=True)
class Toolset:
    """A named group of tools, listed in the `order` given.

    `purpose` is its sentence in the documentation.
    """

    name: str
    purpose: str
    order: tuple[str, ...]
    documents: list[Document] = field(default_factory=list[Document])
    _specs: dict[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])

    @property
    def tools(self) -> dict[str, ToolSpec]:
        """Its tools by name."""
        return {name: self._specs[name] for name in self.order}

    def tool(
        self,
        annotations: ToolAnnotations,
        *replies: type[Reply],
        required: tuple[str, ...] = (),
        looking: str | None = None,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Registers a function as a tool that answers one of `replies`."""
        scope: Scope = "write" if not annotations.destructive_hint else "forget"
        scope = "read" if annotations.read_only_hint else scope

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self._specs[function.__name__] = ToolSpec(
                function, annotations, replies, required, scope, looking
            )
            return function

        return register


def find_toolsets() -> dict[str, Toolset]:
    """Every toolset by name."""
    return {name: _load(name) for name in TOOLSETS}


def choose_toolsets(names: Sequence[str]) -> list[Toolset]:
    """The toolsets of these names; `all` names every one. Raises StartRefused, naming them."""
    return [_load(name) for name in choose_names(names)]


def _load(name: str) -> Toolset:
    # On demand: those of one toolset take as long to load as many a package, and they import this.
    return getattr(import_module(f"{__name__}.{name}"), name)
