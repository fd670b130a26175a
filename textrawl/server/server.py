"""The MCP server that settings describe."""

import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from functools import cached_property
from typing import Any

from mcp import MCPError
from mcp.server import CacheHint, MCPServer
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import (
    ResourceNotFoundError,
    ToolError,
    UnexpectedToolError,
)
from mcp.server.mcpserver.tools import Tool
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    InputRequiredResult,
    Resource,
)
from pydantic import AnyUrl, ValidationError

from textrawl import __version__, errors
from textrawl.access.bearer import BearerAuthenticator
from textrawl.access.principal import Caller, Principal, keep_caller
from textrawl.embedded.location import IMPORTS
from textrawl.scheduling.write_order import WriteOrder
from textrawl.server.description import NAME, TITLE, describe_server
from textrawl.server.lifespan import build_authenticator, build_renderer, open_app
from textrawl.settings import Settings
from textrawl.store.store import Store
from textrawl.toolsets.app import App, name_session
from textrawl.toolsets.call import Call
from textrawl.toolsets.catalogue import choose_names, choose_toolsets
from textrawl.toolsets.toolset import Document, ToolSpec
from textrawl.wire import arguments
from textrawl.wire.replies import write_sentences
from textrawl.wire.schemas import slim

logger = logging.getLogger("textrawl")

Observe = Callable[[str, str, float], None]
"""Takes the name of a tool, "ok" or the title of an error, and seconds."""

_PROMPTS = ("prompts/list", "prompts/get")
_RESOURCES = ("resources/list", "resources/templates/list", "resources/read")
_JSON = "application/json"
_FIVE_MINUTES = 300_000  # milliseconds for which a client may keep the list of tools


class MemoryServer(MCPServer[App]):
    """An MCPServer whose errors tell a model what to do, also about tools that are turned off."""

    def __init__(
        self,
        settings: Settings,
        specs: dict[str, ToolSpec],
        *,
        app: App | None = None,
        tokens_needed: bool = False,
    ) -> None:
        self._hidden = {name: spec for name, spec in specs.items() if _hides(settings, spec)}
        self._specs = specs
        self._tokens_needed = tokens_needed
        self._settings = settings
        self._renderer, self._write_order = build_renderer(settings), WriteOrder()
        self.app = app
        self.observe_call: Observe | None = None
        self._authenticator: BearerAuthenticator | None = None
        tools = _build_tools(settings, [s for n, s in specs.items() if n not in self._hidden])
        super().__init__(
            NAME,
            title=TITLE,
            instructions=_choose_instructions(settings),
            version=__version__,
            tools=tools,
            lifespan=_open_lifespan,
            log_level=settings.log_level,
            cache_hints={"tools/list": CacheHint(ttl_ms=_FIVE_MINUTES, scope="private")},
            subscriptions=False,  # no list changes while the server runs
        )
        self._drop_handlers()
        self._schemas = {tool.name: _read_schema(tool) for tool in tools}

    def _drop_handlers(self) -> None:
        """Remove handlers without a use: the SDK registers and advertises all, without a switch."""
        handlers = self._lowlevel_server._request_handlers  # pyright: ignore[reportPrivateUsage]
        for method in _PROMPTS if self._documents else (*_PROMPTS, *_RESOURCES):
            handlers.pop(method, None)

    @asynccontextmanager
    async def open(self, memory: Store | None = None) -> AsyncGenerator[App | None]:
        """Open what tools need, once for all connections; nothing if memory is off.

        Without it each connection opens its own. A `memory` that is passed is used and stays open.
        Raises StartRefused.
        """
        async with self.open_own(memory) as app:
            before, self.app = self.app, app
            self._authenticator = build_authenticator(self._settings, app) if app else None
            try:
                yield app
            finally:
                self.app = before
                if self._authenticator is not None:
                    await self._authenticator.aclose()

    @asynccontextmanager
    async def open_own(self, memory: Store | None = None) -> AsyncGenerator[App | None]:
        """Open what one connection's tools need, unless it is open for all connections."""
        if self.app is not None or not self._settings.enable_memory:
            yield self.app
        else:
            opening = open_app(self._settings, memory=memory, tokens_needed=self._tokens_needed)
            async with opening as app:
                app.import_dir = self._settings.data_dir / IMPORTS
                yield app

    def offer(self, toolset: str) -> "MemoryServer":
        """Return a server with only `toolset`, for the same memory, open as long as this one."""
        changed = self._settings.model_copy(update={"toolsets": [toolset]})
        server = create_server(changed, app=self.app, tokens_needed=self._tokens_needed)
        server.observe_call = self.observe_call
        return server

    def read_gauges(self) -> dict[str, float]:
        """Return the state of the pool and of vectors; nothing before the server is open."""
        if self.app is None:
            return {}
        store = self.app.store
        vectors = {
            "answered_without_vector": store.without_vector,
            "pending_vectors": store.pending,
        }
        return store.database.read_pool() | vectors

    async def find_principal(self, bearer: str) -> Principal | None:
        """Return the principal of a bearer token while the server is open, or None if invalid.

        Raises DatabaseUnavailable, IssuerUnavailable.
        """
        return await self._authenticator.find(bearer) if self._authenticator is not None else None

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[App, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Return the tool's result, or its error as a result that says what to do next.

        Raises MCPError (-32602) for a name that no toolset has.
        """
        if name not in self._specs:
            name = name.removesuffix("_tool")  # some clients add it
        if name not in self._schemas and name not in self._hidden:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {name[:64]}")
        began, outcome = time.perf_counter(), "ok"
        try:
            return await self._call(name, arguments, context)
        except errors.TextrawlError as error:
            outcome = error.title
            return self._renderer.render_error(error)
        finally:
            if self.observe_call is not None:
                self.observe_call(name, outcome, time.perf_counter() - began)

    async def list_resources(self) -> list[Resource]:
        """List the documents of the toolsets, which a client can attach or read as a whole."""
        return [
            Resource(
                uri=document.uri,
                name=document.name,
                title=document.title,
                description=document.description,
                mime_type=_JSON,
            )
            for document in self._documents.values()
        ]

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[App, Any] | None = None
    ) -> Iterable[ReadResourceContents]:
        """Return the resource, for a caller with the scope read.

        Raises ResourceNotFoundError, MCPError.
        """
        document = self._documents.get(str(uri))
        if document is None or context is None:
            raise ResourceNotFoundError(f"Unknown resource: {str(uri)[:64]}")
        app: App = context.request_context.lifespan_context
        try:
            caller = await app.identify(context, document.name)
            caller.principal.require("read")
            with keep_caller(caller):
                content = await document.read(Call(app, caller, context))
        except errors.TextrawlError as error:
            raise MCPError(INTERNAL_ERROR, write_sentences(error.title, error.fix)) from error
        return [ReadResourceContents(content=content, mime_type=_JSON)]

    @cached_property
    def _documents(self) -> dict[str, Document]:
        chosen = choose_toolsets(self._settings.toolsets) if self._settings.enable_memory else []
        return {one.uri: one for toolset in chosen for one in toolset.documents}

    async def _call(
        self, name: str, raw: dict[str, Any], context: Context[App, Any] | None
    ) -> CallToolResult | InputRequiredResult:
        if name in self._hidden:
            raise errors.MemoryNotEnabled if not self._settings.enable_memory else errors.ReadOnly
        values = arguments.normalise(self._schemas[name], raw)
        if context is None:
            return await self._run(name, values, None)
        with (
            self._keep_order(context, self._specs[name], values),
            keep_caller(await _authorise(context, self._specs[name], values)),
        ):
            return await self._run(name, values, context)

    def _keep_order(
        self, context: Context[App, Any], spec: ToolSpec, values: dict[str, Any]
    ) -> AbstractContextManager[None]:
        """Return a context that stores the writes of a session in order; reads do not wait."""
        if spec.find_scope(values) == "read":
            return nullcontext()
        return self._write_order.join(name_session(context))

    async def _run(
        self, name: str, values: dict[str, Any], context: Context[App, Any] | None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, values, context)
        except UnexpectedToolError as error:
            if isinstance(error.__cause__, errors.TextrawlError):
                raise error.__cause__ from error
            logger.exception("%s failed", name)
            raise errors.InternalError from error
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise arguments.explain(error.__cause__, self._schemas[name]) from error
            # The remaining cause: the client's answer to a question to its user has another shape.
            raise errors.TextrawlError(
                "Ask the user yourself, then call again with confirm",
                title="Answer of the client not understood",
            ) from error


def _choose_instructions(settings: Settings) -> str | None:
    offered = choose_names(settings.toolsets)
    return describe_server(offered, enabled=settings.enable_memory).instructions


def _build_tools(settings: Settings, specs: list[ToolSpec]) -> list[Tool]:
    structured = settings.structured_content == "full"
    return [spec.build(structured=structured) for spec in specs]


def _read_schema(tool: Tool) -> dict[str, Any]:
    return slim(tool.fn_metadata.arg_model.model_json_schema())


async def _authorise(context: Context[App, Any], spec: ToolSpec, values: dict[str, Any]) -> Caller:
    """Identify the caller and check the scope, in the one place that every call passes.

    The database checks both again: neither check relies on the other.
    Raises ScopeMissing, NotAuthenticated, SpaceNotFound.
    """
    caller = await context.request_context.lifespan_context.identify(context, spec.name)
    caller.principal.require(spec.find_scope(values))
    return caller


def _hides(settings: Settings, spec: ToolSpec) -> bool:
    return not settings.enable_memory or (
        settings.read_only and not spec.annotations.read_only_hint
    )


@asynccontextmanager
async def _open_lifespan(server: MCPServer[App]) -> AsyncGenerator[App]:
    assert isinstance(server, MemoryServer)  # noqa: S101 - only MemoryServer passes this function
    async with server.open_own() as app:
        yield app  # pyright: ignore[reportReturnType] - None only if no tool can be called


def create_server(
    settings: Settings, *, app: App | None = None, tokens_needed: bool = False
) -> MemoryServer:
    """Return the MCP server that `settings` describe.

    With `tokens_needed` it refuses calls without a token. Without `app` each connection opens the
    database for itself, unless `open` did so for all.
    Raises StartRefused for a toolset that does not exist.
    """
    toolsets = choose_toolsets(settings.toolsets)
    chosen = {name: spec for toolset in toolsets for name, spec in toolset.tools.items()}
    return MemoryServer(settings, chosen, app=app, tokens_needed=tokens_needed)
