"""What those who run a server ask it: whether it lives, whether it is ready, how it does."""

from collections.abc import Awaitable, Callable

from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from textrawl.transports.http.metrics import CONTENT_TYPE, Metrics
from textrawl.transports.http.requests import LIVENESS

FindMissing = Callable[[], Awaitable[str | None]]


def build_probes(
    find_missing: FindMissing, metrics: Metrics, *, insecure: bool, metadata_url: AnyHttpUrl | None
) -> list[Route]:
    """Routes: /healthz for anybody, /readyz for any token, /metrics for one with that scope."""

    async def answer_ready(_: Request) -> JSONResponse:
        """200 when a call would be answered, else 503 with what is missing."""
        missing = await find_missing()
        if missing is None:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": missing}, status_code=503)

    async def answer_metrics(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(metrics.write(), media_type=CONTENT_TYPE)(scope, receive, send)

    guarded = RequireAuthMiddleware(answer_metrics, [] if insecure else ["metrics"], metadata_url)
    return [
        Route(LIVENESS, _answer_alive),
        Route("/readyz", answer_ready),
        Route("/metrics", _Application(answer_metrics) if insecure else guarded, methods=["GET"]),
    ]


class _Application:
    """Tells Starlette that `app` is an application, and no function of a request."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


async def _answer_alive(_: Request) -> JSONResponse:
    """200 as long as the process answers at all."""
    return JSONResponse({"status": "ok"})
