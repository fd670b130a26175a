"""OpenAI's APIs: chat completions and responses."""

import itertools
import json

from tests.clients.script import Call, Json, Move, Turn, read_list, write_content

Events = list[tuple[str, Json]]
"""Names and data of a stream of server-sent events; an empty name is left out."""

_numbers = itertools.count()


def read_chat(body: Json) -> Turn:
    """Read a request to /chat/completions."""
    offered: list[Json] = [tool.get("function", tool) for tool in read_list(body.get("tools"))]
    answers = [message for message in read_list(body["messages"]) if message["role"] == "tool"]
    return Turn(
        {tool["name"]: tool.get("parameters", {}) for tool in offered},
        {answer["tool_call_id"]: write_content(answer["content"]) for answer in answers},
        body,
    )


def write_chat(move: Move) -> Json:
    """Return an answer of /chat/completions, whole."""
    message: Json = {"role": "assistant", "content": None}
    if isinstance(move, Call):
        message["tool_calls"] = [_write_call(move)]
    else:
        message["content"] = move
    reason = "tool_calls" if isinstance(move, Call) else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {**_write_chat_head("chat.completion"), "choices": [choice], "usage": usage}


def stream_chat(move: Move) -> Events:
    """Return the same in pieces."""
    whole = write_chat(move)
    [choice] = whole["choices"]
    delta = dict(choice["message"])
    if isinstance(move, Call):
        delta["tool_calls"] = [{"index": 0, **call} for call in delta["tool_calls"]]
    head = _write_chat_head("chat.completion.chunk")
    pieces: list[Json] = [
        {"index": 0, "delta": delta, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]},
    ]
    events: Events = [("", {**head, "choices": [piece]}) for piece in pieces]
    return [*events, ("", {**head, "choices": [], "usage": whole["usage"]})]


def _write_chat_head(kind: str) -> Json:
    known = f"chatcmpl-{next(_numbers)}"
    return {"id": known, "object": kind, "created": 1, "model": "stand-in"}


def _write_call(call: Call) -> Json:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def read_responses(body: Json) -> Turn:
    """Read a request to /responses; a program may put its tools into namespaces."""
    tools = dict[str, Json]()
    for tool in read_list(body.get("tools")):
        name: str = tool.get("name", tool["type"])  # some tools are the API's own
        if tool["type"] == "namespace":
            for inner in read_list(tool["tools"]):
                tools[f"{name}{SEPARATOR}{inner['name']}"] = inner.get("parameters", {})
        else:
            tools[name] = tool.get("parameters", {})
    items = read_list(body["input"])
    answers = [item for item in items if item.get("type", "").endswith("_output")]
    results = {answer["call_id"]: write_content(answer["output"]) for answer in answers}
    return Turn(tools, results, body)


SEPARATOR = "::"
"""Between a namespace and a tool of it."""


def write_responses(move: Move) -> Json:
    """Return an answer of /responses, whole."""
    if isinstance(move, Call):
        space, _, name = move.name.rpartition(SEPARATOR)
        item: Json = {
            "type": "function_call", "id": f"fc_{next(_numbers)}", "call_id": move.id,
            "name": name, "arguments": json.dumps(move.arguments), "status": "completed",
        }  # fmt: skip
        if space:
            item["namespace"] = space
    else:
        text: Json = {"type": "output_text", "text": move, "annotations": []}
        item = {
            "type": "message", "id": f"msg_{next(_numbers)}", "role": "assistant",
            "status": "completed", "content": [text],
        }  # fmt: skip
    usage = {
        "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    return {
        "id": f"resp_{next(_numbers)}", "object": "response", "created_at": 1, "model": "stand-in",
        "status": "completed", "output": [item], "usage": usage, "parallel_tool_calls": False,
        "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {},
    }  # fmt: skip


def stream_responses(move: Move) -> Events:
    """Return the same in pieces."""
    whole = write_responses(move)
    [item] = whole["output"]
    begun: Json = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": _begin(item)},
        *_write_deltas(item),
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return [
        (event["type"], {**event, "sequence_number": number}) for number, event in enumerate(events)
    ]


def _begin(item: Json) -> Json:
    empty: Json = {"arguments": ""} if item["type"] == "function_call" else {"content": []}
    return {**item, **empty, "status": "in_progress"}


def _write_deltas(item: Json) -> list[Json]:
    at = {"item_id": item["id"], "output_index": 0}
    if item["type"] == "function_call":
        kind, text = "response.function_call_arguments", item["arguments"]
        return [
            {"type": f"{kind}.delta", **at, "delta": text},
            {"type": f"{kind}.done", **at, "arguments": text, "name": item["name"]},
        ]
    [part] = item["content"]
    at = {**at, "content_index": 0}
    return [
        {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **at, "delta": part["text"], "logprobs": []},
        {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []},
        {"type": "response.content_part.done", **at, "part": part},
    ]
