"""Servers in processes of their own, and raw lines and requests to them."""

import itertools
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp.types import Tool

from tests.fuzzing.answers import PATIENCE, Answer, read_strictly
from tests.fuzzing.calls import Call
from tests.fuzzing.exploring import Channel
from tests.fuzzing.frames import Frame

LOG = "servers.log"  # in the folder that servers run in
MODERN, LEGACY = "2026-07-28", "2025-11-25"
_ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_HOPELESS = 30.0
_TOO_LARGE = 413  # as HTTP says it, in plain text
_REFUSED = (-32700, -32600)
_CODES = (*_REFUSED, -32601, -32602, -32020, -32021, -32022)  # the protocol's own


def _write_call(call: Call, number: int, era: str) -> bytes:
    params: dict[str, Any] = {"name": call.tool, "arguments": call.arguments}
    return json.dumps(_write("tools/call", params, number, era)).encode()


def _write(method: str, params: dict[str, Any], number: int, era: str) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    }
    content = {**params, "_meta": meta} if era == MODERN else params
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": content}


def _hello() -> dict[str, Any]:
    client = {"name": "raw", "version": "1"}
    content = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}
    return _write("initialize", content, 0, LEGACY)


def _read_tools(message: Mapping[str, Any]) -> dict[str, Tool]:
    tools = [Tool.model_validate(tool) for tool in message["result"]["tools"]]
    return {tool.name: tool for tool in tools}


class Pipe:
    """A server over stdio; `era` is the protocol's version."""

    def __init__(self, environment: Mapping[str, str], folder: Path, era: str) -> None:
        self.era = era
        self.numbers = itertools.count(1)
        self._log = (folder / LOG).open("ab")
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "textrawl"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=dict(environment),
            cwd=folder,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._earlier: list[Any] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        if era == LEGACY:
            self.say(json.dumps(_hello()).encode())
            self.hear()
            self.say(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def _listen(self) -> None:
        assert self.popen.stdout is not None
        for line in self.popen.stdout:
            self._lines.put(line)

    def say(self, line: bytes) -> None:
        """Sends one line."""
        assert self.popen.stdin is not None
        self.popen.stdin.write(line + b"\n")
        self.popen.stdin.flush()

    def hear(self, patience: float = _HOPELESS) -> bytes:
        """The next line. Raises queue.Empty when none comes."""
        return self._lines.get(timeout=patience)

    def open_channel(self) -> Channel:
        """What sends calls."""
        self.say(json.dumps(_write("tools/list", {}, 0, self.era)).encode())
        return Channel(self.call, _read_tools(json.loads(self.hear())))

    def call(self, call: Call) -> Answer:
        """What a call is answered."""
        number, began = next(self.numbers), time.perf_counter()
        self.say(_write_call(call, number, self.era))
        while True:
            try:
                raw = self.hear().decode()
            except queue.Empty:
                return Answer(PATIENCE * 100, error={"code": None, "message": "no answer"})
            message = json.loads(raw)
            if "method" not in message and message.get("id") in (number, None):
                taken = time.perf_counter() - began
                return Answer(taken, message.get("result"), message.get("error"), raw)

    def find_faults(self, frame: Frame) -> list[str]:
        """What is wrong with what a line is answered, and a sound one after it."""
        mark = f"ping {next(self.numbers)}"
        self.say(frame.line)
        ping = _write("tools/list" if self.era == MODERN else "ping", {}, 0, self.era) | {
            "id": mark
        }
        self.say(json.dumps(ping).encode())
        answers: list[dict[str, Any]] = []
        known = False
        while not known or (frame.fate in ("answered", "refused") and not answers):
            try:
                message = read_strictly(self.hear(PATIENCE).decode())
            except queue.Empty:
                return ["no answer" if known else "no answer to the sound line after it"]
            except ValueError:
                return ["invalid JSON"]
            if message.get("id") == mark:
                known = True
            elif "method" not in message and not self._is_late(frame, message):
                answers.append(message)
        self._earlier.append(frame.id)
        return [fault for message in answers for fault in _judge_answer(frame, message)]

    def _is_late(self, frame: Frame, message: Mapping[str, Any]) -> bool:
        """Whether it answers an earlier line, whose answer nobody waited for."""
        identity = message.get("id")
        return identity is not None and identity != frame.id and identity in self._earlier

    def close(self) -> int:
        """The exit code, once it was told that nothing more will come."""
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        self.popen.stdin.close()
        code = self.popen.wait(_HOPELESS)
        self._listener.join()
        self.popen.stdout.close()
        self._log.close()
        return code


def _judge_answer(frame: Frame, message: Mapping[str, Any]) -> list[str]:
    code = message.get("error", {}).get("code")
    if message.get("jsonrpc") != "2.0" or ("error" in message) == ("result" in message):
        return ["not an answer of JSON-RPC"]
    if "error" in message and code not in _CODES:
        return [f"an error {code}"]  # such as -32603, which would be a defect
    if frame.fate == "ignored" and code != _REFUSED[0]:  # which a deep one gets
        return ["a notification answered"]
    if frame.fate == "refused" and code not in _REFUSED:
        return [f"a bad line answered with {code}"]
    if frame.fate == "answered" and message.get("id") != frame.id and code not in _REFUSED:
        return ["an answer to somebody else"]
    return []


class Web:
    """A server over HTTP, where `token` may do everything."""

    def __init__(self, root: str, token: str, era: str) -> None:
        self.era = era
        self.numbers = itertools.count(1)
        self._url = f"{root}/mcp"
        self._headers = {**_ACCEPT, "authorization": f"Bearer {token}"}
        self._http = httpx2.Client(timeout=_HOPELESS)
        if era == LEGACY:
            response = self._post(json.dumps(_hello()).encode(), {})
            self._headers["mcp-session-id"] = response.headers["mcp-session-id"]
            self._headers["mcp-protocol-version"] = LEGACY
            self._post(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', {})
        else:
            self._headers["mcp-protocol-version"] = MODERN

    def _post(self, body: bytes, more: dict[str, str]) -> httpx2.Response:
        return self._http.post(self._url, content=body, headers=self._headers | more)

    def _head(self, method: str, name: str = "") -> dict[str, str]:
        if self.era == LEGACY:
            return {}
        return {"mcp-method": method} | ({"mcp-name": name} if name else {})

    def open_channel(self) -> Channel:
        """What sends calls."""
        body = json.dumps(_write("tools/list", {}, 0, self.era)).encode()
        listed = read_body(self._post(body, self._head("tools/list")))
        return Channel(self.call, _read_tools(json.loads(listed)))

    def call(self, call: Call) -> Answer:
        """What a call is answered."""
        began = time.perf_counter()
        body = _write_call(call, next(self.numbers), self.era)
        try:
            response = self._post(body, self._head("tools/call", call.tool))
        except httpx2.TimeoutException:
            return Answer(PATIENCE * 100, error={"code": None, "message": "no answer"})
        raw, taken = read_body(response), time.perf_counter() - began
        if not raw.startswith("{"):
            return Answer(taken, None, {"message": raw[:80]}, None, response.status_code)
        message = json.loads(raw)
        return Answer(taken, message.get("result"), message.get("error"), raw, response.status_code)

    def find_faults(self, frame: Frame) -> list[str]:
        """What is wrong with what a body is answered."""
        try:
            response = self._post(frame.line, self._head("tools/call", "query_memory"))
        except httpx2.TimeoutException:
            return ["no answer"]
        raw = read_body(response)
        faults = [f"status {response.status_code}"] if response.status_code >= 500 else []
        if not raw or response.status_code == _TOO_LARGE:
            return faults
        try:
            message = read_strictly(raw)
        except ValueError:
            return [*faults, "invalid JSON"]
        if isinstance(message.get("error"), str):
            return faults  # not of JSON-RPC: a guard's
        # Headers tell of another call than some of the bodies, and NaN is read as a number.
        loose = self.era == MODERN or frame.fate == "refused"
        return faults + _judge_answer(Frame(frame.line, "open") if loose else frame, message)

    def close(self) -> None:
        """Hangs up."""
        self._http.close()


def read_body(response: httpx2.Response) -> str:
    """The message in a response, whether it is a stream or not."""
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        return response.text
    data = [line[6:] for line in response.text.splitlines() if line.startswith("data: {")]
    return data[-1] if data else ""


@contextmanager
def serve(environment: Mapping[str, str], port: int, folder: Path) -> Generator[str]:
    """The root of a server over HTTP, in a process of its own."""
    command = [sys.executable, "-m", "textrawl", "serve", "--http", "--port", str(port)]
    with (
        (folder / LOG).open("ab") as log,
        subprocess.Popen(command, stderr=log, env=dict(environment), cwd=folder) as server,
    ):
        root = f"http://127.0.0.1:{port}"
        try:
            _wait_for(f"{root}/healthz")
            yield root
        finally:
            server.terminate()


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + _HOPELESS
    while True:
        try:
            httpx2.get(url)
        except httpx2.TransportError:
            if time.monotonic() > deadline:
                raise
        else:
            return
