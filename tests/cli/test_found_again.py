"""Imported chats are found by a command, a client and a hook, with default settings."""

import json
from pathlib import Path
from typing import Any

from tests.support.commands import HELLO, Launch, Run, type_answer

CHATS = {
    "Sauerteig": [
        "Mein Sauerteig heißt Hermann. Ich füttere ihn sonntags mit Roggenmehl.",
        "Dann kann er zwei Wochen ohne Fütterung im Kühlschrank bleiben.",
    ],
    "Trip to Lisbon": [
        "We are staying at the Hotel Borges in Lisbon from May 3 to May 7.",
        "Take tram 28 through Alfama.",
    ],
}


def write_export(folder: Path) -> str:
    """An export of ChatGPT with two conversations."""
    conversations: list[Any] = []
    for number, (title, texts) in enumerate(CHATS.items()):
        nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
        above = "root"
        for role, text in zip(("user", "assistant"), texts, strict=True):
            content = {"content_type": "text", "parts": [text]}
            message = {
                "author": {"role": role},
                "create_time": 1.7e9 + number * 9e5,
                "content": content,
            }
            nodes[role] = {"id": role, "message": message, "parent": above, "children": []}
            above = role
        conversations.append(
            {"conversation_id": f"c{number}", "title": title, "mapping": nodes}
            | {"create_time": 1.7e9, "update_time": 1.7e9, "current_node": above}
        )
    path = folder / "conversations.json"
    path.write_text(json.dumps(conversations), "utf-8")
    return str(path)


def test_imported_chats_answer_a_command_a_client_and_a_hook(
    run: Run, launch: Launch, data_dir: Path, tmp_path: Path
) -> None:
    place = {"DATA_DIR": data_dir}
    run("remember", "Nina", "has two cats, Mia and Leo", **place)
    imported = type_answer("y", "import", write_export(tmp_path), DATA_DIR=str(data_dir))

    recalled = run("recall", "wie heißt mein Sauerteig?", **place)
    searched = run("search", "which hotel are we staying at in Lisbon?", **place)
    nothing = run("recall", "does zubair play kifote?", **place)
    client = launch("serve", **place)
    client.say(HELLO)
    client.hear()
    asked = {"name": "query_memory", "arguments": {"query": "which hotel in Lisbon?"}}
    client.say({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": asked})
    answer = client.hear()["result"]["content"][0]["text"]
    hook = launch("hook", "claude-code", "UserPromptSubmit", **place)
    prompt = "How long can my Sauerteig Hermann stay in the Kühlschrank?"
    told, _ = hook.popen.communicate(
        json.dumps(
            {"session_id": "s", "transcript_path": "", "cwd": str(tmp_path), "prompt": prompt}
            | {"hook_event_name": "UserPromptSubmit"}
        )
    )

    assert imported.code == 0, imported.err
    asked, shown = (imported.err.index(part) for part in ("recall 'Trip to", "Hotel Borges"))
    assert asked < shown
    assert "Mein Sauerteig heißt Hermann." in recalled.out
    assert "Mia" not in recalled.out
    assert "Hotel Borges" in searched.out
    assert "Hotel Borges" in answer
    assert "Dann kann er zwei Wochen" in told
    assert nothing.out == ""
    assert "zubair, play, kifote" in nothing.err
