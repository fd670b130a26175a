"""Sessions of Copilot CLI: a folder each, with its events as JSON Lines."""

from collections.abc import Iterator

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


def recognises(bundle: Bundle) -> bool:
    """Return whether the files are sessions of Copilot CLI."""
    firsts = find_first(bundle, find_names(bundle, ".jsonl"))
    return any(one.get("type") == "session.start" and "data" in one for one in firsts)


def read(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions, without what sub-agents wrote."""
    names = [name for name in find_names(bundle, ".jsonl") if name.endswith("events.jsonl")]
    yield from read_sessions(bundle, names or find_names(bundle, ".jsonl"), _take)


def _take(session: ClientSession, entry: Json) -> None:
    data = as_object(entry.get("data"))
    if entry.get("type") == "session.start":
        session.id = as_text(data.get("sessionId")) or session.id
        session.place = read_place(data.get("context"))
    else:
        session.add(entry.get("id"), read_entry(entry), entry.get("timestamp"))


FORMAT = ImportFormat(
    "copilot-cli",
    "Copilot CLI",
    recognises,
    read,
    find_folder("COPILOT_HOME", ".copilot", "session-state"),
)
