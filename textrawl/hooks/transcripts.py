"""The texts of a session: what the user and the agent wrote, read from the client's transcript.

All clients write JSON Lines, each in its own form. Few clients document their form, so a line of an
unknown form is skipped. Results of tools, texts of hooks and slash commands are left out.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from textrawl.hooks.sessions import HookSession
from textrawl.resident.client import SocketAnswer


def drop_elements(text: str, opening: re.Pattern[str], put: str = "") -> str:
    """Replace each element of a text by `put`. An element without an end stays.

    `opening` matches the opening tag. Its first group is the name of the element. The time grows
    with the length of the text: the end of a name is not looked for again after it was missing.
    """
    kept, place, endless = list[str](), 0, set[str]()
    for tag in opening.finditer(text):
        name = tag[1]
        if tag.start() < place or name in endless:
            continue
        closing = f"</{name}>"
        end = text.find(closing, tag.end())
        if end < 0:
            endless.add(name)
            continue
        kept += text[place : tag.start()], put
        place = end + len(closing)
    return "".join([*kept, text[place:]])


FRAME_TOKENS = 45  # more than the words and tags around facts cost

REMINDER = (
    "textrawl: before this session ends, store what will still matter in later sessions and is "
    "not in the memory yet: decisions and their reasons, preferences, facts about people and "
    "projects. Use remember_fact or build_knowledge, without secrets. If there is nothing, do "
    "nothing, and do not mention this reminder."
)
AFTER_COMPACTION = (
    "textrawl: this conversation was compacted. If the summary holds something that will still "
    "matter in later sessions and is not in the memory yet, store it with remember_fact or "
    "build_knowledge, without secrets. If there is nothing, do nothing, and do not mention this "
    "reminder."
)


def is_reminder(prompt: str) -> bool:
    """Return whether a prompt is a reminder of ours. Some clients send reminders as prompts."""
    return prompt.lstrip().startswith((REMINDER[:60], AFTER_COMPACTION[:40]))


_MOST_BYTES = 16 << 20  # of a transcript, from its end
_LONGEST = 4000  # characters of one text
_ADDED = re.compile(
    r"<(hook_context|system-reminder|system_reminder|hook_prompt|timestamp|current_datetime)\b"
    r"[^<>]*+>"
)
_WRAPPER = re.compile(r"</?user_query>")
_STORING = re.compile(
    rb'"(?:name|toolName|tool)":\s*"[^"\\]{0,60}(?:remember_fact|build_knowledge|relate_entities)"'
)

Json = dict[str, Any]


class Message(NamedTuple):
    """A text and its author: `user` or `assistant`."""

    author: str
    text: str

    @property
    def key(self) -> str:
        """A short hash of the text."""
        return hashlib.sha256(f"{self.author}\n{self.text}".encode()).hexdigest()[:16]


def read_texts(path: Path) -> list[Message]:
    """Return the texts of a transcript, oldest first. Raises OSError."""
    found = list[Message]()
    for line in _read_end(path).splitlines():
        try:
            entry: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            found += _read_entry(cast("Json", entry))
    return list(dict.fromkeys(found))


def has_stored(path: Path) -> bool:
    """Return whether the agent called a tool that stores facts. Raises OSError."""
    return _STORING.search(_read_end(path)) is not None


def _read_end(path: Path) -> bytes:
    """Return the last bytes of a file, from the beginning of a line. Do not wait for a FIFO."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _MOST_BYTES))
        end = file.read(_MOST_BYTES)
    return end if size <= _MOST_BYTES else end.partition(b"\n")[2]


def _read_entry(entry: Json) -> Iterator[Message]:
    if entry.get("isMeta") or entry.get("isSidechain"):
        return
    for read in _FORMS:
        author, content = read(entry)
        if author in _AUTHORS:
            for text in _read_content(content):
                if cleaned := clean_message(text):
                    yield Message(_AUTHORS[author], cleaned)
            return


def _read_message(entry: Json) -> tuple[str, object]:
    """Claude Code and Cursor: {"type" or "role": "user", "message": {"content": …}}."""
    message = entry.get("message")
    content = cast("Json", message).get("content") if isinstance(message, dict) else None
    return str(entry.get("role") or entry.get("type")), content


def _read_payload(entry: Json) -> tuple[str, object]:
    """Codex: {"type": "response_item", "payload": {"type": "message", "role": …}}."""
    payload = entry.get("payload")
    if entry.get("type") != "response_item" or not isinstance(payload, dict):
        return "", None
    item = cast("Json", payload)
    return (
        (str(item.get("role")), item.get("content")) if item.get("type") == "message" else ("", 0)
    )


def _read_data(entry: Json) -> tuple[str, object]:
    """Copilot CLI: {"type": "user.message", "data": {"content": …}}."""
    data = entry.get("data")
    if not isinstance(data, dict):
        return "", None
    return str(entry.get("type")), cast("Json", data).get("content")


def _read_plain(entry: Json) -> tuple[str, object]:
    """Gemini CLI: {"type": "user" or "gemini", "content": …}."""
    return f"plain {entry.get('type')}" if "content" in entry else "", entry.get("content")


_FORMS: tuple[Callable[[Json], tuple[str, object]], ...] = (
    _read_plain, _read_payload, _read_data, _read_message,
)  # fmt: skip
_AUTHORS = {
    "user": "user", "assistant": "assistant", "plain user": "user", "plain gemini": "assistant",
    "user.message": "user", "assistant.message": "assistant",
}  # fmt: skip


def _read_content(content: object) -> Iterator[str]:
    """Yield the texts of a message, which is a text or a list of parts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in cast("list[object]", content):
            text = cast("Json", part).get("text") if isinstance(part, dict) else None
            if isinstance(text, str):
                yield text


def clean_message(text: str) -> str:
    """Return what a person or an agent wrote, or nothing for a text of the client itself."""
    text = _WRAPPER.sub("", drop_elements(text, _ADDED)).strip()
    if not text or text.startswith(("<", "/")) or is_reminder(text):
        return ""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} […]"


MOST_TEXT = 50_000  # characters of one request
_TAG = "[chat:"  # the journal would take it for the number of a conversation

Ask = Callable[[str, Mapping[str, Any], Mapping[str, Any]], SocketAnswer | None]
"""A function that calls a tool with arguments and with wishes of the program. None: it failed."""


def capture(session: HookSession, transcript: Path, title: str, client: str, ask: Ask) -> None:
    """Store the texts of a transcript that are not stored yet, in requests of bounded size.

    Raises OSError if the transcript cannot be read, and what `ask` raises.
    """
    stored = session.read().texts
    heading = f"## {title}, {client}, {time.strftime('%H:%M')}"
    for batch in _split(
        [message for message in read_texts(transcript) if message.key not in stored]
    ):
        text = "\n".join([heading, "", *map(_write_bullet, batch)])
        entry = {
            "granularity": "daily",
            "date": time.strftime("%Y-%m-%d"),
            "content": text,
            "instanceId": client,
            "chatIds": [session.id[:16]],
        }
        if ask("memory_create", entry, {}) is None:
            raise OSError("The texts of the session could not be stored")
        session.add(*(f"text {message.key}" for message in batch))


def _split(messages: Sequence[Message]) -> Iterator[list[Message]]:
    batch, size = list[Message](), 0
    for message in messages:
        if batch and size + len(message.text) > MOST_TEXT:
            yield batch
            batch, size = [], 0
        batch.append(message)
        size += len(message.text)
    if batch:
        yield batch


def _write_bullet(message: Message) -> str:
    """Return a message as an item of a Markdown list, with its later lines indented."""
    lines = message.text.replace(_TAG, "[chat :").splitlines()
    return "\n  ".join([f"- {message.author}: {lines[0]}", *(line.strip() for line in lines[1:])])
