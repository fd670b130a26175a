"""A collector of OpenTelemetry for tests: OTLP over HTTP on loopback, decoded with its protobuf."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """Receives spans. If it is not `open`, requests wait for their answers."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.open = threading.Event()
        self.open.set()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert self.path == "/v1/traces"
                collector.bodies.append(self.rfile.read(int(self.headers["content-length"])))
                collector.open.wait()
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def resources(self) -> list[Any]:
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [one for request in requests for one in request.resource_spans]

    @property
    def spans(self) -> list[Any]:
        return [span for one in self.resources for scope in one.scope_spans for span in scope.spans]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.open.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def read_attributes(holder: Any) -> dict[str, str | int]:
    """The attributes of a span or a resource."""
    values = {pair.key: pair.value for pair in holder.attributes}
    return {key: getattr(value, value.WhichOneof("value")) for key, value in values.items()}
