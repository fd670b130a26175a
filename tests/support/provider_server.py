"""A provider for tests: real HTTP on loopback, with faults that can be switched.

`providers` and `llm_server` say what a provider answers with.
"""

import gzip
import json
import threading
from abc import ABC, abstractmethod
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Generic, Protocol, Self, TypeVar, cast


class Fault(StrEnum):
    """What may be wrong with a provider."""

    DOWN = "refuses connections"
    HANG = "takes the request and never answers"
    DRIP = "answers a byte now and then"
    RATE_LIMITED = "429, with Retry-After if the server has one"
    FAILING = "500"
    KEY_REFUSED = "401"
    MODEL_MISSING = "404"
    TEXT_REFUSED = "400"
    TEAPOT = "418"
    WRONG_DIMENSIONS = "vectors of half the size"
    MIXED_DIMENSIONS = "the last vector is shorter"
    NO_DIMENSIONS = "empty vectors"
    FEWER = "one vector is missing"
    NAN = "the last vector holds NaN"
    ZERO = "the last vector is zero"
    TEXTS = "numbers in quotes"
    TRUTHS = "true in place of a number"
    BAD_JSON = "text that is no JSON"
    OTHER_JSON = "JSON that holds no answer"
    ENDLESS = "a body that is far too long"
    PACKED = "a compressed body, whatever was asked for"
    ELSEWHERE = "a redirect to another address"
    HEADERS = "headers of 720 kB"
    TRUNCATED = "the connection ends in the middle of the body"


class LlmFault(StrEnum):
    """What may be wrong with the answer of an LLM."""

    NOT_FOUND = "404 of another kind"
    NULL = "content that is null"
    BLANK = "content of white space"
    CUT = "an answer that reached the limit of tokens"
    NO_CHOICE = "no answer in the list"


AnyFault = Fault | LlmFault

STATUS: dict[AnyFault, int] = {
    Fault.RATE_LIMITED: 429,
    Fault.FAILING: 500,
    Fault.KEY_REFUSED: 401,
    Fault.MODEL_MISSING: 404,
    Fault.TEXT_REFUSED: 400,
    Fault.TEAPOT: 418,
    Fault.ELSEWHERE: 307,
}


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


RequestT = TypeVar("RequestT")


class ProviderServer(ABC, Generic[RequestT]):
    """A provider on 127.0.0.1; a context manager. Its port stays the same while it is down.

    `requests` holds what was received, oldest first. `retry_after`: header sent with an error
    status.
    """

    def __init__(self) -> None:
        self.requests: list[RequestT] = []
        self.retry_after: str | None = None
        self._fault: AnyFault | None = None
        self._times: int | None = None
        self._good = 0
        self._passing = 0
        self._lock = threading.Condition()
        self._released = threading.Event()
        self._gate = threading.Event()
        self._gate.set()
        self._http: _Http | None = None
        self._port = 0
        self._listen()

    @abstractmethod
    def read_request(self, path: str, body: Any, key: str | None) -> RequestT | None:
        """A request, or None if the path is unknown."""

    @abstractmethod
    def write_body(self, request: RequestT, fault: AnyFault | None) -> bytes:
        """The body of a good answer, but for `fault`."""

    def choose_fault(self, request: RequestT, fault: AnyFault | None) -> AnyFault | None:
        """The fault of the answer to `request`."""
        del request
        return fault

    def find_status(self, fault: AnyFault) -> int | None:
        """The status of an answer with this fault, or None if it is a success."""
        return STATUS.get(fault)

    def write_error(self, request: RequestT, fault: AnyFault) -> bytes:
        """The body of an error status."""
        del request, fault
        return b'{"error": {"message": "no"}}'

    @property
    def url(self) -> str:
        """The address for Ollama's protocol."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def openai_url(self) -> str:
        """The address for OpenAI's protocol."""
        return f"{self.url}/v1"

    def wait_for_requests(self, count: int) -> None:
        """Block until `count` requests were received, ten seconds at most."""
        with self._lock:
            assert self._lock.wait_for(lambda: len(self.requests) >= count, timeout=60)

    def fail(self, fault: AnyFault, *, times: int | None = None, after: int = 0) -> None:
        """Answer with `fault`: the next `times` requests, or all until `heal`.

        `after` so many that are answered well.
        """
        self.heal()
        with self._lock:
            self._fault, self._times, self._good = fault, times, after
        if fault is Fault.DOWN:
            self._stop()

    def heal(self) -> None:
        """Answer well again; requests that hang are let go without an answer."""
        with self._lock:
            self._fault, self._times, self._good = None, None, 0
            self._released.set()
            self._released = threading.Event()
        if self._http is None:
            self._listen()

    def hold(self, *, after: int = 0) -> None:
        """Let requests wait until `release`, but for the next `after`; then answer them."""
        self._passing = after
        self._gate.clear()

    def release(self) -> None:
        """Answer what waits."""
        self._gate.set()

    def answer(self, handler: "Answering", request: RequestT) -> None:
        """Answer one request; called from its thread."""
        with self._lock:
            self.requests.append(request)
            self._lock.notify_all()
            released = self._released
            fault = self._next_fault()
            self._passing -= 1
            waits = self._passing < 0
        if waits:
            self._gate.wait()
        fault = self.choose_fault(request, fault)
        if fault is Fault.HANG:
            released.wait()
        elif fault and (status := self.find_status(fault)):
            handler.send(status, self.write_error(request, fault), self.retry_after)
        else:
            body = _write_other(fault) or self.write_body(request, fault)
            self._send_body(handler, body, fault, released)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._gate.set()
        self._stop()

    def _next_fault(self) -> AnyFault | None:
        if self._good:
            self._good -= 1
            return None
        fault = self._fault
        if self._times is not None:
            self._times -= 1
            if self._times <= 0:
                self._fault, self._times = None, None
        return fault

    def _send_body(
        self, handler: "Answering", body: bytes, fault: AnyFault | None, released: threading.Event
    ) -> None:
        if fault is Fault.TRUNCATED:
            handler.send(200, body[: len(body) // 2], length=len(body))
        elif fault is Fault.DRIP:
            handler.send(200, b"", length=len(body))
            for byte in body:
                if released.wait(0.02):
                    return
                handler.wfile.write(bytes([byte]))
        elif fault is Fault.HEADERS:
            handler.send(200, body, headers=720)
        elif fault is Fault.PACKED:
            handler.send(200, gzip.compress(body), packed=True)
        elif fault is Fault.ENDLESS:
            handler.send(200, body[:-1] + b" " * 3_000_000 + body[-1:])
        else:
            handler.send(200, body)

    def _listen(self) -> None:
        self._http = _Http(self._port, self)
        self._port = self._http.server_port

    def _stop(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            http.stop()


def _write_other(fault: AnyFault | None) -> bytes | None:
    if fault is Fault.BAD_JSON:
        return b"<html>Bad gateway</html>"
    return b"[1, 2, 3]" if fault is Fault.OTHER_JSON else None


class Answering(Protocol):
    """What a provider answers through."""

    wfile: Any

    def send(
        self,
        status: int,
        body: bytes,
        retry_after: str | None = None,
        length: int | None = None,
        *,
        packed: bool = False,
        headers: int = 0,
    ) -> None: ...


class _Http(ThreadingHTTPServer):
    daemon_threads = False  # joined at the close, so that no thread or socket outlives a test
    request_queue_size = 128

    def __init__(self, port: int, owner: ProviderServer[Any]) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.owner = owner
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    """HTTP/1.0: no kept connection goes on being served after the server is down."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        owner = cast("_Http", self.server).owner
        request = owner.read_request(self.path, body, self.headers.get("authorization"))
        try:
            if request is not None:
                owner.answer(self, request)
            else:
                self.send(404, b"404 page not found")
        except ConnectionError:
            self.close_connection = True

    def send(
        self,
        status: int,
        body: bytes,
        retry_after: str | None = None,
        length: int | None = None,
        *,
        packed: bool = False,
        headers: int = 0,
    ) -> None:
        """Send a whole answer; `length` is what Content-Length claims, if not the truth.

        `headers` are that many more headers of 1 kB.
        """
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body) if length is None else length))
        if packed:
            self.send_header("content-encoding", "gzip")
        if status == STATUS[Fault.ELSEWHERE]:
            self.send_header("location", self.path)  # to itself: followed, it would never end
        if retry_after is not None:
            self.send_header("retry-after", retry_after)
        for number in range(headers):
            self.send_header(f"x-{number}", "x" * 1000)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: stderr belongs to the test."""
