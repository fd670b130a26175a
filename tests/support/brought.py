"""Files of people as other programs write them, made from the sets in `brought`, with questions.

The questions were written with the files, before their author had read how searches work.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_SETS = Path(__file__).parent / "brought"

Json = dict[str, Any]


def _read(kind: str) -> Json:
    return json.loads((_SETS / f"{kind}.json").read_text("utf-8"))


def list_questions(kind: str) -> list[tuple[str, str]]:
    """The questions of a set, each with words of its right answer."""
    return [(question, words) for question, words in _read(kind)["questions"]]


def _write_chats(folder: Path) -> Path:
    """Write an export of ChatGPT, in which the user and the assistant take turns."""
    written = list[Json]()
    for number, chat in enumerate(_read("chats")["conversations"]):
        begun = datetime.fromisoformat(f"{chat['day']}T18:00:00+00:00").timestamp()
        nodes: Json = {"n": {"id": "n", "message": None, "parent": None, "children": ["n0"]}}
        for place, text in enumerate(chat["turns"]):
            key, role = f"n{place}", ("user", "assistant")[place % 2]
            message = {
                "id": key,
                "author": {"role": role},
                "create_time": begun + 60 * place,
                "content": {"content_type": "text", "parts": [text]},
            }
            nodes[key] = {"id": key, "message": message, "parent": f"n{place - 1}", "children": []}
        nodes["n0"]["parent"] = "n"
        last = f"n{len(chat['turns']) - 1}"
        times = {"create_time": begun, "update_time": begun + 600}
        names = {"conversation_id": f"c{number}", "title": chat["title"], "current_node": last}
        written.append({**names, **times, "mapping": nodes})
    path = folder / "conversations.json"
    path.write_text(json.dumps(written), "utf-8")
    return path


def _write_vault(folder: Path) -> Path:
    """Write a vault of Obsidian."""
    (folder / "vault" / ".obsidian").mkdir(parents=True)
    for name, text in _read("vault")["files"].items():
        path = folder / "vault" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    return folder / "vault"


def _write_sessions(folder: Path) -> Path:
    """Write the transcripts of Claude Code, in which tools are called."""
    for number, session in enumerate(_read("sessions")["sessions"]):
        key, before = f"s{number}", None
        at = datetime.fromisoformat(f"{session['day']}T09:00:00").replace(tzinfo=UTC)
        lines = list[str]()
        for role, *values in session["turns"]:
            for kind, content in _write_turn(role, values):
                name = f"{key}u{len(lines)}"
                at += timedelta(seconds=40)
                place = {"uuid": name, "parentUuid": before, "sessionId": key}
                common = {"cwd": session["folder"], "isSidechain": False, "version": "2.1.330"}
                line = {"type": kind, "message": {"role": kind, "content": content}}
                lines.append(json.dumps({**line, **place, **common, "timestamp": at.isoformat()}))
                before = name
        path = folder / "projects" / session["folder"].replace("/", "-") / f"{key}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", "utf-8")
    return folder / "projects"


def _write_turn(role: str, values: list[Any]) -> list[tuple[str, Any]]:
    if role == "tool":
        tool, given, output = values
        use = {"type": "tool_use", "id": "t", "name": tool, "input": given}
        return [
            ("assistant", [use]),
            ("user", [{"type": "tool_result", "tool_use_id": "t", "content": output}]),
        ]
    [text] = values
    return [(role, text if role == "user" else [{"type": "text", "text": text}])]


KINDS: dict[str, Callable[[Path], Path]] = {
    "chats": _write_chats,
    "vault": _write_vault,
    "sessions": _write_sessions,
}
"""The function that writes the files of each set into a folder, and returns their path."""
