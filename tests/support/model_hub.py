"""A model hub for tests: real HTTP on loopback, with MiniLM, as huggingface_hub asks for it.

with ModelHub() as hub:
    environment = hub.name_it(cache)
    hub.cut(1_000_000)   # each connection ends after so many bytes of the model
    hub.hold(1_000_000)  # and here it stays open, but nothing more comes
    hub.heal()
"""

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.minilm import FILES, find_file

REPOSITORY = "Qdrant/all-MiniLM-L6-v2-onnx"
MODEL = "sentence-transformers/all-MiniLM-L6-v2"
NAME = f"fastembed:{MODEL}"
_REVISION = "5f1b8cd78bc4fb444dd171e59b18f3a3af89a079"
_MODEL_FILE = "model.onnx"


def read_files() -> dict[str, bytes]:
    """The files of the model by their names at the hub."""
    return {"config.json": b"{}"} | {name: find_file(name).read_bytes() for name in FILES}


def name_hub(url: str, cache: Path) -> dict[str, str]:
    """The environment of a process that uses the hub at `url`, and nothing of this machine's."""
    return {
        "HF_ENDPOINT": url, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1",
        "HF_HOME": str(cache / "hub"), "FASTEMBED_CACHE_PATH": str(cache / "models"),
    }  # fmt: skip


class ModelHub:
    """A hub on 127.0.0.1, which has one model. `asked` are the paths that were asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.files = read_files()
        self.limit: int | None = None  # bytes of the model that are sent
        self.released = threading.Event()
        self.released.set()
        self._http = _Http(self)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def name_it(self, cache: Path) -> dict[str, str]:
        """The environment of a process that uses this hub."""
        return name_hub(self.url, cache)

    def cut(self, size: int) -> None:
        """Let connections end after `size` bytes of the model."""
        self.limit = size

    def hold(self, size: int) -> None:
        """Send `size` bytes of the model, and the others after `heal`."""
        self.limit = size
        self.released.clear()

    def heal(self) -> None:
        self.limit = None
        self.released.set()

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.heal()
        self._http.shutdown()
        self._http.server_close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, hub: ModelHub) -> None:
        self.hub = hub
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that waited too long has closed its connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        hub, path = self.server.hub, self.path.partition("?")[0]
        hub.asked.append(path)
        if path.startswith(f"/api/models/{REPOSITORY}/tree/"):
            tree = [
                {"type": "file", "path": name, "size": len(body), "oid": _name_blob(body)}
                for name, body in hub.files.items()
            ]
            self._send_json(tree)
        elif path.startswith(f"/api/models/{REPOSITORY}"):
            siblings = [{"rfilename": name} for name in hub.files]
            self._send_json({"id": REPOSITORY, "sha": _REVISION, "siblings": siblings})
        elif (name := path.rpartition("/")[2]) in hub.files and "/resolve/" in path:
            self._send_file(name, hub.files[name])
        else:
            self._send(404, b"", {})

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send_json(self, content: object) -> None:
        self._send(200, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _send_file(self, name: str, body: bytes) -> None:
        headers = {"ETag": f'"{_name_blob(body)}"', "X-Repo-Commit": _REVISION}
        first = re.fullmatch(r"bytes=([0-9]+)-", self.headers.get("Range", ""))
        start = int(first[1]) if first else 0
        if first:
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        limit = self.server.hub.limit if name == _MODEL_FILE else None
        self._send(206 if first else 200, body[start:], headers, limit=limit, start=start)

    def _send(
        self,
        status: int,
        body: bytes,
        headers: dict[str, str],
        *,
        limit: int | None = None,
        start: int = 0,
    ) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        sent = len(body) if limit is None else max(0, limit - start)
        self.wfile.write(body[:sent])
        if sent < len(body):
            self.wfile.flush()
            if self.server.hub.released.is_set():
                self.close_connection = True
                return
            self.server.hub.released.wait(120)
            self.wfile.write(body[sent:])

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _name_blob(body: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()  # noqa: S324 - as git does
