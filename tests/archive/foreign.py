"""Made-up exports of other systems, in the forms that these write."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_chatgpt(file: Path, answers: Mapping[str, str]) -> None:
    """Write an export of ChatGPT with one conversation for each id."""
    conversations = list[dict[str, Any]]()
    for key, answer in answers.items():
        nodes = {
            "root": {"id": "root", "message": None, "parent": None, "children": ["q"]},
            "q": _write_node("q", "user", "What is served?", "root", ["a"]),
            "a": _write_node("a", "assistant", answer, "q", []),
        }
        conversations.append(
            {
                "title": f"Served {key}",
                "create_time": 1_700_000_000.5,
                "conversation_id": key,
                "current_node": "a",
                "mapping": nodes,
            }
        )
    file.write_text(json.dumps(conversations), encoding="utf-8")


def _write_node(key: str, role: str, text: str, parent: str, children: list[str]) -> dict[str, Any]:
    return {
        "id": key,
        "parent": parent,
        "children": children,
        "message": {
            "id": key,
            "author": {"role": role},
            "create_time": 1_700_000_000.5,
            "content": {"content_type": "text", "parts": [text]},
            "recipient": "all",
        },
    }
