"""With `capture` in TEXTRAWL_HOOKS, each text of a session is in the journal, and only once."""

import json
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.archive import foreign
from tests.hooks.sessions import Session
from tests.hooks.week import Json, write_claude, write_codex, write_session
from tests.support.commands import Run
from tests.support.odd_inputs import TEXTS, expect_text
from tests.support.sockets import recall
from textrawl.hooks.events import CLIENTS
from textrawl.hooks.sessions import FOLDER
from textrawl.host.entrance import find_address

pytestmark = pytest.mark.slow

Start = Callable[..., Session]

QUESTION, ANSWER = "Which colour has the {} door?", "The {} door is green.\nIt was painted in May."


def write_cursor(question: str, answer: str) -> list[Json]:
    asked = [{"type": "text", "text": f"<user_query>\n{question}\n</user_query>"}]
    return [
        {"role": "user", "message": {"content": asked}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": answer}]}},
        {"type": "turn_ended", "status": "hidden"},
    ]


def write_gemini(question: str, answer: str) -> list[Json]:
    asked = [{"text": question}, {"text": "<hook_context>hidden</hook_context>"}]
    return [
        {"$set": {"messages": [{"type": "user", "content": "hidden"}]}},
        {"type": "user", "content": asked},
        {"type": "gemini", "content": answer},
    ]


def write_copilot(question: str, answer: str) -> list[Json]:
    return [
        {"type": "user.message", "data": {"content": question}},
        {"type": "system.message", "data": {"role": "system", "content": "hidden"}},
        {"type": "assistant.message", "data": {"content": answer}},
    ]


# Conversations as the clients write them, with lines that are nobody's words.
WRITERS: dict[str, Callable[[str, str], list[Json]]] = {
    "claude-code": write_claude,
    "codex": write_codex,
    "cursor": write_cursor,
    "gemini-cli": write_gemini,
    "copilot-cli": write_copilot,
}


def write_transcript(path: Path, lines: list[Json]) -> None:
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


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_private_is_not_captured(
    start: Start, client: str, tmp_path: Path, run: Run
) -> None:
    session = start(client, tmp_path / "transcript.jsonl", HOOKS="capture")
    assert session.transcript is not None
    asked = "Plant a pear. <private>The code is 4711.</private> And <PRIVATE>a plum 0815"
    write_transcript(session.transcript, WRITERS[client](asked, "Done <private>0815</private>."))

    session.tell("end")

    journal = run("export", "-").out
    assert "Plant a pear" in journal
    assert not {word for word in ("4711", "0815") if word in journal}


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


# The sessions and texts in the files of each format, and the number of their faults.
FORMATS: dict[str, tuple[Callable[[Path], object], tuple[int, int, int]]] = {
    "chatgpt": (lambda folder: foreign.write_chatgpt(folder / "c.json", {"k": "Yes"}), (1, 2, 0)),
    "claude-code": (foreign.write_claude_code, (3, 6, 1)),
    "codex": (foreign.write_codex, (3, 5, 0)),
    "gemini-cli": (foreign.write_gemini, (2, 4, 1)),
    "copilot-cli": (foreign.write_copilot, (1, 2, 0)),
    "opencode": (foreign.write_opencode, (2, 3, 0)),
}


def capture(run: Run, *files: Path, code: int = 0) -> dict[str, Any]:
    outcome = run("capture", *map(str, files), "--json")
    assert outcome.code == code, outcome.err
    return json.loads(outcome.out)


@pytest.mark.usefixtures("memory")
def test_files_of_each_format_are_captured_once(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").write_text("gitdir: /Elsewhere/.git/worktrees/here", encoding="utf-8")
    monkeypatch.chdir(tmp_path)  # no session was here
    for name, (write, (sessions, texts, faults)) in FORMATS.items():
        folder = tmp_path / name
        folder.mkdir()
        write(folder)
        planned = run("capture", str(folder), "--dry-run")
        first, again = (capture(run, folder, code=int(faults > 0)) for _ in range(2))
        shutil.rmtree(find_address().folder / FOLDER)
        later = capture(run, folder, code=int(faults > 0))

        assert f"{texts} turns" in planned.err, name
        assert [first[key] for key in ("sessions", "captured", "known")] == [sessions, texts, 0]
        assert [again["captured"], again["known"], later["captured"]] == [0, texts, 0], name
        assert len(first["refused"]) == faults, name
    assert "## Elsewhere," not in run("export", "-").out


def test_a_longer_file_of_a_session_adds_what_the_hook_did_not_capture(
    start: Start, tmp_path: Path, run: Run
) -> None:
    session = start("claude-code", HOOKS="capture")
    session.transcript = tmp_path / f"{session.name}.jsonl"
    write_session(session.transcript, "claude-code", "The blue door is open.")
    assert session.tell("end").is_silent
    known = capture(run, session.transcript)
    with session.transcript.open("a", encoding="utf-8") as file:
        more = {"role": "user", "content": "My password is Tulpe!42, for the blue door."}
        at = f"{date.today()}T12:00:01Z"
        line = {"type": "user", "uuid": "u9", "timestamp": at, "message": more}
        file.write(f"{json.dumps(line)}\n")
    longer = capture(run, session.transcript)

    journal = run("export", "-").out
    [current] = [line for line in journal.splitlines() if "masked password], for the blue" in line]
    assert (known["captured"], known["known"]) == (0, 2)
    assert (longer["captured"], longer["known"], longer["secrets"]) == (1, 2, 1)
    assert current.count("The blue door is open.") == 1
    assert "Tulpe" not in journal


@pytest.mark.usefixtures("memory")
def test_files_without_sessions_are_named_and_change_nothing(tmp_path: Path, run: Run) -> None:
    entity = '{"type": "entity", "name": "Ada", "entityType": "person", "observations": ["x"]}'
    texts = {"note.md": "# Tea", "empty.jsonl": "", "cut.json": "[{", "facts.jsonl": entity}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    before = run("export", "-").out
    missing = tmp_path / "missing.jsonl"
    done = capture(run, *(tmp_path / name for name in texts), missing, Path("/dev/zero"), code=1)
    refused = run("capture", str(tmp_path / "note.md"))
    nameless = run("capture", "")
    shut = run("capture", str(tmp_path), "--from", "codex", READ_ONLY="true")
    other = run("capture", str(tmp_path), "--from", "mem0")

    assert [done[key] for key in ("sessions", "captured", "known")] == [0, 0, 0]
    assert len(done["refused"]) == len(texts) + 2
    assert "note.md was not captured: " in refused.err
    assert not any("mem0" in one["reason"] for one in done["refused"])
    assert "'mem0' is not one of chatgpt, claude, claude-code" in other.err
    assert (refused.code, nameless.code, shut.code, other.code) == (1, 2, 1, 2)
    assert run("export", "-").out == before


@pytest.mark.usefixtures("memory")
def test_what_the_entry_of_a_day_cannot_hold_goes_into_another_one(
    tmp_path: Path, run: Run
) -> None:
    file = tmp_path / "long.jsonl"
    write_session(file, "codex", "The long day begins.")
    part = {"type": "input_text", "text": ""}
    item = {"type": "message", "role": "user", "content": [part]}
    line = {"timestamp": "2026-07-01T12:00:00Z", "type": "response_item", "payload": item}
    with file.open("a", encoding="utf-8") as opened:
        for number in range(55):
            part["text"] = f"{number} {'word ' * 760}"
            opened.write(f"{json.dumps(line)}\n")

    first, again = (capture(run, file) for _ in range(2))

    journal = run("export", "-").out
    assert (first["captured"], again["captured"], again["known"]) == (57, 0, 57)
    assert '"instance": "codex-2"' in journal


def test_a_session_does_not_get_its_own_words_while_it_goes_on(
    start: Start, tmp_path: Path
) -> None:
    session = start("claude-code", tmp_path / "transcript.jsonl", HOOKS="digest,recall,capture")
    assert session.transcript is not None
    said = "The lighthouse keeper Ottilie paints her boat vermilion."
    write_transcript(session.transcript, write_claude(said, "Noted, vermilion it is."))
    prompt = "Which colour has the boat of the lighthouse keeper Ottilie?"

    begun = [session.tell("start", source="startup"), session.tell("prompt", prompt=said)]
    session.tell("end")
    ended = recall(prompt).text
    begun += [session.tell("start", source="resume"), session.tell("prompt", prompt=prompt)]
    resumed = recall(prompt).text
    session.tell("compact")
    other = start("claude-code", HOOKS="digest,recall,capture")
    begun += [other.tell("start", source="startup"), other.tell("prompt", prompt=prompt)]
    session.tell("end", step="again")
    again = recall(prompt).text

    assert not any("vermilion" in one.text for one in begun)
    assert ["vermilion" in text for text in (ended, resumed, again)] == [True, False, True]
