"""The endpoint of commands, for a terminal that has only the address of a server and a token.

At /mcp/t/commands and /mcp/t/commands/{space}, a JSON-RPC message names an operation of
`memory.commands`, which runs for the caller's token. Every other message goes to the tools of the
toolset `memory`. Both are there whatever toolsets the server offers, behind the same guards.
"""

import json
import time
from typing import TYPE_CHECKING, Any, cast

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from textrawl.access.principal import keep_caller
from textrawl.errors import MemoryNotEnabled, ReadOnly, TextrawlError
from textrawl.memory.commands import OPERATIONS, Operation, Session
from textrawl.server.http.sessions import Body
from textrawl.values.text import NAME_LENGTH, clean_name
from textrawl.wire.replies import describe_error

if TYPE_CHECKING:
    from textrawl.server.server import MemoryServer
    from textrawl.tools.call import App

_FAILED = -32000  # the JSON-RPC code of an error that a server defines


COMMANDS = "commands"
"""The word in the path where the name of a toolset stands in other paths."""


def serve_commands(app: Starlette, server: "MemoryServer") -> None:
    """Let the paths /mcp/t/commands of `app` also run the operations of commands on `server`."""
    for route in app.router.routes:
        if isinstance(route, Route) and route.path.startswith(f"/mcp/t/{COMMANDS}"):
            route.app = CommandEndpoint(server, route.app)


class CommandEndpoint:
    """The application at a path of commands. `tools` answers all that names no operation."""

    def __init__(self, server: "MemoryServer", tools: ASGIApp) -> None:
        self._server = server
        self._tools = tools

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] != "POST":
            await self._tools(scope, receive, send)
            return
        body = Body(receive)
        await body.receive()  # `Exchanges` passes the whole body on, and has checked it
        message = json.loads(body.read)
        operation = OPERATIONS.get(str(message.get("method")))
        if operation is None:
            body.rewind()
            await self._tools(scope, body.receive, send)
            return
        await (await self._answer(operation, message, Request(scope)))(scope, receive, send)

    async def _answer(
        self, operation: Operation[..., Any], message: dict[str, Any], request: Request
    ) -> JSONResponse:
        """Run the operation, and return its result or its error."""
        began, outcome = time.perf_counter(), "ok"
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message.get("id")}
        given = message.get("params")
        params = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        try:
            reply["result"] = await _run(self._server.app, request, operation, params)
        except TextrawlError as error:
            outcome = error.title
            data = describe_error(error)
            reply["error"] = {"code": _FAILED, "message": str(error), "data": data}
        if self._server.observe_call is not None:
            seconds = time.perf_counter() - began
            self._server.observe_call(f"command_{operation.name}", outcome, seconds)
        return JSONResponse(reply)


async def _run(
    app: "App | None", request: Request, operation: Operation[..., Any], params: dict[str, Any]
) -> Any:
    if app is None:
        raise MemoryNotEnabled
    if operation.writes and app.settings.read_only:
        raise ReadOnly("The server has TEXTRAWL_READ_ONLY on: ask its administrator")
    given = operation.read(params)
    client = clean_name(request.headers.get("user-agent", ""))[:NAME_LENGTH]
    caller = await app.identify(request, client or None, operation.command)
    operation.require(caller.principal)
    with keep_caller(caller):
        result = await operation.run(Session(app.store, caller, app.settings), **given)
    return operation.result.dump_python(result, mode="json")
