"""The texts of a session: what the user and the agent wrote, read from the client's transcript."""

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from textrawl.hooks.sessions import HookSession
from textrawl.resident.client import SocketAnswer
from textrawl.values.leaks import mask_secrets
from textrawl.values.transcripts import Json, Message, read_entry
from textrawl.values.word_lists import SecretMode

FRAME_TOKENS = 45  # more than the words and tags around facts cost

_MOST_BYTES = 16 << 20  # of a transcript, from its end
_LONGEST = 4000  # characters of one text
_STORING = re.compile(
    rb'"(?:name|toolName|tool)":\s*"[^"\\]{0,60}(?:remember_fact|build_knowledge|relate_entities)"'
)


def read_texts(path: Path) -> list[Message]:
    """Return the texts of a transcript, oldest first. Raises OSError."""
    found = list[Message]()
    for line in _read_end(path).splitlines():
        try:
            entry: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            found += map(_shorten, read_entry(cast("Json", entry)))
    return list(dict.fromkeys(found))


def _shorten(message: Message) -> Message:
    text = message.text
    return message if len(text) <= _LONGEST else message._replace(text=f"{text[:_LONGEST]} […]")


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


MOST_TEXT = 50_000  # characters of one request
_TAG = "[chat:"  # the journal would take it for the number of a conversation

Ask = Callable[[str, Mapping[str, Any], Mapping[str, Any]], SocketAnswer | None]
"""A function that calls a tool with arguments and with wishes of the program. None: it failed."""


def capture(
    session: HookSession, transcript: Path, names: tuple[str, str], mode: SecretMode, ask: Ask
) -> None:
    """Store the texts of a transcript that are not stored yet, in requests of bounded size.

    `names` are a title and the name of the client. If `mode` is `refuse`, texts with a secret are
    left out. Raises OSError if the transcript cannot be read, and what `ask` raises.
    """
    title, client = names
    stored = session.read().texts
    heading = f"## {title}, {client}, {time.strftime('%H:%M')}"
    for batch in _split(
        [message for message in read_texts(transcript) if message.key not in stored]
    ):
        bullets = [_write_bullet(message) for message in _guard(batch, mode)]
        text = "\n".join([heading, "", *bullets])
        entry = {
            "granularity": "daily",
            "date": time.strftime("%Y-%m-%d"),
            "content": text,
            "instanceId": client,
            "chatIds": [session.id[:16]],
        }
        if bullets and ask("memory_create", entry, {}) is None:
            raise OSError("The texts of the session could not be stored")
        session.add(*(f"text {message.key}" for message in batch))


def _guard(messages: Sequence[Message], mode: SecretMode) -> Iterator[Message]:
    for message in messages:
        masked = mask_secrets(message.text)
        if not masked.secrets or mode != "refuse":
            yield message if mode == "allow" else message._replace(text=masked.text)


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
