"""A stand-in for the APIs of models: real HTTP on loopback that plays the script and records.

with StandIn() as model:
    ... a program whose model is at model.url ...
    model.turns
"""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

from tests.clients.dialects.anthropic import read_messages, stream_messages, write_messages
from tests.clients.dialects.gemini import read_contents, stream_contents, write_contents
from tests.clients.dialects.openai import (
    Events,
    read_chat,
    read_responses,
    stream_chat,
    stream_responses,
    write_chat,
    write_responses,
)
from tests.clients.script import SCRIPT, Json, Move, Step, Turn, choose_move


@dataclass(frozen=True)
class Dialect:
    """How an API asks and is answered."""

    read: Callable[[Json], Turn]
    write: Callable[[Move], Json]
    stream: Callable[[Move], Events]
    last: str = ""  # what a stream ends with


DIALECTS = {
    "/chat/completions": Dialect(read_chat, write_chat, stream_chat, "data: [DONE]\n\n"),
    "/responses": Dialect(read_responses, write_responses, stream_responses),
    "/messages": Dialect(read_messages, write_messages, stream_messages),
    ":generateContent": Dialect(read_contents, write_contents, stream_contents),
    ":streamGenerateContent": Dialect(read_contents, write_contents, stream_contents),
}
_OTHERS: dict[str, Json] = {
    "/count_tokens": {"input_tokens": 1},
    ":countTokens": {"totalTokens": 1},
    "/models": {"object": "list", "data": [{"id": "stand-in", "object": "model"}], "models": []},
}


class StandIn:
    """The stand-in; a context manager. `turns` are the requests to a model, oldest first."""

    def __init__(
        self,
        script: Sequence[Step] = SCRIPT,
        choose: Callable[[Turn, Sequence[Step]], Move] = choose_move,
    ) -> None:
        self.script = script
        self.choose = choose
        self.turns: list[Turn] = []
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def talk(self) -> list[Turn]:
        """The requests of the conversation itself: those that offer tools."""
        return [turn for turn in self.turns if turn.tools]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


class _Http(ThreadingHTTPServer):
    def __init__(self, owner: StandIn) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner


class _Handler(BaseHTTPRequestHandler):
    """HTTP/1.0: a stream ends with its connection."""

    @property
    def _owner(self) -> StandIn:
        return cast("_Http", self.server).owner

    def do_GET(self) -> None:
        self._send_other()

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        dialect = next((known for end, known in DIALECTS.items() if path.endswith(end)), None)
        if dialect is None:
            self._send_other()
            return
        body: Json = json.loads(raw)
        turn = _continue(dialect.read(body), self._owner.turns)
        self._owner.turns.append(turn)
        move = self._owner.choose(turn, self._owner.script)
        if body.get("stream") or ":stream" in path:
            self._send("text/event-stream", _write_events(dialect.stream(move)) + dialect.last)
        else:
            self._send("application/json", json.dumps(dialect.write(move)))

    def _send_other(self) -> None:
        path = self.path.partition("?")[0]
        for end, answer in _OTHERS.items():
            if path.endswith(end):
                self._send("application/json", json.dumps(answer))
                return
        self._send("application/json", "{}", 404)

    def _send(self, kind: str, body: str, status: int = 200) -> None:
        payload = body.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: stderr belongs to the test."""


def _continue(turn: Turn, turns: Sequence[Turn]) -> Turn:
    """Add the turn before to a turn of a thread of Anthropic's, whose request has only the rest."""
    if turn.body.get("thread", {}).get("type") != "continue":
        return turn
    tools, results = turns[-1].tools, turns[-1].results
    return replace(turn, tools={**tools, **turn.tools}, results={**results, **turn.results})


def _write_events(events: Events) -> str:
    return "".join(
        (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"
        for name, data in events
    )
