"""Sessions of Claude Code: a file of JSON Lines each, in a folder for each project.

A prompt that was edited leaves the first one in the file. The last of several prompts after one
message counts, with what follows from it. A session can begin with a copy of an earlier one, whose
messages keep their ids. The file that is a part of another one is smaller, and is read first.
"""

from collections.abc import Iterator

from textrawl.archive.bundles import Bundle
from textrawl.archive.formats import ImportFormat, as_text
from textrawl.archive.formats.sessions import (
    ClientSession,
    find_first,
    find_folder,
    find_names,
    read_sessions,
)
from textrawl.archive.items import Item
from textrawl.values.transcripts import Json, read_entry


def recognises(bundle: Bundle) -> bool:
    """Return whether the files are sessions of Claude Code."""
    firsts = find_first(bundle, find_names(bundle, ".jsonl"))
    return any("sessionId" in one and ("parentUuid" in one or "leafUuid" in one) for one in firsts)


def read(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions, without those of sub-agents."""
    names = find_names(bundle, ".jsonl")
    own = [name for name in names if not name.rpartition("/")[2].startswith("agent-")]
    own.sort(key=lambda name: bundle.sizes[name])
    yield from read_sessions(bundle, own, _take, seen=set())


def _take(session: ClientSession, entry: Json) -> None:
    kind, key = entry.get("type"), as_text(entry.get("uuid"))
    parent, repeated = as_text(entry.get("parentUuid")), key in session.parents
    given = as_text(entry.get("customTitle") or entry.get("summary"))
    session.title = given or session.title or as_text(entry.get("aiTitle"))
    if key:
        session.parents[key] = parent
    if repeated or kind not in ("user", "assistant"):
        return
    session.place = session.place or as_text(entry.get("cwd")) or None
    messages = list(read_entry(entry))
    if kind == "user" and messages and parent:
        for other, turn in list(session.turns.items()):
            if turn.speaker == "user" and session.parents.get(other) == parent:
                session.drop(other)
    session.add(key, messages, entry.get("timestamp"))


FORMAT = ImportFormat(
    "claude-code",
    "Claude Code",
    recognises,
    read,
    find_folder("CLAUDE_CONFIG_DIR", ".claude", "projects"),
)
