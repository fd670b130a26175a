"""Sessions of coding agents as JSON Lines, with a message on each line.

A text of a person is what the person typed. Results of tools, texts of the program, and what a
sub-agent was told or wrote are left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from textrawl.archive.bundles import Bundle, BundleRefused, read_object
from textrawl.archive.formats import ImportFormat, as_list, as_object, as_text, read_time
from textrawl.archive.items import Conversation, Fault, Item, Turn
from textrawl.environment import read_foreign
from textrawl.values.transcripts import Json, Message, read_entry


@dataclass
class ClientSession:
    """A session while its lines are read.

    `parents` has the id before each message. `named` is true after its header was read.
    """

    id: str
    title: str = ""
    place: str | None = None
    turns: dict[str, Turn] = field(default_factory=dict[str, Turn])
    parents: dict[str, str] = field(default_factory=dict[str, str])
    named: bool = False
    ignored: bool = False

    def add(self, key: object, messages: Iterable[Message], at: object) -> None:
        """Add the texts of a message. A later message with the same id takes its place."""
        found = list(messages)
        if found:
            speaker = "user" if found[0].author == "user" else "assistant"
            text = "\n\n".join(message.text for message in found)
            name = as_text(key) or f"line {len(self.turns)}"
            self.turns[name] = Turn(speaker, text, read_time(at))

    def drop(self, key: str) -> None:
        """Drop a message and all that follow from it."""
        gone = {key}
        for name, parent in self.parents.items():
            if parent in gone:
                gone.add(name)
        self.turns = {name: turn for name, turn in self.turns.items() if name not in gone}

    def rewind(self, key: str) -> None:
        """Drop a message, and all that came or follow after it."""
        names = list(self.turns)
        for name in names[names.index(key) :]:
            self.drop(name)

    def build(self) -> Conversation | None:
        """Return the conversation, or None if it has no turns."""
        turns = list(self.turns.values())
        if self.ignored or not turns:
            return None
        begin = next((turn.at for turn in turns if turn.at), None)
        return Conversation(self.id, self.title, turns, begin, self.place)


Take = Callable[[ClientSession, Json], None]
"""A function that takes a line of a session."""


def find_names(bundle: Bundle, *endings: str, within: str = "") -> list[str]:
    """Return the names of the files with these endings, in a folder below `within`."""
    only = len(bundle.sizes) == 1
    return sorted(
        name
        for name in bundle.sizes
        if name.endswith(endings) and (only or not within or f"/{within}" in f"/{name}")
    )


def find_first(bundle: Bundle, names: list[str], most: int = 5) -> list[dict[str, Any]]:
    """Return the first objects of the first files, to recognise their format."""
    return [value for name in names[:most] for value in bundle.read_first(name)]


def read_sessions(
    bundle: Bundle,
    names: list[str],
    take: Take,
    seen: set[int] | None = None,
    group: Callable[[str], str] = str,
) -> Iterator[Item]:
    """Yield the conversation of each file, and the faults of its lines.

    Files that follow each other and have the same `group` are parts of one session. A message is
    left out if the hash of its id is in `seen`. The hashes of all messages that are read are
    added there.
    """
    for _, parts in groupby(names, group):
        session = ClientSession("")
        for name in parts:
            session.id = session.id or PurePosixPath(name).stem
            yield from _read_lines(bundle, name, session, take)
        if seen is not None:
            copied = {key for key in session.parents if hash(key) in seen}
            session.turns = {key: one for key, one in session.turns.items() if key not in copied}
            seen.update(map(hash, session.turns.keys() & session.parents.keys()))
        if conversation := session.build():
            yield conversation


def _read_lines(bundle: Bundle, name: str, session: ClientSession, take: Take) -> Iterator[Fault]:
    """Take the lines of a file. A last line that is cut may be in the making, and is no fault."""
    for number, line in bundle.read_lines(name):
        entry = read_object(line or b"")
        if entry is not None:
            take(session, entry)
        elif line is None:
            yield Fault(f"{name}, line {number}", "it is too long")
        elif line.endswith(b"\n") and line.strip():
            yield Fault(f"{name}, line {number}", "it is not a JSON object")


def find_folder(variable: str, *parts: str) -> Callable[[], Path]:
    """Return a function that finds a folder below the one in a variable, else below the home."""

    def find() -> Path:
        base = read_foreign(variable)
        return Path(base, *parts[1:]) if base else Path.home().joinpath(*parts)

    return find


def read_place(value: object) -> str | None:
    """Return a folder of a session."""
    return as_text(as_object(value).get("cwd")) or None


def _is_claude_code(bundle: Bundle) -> bool:
    """Return whether the files are sessions of Claude Code, one each, in a folder of a project."""
    firsts = find_first(bundle, find_names(bundle, ".jsonl"))
    return any("sessionId" in one and ("parentUuid" in one or "leafUuid" in one) for one in firsts)


def _read_claude_code(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions, without those of sub-agents.

    After a prompt is edited, the file has both versions as successors of the same message. Only the
    last version and its replies are read. A session can begin with a copy of an earlier session,
    with the same ids of messages. The file of the earlier session is smaller, so the smaller files
    are read first.
    """
    names = find_names(bundle, ".jsonl")
    own = [name for name in names if not name.rpartition("/")[2].startswith("agent-")]
    own.sort(key=lambda name: bundle.sizes[name])
    yield from read_sessions(bundle, own, _take_claude_code, seen=set())


def _take_claude_code(session: ClientSession, entry: Json) -> None:
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


_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PART = re.compile(f"({_UUID})(?:_{_UUID})?$")


def _find_session(name: str) -> str:
    """Return the id of the session that a file is a part of, or the name of the file."""
    stem = PurePosixPath(name).stem
    return found[1] if (found := _PART.search(stem)) else stem


def _find_codex_files(bundle: Bundle) -> list[str]:
    """Return the names of the sessions, `rollout-….jsonl` in folders of days or of the archive.

    A file that is named alone may have any name.
    """
    names = find_names(bundle, ".jsonl")
    own = [one for one in names if one.rpartition("/")[2].startswith("rollout-")] or names
    return sorted(own, key=lambda one: (_find_session(one), PurePosixPath(one).name))


def _is_codex(bundle: Bundle) -> bool:
    """Return whether the files are sessions of Codex."""
    firsts = find_first(bundle, _find_codex_files(bundle))
    return any(one.get("type") == "session_meta" and "payload" in one for one in firsts) or any(
        {"id", "timestamp", "instructions"} <= one.keys() for one in firsts
    )


def _read_codex(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions, without those of sub-agents.

    The first line of a session names it. In files of early 2025 messages are lines of their own,
    and later they are payloads of lines of the type `response_item`. A line can take
    back the last prompts and their replies. Newer versions then go on in another file. Its first
    line says where the earlier file ends for it, and its ordinals follow those of that file.
    """
    yield from read_sessions(bundle, _find_codex_files(bundle), _take_codex, group=_find_session)


def _take_codex(session: ClientSession, entry: Json) -> None:
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
    session.rewind(prompts[-min(count, len(prompts))])


_HEADER = {"sessionId", "projectHash"}


def _is_gemini_cli(bundle: Bundle) -> bool:
    """Return whether the files are sessions of Gemini CLI."""
    lines, whole = find_names(bundle, ".jsonl"), find_names(bundle, ".json", within="chats/")
    heads = [bundle.read_head(name) for name in whole[:5]]
    return any(one.keys() >= _HEADER for one in find_first(bundle, lines)) or any(
        b'"sessionId"' in head and b'"projectHash"' in head for head in heads
    )


def _read_gemini_cli(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions, without those of sub-agents.

    They are JSON Lines today, and one JSON object each in files of 2025, in a folder for each
    project, whose file `.project_root` names the folder of the project.
    """
    for name in find_names(bundle, ".jsonl", within="chats/"):
        for item in read_sessions(bundle, [name], _take_gemini_cli):
            found = isinstance(item, Conversation)
            yield replace(item, place=_find_place(bundle, name)) if found else item
    for name in find_names(bundle, ".json", within="chats/"):
        try:
            value = as_object(bundle.read_json(name))
        except BundleRefused as refused:
            yield Fault(name, refused.reason)
            continue
        session = ClientSession(name, place=_find_place(bundle, name))
        _take_gemini_cli(session, value)
        for message in as_list(value.get("messages")):
            _take_gemini_cli(session, as_object(message))
        if conversation := session.build():
            yield conversation


def _find_place(bundle: Bundle, name: str) -> str | None:
    file = f"{name.rpartition('chats/')[0]}.project_root"
    return bundle.read_head(file).decode(errors="replace").strip() if file in bundle.sizes else None


def _take_gemini_cli(session: ClientSession, entry: Json) -> None:
    header = as_object(entry.get("$set")) or entry
    if "sessionId" in header:
        session.id = as_text(header.get("sessionId")) or session.id
        session.ignored = session.ignored or header.get("kind") == "subagent"
    session.title = as_text(header.get("summary")) or session.title
    if (key := as_text(entry.get("$rewindTo"))) in session.turns:
        session.rewind(key)
    if entry.get("type") in ("user", "gemini"):
        session.add(entry.get("id"), read_entry(entry), entry.get("timestamp"))


def _is_copilot_cli(bundle: Bundle) -> bool:
    """Return whether the files are sessions of Copilot CLI: a folder each, with its events."""
    firsts = find_first(bundle, find_names(bundle, ".jsonl"))
    return any(one.get("type") == "session.start" and "data" in one for one in firsts)


def _read_copilot_cli(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions, without what sub-agents wrote."""
    names = [name for name in find_names(bundle, ".jsonl") if name.endswith("events.jsonl")]
    yield from read_sessions(bundle, names or find_names(bundle, ".jsonl"), _take_copilot_cli)


def _take_copilot_cli(session: ClientSession, entry: Json) -> None:
    data = as_object(entry.get("data"))
    if entry.get("type") == "session.start":
        session.id = as_text(data.get("sessionId")) or session.id
        session.place = read_place(data.get("context"))
    else:
        session.add(entry.get("id"), read_entry(entry), entry.get("timestamp"))


FORMATS = (
    ImportFormat(
        "claude-code",
        "Claude Code",
        _is_claude_code,
        _read_claude_code,
        find_folder("CLAUDE_CONFIG_DIR", ".claude", "projects"),
    ),
    ImportFormat("codex", "Codex", _is_codex, _read_codex, find_folder("CODEX_HOME", ".codex")),
    ImportFormat(
        "gemini-cli",
        "Gemini CLI",
        _is_gemini_cli,
        _read_gemini_cli,
        find_folder("GEMINI_CLI_HOME", "", ".gemini", "tmp"),
    ),
    ImportFormat(
        "copilot-cli",
        "Copilot CLI",
        _is_copilot_cli,
        _read_copilot_cli,
        find_folder("COPILOT_HOME", ".copilot", "session-state"),
    ),
)
