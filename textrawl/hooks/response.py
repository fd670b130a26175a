"""The text that a hook gives the model at an event: digest, facts, a reminder, or nothing."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from textrawl.hooks.capture import Ask, capture
from textrawl.hooks.choices import Choices
from textrawl.hooks.events import Client, Event
from textrawl.hooks.known_lines import drop_known, hash_lines
from textrawl.hooks.payload import Payload
from textrawl.hooks.projects import name_project
from textrawl.hooks.queries import write_query
from textrawl.hooks.sessions import Session
from textrawl.hooks.transcripts import has_stored
from textrawl.hooks.wording import (
    AFTER_COMPACTION,
    FRAME_TOKENS,
    REMINDER,
    is_reminder,
)
from textrawl.values.limits import LEAST_TOKENS, NAME_LENGTH
from textrawl.values.prompt_text import frame_digest, frame_facts

REMIND_AFTER = 3  # prompts; a shorter session seldom has anything to store
_MOST_FACTS = 10


class Occasion(NamedTuple):
    """An event of a session, and what is needed to answer it. `ask` asks the open memory."""

    client: Client
    event: Event
    payload: Payload
    choices: Choices
    session: Session
    ask: Ask


def respond(occasion: Occasion) -> str:
    """Return the text for the model. It is empty if there is nothing to say.

    Raises OSError and what `ask` raises.
    """
    if occasion.payload.transcript:
        _note_transcript(occasion)
    return _RESPONSES[occasion.event.kind](occasion)


def _start(occasion: Occasion) -> str:
    compacted = occasion.payload.compacted
    if compacted:
        occasion.session.add("compacted")
    texts = [_digest(occasion)] if "digest" in occasion.choices.parts else []
    if compacted and _may_remind(occasion):
        texts.append(AFTER_COMPACTION)
    return "\n\n".join(filter(None, texts))


def _answer_prompt(occasion: Occasion) -> str:
    if is_reminder(occasion.payload.prompt):
        return ""
    occasion.session.add("turn")
    texts = [_recall(occasion)] if "recall" in occasion.choices.parts else []
    if occasion.client.reminds_at_prompt:
        texts.append(_remind(occasion))
    return "\n\n".join(filter(None, texts))


def _compact(occasion: Occasion) -> str:
    occasion.session.add("compacted")
    return _finish(occasion)


def _stop(occasion: Occasion) -> str:
    if occasion.payload.continued:
        return ""
    if not any(event.kind == "prompt" for event in occasion.client.events):
        occasion.session.add("turn")
    return _remind(occasion)


def _finish(occasion: Occasion) -> str:
    transcript = occasion.session.read().transcript
    if "capture" in occasion.choices.parts and not occasion.choices.read_only and transcript:
        project = name_project(occasion.payload.folder)
        capture(occasion.session, Path(transcript), project, occasion.client.name, occasion.ask)
    return ""


_RESPONSES: Mapping[str, Callable[[Occasion], str]] = {
    "start": _start, "prompt": _answer_prompt, "compact": _compact, "stop": _stop, "end": _finish,
}  # fmt: skip


def _digest(occasion: Occasion) -> str:
    request = {
        "op": "digest",
        "project": name_project(occasion.payload.folder)[:NAME_LENGTH],
        "maxTokens": occasion.choices.digest_tokens - FRAME_TOKENS,
    }
    text = _ask_for_facts(occasion, request)
    return frame_digest(text) if text else ""


def _recall(occasion: Occasion) -> str:
    query = write_query(occasion.payload.prompt)
    if not query:
        return ""
    request = {
        "op": "recall",
        "query": query,
        "limit": _MOST_FACTS,
        "leastScore": occasion.choices.least_score,
        "maxTokens": occasion.choices.recall_tokens - FRAME_TOKENS,
    }
    text = _ask_for_facts(occasion, request)
    return frame_facts(text) if text else ""


def _ask_for_facts(occasion: Occasion, request: Mapping[str, Any]) -> str:
    """Return facts that the session does not have yet, and note that it has them now."""
    if request["maxTokens"] < LEAST_TOKENS:
        return ""
    state = occasion.session.read()
    known = sorted(state.facts)
    authors = occasion.choices.authors
    named = {} if authors is None else {"authors": authors}
    answer = occasion.ask({**request, **named, "known": known, "format": "lines"})
    ids, text = answer.get("ids", []), answer.get("text")
    if not answer.get("items") or not isinstance(text, str):
        return ""
    if state.lines or not ids:
        text = drop_known(text, state.lines)
    lines = [] if ids else [f"line {line}" for line in hash_lines(text)]
    occasion.session.add(*(f"fact {fact}" for fact in ids), *lines)
    return text


def _remind(occasion: Occasion) -> str:
    """Return the reminder, once a session, unless the agent has already stored something."""
    state = occasion.session.read()
    if state.reminded or state.turns < REMIND_AFTER or not _may_remind(occasion):
        return ""
    occasion.session.add("reminded")
    return "" if state.transcript and _has_stored(state.transcript) else REMINDER


def _may_remind(occasion: Occasion) -> bool:
    return "remind" in occasion.choices.parts and not occasion.choices.read_only


def _has_stored(transcript: str) -> bool:
    path = Path(transcript)
    return path.is_file() and has_stored(path)


def _note_transcript(occasion: Occasion) -> None:
    path = occasion.payload.transcript
    if "\n" not in path and path != occasion.session.read().transcript:
        occasion.session.add(f"transcript {path}")
