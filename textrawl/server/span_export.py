"""The export of spans to a collector by OTLP over HTTP.

The MCP SDK makes a span for each message, and `tracing` those within. The environment variables of
OpenTelemetry configure the export (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`, …).

A thread sends the spans. If the collector cannot be reached, spans are dropped, and calls go on.
"""

import logging
import re
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from mcp.types.methods import CLIENT_NOTIFICATIONS, CLIENT_REQUESTS, SERVER_REQUESTS
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Status

from textrawl import __version__
from textrawl.tracing import SYSTEM, Attributes, record_spans

logger = logging.getLogger("textrawl")

_LAST_EXPORT = 2.0  # seconds that the end of the process waits for the last spans
_UNNAMED = "unknown_service"  # the beginning of the SDK's name for a service without a name

_METHOD, _PROTOCOL = "mcp.method.name", "mcp.protocol.version"
_REFUSED = "rpc.response.status_code"
_METHODS = {method for method, _ in (*CLIENT_REQUESTS, *CLIENT_NOTIFICATIONS, *SERVER_REQUESTS)}
_OF_CLIENTS = ("gen_ai.tool.name", "gen_ai.prompt.name")
_OTHER = "_OTHER"  # OpenTelemetry's value for a method that is unknown
_NUMBER, _VERSION = re.compile(r"\d{1,18}"), re.compile(r"\d{4}-\d\d-\d\d")
_SHAPES = {"jsonrpc.request.id": _NUMBER, _PROTOCOL: _VERSION}
_KEPT = {
    _METHOD, _REFUSED, *_OF_CLIENTS, *_SHAPES, "db.stored_procedure.name", SYSTEM,
    "error.type", "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model",
    "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "textrawl.texts",
}  # fmt: skip


@contextmanager
def export_spans() -> Generator[None]:
    """Export the spans of the block. At its end, wait up to two seconds for the last ones."""
    # The SDK logs each failed attempt. `_SafeExporter` says it once.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    service = Resource.create({SERVICE_VERSION: __version__})
    if str(service.attributes[SERVICE_NAME]).startswith(_UNNAMED):
        service = service.merge(Resource({SERVICE_NAME: "textrawl"}))
    provider = TracerProvider(resource=service, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(_SafeExporter(OTLPSpanExporter())))
    trace.set_tracer_provider(provider)
    try:
        with record_spans(_Opener(provider.get_tracer("textrawl", __version__))):
            yield
    finally:
        last = threading.Thread(target=provider.shutdown, daemon=True)
        last.start()
        last.join(_LAST_EXPORT)


class _Opener:
    """Opens spans of SQL functions and models.

    Background work calls SQL functions every few seconds. So such a call is only recorded as a part
    of another span.
    """

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def __call__(self, name: str, attributes: Attributes) -> Generator[trace.Span]:
        within = trace.get_current_span()
        if SYSTEM in attributes and not within.get_span_context().is_valid:
            yield trace.INVALID_SPAN
            return
        kept = self._tracer.start_as_current_span(
            name, kind=SpanKind.CLIENT, attributes=attributes, record_exception=False
        )
        with kept as span, _name_error(span):
            yield span


@contextmanager
def _name_error(span: trace.Span) -> Generator[None]:
    try:
        yield
    except Exception as error:
        span.set_attribute("error.type", type(error).__name__)
        raise


class _SafeExporter(SpanExporter):
    """Removes texts that a client or an error could have put into a span, and then exports it."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._failed = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export the spans. Say once that the collector cannot be reached."""
        result = self._exporter.export([_strip(span) for span in spans])
        failed = result is not SpanExportResult.SUCCESS
        if failed and not self._failed:
            logger.warning(
                "The collector of OTEL_EXPORTER_OTLP_ENDPOINT takes no spans by OTLP over HTTP: "
                "start it, or check the address"
            )
        self._failed = failed
        return result

    def shutdown(self) -> None:
        """End the export."""
        self._exporter.shutdown()


def _strip(span: ReadableSpan) -> ReadableSpan:
    """Return a copy of a span with known attributes, and without texts of errors."""
    attributes = _choose(span.attributes or {})
    name = span.name
    if _METHOD in (span.attributes or {}):
        named = [attributes[key] for key in (_METHOD, *_OF_CLIENTS) if key in attributes]
        name = " ".join(map(str, named))
    return ReadableSpan(
        name=name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=attributes,
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _choose(given: Mapping[str, object]) -> dict[str, str | int]:
    """Return the attributes whose values are not texts of a client.

    The SDK refuses unknown names of tools and prompts with an error. These names are left out.
    """
    kept = {
        key: value
        for key, value in given.items()
        if key in _KEPT
        and isinstance(value, str | int)
        and (key not in _SHAPES or _SHAPES[key].fullmatch(str(value)))
    }
    if _REFUSED in kept:
        for key in _OF_CLIENTS:
            kept.pop(key, None)
    if _METHOD in kept and kept[_METHOD] not in _METHODS:
        kept[_METHOD] = _OTHER
    return kept
