"""The texts of a session: what the user and the agent wrote, read from the client's transcript."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from textrawl.hooks.sessions import HookSession
from textrawl.host.requests import SocketAnswer
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
        if isinstance(entry, dict) and (parts := list(read_entry(cast("Json", entry)))):
            found.append(parts[0]._replace(text="\n\n".join(part.text for part in parts)))
    return shorten(found)


def shorten(messages: Iterable[Message]) -> list[Message]:
    """Return each text once, without the end of a long one."""
    kept = dict[str, Message]()
    for message in messages:
        text = message.text
        if len(text) > _LONGEST:
            message = message._replace(text=f"{text[:_LONGEST]} […]")  # noqa: PLW2901
        kept.setdefault(message.key, message)
    return list(kept.values())


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
_MORE = ("", "-2", "-3", "-4")  # after the name of a client, for what an entry cannot hold
_TAG = "[chat:"  # the journal would take it for the number of a conversation

Ask = Callable[[str, Mapping[str, Any], Mapping[str, Any]], SocketAnswer | None]
"""A function that calls a tool with arguments and with wishes of the program. None: it failed."""


class Captured(NamedTuple):
    """The numbers of texts that are new in the journal, and of texts with a secret."""

    texts: int = 0
    secrets: int = 0


def capture(
    session: HookSession,
    messages: Sequence[Message],
    names: tuple[str, str],
    mode: SecretMode,
    ask: Ask,
    *,
    again: bool = False,
) -> Captured:
    """Store the texts of a session in the journal entries of their days.

    `names` are a title and the name of the client. Texts that this machine has stored are left out.
    With `again`, only those without a time are: an entry has no text twice, and the memory can be
    another one now. If `mode` is `refuse`, texts with a secret are left out. Raises OSError if the
    texts cannot be stored, and what `ask` raises.
    """
    stored, captured = session.read().texts, Captured()
    wanted = (one for one in messages if one.key not in stored or (again and one.at))
    for batch in _split(wanted):
        kept, secrets = _guard(batch, mode)
        texts = 0
        if kept and _store(_write_entry(kept, session, names), ask):
            # The answer does not say how many are new: those that this machine did not store, or,
            # in another memory, all.
            unknown = sum(one.key not in stored for one in batch)
            texts = min(unknown, len(kept)) or len(kept)
        session.add(*(f"text {one.key}" for one in batch if one.key not in stored))
        captured = Captured(captured.texts + texts, captured.secrets + secrets)
    return captured


def _store(entry: dict[str, object], ask: Ask) -> bool:
    """Store texts in the entry of the client, or in the next one if it is full.

    Return False if the entry has them already. Raises OSError.
    """
    for more in _MORE:
        answer = ask("memory_create", {**entry, "instanceId": f"{entry['instanceId']}{more}"}, {})
        if answer is not None:
            return answer.content.get("changed") is True
    raise OSError("The texts of the session could not be stored")


def _write_entry(
    messages: Sequence[Message], session: HookSession, names: tuple[str, str]
) -> dict[str, object]:
    """Return the arguments of the tool that stores texts of one day."""
    (title, client), (day, clock) = names, _find_time(messages[0])
    heading = f"## {' '.join(title.split()).replace(_TAG, '[chat :')}, {client}, {clock}"
    return {
        "granularity": "daily",
        "date": day,
        "content": "\n".join([heading, "", *map(_write_bullet, messages)]),
        "instanceId": client,
        "chatIds": [session.chat],
    }


def _find_time(message: Message) -> tuple[str, str]:
    """Return the local day and time of a text, or of now if the client wrote none."""
    try:
        moment = datetime.fromisoformat(message.at)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone()
    except (ValueError, OverflowError):
        moment = datetime.now().astimezone()
    return moment.date().isoformat(), f"{moment:%H:%M}"


def _guard(messages: Sequence[Message], mode: SecretMode) -> tuple[list[Message], int]:
    """Return the texts to store, and the number of those with a secret."""
    kept, found = list[Message](), 0
    for message in messages:
        masked = mask_secrets(message.text)
        found += bool(masked.secrets)
        if not masked.secrets or mode != "refuse":
            kept.append(message if mode == "allow" else message._replace(text=masked.text))
    return kept, found


def _split(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """Yield texts that follow each other on one day, in groups of bounded size."""
    batch, size, day = list[Message](), 0, ""
    for message in messages:
        at = _find_time(message)[0]
        if batch and (at != day or size + len(message.text) > MOST_TEXT):
            yield batch
            batch, size = [], 0
        batch.append(message)
        size, day = size + len(message.text), at
    if batch:
        yield batch


def _write_bullet(message: Message) -> str:
    """Return a message as an item of a Markdown list, with its later lines indented."""
    lines = message.text.replace(_TAG, "[chat :").splitlines()
    return "\n  ".join([f"- {message.author}: {lines[0]}", *(line.strip() for line in lines[1:])])
