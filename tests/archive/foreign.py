"""Made-up exports of other systems, in the forms that these write, with their odd cases."""

import json
import sqlite3
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

Json = dict[str, Any]
_AT = "2026-03-01T10:00:0{}.000Z"


def write_chatgpt(file: Path, answers: Mapping[str, str]) -> None:
    """Write an export of ChatGPT with one short conversation for each id."""
    file.write_text(json.dumps([_answer(*one) for one in answers.items()]), encoding="utf-8")


def _answer(key: str, answer: str) -> Json:
    nodes = [
        {"id": "root", "message": None, "parent": None, "children": ["q"]},
        _node("q", "root", "user", "What is served?"),
        _node("a", "q", "assistant", answer),
    ]
    return _conversation(key, f"Served {key}", nodes, "a")


def _conversation(key: str, title: Any, nodes: Iterable[Json], leaf: str | None) -> Json:
    return {
        "title": title,
        "create_time": 1_700_000_000.5,
        "update_time": 1_700_000_100.5,
        "id": key,
        "conversation_id": key,
        "current_node": leaf,
        "mapping": {node["id"]: node for node in nodes},
    }


def _node(key: str, parent: str, role: str, *parts: Any, **more: Any) -> Json:
    kind = more.pop("content_type", "text")
    message: Json = {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": 1_700_000_000.5,
        "content": {"content_type": kind, "parts": list(parts)},
        "recipient": "all",
        "weight": 1.0,
        "metadata": {},
        **more,
    }
    return {"id": key, "parent": parent, "children": [], "message": message}


def _branch() -> list[Json]:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://1"}
    voice = {"content_type": "audio_transcription", "text": "said aloud"}
    hidden = {"is_visually_hidden_from_conversation": True}
    return [
        {"id": "root", "message": None, "parent": None, "children": ["s"]},
        _node("s", "root", "system", "You are helpful"),
        _node("h", "s", "user", "profile", metadata=hidden),
        _node("q1", "h", "user", "First wording"),
        _node("a1", "q1", "assistant", "First answer"),
        _node("q2", "h", "user", image, "Second wording", voice, content_type="multimodal_text"),
        _node("call", "q2", "assistant", "search()", recipient="browser"),
        _node("tool", "call", "tool", "result"),
        _node("code", "tool", "assistant", "print()", content_type="code"),
        _node("none", "code", "assistant", "", weight=0.0),
        _node("a2", "none", "assistant", "Second answer", create_time=None),
    ]


def write_odd_chatgpt(folder: Path) -> Path:
    """Write a zip with a conversation of many odd cases, one of 2023, a deleted one and a twin."""
    old = [
        {"id": "root", "message": None, "parent": None, "children": ["q"]},
        {**_node("q", "root", "user", "Of 2023"), "children": ["a"]},
        _node("a", "q", "assistant", "An old answer"),
    ]
    old_one = _conversation("old", None, old, None)
    del old_one["conversation_id"], old_one["current_node"]
    cycle = [_node("x", "y", "user", "round"), _node("y", "x", "assistant", "and round")]
    conversations = [
        _conversation("branchy", "Branches", _branch(), "a2"),
        old_one,
        _conversation("empty", "Deleted", [], None),
        _conversation("cycle", "Round", cycle, "y"),
        _answer("twin", "earlier"),
        _answer("twin", "later"),
        5,
    ]
    return _zip(folder / "chatgpt.zip", {"conversations.json": conversations, "user.json": {}})


def _zip(file: Path, members: Mapping[str, Any]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, value in members.items():
            opened.writestr(name, json.dumps(value))
    return file


def _say(key: str, sender: str, parent: str, content: list[Json], **more: Any) -> Json:
    return {
        "uuid": key,
        "sender": sender,
        "text": " ".join(one["text"] for one in content if one["type"] == "text"),
        "content": content,
        "created_at": "2025-01-02T03:04:05.678901Z",
        "parent_message_uuid": parent,
        "attachments": [],
        "files": [],
        **more,
    }


def _text(words: str) -> Json:
    return {"type": "text", "text": words}


def _shopping() -> Json:
    pasted = [{"file_name": "notes.txt", "extracted_content": "Buy tea", "file_size": 7}]
    answer: list[Json] = [
        {"type": "thinking", "thinking": "hm"},
        _text("Tea it is"),
        {"type": "tool_use", "name": "search", "input": {}},
        {"type": "tool_result", "content": [_text("found")]},
    ]
    messages = [
        _say("m1", "human", "root", [_text("Read this")], attachments=pasted),
        _say("m2", "assistant", "m1", [_text("An answer that was made again")]),
        _say("m3", "assistant", "m1", answer),
        _say("m4", "human", "m3", [], files=[{"file_name": "cup.png"}]),
    ]
    return {
        "uuid": "c1",
        "name": "Shopping",
        "created_at": "2025-01-02T03:04:05Z",
        "current_leaf_message_uuid": "m4",
        "chat_messages": messages,
    }


def write_claude(folder: Path) -> Path:
    """Write a zip of Claude with a branch, an attachment, a tool, a project and a memory."""
    said = [{"uuid": "o1", "sender": "human", "text": "Only text", "created_at": "2024-05-06"}]
    old = {"uuid": "c2", "name": "", "created_at": "2024-05-06T00:00:00Z", "chat_messages": said}
    document = {"uuid": "d1", "filename": "rules.md", "content": "No shoes", "created_at": "x"}
    project = {
        "uuid": "p1",
        "name": "House",
        "description": "All about the house",
        "prompt_template": "Be brief",
        "docs": [document],
    }
    memory: Json = {
        "account_uuid": "u",
        "conversations_memory": "Likes tea",
        "project_memories": {},
    }
    members: Json = {
        "conversations.json": [_shopping(), old, {"name": "no uuid", "chat_messages": []}],
        "projects.json": [project],
        "memories.json": [memory],
        "users.json": [],
    }
    return _zip(folder / "data-2026-batch-0000.zip", members)


def write_lines(file: Path, *lines: Json | str) -> Path:
    """Write a file of JSON Lines. A text is written as it is."""
    file.parent.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines]
    file.write_text("".join(texts), encoding="utf-8")
    return file


def _line(kind: str, key: str, parent: str | None, content: Any, **more: Any) -> Json:
    return {
        "type": kind,
        "uuid": key,
        "parentUuid": parent,
        "sessionId": "s1",
        "cwd": "/home/ada/tea",
        "timestamp": _AT.format(int(key[1:])),
        "isSidechain": False,
        "message": {"role": kind, "content": content},
        **more,
    }


def _brew() -> list[Json]:
    use = {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "tea.md"}}
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "the file"}]
    return [
        {"type": "queue-operation", "sessionId": "s1"},
        _line("user", "u1", None, "Brew te"),
        _line("assistant", "u2", "u1", [_text("A first try")]),
        _line("user", "u3", "u2", "An edited promt"),
        _line("assistant", "u4", "u3", [_text("Of no use")]),
        _line("user", "u5", "u2", "<system-reminder>Be good</system-reminder>Brew it"),
        _line("assistant", "u6", "u5", [{"type": "thinking", "thinking": "hm"}, use]),
        _line("user", "u7", "u6", result),
        _line("assistant", "u8", "u7", [_text("Done")]),
        _line("assistant", "u8", "u7", [_text("Done")]),
        _line("user", "u9", "u8", "Told to a sub-agent", isSidechain=True),
        _line("user", "u9", "u8", "/clear"),
        {"type": "api-request-blob", "message": {"role": "user", "content": "Brew it"}},
        {"type": "summary", "summary": "Brewing tea", "leafUuid": "u8"},
    ]


def write_claude_code(folder: Path) -> Path:
    """Write projects with a session, its copy, a sub-agent, and a session without its end."""
    place = folder / "projects" / "-home-ada-tea"
    model = {"type": "ai-title", "aiTitle": "Of a model", "sessionId": "s1"}
    write_lines(place / "s1.jsonl", *_brew(), model)
    write_lines(place / "s0.jsonl", *_brew()[:-1], _line("user", "v9", "u8", "And milk?"))
    write_lines(place / "agent-1.jsonl", _line("user", "u1", None, "Of a sub-agent"))
    cut = json.dumps(_line("user", "v2", "v1", "half a line"))[:-9]
    title = {"type": "ai-title", "aiTitle": "A second tea", "sessionId": "s2"}
    write_lines(place / "s2.jsonl", _line("user", "v1", None, "Second"), "no json\n", title, cut)
    write_lines(place / "s3.jsonl", {"type": "last-prompt", "sessionId": "s3"})
    return folder / "projects"


def _item(role: str, text: str, kind: str = "message") -> Json:
    part = {"type": "input_text" if role == "user" else "output_text", "text": text}
    payload = {"type": kind, "role": role, "content": [part]}
    return {"timestamp": _AT.format(1), "type": "response_item", "payload": payload}


def _meta(key: str, source: Any) -> Json:
    payload = {"id": key, "cwd": "/home/ada", "source": source, "originator": "codex_cli"}
    return {"timestamp": _AT.format(0), "type": "session_meta", "payload": payload}


def _write_parts(place: Path) -> None:
    """Write a session of two parts: the second one goes on after the first prompt."""
    key = "01a215ac-d4a6-7e93-895a-bc4241d05d3d"
    said = [_item("user", "First"), _item("user", "Taken back"), _item("user", "Second")]
    lines = [{**line, "ordinal": number} for number, line in zip((1, 2, 3), said, strict=True)]
    follow = _meta(key, "cli")
    follow["payload"]["history_base"] = {"thread_id": key, "end_ordinal_exclusive": 2}
    write_lines(place / f"rollout-2026-03-01T11-00-00-{key}.jsonl", _meta(key, "cli"), *lines[:2])
    write_lines(place / f"rollout-2026-03-01T12-00-00-{key}_{key}.jsonl", follow, lines[2])


def write_codex(folder: Path) -> Path:
    """Write a home with a session of today, an archived one of early 2025, and a sub-agent's."""
    place = folder / "sessions" / "2026" / "03" / "01"
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}
    event = {"type": "user_message", "message": "Fix it"}
    rollback = {"type": "thread_rolled_back", "num_turns": 2}
    write_lines(
        place / "rollout-2026-03-01T10-00-00-c1.jsonl",
        _meta("c1", "cli"),
        _meta("c0", "cli"),
        _item("developer", "You are a coding agent"),
        _item("user", "# AGENTS.md instructions for /home/ada"),
        _item("user", "<environment_context>cwd</environment_context>"),
        _item("user", "Fix it"),
        {"timestamp": _AT.format(1), "type": "event_msg", "payload": event},
        {"timestamp": _AT.format(1), "type": "response_item", "payload": call},
        _item("assistant", "thinking", "reasoning"),
        _item("assistant", "Fixed"),
        _item("user", "Taken back"),
        _item("assistant", "Of no use"),
        _item("user", "Taken back as well"),
        {"timestamp": _AT.format(1), "type": "event_msg", "payload": rollback},
    )
    write_lines(place / "rollout-2.jsonl", _meta("c2", {"subagent": {}}), _item("user", "Go"))
    _write_parts(place)
    write_lines(folder / "history.jsonl", "an older form\n")
    old = {"id": "c3", "timestamp": _AT.format(0), "instructions": None}
    said = _item("user", "Old")["payload"]
    archived = folder / "archived_sessions" / "rollout-3.jsonl"
    write_lines(archived, old, {"record_type": "state"}, said)
    return folder


def _head(key: str, kind: str) -> Json:
    at = {"startTime": _AT.format(0), "lastUpdated": _AT.format(9)}
    return {"sessionId": key, "projectHash": "f", "kind": kind, **at}


def write_gemini(folder: Path) -> Path:
    """Write a folder with a session of JSON Lines, one of JSON, and one of a sub-agent."""
    place = folder / "tmp" / "tea" / "chats"
    answer = {"id": "2", "timestamp": _AT.format(2), "type": "gemini", "content": "At four"}
    write_lines(
        place / "session-2026-03-01T10-00-g1.jsonl",
        _head("g1", "main"),
        {"id": "1", "timestamp": _AT.format(1), "type": "user", "content": [{"text": "When?"}]},
        answer,
        {"$set": {"lastUpdated": _AT.format(3)}},
        {**answer, "content": "At four.", "toolCalls": [{"name": "look"}], "thoughts": []},
        {"id": "3", "timestamp": _AT.format(3), "type": "info", "content": "Saved"},
        {"id": "4", "timestamp": _AT.format(4), "type": "user", "content": "Wrong"},
        {"$rewindTo": "4"},
    )
    lines = [_head("g2", "subagent"), {"$set": {"sessionId": "g2"}}]
    lines += [{"id": "1", "type": "user", "content": "Do it"}]
    write_lines(place / "session-2.jsonl", *lines)
    last_year = {
        **_head("g3", "main"),
        "messages": [
            {"id": "1", "timestamp": _AT.format(1), "type": "user", "content": "Of 2025"},
            {"id": "2", "timestamp": _AT.format(2), "type": "gemini", "content": "Yes"},
        ],
    }
    (place / "session-3.json").write_text(json.dumps(last_year, indent=2), encoding="utf-8")
    (place / "session-4.json").write_text('{"sessionId": "g4", "mess', encoding="utf-8")
    (folder / "tmp" / "tea" / ".project_root").write_text("/home/ada/tea", encoding="utf-8")
    (folder / "tmp" / "tea" / "logs.json").write_text("[]", encoding="utf-8")
    return folder / "tmp"


def write_copilot(folder: Path) -> Path:
    """Write a folder with a session that has a tool call and a sub-agent."""

    def event(kind: str, number: int, **data: Any) -> Json:
        return {"type": kind, "data": data, "id": f"e{number}", "timestamp": _AT.format(number)}

    write_lines(
        folder / "session-state" / "p1" / "events.jsonl",
        event("session.start", 0, sessionId="p1", context={"cwd": "/home/ada"}),
        event("user.message", 1, content="Which tea?", transformedContent="<x>Which tea?</x>"),
        event("assistant.message", 2, content="", toolRequests=[{"toolCallId": "t"}]),
        event("tool.execution_complete", 3, toolCallId="t", result={"content": "green"}),
        event("assistant.message", 4, content="Of a sub-agent", parentToolCallId="t"),
        {**event("assistant.message", 5, content="Of a sub-agent of today"), "agentId": "a"},
        event("user.message", 6, content="Text of a skill", source="skill-tea"),
        event("user.message", 7, content="Go on", isAutopilotContinuation=True),
        event("assistant.message", 8, content="Green tea"),
    )
    return folder / "session-state"


_OPENCODE = """
    create table session (id text, parent_id text, title text, directory text, revert text);
    create table message (id text, session_id text, time_created integer, data text);
    create table part (id text, message_id text, session_id text, data text);
    insert into session values ('o1', null, 'Tea', '/home/ada', '{"messageID": "m4"}'),
        ('o2', 'o1', 'Sub', '/home/ada', null), ('o3', null, 'Empty', '/home/ada', null),
        ('o4', null, 'Cut', '/home/ada', '{"messageID": "m5", "partID": "m51"}');
"""


def write_opencode(folder: Path) -> Path:
    """Write a database of opencode with a session, one of a sub-agent, and an empty one."""
    file = folder / "opencode.db"
    with closing(sqlite3.connect(file)) as database:
        database.executescript(_OPENCODE)
        said = [
            ("m1", "o1", "user", [("text", "Which tea?"), ("text", "(read tea.md)")]),
            ("m2", "o1", "assistant", [("reasoning", "hm"), ("tool", ""), ("text", "Green tea")]),
            ("m3", "o2", "user", [("text", "Of a sub-agent")]),
            ("m4", "o1", "user", [("text", "Taken back")]),
            ("m5", "o4", "user", [("text", "Kept"), ("text", "Taken back")]),
        ]
        for place, (key, session, role, parts) in enumerate(said):
            about = json.dumps({"role": role})
            moment = 1_772_359_200_000 + place
            database.execute(
                "insert into message values (?, ?, ?, ?)", (key, session, moment, about)
            )
            for number, (kind, text) in enumerate(parts):
                data = {"type": kind, "text": text, "synthetic": text.startswith("(")}
                row = (f"{key}{number}", key, session, json.dumps(data))
                database.execute("insert into part values (?, ?, ?, ?)", row)
        database.commit()
    return file
