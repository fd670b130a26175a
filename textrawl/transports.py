"""Serving over stdio and over Streamable HTTP, until the client goes or a signal comes."""

import ipaddress
import signal
import sys

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse

from textrawl.errors import StartRefused, TextrawlError
from textrawl.server import MemoryServer

_GRACE = 5  # seconds that open requests and streams have to end


async def serve_stdio(server: MemoryServer) -> None:
    """Serves one client over stdin and stdout until it closes them or SIGTERM or SIGINT comes."""
    # run_stdio_async of the SDK neither leaves on a signal nor cleans up: the low-level server does.
    low = server._lowlevel_server  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    async with stdio_server() as (read, write), anyio.create_task_group() as group:
        group.start_soon(_cancel_on_signal, group.cancel_scope)
        await low.run(read, write, low.create_initialization_options())
        group.cancel_scope.cancel()


async def _cancel_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            scope.cancel()
            return


async def serve_http(server: MemoryServer, host: str, port: int) -> None:
    """Serves any number of clients at http://host:port/mcp until SIGTERM or SIGINT comes.

    Raises StartRefused for an address that others can reach, or one that is taken.
    """
    refuse_exposure(host)
    config = uvicorn.Config(
        build_http_app(server, host), host=host, port=port, log_config=None,
        timeout_graceful_shutdown=_GRACE, access_log=False,
    )  # fmt: skip
    listener = _listen(config)
    address = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"textrawl listens on http://{address}:{listener.getsockname()[1]}/mcp\n")
    await uvicorn.Server(config).serve(sockets=[listener])


def refuse_exposure(host: str) -> None:
    """Raises StartRefused unless `host` is this machine alone: there is no authentication yet."""
    if host != "localhost":
        try:
            safe = ipaddress.ip_address(host).is_loopback
        except ValueError:
            safe = False
        if not safe:
            raise StartRefused(
                f"HTTP_HOST: {host} can be reached by others and there is no authentication yet: "
                "use 127.0.0.1, and a tunnel or an authenticating proxy for others"
            )


def _listen(config: uvicorn.Config):  # noqa: ANN202 - uvicorn does not name the type
    try:
        return config.bind_socket()
    except SystemExit:
        raise StartRefused(
            f"HTTP_PORT: {config.host}:{config.port} is taken: choose another with --port"
        ) from None


def build_http_app(server: MemoryServer, host: str = "127.0.0.1") -> Starlette:
    """The ASGI application: /mcp for both protocol eras, /healthz and /readyz for probes."""
    server.custom_route("/healthz", methods=["GET"])(_answer_alive)

    async def answer_ready(_: Request) -> JSONResponse:
        """200 when a call would be answered, else 503 with what is missing."""
        try:
            if server.app is not None:
                await server.app.memory.ping()
        except TextrawlError as error:
            return JSONResponse({"status": error.title.lower()}, status_code=503)
        return JSONResponse({"status": "ready"})

    server.custom_route("/readyz", methods=["GET"])(answer_ready)
    return server.streamable_http_app(host=host)


async def _answer_alive(_: Request) -> JSONResponse:
    """200 as long as the process answers at all."""
    return JSONResponse({"status": "ok"})
