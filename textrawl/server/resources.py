"""MCP resources, prompts, completions and subscriptions of the toolsets that a server offers."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.connection import Connection
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.subscriptions import (
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    SubscriptionBus,
)
from mcp.types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptResult,
    ListResourcesResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
    SubscriptionFilter,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextContent,
)

from textrawl.memory.watches import Notify, Watch
from textrawl.tools.call import Call, name_session
from textrawl.tools.toolset import Argument, Complete, PromptSpec, Toolset
from textrawl.values.text import clean_name

_JSON = "application/json"
_PAGE = 100  # resources of one page of the list
_VARIABLE = re.compile(r"\{(\w+)\}")


class Resources:
    """The resources of some toolsets, which a client loads without a tool call."""

    def __init__(self, toolsets: Iterable[Toolset]) -> None:
        chosen = list(toolsets)
        self._documents = {one.uri: one for toolset in chosen for one in toolset.documents}
        self.collections = [one for toolset in chosen for one in toolset.collections]

    def __bool__(self) -> bool:
        """Return whether there are resources."""
        return bool(self._documents or self.collections)

    def find_name(self, uri: str) -> str:
        """Return the name of the resource or of its collection. Raises ResourceNotFoundError."""
        if uri in self._documents:
            return self._documents[uri].name
        for one in self.collections:
            if uri.startswith(one.template.split("{", 1)[0]):
                return one.name
        raise ResourceNotFoundError(f"Unknown resource: {uri[:64]}")

    async def list(self, call: Call | None, cursor: str | None) -> ListResourcesResult:
        """Return a page of the resources. `call` is None if there are no collections.

        Raises MCPError for a cursor that is not of an earlier page.
        """
        if cursor is not None and not (
            cursor.isascii() and cursor.isdecimal() and len(cursor) < 10  # noqa: PLR2004 - digits
        ):
            raise MCPError(
                INVALID_PARAMS, "Unknown cursor: list the resources again without a cursor"
            )
        found = [
            Resource(
                uri=document.uri,
                name=document.name,
                title=document.title,
                description=document.description,
                mime_type=_JSON,
            )
            for document in self._documents.values()
        ]
        for one in self.collections if call is not None else ():
            assert call is not None  # noqa: S101 - for the type checker
            found += await one.list(call)
        begin = int(cursor or 0)
        end = begin + _PAGE
        following = str(end) if end < len(found) else None
        return ListResourcesResult(resources=found[begin:end], next_cursor=following)

    def list_templates(self) -> Sequence[ResourceTemplate]:
        """Return the forms of the addresses of collections."""
        return [
            ResourceTemplate(
                uri_template=one.template,
                name=one.name,
                title=one.title,
                description=one.description,
                mime_type=one.mime_type,
            )
            for one in self.collections
        ]

    async def read(self, call: Call, uri: str) -> ReadResourceContents:
        """Return the content of a resource. Raises ResourceNotFoundError."""
        if uri in self._documents:
            content = await self._documents[uri].read(call)
            return ReadResourceContents(content=content, mime_type=_JSON)
        for one in self.collections:
            text = await one.read(call, uri)
            if text is not None:
                return ReadResourceContents(content=text, mime_type=one.mime_type)
        raise ResourceNotFoundError(f"Unknown resource: {uri[:64]}")

    def find_watch(self, call: Call, uri: str) -> Watch:
        """Return what to watch for changes of a resource. Raises MCPError (-32602)."""
        watch = self.seek_watch(call, uri)
        if watch is None:
            known = ", ".join(one.template for one in self.collections if one.watch is not None)
            raise MCPError(INVALID_PARAMS, f"No subscriptions to {uri[:64]}. Possible: {known}")
        return watch

    def seek_watch(self, call: Call, uri: str) -> Watch | None:
        """Return what to watch for changes of a resource, or None."""
        watches = (one.watch(call, uri) for one in self.collections if one.watch is not None)
        return next((watch for watch in watches if watch is not None), None)

    def find_completions(self, template: str) -> Mapping[str, Complete | None]:
        """Return the variables of a template, each with its function. Raises MCPError (-32602)."""
        for one in self.collections:
            if one.template == template:
                names = _VARIABLE.findall(template)
                return {name: one.complete.get(name) for name in names}
        known = ", ".join(one.template for one in self.collections) or "none"
        raise MCPError(INVALID_PARAMS, f"Unknown template: {template[:64]}. Known: {known}")


class Prompts:
    """The prompts of some toolsets. A prompt that needs a tool is left out without this tool."""

    def __init__(self, toolsets: Iterable[Toolset], tools: Collection[str]) -> None:
        specs = [spec for toolset in toolsets for spec in toolset.prompts]
        self._specs = {spec.name: spec for spec in specs if spec.tool is None or spec.tool in tools}

    def __bool__(self) -> bool:
        """Return whether there are prompts."""
        return bool(self._specs)

    def find(self, name: str) -> PromptSpec:
        """Return the prompt. Raises MCPError (-32602)."""
        if name not in self._specs:
            known = ", ".join(self._specs)
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {name[:64]}. Known: {known}")
        return self._specs[name]

    def list(self) -> Sequence[Prompt]:
        """Return the prompts with their arguments."""
        return [_describe(spec) for spec in self._specs.values()]

    async def write(
        self, call: Call, name: str, arguments: Mapping[str, str] | None
    ) -> GetPromptResult:
        """Return the text of a prompt as a message of the user. Raises MCPError (-32602)."""
        spec = self.find(name)
        written = await spec.write(call, _check(spec, arguments or {}))
        text, meta = written if isinstance(written, tuple) else (written, None)
        message = PromptMessage(role="user", content=TextContent(text=text))
        return GetPromptResult(description=spec.description, messages=[message], _meta=meta)


def _describe(spec: PromptSpec) -> Prompt:
    arguments = [
        PromptArgument(name=one.name, description=one.description, required=one.required)
        for one in spec.arguments
    ]
    return Prompt(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        arguments=arguments or None,
    )


def _check(spec: PromptSpec, arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments without empty ones. Raises MCPError (-32602)."""
    known = {one.name: one for one in spec.arguments}
    if unknown := [name for name in arguments if name not in known]:
        names = ", ".join(known) or "none"
        raise MCPError(
            INVALID_PARAMS, f"{spec.name}: unknown argument {unknown[0][:64]}. Known: {names}"
        )
    cleaned = {name: _clean(spec, known[name], text) for name, text in arguments.items()}
    given = {name: text for name, text in cleaned.items() if text}
    for argument in spec.arguments:
        if argument.required and argument.name not in given:
            raise MCPError(
                INVALID_PARAMS,
                f"{spec.name}: the argument {argument.name} is missing. "
                f"Give it: {argument.description}",
            )
    return given


def _clean(spec: PromptSpec, argument: Argument, text: str) -> str:
    cleaned = clean_name(text)
    if len(cleaned) > argument.longest:
        raise MCPError(
            INVALID_PARAMS,
            f"{spec.name}: the argument {argument.name} is too long. "
            f"Give at most {argument.longest} characters",
        )
    return cleaned


_MOST = 100  # values of one answer, as the protocol demands
_LONGEST = 200  # characters of a beginning: no name is longer


class Completions:
    """The values that a caller can choose for an argument. Callers get only what they can read."""

    def __init__(self, resources: Resources, prompts: Prompts) -> None:
        self._resources = resources
        self._prompts = prompts

    async def complete(self, call: Call, asked: CompleteRequestParams) -> CompleteResult:
        """Return at most 100 values that fit what was typed. Raises MCPError (-32602)."""
        complete = self._find(asked)
        values = list[str]()
        if complete is not None and len(asked.argument.value) <= _LONGEST:
            values = list(await complete(call, asked.argument.value.replace("\0", "")))
        return CompleteResult(
            completion=Completion(values=values[:_MOST], has_more=len(values) > _MOST)
        )

    def _find(self, asked: CompleteRequestParams) -> Complete | None:
        """Return the function for an argument, or None if it has no values to choose from."""
        name = asked.argument.name
        if isinstance(asked.ref, ResourceTemplateReference):
            variables = self._resources.find_completions(asked.ref.uri)
        else:
            spec = self._prompts.find(asked.ref.name)
            variables = {one.name: one.complete for one in spec.arguments}
        if name not in variables:
            known = ", ".join(variables) or "none"
            raise MCPError(INVALID_PARAMS, f"Unknown argument {name[:64]}. Known: {known}")
        return variables[name]


_MOST_RESOURCES = 100  # of one session, or of one stream
_MOST_STREAMS = 50  # of the clients with one access token and one name
_STATE = "textrawl.subscriptions"  # key of a connection's state
_TOO_MANY = f"At most {_MOST_RESOURCES} subscriptions are possible: end others first"


_Session = dict[str, Callable[[], None]]
"""The addresses that the client of a session has subscribed to, and what ends each."""


class Subscriptions:
    """The subscriptions of all clients of a server."""

    def __init__(self, resources: Resources, *, documents: bool) -> None:
        self._resources = resources
        self._documents = documents
        self._streams = Counter[Hashable]()

    async def subscribe(self, call: Call, uri: str) -> None:
        """Tell the client of a session when the resource changes. Raises MCPError (-32602)."""
        watch = self._resources.find_watch(call, uri)
        connection = find_connection(call.context.request_context)
        session = _find_session(connection)
        if uri in session:
            return
        if len(session) >= _MOST_RESOURCES:
            raise MCPError(INVALID_PARAMS, _TOO_MANY)

        async def notify() -> None:
            await connection.send_resource_updated(uri)

        session[uri] = _do_nothing  # so that requests at the same time do not exceed the limit
        try:
            remove = await call.app.watches.add({watch: notify})
            if uri in session:
                session[uri] = remove
            else:  # the client has unsubscribed meanwhile
                remove()
        finally:
            if session.get(uri) is _do_nothing:
                del session[uri]

    def unsubscribe(self, ctx: ServerRequestContext[Any], uri: str) -> None:
        """End a subscription of the session, if there is one. This needs no right."""
        _find_session(find_connection(ctx)).pop(uri, _do_nothing)()

    async def listen(
        self, call: Call, ctx: ServerRequestContext[Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Send notifications until the client ends the request. Raises MCPError (-32602)."""
        bus = _StreamBus()
        honoured, watches = self._choose(call, params.notifications, bus)
        owner = name_session(call.context)
        if self._streams[owner] >= _MOST_STREAMS:
            raise MCPError(
                INVALID_PARAMS, f"At most {_MOST_STREAMS} streams are possible: end others first"
            )
        stream = ListenHandler(bus)
        self._streams[owner] += 1
        try:
            with await _watch(call, watches, stream):
                listening = params.model_copy(update={"notifications": honoured})
                return await stream(ctx, listening)
        finally:
            self._streams[owner] -= 1
            self._streams += Counter()  # forgets owners without a stream

    def _choose(
        self, call: Call, wanted: SubscriptionFilter, bus: "_StreamBus"
    ) -> tuple[SubscriptionFilter, Mapping[Watch, Notify]]:
        """Return the part of `wanted` that the server can send, and the watches for it."""
        uris = list(dict.fromkeys(wanted.resource_subscriptions or ()))
        if len(uris) > _MOST_RESOURCES:
            raise MCPError(INVALID_PARAMS, _TOO_MANY)
        found = {uri: self._resources.seek_watch(call, uri) for uri in uris}
        known = {uri: watch for uri, watch in found.items() if watch is not None}
        events = dict[Watch, list[ServerEvent]]()
        for uri, watch in known.items():
            events.setdefault(watch, []).append(ResourceUpdated(uri))
        if wanted.resources_list_changed:
            reads = call.caller.watching
            listed = Watch(*reads, list=True, documents=self._documents)
            events[listed] = [ResourcesListChanged()]
        honoured = SubscriptionFilter(
            resources_list_changed=wanted.resources_list_changed or None,
            resource_subscriptions=list(known) or None,
        )
        return honoured, {watch: bus.send_later(*sent) for watch, sent in events.items()}


class _StreamBus(SubscriptionBus):
    """The events of one stream. Two clients can read different things at one address."""

    def __init__(self) -> None:
        self._listener: Callable[[ServerEvent], None] | None = None

    async def publish(self, event: ServerEvent) -> None:
        """Send `event` on the stream, unless the stream has ended."""
        if self._listener is not None:
            self._listener(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Let `listener` send the events of this stream."""
        self._listener = listener
        return self._end

    def send_later(self, *events: ServerEvent) -> Notify:
        """Return a function that sends `events`."""

        async def notify() -> None:
            for event in events:
                await self.publish(event)

        return notify

    def _end(self) -> None:
        self._listener = None


async def _watch(
    call: Call, watches: Mapping[Watch, Notify], stream: ListenHandler
) -> AbstractContextManager[object]:
    """Begin to watch, and return a context that ends this."""
    stack = ExitStack()
    stack.callback(await call.app.watches.add(watches))
    call.app.watches.endings.add(stream.close)
    stack.callback(call.app.watches.endings.discard, stream.close)
    return stack


def find_connection(ctx: ServerRequestContext[Any, Any]) -> Connection:
    """Return the connection of a request."""
    # The SDK makes a session object for each request. Only its connection lasts as long as the
    # session, and has no public name.
    return ctx.session._connection  # pyright: ignore[reportPrivateUsage]


def _find_session(connection: Connection) -> _Session:
    """Return the subscriptions of a session. They end with its connection."""
    if _STATE not in connection.state:
        connection.state[_STATE] = _Session()
        connection.exit_stack.callback(_end_all, connection.state[_STATE])
    return connection.state[_STATE]


def _end_all(session: _Session) -> None:
    while session:
        session.popitem()[1]()


def _do_nothing() -> None:
    pass
