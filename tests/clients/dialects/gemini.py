"""Gemini's API: generateContent and streamGenerateContent."""

import json

from tests.clients.dialects.openai import Events
from tests.clients.script import SCRIPT, Call, Json, Move, Turn, read_list


def read_contents(body: Json) -> Turn:
    """Read a request to :generateContent or :streamGenerateContent.

    Answers have no ids that a program has to keep: they are those of the script's steps in order.
    """
    offered = [
        tool
        for entry in read_list(body.get("tools"))
        for tool in read_list(entry.get("functionDeclarations"))
    ]
    tools: dict[str, Json] = {
        tool["name"]: tool.get("parametersJsonSchema", tool.get("parameters", {}))
        for tool in offered
    }
    parts = [
        part for content in read_list(body["contents"]) for part in read_list(content.get("parts"))
    ]
    answers = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    steps = [step.name for step in SCRIPT][: len(answers)]
    texts = [json.dumps(answer, ensure_ascii=False) for answer in answers]
    return Turn(tools, dict(zip(steps, texts, strict=True)), body)


def write_contents(move: Move) -> Json:
    """Return an answer, whole."""
    part: Json = {"text": move}
    if isinstance(move, Call):
        part = {"functionCall": {"id": move.id, "name": move.name, "args": move.arguments}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stand-in"}


def stream_contents(move: Move) -> Events:
    """Return the same as a stream of one piece."""
    return [("", write_contents(move))]
