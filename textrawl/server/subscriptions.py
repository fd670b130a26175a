"""Subscriptions to resources, in the two ways that MCP has.

Up to protocol 2025-11-25 a client subscribes with `resources/subscribe`, and notifications come on
the stream of its session. From 2026-07-28 on it sends `subscriptions/listen`, and the response is a
stream of notifications. Only these clients hear about changes of the list of resources. Others
cannot ask for them, so the server would have to check the list for every client.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.connection import Connection
from mcp.server.subscriptions import (
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    SubscriptionBus,
)
from mcp.types import (
    INVALID_PARAMS,
    SubscriptionFilter,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from textrawl.server.resources import Resources
from textrawl.store.watches import Notify, Watch
from textrawl.toolsets.app import name_session
from textrawl.toolsets.call import Call

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
        connection = _find_connection(call.context.request_context)
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
        _find_session(_find_connection(ctx)).pop(uri, _do_nothing)()

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
        """Return what the server sends of what the client wants, and the watches for it."""
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


def _find_connection(ctx: ServerRequestContext[Any, Any]) -> Connection:
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
