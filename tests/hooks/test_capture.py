"""With `capture` in TEXTRAWL_HOOKS, each text of a session is in the journal, and only once."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hooks.sessions import Session
from tests.support.commands import Run
from tests.support.odd_inputs import TEXTS, expect_text
from tests.support.sockets import recall
from textrawl.hooks.events import CLIENTS

pytestmark = pytest.mark.slow

Start = Callable[..., Session]

QUESTION, ANSWER = "Which colour has the {} door?", "The {} door is green.\nIt was painted in May."


def write_claude(question: str, answer: str) -> list[object]:
    said = [{"type": "text", "text": answer}]
    return [
        {"type": "user", "message": {"role": "user", "content": question}},
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "hidden"}},
        {"type": "assistant", "message": {"role": "assistant", "content": said}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": "hidden"}]}},
    ]


def write_codex(question: str, answer: str) -> list[object]:
    said = (
        ("developer", "hidden"), ("user", "<environment_context>hidden"),
        ("user", question), ("assistant", answer),
    )  # fmt: skip
    return [
        {
            "type": "response_item",
            "payload": {"type": "message", "role": role, "content": [{"text": text}]},
        }
        for role, text in said
    ]


def write_cursor(question: str, answer: str) -> list[object]:
    asked = [{"type": "text", "text": f"<user_query>\n{question}\n</user_query>"}]
    return [
        {"role": "user", "message": {"content": asked}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": answer}]}},
        {"type": "turn_ended", "status": "hidden"},
    ]


def write_gemini(question: str, answer: str) -> list[object]:
    asked = [{"text": question}, {"text": "<hook_context>hidden</hook_context>"}]
    return [
        {"$set": {"messages": [{"type": "user", "content": "hidden"}]}},
        {"type": "user", "content": asked},
        {"type": "gemini", "content": answer},
    ]


def write_copilot(question: str, answer: str) -> list[object]:
    return [
        {"type": "user.message", "data": {"content": question}},
        {"type": "system.message", "data": {"role": "system", "content": "hidden"}},
        {"type": "assistant.message", "data": {"content": answer}},
    ]


# Conversations as the clients write them, with lines that are nobody's words.
WRITERS: dict[str, Callable[[str, str], list[object]]] = {
    "claude-code": write_claude,
    "codex": write_codex,
    "cursor": write_cursor,
    "gemini-cli": write_gemini,
    "copilot-cli": write_copilot,
}


def write_transcript(path: Path, lines: list[object]) -> None:
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    path.write_text(f"{text}not JSON\n[1]\n", encoding="utf-8")


@pytest.mark.parametrize("client", CLIENTS)
def test_the_texts_of_a_session_are_stored_once(
    start: Start, client: str, tmp_path: Path, run: Run
) -> None:
    session = start(client, tmp_path / "transcript.jsonl", HOOKS="capture")
    assert session.transcript is not None
    question, answer = QUESTION.format(client), ANSWER.format(client)
    write_transcript(session.transcript, WRITERS[client](question, answer))

    for part in ("stop", "compact", "end", "end"):
        if session.has(part):
            assert session.tell(part, step=part).is_silent
    again = start(client, session.transcript, HOOKS="capture").tell("end")

    journal = run("export", "-").out
    versions = [line for line in journal.splitlines() if question in line]
    assert again.is_silent
    assert versions
    assert {(line.count(question), line.count("was painted")) for line in versions} == {(1, 1)}
    assert "hidden" not in journal


def test_secrets_of_a_session_are_masked(start: Start, tmp_path: Path, run: Run) -> None:
    session = start("claude-code", tmp_path / "transcript.jsonl", HOOKS="capture")
    assert session.transcript is not None
    write_transcript(session.transcript, write_claude("My password is Tulpe!42", "Noted."))
    session.tell("end")

    journal = run("export", "-").out
    assert "My password is [masked password]" in journal
    assert "Tulpe" not in journal


def test_nothing_is_stored_by_default_or_if_the_memory_is_read_only(
    start: Start, tmp_path: Path
) -> None:
    transcript = tmp_path / "transcript.jsonl"
    write_transcript(transcript, [{"role": "user", "message": {"content": "a secret garden"}}])

    for settings in ({}, {"HOOKS": "capture", "READ_ONLY": "true"}):
        assert start("cursor", transcript, **settings).tell("end").is_silent

    assert recall("secret garden").text.endswith("no fact has secret, garden")


def test_odd_texts_are_stored_in_the_journal_as_facts_are(
    start: Start, tmp_path: Path, run: Run
) -> None:
    """But for texts that begin like those of a client, with < or /."""
    transcript = tmp_path / "odd.jsonl"
    texts = [text for text in TEXTS if not text.startswith(("<", "/"))]
    write_transcript(transcript, [{"role": "user", "message": {"content": one}} for one in texts])

    assert start("cursor", transcript, HOOKS="capture").tell("end").is_silent

    rows = [json.loads(line) for line in run("export", "-").out.splitlines()]
    journal = "\n".join(row["text"] for row in rows if row.get("kind") == "version")
    bullets = {
        text: "- user: " + "\n  ".join(map(str.strip, expect_text(text).splitlines()))
        for text in texts
    }
    assert [text for text, bullet in bullets.items() if f"{bullet}\n" not in f"{journal}\n"] == []
