"""Anthropic's API: messages."""

import itertools
import json

from tests.clients.dialects.openai import Events
from tests.clients.script import Call, Json, Move, Turn, read_list, write_content

_numbers = itertools.count()
_PREFIX = "toolu_"  # of the id of a call


def read_messages(body: Json) -> Turn:
    """Read a request to /v1/messages."""
    tools = {tool["name"]: tool.get("input_schema", {}) for tool in read_list(body.get("tools"))}
    blocks = [
        block
        for message in read_list(body["messages"])
        for block in read_list(message["content"])
        if block["type"] == "tool_result"
    ]
    results = {
        block["tool_use_id"].removeprefix(_PREFIX): write_content(block.get("content", ""))
        for block in blocks
    }
    return Turn(tools, results, body)


def write_messages(move: Move) -> Json:
    """Return an answer of /v1/messages, whole."""
    if isinstance(move, Call):
        block: Json = {
            "type": "tool_use", "id": f"{_PREFIX}{move.id}", "name": move.name,
            "input": move.arguments,
        }  # fmt: skip
    else:
        block = {"type": "text", "text": move}
    return {
        "id": f"msg_{next(_numbers)}", "type": "message", "role": "assistant",
        "model": "stand-in", "content": [block], "stop_sequence": None,
        "stop_reason": "tool_use" if isinstance(move, Call) else "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


def stream_messages(move: Move) -> Events:
    """Return the same in pieces."""
    whole = write_messages(move)
    [block] = whole["content"]
    if isinstance(move, Call):
        begun: Json = {**block, "input": {}}
        delta: Json = {"type": "input_json_delta", "partial_json": json.dumps(move.arguments)}
    else:
        begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": move}
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events: list[Json] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return [(event["type"], event) for event in events]
