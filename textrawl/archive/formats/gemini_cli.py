"""Sessions of Gemini CLI: JSON Lines today, and one JSON object each in files of 2025.

They are in a folder for each project, whose file `.project_root` names the folder of the project.
"""

from collections.abc import Iterator
from dataclasses import replace

from textrawl.archive.bundles import Bundle, BundleRefused
from textrawl.archive.formats import ImportFormat, as_list, as_object, as_text
from textrawl.archive.formats.sessions import (
    ClientSession,
    find_first,
    find_folder,
    find_names,
    read_sessions,
)
from textrawl.archive.items import Conversation, Fault, Item
from textrawl.values.transcripts import Json, read_entry

_HEADER = {"sessionId", "projectHash"}


def recognises(bundle: Bundle) -> bool:
    """Return whether the files are sessions of Gemini CLI."""
    lines, whole = find_names(bundle, ".jsonl"), find_names(bundle, ".json", within="chats/")
    heads = [bundle.read_head(name) for name in whole[:5]]
    return any(one.keys() >= _HEADER for one in find_first(bundle, lines)) or any(
        b'"sessionId"' in head and b'"projectHash"' in head for head in heads
    )


def read(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions, without those of sub-agents."""
    for name in find_names(bundle, ".jsonl", within="chats/"):
        for item in read_sessions(bundle, [name], _take):
            found = isinstance(item, Conversation)
            yield replace(item, place=_find_place(bundle, name)) if found else item
    for name in find_names(bundle, ".json", within="chats/"):
        try:
            value = as_object(bundle.read_json(name))
        except BundleRefused as refused:
            yield Fault(name, refused.reason)
            continue
        session = ClientSession(name, place=_find_place(bundle, name))
        _take(session, value)
        for message in as_list(value.get("messages")):
            _take(session, as_object(message))
        if conversation := session.build():
            yield conversation


def _find_place(bundle: Bundle, name: str) -> str | None:
    file = f"{name.rpartition('chats/')[0]}.project_root"
    return bundle.read_head(file).decode(errors="replace").strip() if file in bundle.sizes else None


def _take(session: ClientSession, entry: Json) -> None:
    header = as_object(entry.get("$set")) or entry
    if "sessionId" in header:
        session.id = as_text(header.get("sessionId")) or session.id
        session.ignored = session.ignored or header.get("kind") == "subagent"
    session.title = as_text(header.get("summary")) or session.title
    if key := as_text(entry.get("$rewindTo")):
        names = list(session.turns)
        for name in names[names.index(key) :] if key in names else ():
            session.drop(name)
    if entry.get("type") in ("user", "gemini"):
        session.add(entry.get("id"), read_entry(entry), entry.get("timestamp"))


FORMAT = ImportFormat(
    "gemini-cli",
    "Gemini CLI",
    recognises,
    read,
    find_folder("GEMINI_CLI_HOME", "", ".gemini", "tmp"),
)
