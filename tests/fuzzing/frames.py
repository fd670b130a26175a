"""Frames of JSON-RPC: sound ones, and ones that no client would write."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

from hypothesis import strategies as st

from tests.fuzzing.hostile import ANY_TEXT, NUMBERS, SHAPES

Parts = dict[str, Any]
Fate = Literal["answered", "refused", "ignored", "open"]

_METHODS = [
    "ping", "tools/list", "tools/call", "resources/list", "resources/read", "prompts/get",
    "completion/complete", "logging/setLevel", "sampling/createMessage", "rpc.discover", "tools/",
    "notifications/cancelled", "notifications/progress", "tools/CALL", "", "\u202etools/list",
    "server/discover", "subscriptions/listen", "x" * 10_000,
]  # fmt: skip
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
}


_LARGE, _LONG_ID = 900_000, 19  # bytes of a line, characters of an id, from which all is open


@dataclass(frozen=True)
class Frame:
    """A line, and what a server owes to it."""

    line: bytes
    fate: Fate
    id: Any = None


@st.composite
def build_frames(draw: st.DrawFn, number: st.SearchStrategy[int]) -> Frame:
    """Lines of whatever kind; requests among them have the ids that `number` gives."""
    message: Any = {
        "jsonrpc": "2.0", "id": draw(number), "method": draw(st.sampled_from(_METHODS[:3])),
        "params": {"name": "query_memory", "arguments": {"mode": "list"}},
    }  # fmt: skip
    if draw(st.booleans()):
        message["params"]["_meta"] = dict(_META)
    for _ in range(draw(st.sampled_from([0, 1, 1, 2]))):
        if isinstance(message, dict):
            parts = cast("Parts", message)
            message = draw(st.sampled_from(_BENDS))(draw, parts)
    line = json.dumps(message, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 3)) == 0:
        line = draw(st.sampled_from(_BREAKS))(line)
    return judge_frame(line)


def _bend_part(draw: st.DrawFn, message: Parts) -> Any:
    key = draw(st.sampled_from(["jsonrpc", "id", "method", "params"]))
    values = SHAPES | NUMBERS if key == "id" else SHAPES
    chosen = st.sampled_from(_METHODS) | values if key == "method" else values
    return {**message, key: draw(chosen)}


def _bend_params(draw: st.DrawFn, message: Parts) -> Any:
    if not isinstance(message.get("params"), dict):
        return message
    key = draw(st.sampled_from(["name", "arguments", "_meta", "cursor", "task", "uri"]))
    return {**message, "params": {**message["params"], key: draw(SHAPES)}}


def _drop_part(draw: st.DrawFn, message: Parts) -> Any:
    gone = draw(st.sampled_from(["jsonrpc", "id", "method", "params"]))
    return {key: value for key, value in message.items() if key != gone}


def _add_part(draw: st.DrawFn, message: Parts) -> Any:
    key = draw(st.sampled_from(["result", "error", "extra", "ID", ""]) | ANY_TEXT)
    return {**message, key: draw(SHAPES)}


def _gather(draw: st.DrawFn, message: Parts) -> Any:
    return [message] * draw(st.integers(0, 3))


_BENDS = (_bend_part, _bend_part, _bend_params, _bend_params, _drop_part, _add_part, _gather)
_BREAKS: tuple[Callable[[bytes], bytes], ...] = (
    lambda line: line[: len(line) // 2],
    lambda line: line[:-1],
    lambda line: line + line,
    lambda line: b"\xef\xbb\xbf" + line,
    lambda line: line + b",",
    lambda line: line.replace(b'"', b"'"),
    lambda line: line.replace(b"e", b"\xff", 1),
    lambda line: line.replace(b'"jsonrpc"', b'"jsonrpc": "1.0", "jsonrpc"', 1),
    lambda line: line.replace(b'"id"', b'"id": [], "id"', 1),
    lambda line: b"\x00" + line,
    lambda line: line[:1] + b"\x07" + line[1:],
    lambda line: b"// " + line,
)


def judge_frame(line: bytes) -> Frame:
    """What JSON-RPC owes to a line, as Python's own parser reads it."""
    try:
        message = json.loads(line.decode(), parse_constant=_refuse)
        json.dumps(message, ensure_ascii=False).encode()  # no half characters
    except (ValueError, RecursionError):
        # A refusal names the id wherever it can be read.
        readable = re.search(rb'"id": ?(\d+)', line)
        return Frame(line, "refused", int(readable[1]) if readable else None)
    if not isinstance(message, dict):
        return Frame(line, "refused")
    fate = _judge_message(cast("dict[str, Any]", message), len(line))
    return Frame(line, fate, cast("Any", message.get("id")))  # pyright: ignore[reportUnknownMemberType]


def _judge_message(parts: dict[str, Any], size: int) -> Fate:
    sound = parts.get("jsonrpc") == "2.0" and isinstance(parts.get("params", {}), dict)
    if not sound or "result" in parts or "error" in parts or size > _LARGE:
        return "open"
    if not isinstance(parts.get("method"), str):
        return "refused"
    if "id" not in parts:
        return "ignored"
    plain = type(parts["id"]) in (int, str) and len(str(parts["id"])) < _LONG_ID
    return "answered" if plain else "open"


def _refuse(name: str) -> float:
    raise ValueError(name)
