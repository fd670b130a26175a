"""Storing the texts of a session in the journal, if TEXTRAWL_HOOKS contains `capture`.

The texts of a day become one journal entry of the client. A text counts as stored when the server
has acknowledged it. If the acknowledgement is lost, the text is sent again, and the journal then
recognizes it and changes nothing.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from textrawl.hooks.sessions import Session
from textrawl.hooks.transcripts import Message, read_texts

MOST_TEXT = 50_000  # characters of one request
_TAG = "[chat:"  # the journal would take it for the number of a conversation

Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def capture(session: Session, transcript: Path, title: str, client: str, ask: Ask) -> None:
    """Store the texts of a transcript that are not stored yet, in requests of bounded size.

    Raises OSError if the transcript cannot be read, and what `ask` raises.
    """
    stored = session.read().texts
    heading = f"## {title}, {client}, {time.strftime('%H:%M')}"
    for batch in _split(
        [message for message in read_texts(transcript) if message.key not in stored]
    ):
        text = "\n".join([heading, "", *map(_write_bullet, batch)])
        answer = ask({"op": "capture", "session": session.id[:16], "program": client, "text": text})
        if "error" in answer:
            raise OSError(str(answer["error"]))
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
