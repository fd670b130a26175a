"""Metrics for Prometheus: counts, durations and outcomes, but neither content nor actors."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from textrawl import errors

Read = Callable[[], Mapping[str, float]]

_OTHER = "other"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)  # seconds


class Metrics:
    """Metrics of one server. Calls of a tool that is not in `tools` have the label "other"."""

    def __init__(self, tools: Iterable[str] = ()) -> None:
        self._registry = CollectorRegistry()
        self._tools = frozenset(tools)
        self._outcomes = {"ok", *(kind.title for kind in _walk(errors.TextrawlError))}
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
