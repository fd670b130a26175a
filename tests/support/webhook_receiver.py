"""A receiver of webhooks: a real HTTP server on loopback, in this process or in one of its own.

    python -m tests.support.webhook_receiver PORT FILE

writes the `webhook-id` of each message that it accepts as a line of the file.
"""

import os
import ssl
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True)
class Message:
    """What was posted."""

    path: str
    headers: dict[str, str]
    body: bytes


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    receiver: "WebhookReceiver"

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        status = self.receiver.take(Message(self.path, headers, self.rfile.read(size)))
        self.send_response(status)
        for name, value in {"content-length": "0", **self.receiver.more}.items():
            self.send_header(name, value)
        self.end_headers()

    do_GET = do_POST  # noqa: N815 - the name is given by http.server

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""


class WebhookReceiver:
    """Accepts messages, or answers with `status`. `messages` holds all, `accepted` those kept."""

    def __init__(self, port: int = 0, context: ssl.SSLContext | None = None) -> None:
        self.status = 204
        self.more = dict[str, str]()  # headers of the answer
        self.messages: list[Message] = []
        self.accepted: list[Message] = []
        self.keep: Callable[[Message], Any] = self.accepted.append
        self._changed = threading.Condition()
        handler = type("Handler", (_Handler,), {"receiver": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_address[1]
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}/memory"

    def take(self, message: Message) -> int:
        """Keep a message if it is accepted, and return the status of the answer."""
        with self._changed:
            self.messages.append(message)
            if self.status < 300:
                self.keep(message)
            self._changed.notify_all()
            return self.status

    def wait(self, condition: Callable[[Self], bool], seconds: float = 30) -> None:
        """Wait until a condition holds after a message."""
        with self._changed:
            assert self._changed.wait_for(lambda: condition(self), seconds), len(self.messages)

    def serve(self) -> None:
        """Answer until the process ends."""
        self._server.serve_forever()

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def main() -> None:
    """Receive messages until somebody kills this process."""
    file = os.open(Path(sys.argv[2]), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    receiver = WebhookReceiver(int(sys.argv[1]))
    receiver.keep = lambda message: os.write(file, message.headers["webhook-id"].encode() + b"\n")
    receiver.serve()


if __name__ == "__main__":
    main()
