"""Embedding providers for tests: real HTTP on loopback, with faults that can be switched.

    with EmbeddingServer(dimensions=256) as server:
        settings = read_settings(embedding_provider="openai", openai_base_url=server.openai_url)
        server.fail(Fault.HANG)
        server.heal()

One server speaks OpenAI's /v1/embeddings and Ollama's /api/embed. Vectors are sums of vectors
of a text's words, so texts that share words are similar, here and on every machine.
"""

import gzip
import hashlib
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray


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
    BAD_JSON = "text that is no JSON"
    OTHER_JSON = "JSON that holds no embeddings"
    TEXTS = "numbers in quotes"
    TRUTHS = "true in place of a number"
    ENDLESS = "a body that is far too long"
    PACKED = "a compressed body, whatever was asked for"
    ELSEWHERE = "a redirect to another address"
    TRUNCATED = "the connection ends in the middle of the body"


_STATUS = {
    Fault.RATE_LIMITED: 429,
    Fault.FAILING: 500,
    Fault.KEY_REFUSED: 401,
    Fault.MODEL_MISSING: 404,
    Fault.TEXT_REFUSED: 400,
    Fault.TEAPOT: 418,
    Fault.ELSEWHERE: 307,
}

Rows = list[list[Any]]


_ROWS: dict[Fault, Callable[[Rows], Rows]] = {
    Fault.WRONG_DIMENSIONS: lambda rows: [row[: len(row) // 2] for row in rows],
    Fault.MIXED_DIMENSIONS: lambda rows: [*rows[:-1], rows[-1][:-1]],
    Fault.NO_DIMENSIONS: lambda rows: [[] for _ in rows],
    Fault.FEWER: lambda rows: rows[:-1],
    Fault.NAN: lambda rows: [*rows[:-1], [float("nan"), *rows[-1][1:]]],
    Fault.TEXTS: lambda rows: [*rows[:-1], [str(number) for number in rows[-1]]],
    Fault.TRUTHS: lambda rows: [*rows[:-1], [True, *rows[-1][1:]]],
    Fault.ZERO: lambda rows: [*rows[:-1], [0.0] * len(rows[-1])],
}


@dataclass(frozen=True)
class Request:
    """One request as the provider received it."""

    path: str
    model: str
    texts: tuple[str, ...]
    authorization: str | None


def embed_words(text: str, dimensions: int) -> list[float]:
    """The vector that the server gives a text: not of unit length, equal on every machine."""
    words = re.findall(r"\w+", text.lower()) or [text]
    total = np.sum([_embed_word(word, dimensions) for word in words], axis=0)
    return [float(number) for number in total]


@lru_cache(maxsize=50_000)
def _embed_word(word: str, dimensions: int) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
    return np.random.default_rng(seed).standard_normal(dimensions)


class Clock:
    """Seconds that pass only when a test says so, for `choose_embedder(clock=...)`."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class EmbeddingServer:
    """A provider on 127.0.0.1; a context manager. Its port stays the same while it is down.

    `requests` holds what was received, oldest first. `poison`: a batch with this word in one of
    its texts is answered with 400. `retry_after`: header sent with an error status. `index_of`:
    what OpenAI's answer says of the vector at a position. `embed` makes a vector of a text.
    """

    def __init__(
        self, *, dimensions: int = 256, embed: Callable[[str, int], list[float]] = embed_words
    ) -> None:
        self.dimensions = dimensions
        self._embed = embed
        self.requests: list[Request] = []
        self.retry_after: str | None = None
        self.poison: str | None = None
        self.index_of: Callable[[int], int] = lambda position: position
        self._fault: Fault | None = None
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

    @property
    def url(self) -> str:
        """What OLLAMA_BASE_URL is to be."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def openai_url(self) -> str:
        """What OPENAI_BASE_URL is to be."""
        return f"{self.url}/v1"

    @property
    def texts(self) -> list[str]:
        """Every text received, in order."""
        return [text for request in self.requests for text in request.texts]

    def wait_for_requests(self, count: int) -> None:
        """Block until `count` requests were received, ten seconds at most."""
        with self._lock:
            assert self._lock.wait_for(lambda: len(self.requests) >= count, timeout=10)

    def fail(self, fault: Fault, *, times: int | None = None, after: int = 0) -> None:
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

    def answer(self, handler: "_Handler", request: Request) -> None:
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
        if self.poison and any(self.poison in text for text in request.texts):
            fault = Fault.TEXT_REFUSED
        if fault is Fault.HANG:
            released.wait()
        elif fault and fault in _STATUS:
            handler.send(_STATUS[fault], b'{"error": {"message": "no"}}', self.retry_after)
        else:
            self._send_body(handler, self._write_body(request, fault), fault, released)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._released.set()
        self._gate.set()
        self._stop()

    def _next_fault(self) -> Fault | None:
        if self._good:
            self._good -= 1
            return None
        fault = self._fault
        if self._times is not None:
            self._times -= 1
            if self._times <= 0:
                self._fault, self._times = None, None
        return fault

    def _write_body(self, request: Request, fault: Fault | None) -> bytes:
        if fault is Fault.BAD_JSON:
            return b"<html>Bad gateway</html>"
        if fault is Fault.OTHER_JSON:
            return b"[1, 2, 3]"
        rows = [self._embed(text, self.dimensions) for text in request.texts]
        if fault and fault in _ROWS:
            rows = _ROWS[fault](rows)
        if request.path == "/api/embed":
            return json.dumps({"model": request.model, "embeddings": rows}).encode()
        return json.dumps(self._write_openai(request.model, rows)).encode()

    def _write_openai(self, model: str, rows: Rows) -> dict[str, Any]:
        data = [
            {"object": "embedding", "index": self.index_of(position), "embedding": row}
            for position, row in enumerate(rows)
        ]
        return {"object": "list", "data": data, "model": model, "usage": {"total_tokens": 1}}

    def _send_body(
        self, handler: "_Handler", body: bytes, fault: Fault | None, released: threading.Event
    ) -> None:
        if fault is Fault.TRUNCATED:
            handler.send(200, body[: len(body) // 2], length=len(body))
        elif fault is Fault.DRIP:
            handler.send(200, b"", length=len(body))
            for byte in body:
                if released.wait(0.02):
                    return
                handler.wfile.write(bytes([byte]))
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


class _Http(ThreadingHTTPServer):
    daemon_threads = False  # joined at the close, so that no thread or socket outlives a test
    request_queue_size = 128

    def __init__(self, port: int, owner: EmbeddingServer) -> None:
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
        key = self.headers.get("authorization")
        request = Request(self.path, body["model"], tuple(body["input"]), key)
        try:
            if self.path in ("/v1/embeddings", "/api/embed"):
                cast("_Http", self.server).owner.answer(self, request)
            else:
                self.send(404, b"404 page not found")
        except ConnectionError:
            self.close_connection = True

    def send(
        self, status: int, body: bytes, retry_after: str | None = None, length: int | None = None,
        *, packed: bool = False,
    ) -> None:  # fmt: skip
        """Send a whole answer; `length` is what Content-Length claims, if not the truth."""
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body) if length is None else length))
        if packed:
            self.send_header("content-encoding", "gzip")
        if status == _STATUS[Fault.ELSEWHERE]:
            self.send_header("location", self.path)  # to itself: followed, it would never end
        if retry_after is not None:
            self.send_header("retry-after", retry_after)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: stderr belongs to the test."""
