"""Routes for administrators of a server: liveness, readiness and metrics."""

from collections.abc import Awaitable, Callable

from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from textrawl.server.http.guards import LIVENESS
from textrawl.server.http.metrics import CONTENT_TYPE, Metrics

CheckReadiness = Callable[[], Awaitable[tuple[bool, dict[str, object]]]]
"""A function that returns whether calls would succeed, and the answer of /readyz."""


def build_probes(
    check_readiness: CheckReadiness,
    metrics: Metrics,
    *,
    insecure: bool,
    metadata_url: AnyHttpUrl | None,
) -> list[Route]:
    """Return the routes. /healthz needs no token, and /metrics needs the scope `metrics`."""

    async def answer_ready(_: Request) -> JSONResponse:
        """Answer 200 if calls would succeed, else 503 with the reason."""
        ready, answer = await check_readiness()
        return JSONResponse(answer, status_code=200 if ready else 503)

    async def answer_metrics(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(metrics.write(), media_type=CONTENT_TYPE)(scope, receive, send)

    guarded = RequireAuthMiddleware(answer_metrics, [] if insecure else ["metrics"], metadata_url)
    return [
        Route(LIVENESS, _answer_alive),
        Route("/readyz", answer_ready),
        Route("/metrics", _Application(answer_metrics) if insecure else guarded, methods=["GET"]),
    ]


class _Application:
    """A wrapper that makes Starlette treat `app` as an ASGI application, not a request handler."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


async def _answer_alive(_: Request) -> JSONResponse:
    """Answer 200 as long as the process runs."""
    return JSONResponse({"status": "ok"})
