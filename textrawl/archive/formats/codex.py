"""Sessions of Codex: files `rollout-….jsonl` in a folder for each day, or among the archived ones.

The first line of a session names it. In files of early 2025 messages are lines of their own, and
later they are payloads of lines of the type `response_item`. A line can say that the last prompts
were taken back, with what follows them. Today the session goes on in another file then, whose first
line says where the earlier file ends for it. The ordinals of its lines go on, too.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from textrawl.archive.bundles import Bundle
from textrawl.archive.formats import ImportFormat, as_object, as_text
from textrawl.archive.formats.sessions import (
    ClientSession,
    find_first,
    find_folder,
    find_names,
    read_place,
    read_sessions,
)
from textrawl.archive.items import Item
from textrawl.values.transcripts import Json, read_entry

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PART = re.compile(f"({_UUID})(?:_{_UUID})?$")


def _find_session(name: str) -> str:
    """Return the id of the session that a file is a part of, or the name of the file."""
    stem = PurePosixPath(name).stem
    return found[1] if (found := _PART.search(stem)) else stem


def _find_files(bundle: Bundle) -> list[str]:
    """Return the names of the sessions. A file that is named alone may have any name."""
    names = find_names(bundle, ".jsonl")
    own = [one for one in names if one.rpartition("/")[2].startswith("rollout-")] or names
    return sorted(own, key=lambda one: (_find_session(one), PurePosixPath(one).name))


def recognises(bundle: Bundle) -> bool:
    """Return whether the files are sessions of Codex."""
    firsts = find_first(bundle, _find_files(bundle))
    return any(one.get("type") == "session_meta" and "payload" in one for one in firsts) or any(
        {"id", "timestamp", "instructions"} <= one.keys() for one in firsts
    )


def read(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions, without those of sub-agents."""
    yield from read_sessions(bundle, _find_files(bundle), _take, group=_find_session)


def _take(session: ClientSession, entry: Json) -> None:
    payload = as_object(entry.get("payload"))
    if entry.get("type") == "session_meta" or {"id", "instructions"} <= entry.keys():
        meta = payload or entry
        if session.named and meta.get("id") == session.id:
            _cut(session, as_object(meta.get("history_base")).get("end_ordinal_exclusive"))
        if not session.named:  # a fork repeats the lines of its origin
            session.named = True
            session.id = as_text(meta.get("id")) or session.id
            session.place = read_place(meta)
            session.ignored = "subagent" in as_object(meta.get("source"))
        return
    if payload.get("type") == "thread_rolled_back":
        _roll_back(session, payload.get("num_turns"))
    line = entry if payload else {"type": "response_item", "payload": entry}
    ordinal = entry.get("ordinal")
    session.add("" if ordinal is None else str(ordinal), read_entry(line), entry.get("timestamp"))


def _cut(session: ClientSession, end: object) -> None:
    if isinstance(end, int):
        own = session.turns.items()
        session.turns = {key: one for key, one in own if not key.isdecimal() or int(key) < end}


def _roll_back(session: ClientSession, count: object) -> None:
    prompts = [name for name, turn in session.turns.items() if turn.speaker == "user"]
    if not isinstance(count, int) or count < 1 or not prompts:
        return
    names = list(session.turns)
    for name in names[names.index(prompts[-min(count, len(prompts))]) :]:
        session.drop(name)


FORMAT = ImportFormat("codex", "Codex", recognises, read, find_folder("CODEX_HOME", ".codex"))
