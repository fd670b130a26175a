"""A scripted week: the transcripts of seven sessions, and an LLM that finds facts in them."""

import json
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.support.llm_server import LlmRequest

Json = dict[str, Any]

# Of each session: the client, what the person says, the entity with its type, and the fact.
DAYS = (
    ("claude-code", "Grace prefers tea in the morning.", "Grace", "person", "prefers tea"),
    ("codex", "Harbour is written in Rust.", "Harbour", "project", "is written in Rust"),
    ("claude-code", "Grace does not eat fish.", "Grace", "person", "does not eat fish"),
    ("codex", "Harbour pays 40 euros for its server.", "Harbour", "project", "pays 40 euros"),
    ("claude-code", "Grace lives in Lisbon.", "Grace", "person", "lives in Lisbon"),
    ("codex", "Harbour is planned for March 2027.", "Harbour", "project",
     "is planned for March 2027"),
    ("claude-code", "Grace manages Harbour.", "Grace", "person", "manages Harbour"),
)  # fmt: skip
INVENTED = (("Grace", "person", "leads Atlas"), ("Harbour", "project", "pays 400 euros"))


def write_answer() -> str:
    """Return what an agent says, in each session another text."""
    return f"Noted as {uuid4().hex}. I keep it in mind while I work on the next step for you."


def write_transcript(path: Path, client: str, said: str) -> None:
    """Write a session as its client does, with lines that are nobody's words."""
    lines = (_write_claude if client == "claude-code" else _write_codex)(said)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def _write_claude(said: str) -> list[Json]:
    common = {"sessionId": str(uuid4()), "cwd": "/work/Harbour", "version": "2.1.330",
              "userType": "external", "isSidechain": False}  # fmt: skip
    tool = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "hidden"}}
    done = {"type": "tool_result", "tool_use_id": "t", "content": "hidden"}
    messages = (
        ("user", said), ("assistant", [{"type": "thinking", "thinking": "hidden"}, tool]),
        ("user", [done]), ("assistant", [{"type": "text", "text": write_answer()}]),
    )  # fmt: skip
    summary = {"type": "summary", "summary": "hidden", "leafUuid": str(uuid4())}
    return [
        summary,
        *(
            {**common, "type": role, "uuid": str(uuid4()), "timestamp": "2026-11-20T10:00:00.000Z",
             "message": {"role": role, "content": content}}
            for role, content in messages
        ),
    ]  # fmt: skip


def _write_codex(said: str) -> list[Json]:
    def line(kind: str, payload: Json) -> Json:
        return {"timestamp": "2026-11-20T10:00:00.000Z", "type": kind, "payload": payload}

    meta = {"id": str(uuid4()), "cwd": "/work/Harbour", "originator": "codex_cli_rs"}
    texts = (
        ("developer", "input_text", "hidden"),
        ("user", "input_text", "<environment_context>hidden"),
        ("user", "input_text", said), ("assistant", "output_text", write_answer()),
    )  # fmt: skip
    messages = (
        {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        for role, kind, text in texts
    )
    call = {"type": "function_call", "name": "shell", "arguments": "hidden", "call_id": "c"}
    return [
        line("session_meta", {**meta, "cli_version": "0.169.0"}),
        *(line("response_item", message) for message in messages),
        line("response_item", call),
        line("event_msg", {"type": "agent_message", "message": "hidden"}),
    ]


def find_facts(request: LlmRequest) -> str:
    """Answer as an LLM that finds the facts of the text, and two that it does not have."""
    found = [(name, kind, fact) for _, said, name, kind, fact in DAYS if said in request.user]
    entities = [
        {"name": name, "type": kind, "observations": [fact]}
        for name, kind, fact in (*found, *INVENTED)
    ]
    return json.dumps({"entities": entities, "relations": []})


def count_bullets(text: str) -> int:
    """Return the number of texts in a journal entry."""
    return len(re.findall(r"^- (?:user|assistant): ", text, re.MULTILINE))
