"""The MCP server that settings describe."""

import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import replace
from functools import cached_property
from typing import Any

import anyio
from mcp import MCPError
from mcp.server import CacheHint, MCPServer, ServerRequestContext
from mcp.server.caching import CacheableMethod
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    DiscoverResult,
    EmptyResult,
    GetPromptResult,
    InputRequiredResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    RequestParams,
    ResourceTemplate,
    ServerCapabilities,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import AnyUrl

from textrawl import __version__, errors
from textrawl.access.principal import (
    BearerAuthenticator,
    Principal,
    keep_caller,
)
from textrawl.memory.store import Store
from textrawl.scheduling import Traffic, WriteOrder, run_aside
from textrawl.server.description import NAME, TITLE, ServerDescription, describe_server
from textrawl.server.lifespan import build_authenticator, open_app
from textrawl.server.resources import (
    Completions,
    Prompts,
    Resources,
    Subscriptions,
    find_connection,
)
from textrawl.settings import Settings
from textrawl.tools.call import (
    App,
    Call,
    Identity,
    is_program,
    name_client,
    name_session,
    reply_failure,
)
from textrawl.tools.catalogue import FOR_PROGRAMS, choose_names, choose_tools, choose_toolsets
from textrawl.tools.toolset import CALL, Toolset, ToolSpec
from textrawl.wire import arguments
from textrawl.wire.arguments import has_more
from textrawl.wire.replies import build_renderer, describe_error, write_sentences


@asynccontextmanager
async def open_reading(context: Context[App, Any] | None, name: str) -> AsyncGenerator[Call]:
    """Identify a caller who reads. Raises MCPError."""
    if context is None:
        raise MCPError(INTERNAL_ERROR, "Only a request can read this")
    asked = context.request_context
    app: App = asked.lifespan_context
    try:
        caller = await app.identify(asked.request, name_client(context), name, asked.meta)
        caller.principal.require("read")
        with keep_caller(caller):
            yield Call(app.store, caller, app, context)
    except errors.TextrawlError as error:
        code = INVALID_PARAMS if isinstance(error, errors.ArgumentInvalid) else INTERNAL_ERROR
        data = describe_error(error) if is_program(context) else None
        raise MCPError(code, write_sentences(error.title, error.fix), data) from error


def _refuse_tool(name: str, context: Context[App, Any] | None) -> MCPError:
    """Return the error for a name that no tool has, which a program can read as its own error."""
    fix = f"check that {name} is its name, and that its toolset is in TEXTRAWL_TOOLSETS"
    error = errors.ArgumentInvalid(fix, title="Unknown tool")
    data = describe_error(error) if is_program(context) else None
    return MCPError(INVALID_PARAMS, f"Unknown tool: {name}", data)


logger = logging.getLogger("textrawl")

Observe = Callable[[str, str, float], None]
"""A function that gets the name of a tool, "ok" or the title of an error, and the seconds."""

Beside = Callable[[App], Coroutine[Any, Any, None]]
"""A function that runs while the memory is open, until it is cancelled."""

_PROMPTS = ("prompts/list", "prompts/get")
_RESOURCES = ("resources/list", "resources/templates/list", "resources/read")
_COMPLETION, _LISTEN = "completion/complete", "subscriptions/listen"
_SUBSCRIBE, _END = "resources/subscribe", "resources/unsubscribe"
_LONG = 4096  # characters of arguments that are prepared in a thread; the slowest take 20 ms
# The list of resources is not among them, because it changes with the memory.
_LISTS: tuple[CacheableMethod, ...] = ("tools/list", "prompts/list", "resources/templates/list")
_FIVE_MINUTES = 300_000  # milliseconds for which a client may keep a list


class MemoryServer(MCPServer[App]):
    """An MCPServer. Its errors tell a model what to do, also if a tool is turned off."""

    run_beside: Beside | None = None

    def __init__(
        self,
        settings: Settings,
        specs: dict[str, ToolSpec],
        *,
        app: App | None = None,
        tokens_needed: bool = False,
    ) -> None:
        refusals = {name: _find_refusal(settings, spec) for name, spec in specs.items()}
        self._hidden = {name: one for name, one in refusals.items() if one is not None}
        self._specs, self._tokens_needed = specs, tokens_needed
        self._settings, self._description = settings, _describe(settings)
        self._renderer, self._write_order = build_renderer(settings), WriteOrder()
        self.app = app
        self.observe_call: Observe | None = None
        self._authenticator: BearerAuthenticator | None = None
        full = settings.structured_content == "full"
        tools = [s.build(structured=full) for n, s in specs.items() if n not in self._hidden]
        super().__init__(
            NAME,
            title=TITLE,
            instructions=self._description.instructions,
            version=__version__,
            tools=tools,
            lifespan=_open_lifespan,
            log_level=settings.log_level,
            cache_hints=dict.fromkeys(_LISTS, CacheHint(ttl_ms=_FIVE_MINUTES, scope="private")),
            subscriptions=False,  # `Subscriptions` respects the rights of each caller
        )
        self._change_handlers()
        self._schemas = {tool.name: specs[tool.name].schema for tool in tools}

    def _change_handlers(self) -> None:
        """Add handlers that the SDK lacks, and remove unused handlers.

        The SDK advertises what has a handler. It has no setting for this.
        """
        low = self._lowlevel_server
        low.middleware.append(_ask_for_handshake)
        low.add_request_handler("server/discover", RequestParams, self._handle_discovery)
        if self._description.completions:
            low.add_request_handler(_COMPLETION, CompleteRequestParams, self._handle_completion)
        if self._description.subscriptions:
            low.add_request_handler(_SUBSCRIBE, SubscribeRequestParams, self._handle_subscribe)
            low.add_request_handler(_END, UnsubscribeRequestParams, self._handle_unsubscribe)
            low.add_request_handler(_LISTEN, SubscriptionsListenRequestParams, self._handle_listen)
        handlers = low._request_handlers  # pyright: ignore[reportPrivateUsage]
        unused = () if self._description.resources else _RESOURCES
        for method in (*unused, *(() if self._description.prompts else _PROMPTS)):
            handlers.pop(method, None)

    @asynccontextmanager
    async def open(self, memory: Store | None = None) -> AsyncGenerator[App | None]:
        """Open everything that tools need, once for all connections. Yield None if memory is off.

        If this is not called, each connection opens its own memory. If `memory` is given, it is
        used and not closed. Raises StartRefused.
        """
        async with self.open_own(memory) as app:
            before, self.app = self.app, app
            self._authenticator = build_authenticator(self._settings, app) if app else None
            try:
                async with anyio.create_task_group() as beside:
                    if app is not None and self.run_beside is not None:
                        beside.start_soon(self.run_beside, app)
                    yield app
                    beside.cancel_scope.cancel()
            finally:
                self.app = before
                if self._authenticator is not None:
                    await self._authenticator.aclose()

    @asynccontextmanager
    async def open_own(self, memory: Store | None = None) -> AsyncGenerator[App | None]:
        """Open everything that tools of one connection need, unless it is open already."""
        if self.app is not None or not self._settings.enable_memory:
            yield self.app
        else:
            opening = open_app(self._settings, memory=memory, tokens_needed=self._tokens_needed)
            async with opening as app:
                yield app

    def offer(self, toolset: str) -> "MemoryServer":
        """Return a server with only `toolset`. It uses the open memory of this server."""
        changed = self._settings.model_copy(update={"toolsets": [toolset]})
        server = create_server(changed, app=self.app, tokens_needed=self._tokens_needed)
        server.observe_call = self.observe_call
        return server

    def offers(self, spec: ToolSpec) -> bool:
        """Return whether the server offers this tool, and not another tool with the same name."""
        return self._specs.get(spec.name) is spec

    def list_reads(self) -> list[str]:
        """Return the names of the offered tools that change nothing."""
        tools = [self._specs[name] for name in self._schemas]
        return [tool.name for tool in tools if tool.annotations.read_only_hint]

    def count_pending(self) -> int:
        """Return the number of facts that still have no vector. Before the server is open: 0."""
        return self.app.store.pending if self.app is not None else 0

    def read_gauges(self) -> dict[str, float]:
        """Return metrics of the pool and of vectors. Before the server is open, return none."""
        if self.app is None:
            return {}
        store = self.app.store
        vectors = {
            "answered_without_vector": store.without_vector,
            "pending_vectors": self.count_pending(),
        }
        return store.database.read_gauges() | vectors

    def end_streams(self) -> None:
        """End the streams of all subscriptions. Their clients learn that the server ends them."""
        if self.app is not None:
            self.app.watches.end()

    async def find_principal(self, bearer: str) -> Principal | None:
        """Return the principal of a bearer token, or None if the token is invalid.

        Before the server is open, every token is invalid.

        Raises DatabaseUnavailable, IssuerUnavailable.
        """
        return await self._authenticator.find(bearer) if self._authenticator is not None else None

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[App, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Return the tool's result, or its error as a result that says what to do next.

        Raises MCPError (-32602) for a name that no toolset has.
        """
        asked = name
        if name not in self._specs:
            name = name.removesuffix("_tool")  # some clients add this suffix
        if name not in self._schemas and name not in self._hidden:
            for server in self._program_servers if is_program(context) else ():
                if name in server._specs:
                    return await server.call_tool(name, arguments, context)
            raise _refuse_tool(asked[:64], context)
        began, outcome = time.perf_counter(), "ok"
        Traffic.calls += 1
        try:
            return await self._call(name, arguments, context)
        except (errors.TextrawlError, ToolError) as error:
            refusal = self._explain(name, error) if isinstance(error, ToolError) else error
            outcome = refusal.title
            renderer = self._renderer.for_programs() if is_program(context) else self._renderer
            return renderer.render_error(refusal)
        finally:
            Traffic.calls -= 1
            if self.observe_call is not None:
                self.observe_call(name, outcome, time.perf_counter() - began)

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """List the forms of addresses that resources have."""
        return list(self._resources.list_templates())

    async def list_prompts(self) -> list[Prompt]:
        """List the prompts of the toolsets."""
        return list(self._prompts.list())

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[App, Any] | None = None
    ) -> Iterable[ReadResourceContents]:
        """Return the resource, for a caller with the scope `read`.

        Raises ResourceNotFoundError, MCPError.
        """
        name = self._resources.find_name(str(uri))
        async with open_reading(context, name) as call:
            return [await self._resources.read(call, str(uri))]

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[App, Any] | None = None,
    ) -> GetPromptResult:
        """Return the prompt, for a caller with the scope `read`. Raises MCPError."""
        self._prompts.find(name)
        async with open_reading(context, name) as call:
            return await self._prompts.write(call, name, arguments)

    async def _handle_list_tools(
        self, ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return the tools that the caller's scopes allow, or all if the caller is not known."""
        tools = await self.list_tools()
        app: App | None = ctx.lifespan_context
        if app is None:
            return ListToolsResult(tools=tools)
        try:
            context = Context[App](request_context=ctx, mcp_server=self)
            caller = await app.identify(ctx.request, name_client(context), "tools")
        except errors.TextrawlError:  # the database is away; each call is checked anyway
            return ListToolsResult(tools=tools)
        allowed = [tool for tool in tools if self._specs[tool.name].is_for(caller.principal)]
        return ListToolsResult(tools=allowed)

    async def _handle_list_resources(
        self, ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """Return a page of the resources. The SDK has no pages, and does not give the caller."""
        cursor = params.cursor if params is not None else None
        if not self._resources.collections:
            return await self._resources.list(None, cursor)
        async with self._open_call(ctx, "resources") as call:
            return await self._resources.list(call, cursor)

    def _open_call(
        self, ctx: ServerRequestContext[Any], name: str
    ) -> AbstractAsyncContextManager[Call]:
        """Open a call for a request other than a tool's. `name` stands for its name."""
        return open_reading(Context[App](request_context=ctx, mcp_server=self), name)

    async def _handle_completion(
        self, ctx: ServerRequestContext[Any], params: CompleteRequestParams
    ) -> CompleteResult:
        async with self._open_call(ctx, "completion") as call:
            return await Completions(self._resources, self._prompts).complete(call, params)

    async def _handle_discovery(
        self, ctx: ServerRequestContext[Any], params: RequestParams
    ) -> DiscoverResult:
        """Return the capabilities. The SDK would announce changes of every list."""
        offered = self._description.list_capabilities(modern=True)
        return DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=ServerCapabilities.model_validate(offered),
            instructions=self.instructions,
        )

    async def _handle_subscribe(
        self, ctx: ServerRequestContext[Any], params: SubscribeRequestParams
    ) -> EmptyResult:
        async with self._open_call(ctx, _SUBSCRIBE) as call:
            await self._feeds.subscribe(call, params.uri)
        return EmptyResult()

    async def _handle_unsubscribe(
        self, ctx: ServerRequestContext[Any], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        self._feeds.unsubscribe(ctx, params.uri)
        return EmptyResult()

    async def _handle_listen(
        self, ctx: ServerRequestContext[Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        async with self._open_call(ctx, _LISTEN) as call:
            return await self._feeds.listen(call, ctx, params)

    @cached_property
    def _program_servers(self) -> list["MemoryServer"]:
        """Servers with the toolsets that only programs can call. They are made when one calls."""
        servers = [self.offer(toolset) for toolset in FOR_PROGRAMS]
        for server in servers:
            server._write_order = self._write_order
        return servers

    @cached_property
    def _feeds(self) -> Subscriptions:
        documents = any(toolset.name == "identity" for toolset in self._toolsets)
        return Subscriptions(self._resources, documents=documents)

    @cached_property
    def _toolsets(self) -> list[Toolset]:
        return choose_toolsets(self._settings.toolsets) if self._settings.enable_memory else []

    @cached_property
    def _resources(self) -> Resources:
        return Resources(self._toolsets if self._settings.resources else [])

    @cached_property
    def _prompts(self) -> Prompts:
        return Prompts(self._toolsets, self._schemas)

    async def _call(
        self, name: str, raw: dict[str, Any], context: Context[App, Any] | None
    ) -> CallToolResult | InputRequiredResult:
        if name in self._hidden:
            raise self._hidden[name]
        if context is None:  # the SDK can call a tool without a request, and so without a caller
            raise errors.NotAuthenticated
        spec, mode = self._specs[name], self._settings.secrets
        values = arguments.normalise(spec.schema, raw, spec.aliases, spec.exact)
        scope = spec.find_scope(values)
        # Join the order before anything waits, or else calls of one turn overtake each other. Reads
        # do not wait.
        order = self._write_order.join(name_session(context)) if scope != "read" else nullcontext()
        with order:
            # Every call is checked here. The database checks the caller and the scope again.
            asked = context.request_context
            app: App = asked.lifespan_context
            caller = await app.identify(asked.request, name_client(context), name, asked.meta)
            caller.principal.require(scope, *spec.also, anywhere=spec.anywhere)
            with keep_caller(caller):
                if has_more(values, _LONG):
                    given = await run_aside(spec.prepare, values, scope, mode)
                else:
                    given = spec.prepare(values, scope, mode)
                told = replace(caller, cleaned=given.cleaned, secrets=given.secrets)
                given[CALL] = Call(app.store, told, app, context)
                try:
                    return await super().call_tool(name, given, context)
                except UnexpectedToolError as error:
                    if isinstance(error.__cause__, errors.CallFailed):
                        return reply_failure(given[CALL], str(error.__cause__))
                    raise

    def _explain(self, name: str, error: ToolError) -> errors.TextrawlError:
        """Return the error of a tool that the SDK has wrapped in its own."""
        if isinstance(error.__cause__, errors.TextrawlError):
            return error.__cause__
        if isinstance(error, UnexpectedToolError):
            logger.error("%s failed", name, exc_info=error)
            return errors.InternalError()
        # The only other cause: the client's answer to a question for its user is invalid.
        return errors.TextrawlError(
            "Ask the user yourself, then call again with confirm",
            title="Answer of the client not understood",
        )


async def _ask_for_handshake(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
    """Say what is missing. The SDK only says that parameters are invalid."""
    try:
        return await call_next(ctx)
    except MCPError as error:
        if error.code != INVALID_PARAMS or find_connection(ctx).initialize_accepted:
            raise
        reason = "initialize is missing: send it, then notifications/initialized, and then this"
        raise MCPError(INVALID_PARAMS, reason) from error


def _describe(settings: Settings) -> ServerDescription:
    offered = choose_names(settings.toolsets)
    return describe_server(offered, enabled=settings.enable_memory, resources=settings.resources)


def _find_refusal(settings: Settings, spec: ToolSpec) -> type[errors.TextrawlError] | None:
    """Return the error for calls of a tool that the settings turn off, or else None."""
    if not settings.enable_memory:
        return errors.MemoryNotEnabled
    if settings.read_only and not spec.annotations.read_only_hint:
        return errors.ReadOnly
    return spec.refuse(settings) if spec.refuse is not None else None


@asynccontextmanager
async def _open_lifespan(server: MCPServer[App]) -> AsyncGenerator[App]:
    assert isinstance(server, MemoryServer)  # noqa: S101 - only MemoryServer passes this function
    async with server.open_own() as app:
        yield app  # pyright: ignore[reportReturnType] - None only if no tool can be called


def create_session_server(
    settings: Settings,
    app: App,
    credential: bytes | None,
    repository: str | None = None,
    checkout: str | None = None,
) -> MemoryServer:
    """Return a server for one session of another process, with the open memory of `app`.

    The session has its own settings, refused deletions and order of writes. Its principal is that
    of `credential`, and it works in `repository`, whose folder is `checkout`.
    """
    directory, space = app.identity.directory, settings.space
    identity = Identity(directory, credential, space, repository=repository, checkout=checkout)
    own = App(settings, app.store, identity, app.recalls)
    own.watches = app.watches
    return create_server(settings, app=own)


def create_server(
    settings: Settings, *, app: App | None = None, tokens_needed: bool = False
) -> MemoryServer:
    """Return the MCP server that `settings` describe.

    With `tokens_needed`, the server refuses calls without an access token. Without `app`, each
    connection opens its own memory, unless `open` has opened it for all connections. Raises
    StartRefused for a toolset that does not exist.
    """
    return MemoryServer(
        settings, choose_tools(settings.toolsets), app=app, tokens_needed=tokens_needed
    )
