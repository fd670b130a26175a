"""Routes for administrators of a server: liveness, readiness, and metrics for Prometheus.

Metrics are counts, durations and outcomes, but neither content nor actors.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager

from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from textrawl import errors
from textrawl.server.http.guards import LIVENESS

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

Read = Callable[[], Mapping[str, float]]

_OK = "ok"
_OTHER = "other"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)  # seconds


class Metrics:
    """Metrics of one server. Calls of a tool that is not in `tools` have the label "other"."""

    def __init__(self, tools: Iterable[str] = ()) -> None:
        self._registry = CollectorRegistry()
        self._tools = frozenset(tools)
        self._outcomes = {_OK, *(kind.title for kind in _walk(errors.TextrawlError))}
        self._calls = Counter(
            "textrawl_calls",
            "Calls of a tool by outcome.",
            ["tool", "outcome"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "textrawl_call_seconds",
            "Duration of calls of a tool.",
            ["tool"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._responses = Counter(
            "textrawl_http_responses",
            "Responses over HTTP, including refusals.",
            ["route", "status"],
            registry=self._registry,
        )
        self._open = Gauge(
            "textrawl_http_open_requests",
            "Requests and streams that are open now.",
            registry=self._registry,
        )
        ProcessCollector(registry=self._registry)

    def observe_call(self, tool: str, outcome: str, seconds: float) -> None:
        """Count a call that took `seconds`. `outcome` is "ok" or the title of its error."""
        tool = tool if tool in self._tools else _OTHER
        outcome = outcome if outcome in self._outcomes else errors.TextrawlError.title
        self._calls.labels(tool, outcome).inc()
        self._seconds.labels(tool).observe(seconds)

    def observe_response(self, route: str, status: int) -> None:
        """Count an HTTP response. `route` is one of a few words, so that labels stay few."""
        self._responses.labels(route, str(status)).inc()

    def track_request(self) -> AbstractContextManager[None]:
        """Count a request as open within the context."""
        return self._open.track_inprogress()

    def watch(self, read: Read) -> None:
        """Export each value that `read` returns as a gauge, named textrawl_ followed by its key."""
        self._registry.register(_Gauges(read))

    def write(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)


class _Gauges(Collector):
    def __init__(self, read: Read) -> None:
        self._read = read

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for name, value in self._read().items():
            words = name.replace("_", " ").capitalize()
            yield GaugeMetricFamily(f"textrawl_{name}", f"{words}, now.", value=value)

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Yield nothing. Without this method, the registration would call `collect` too early."""
        yield from ()


def _walk(kind: type[errors.TextrawlError]) -> Iterator[type[errors.TextrawlError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _walk(below)


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
