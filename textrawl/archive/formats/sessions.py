"""Sessions of coding agents as JSON Lines, with a message on each line.

A text of a person is what the person typed. Results of tools, texts of the program, and what a
sub-agent was told or wrote are left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path, PurePosixPath

from textrawl.archive.bundles import Bundle, BundleRefused
from textrawl.archive.formats import ImportFormat, Record, as_text, read_rows, read_time
from textrawl.archive.items import Conversation, Fault, Item, Turn
from textrawl.environment import read_foreign
from textrawl.values.transcripts import Message, read_entry

_FIRST = 5  # files that show a format


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


Take = Callable[[ClientSession, Record], None]
"""A function that takes a line of a session."""


def find_names(bundle: Bundle, ending: str = ".jsonl", within: str = "") -> list[str]:
    """Return the names of the files with this ending, in a folder below `within`."""
    anywhere = len(bundle.sizes) == 1 or not within
    names = (name for name in bundle.sizes if name.endswith(ending))
    return sorted(name for name in names if anywhere or f"/{within}" in f"/{name}")


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
            for _, row in read_rows(bundle, name, growing=True):
                if isinstance(row, Fault):
                    yield row
                else:
                    take(session, row)
        if seen is not None:
            copied = {key for key in session.parents if hash(key) in seen}
            session.turns = {key: one for key, one in session.turns.items() if key not in copied}
            seen.update(map(hash, session.turns.keys() & session.parents.keys()))
        if conversation := session.build():
            yield conversation


def recognise(
    *fits: Callable[[Record], bool], names: Callable[[Bundle], list[str]] = find_names
) -> Callable[[Bundle], bool]:
    """Return a function that tells whether a first line of the first files is one that fits."""

    def recognises(bundle: Bundle) -> bool:
        firsts = (one for name in names(bundle)[:_FIRST] for one in bundle.read_first(name))
        return any(fit(one) for one in map(Record.of, firsts) for fit in fits)

    return recognises


def find_folder(variable: str, *parts: str) -> Callable[[], Path]:
    """Return a function that finds a folder below the one in a variable, else below the home."""

    def find() -> Path:
        base = read_foreign(variable)
        return Path(base, *parts[1:]) if base else Path.home().joinpath(*parts)

    return find


def _read_claude_code(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions, without those of sub-agents.

    After a prompt is edited, the file has both versions as successors of the same message. Only the
    last version and its replies are read. A session can begin with a copy of an earlier session,
    with the same ids of messages. The file of the earlier session is smaller, so the smaller files
    are read first.
    """
    names = sorted(find_names(bundle), key=lambda name: bundle.sizes[name])
    own = [name for name in names if not name.rpartition("/")[2].startswith("agent-")]
    yield from read_sessions(bundle, own, _take_claude_code, seen=set())


def _take_claude_code(session: ClientSession, entry: Record) -> None:
    kind, key, parent = entry.get("type"), entry.text("uuid"), entry.text("parentUuid")
    repeated = key in session.parents
    given = entry.text("customTitle", "summary")
    session.title = given or session.title or entry.text("aiTitle")
    if key:
        session.parents[key] = parent
    if repeated or kind not in ("user", "assistant"):
        return
    session.place = session.place or entry.text("cwd") or None
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
    names = find_names(bundle)
    own = [one for one in names if one.rpartition("/")[2].startswith("rollout-")] or names
    return sorted(own, key=lambda one: (_find_session(one), PurePosixPath(one).name))


def _read_codex(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions, without those of sub-agents.

    The first line of a session names it. In files of early 2025 messages are lines of their own,
    and later they are payloads of lines of the type `response_item`. A line can take
    back the last prompts and their replies. Newer versions then go on in another file. Its first
    line says where the earlier file ends for it, and its ordinals follow those of that file.
    """
    yield from read_sessions(bundle, _find_codex_files(bundle), _take_codex, group=_find_session)


def _take_codex(session: ClientSession, entry: Record) -> None:
    payload = entry.part("payload")
    if entry.get("type") == "session_meta" or {"id", "instructions"} <= entry.keys():
        meta = payload or entry
        if session.named and meta.get("id") == session.id:
            _cut(session, meta.part("history_base").get("end_ordinal_exclusive"))
        if not session.named:  # a fork repeats the lines of its origin
            session.named = True
            session.id = meta.text("id") or session.id
            session.place = meta.text("cwd") or None
            session.ignored = "subagent" in meta.part("source")
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


_is_gemini_session = recognise(lambda one: {"sessionId", "projectHash"} <= one.keys())


def _is_gemini_cli(bundle: Bundle) -> bool:
    """Return whether the files are sessions of Gemini CLI."""
    heads = map(bundle.read_head, find_names(bundle, ".json", within="chats/")[:_FIRST])
    return _is_gemini_session(bundle) or any(
        b'"sessionId"' in head and b'"projectHash"' in head for head in heads
    )


def _read_gemini_cli(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions, without those of sub-agents.

    They are JSON Lines today, and one JSON object each in files of 2025, in a folder for each
    project, whose file `.project_root` names the folder of the project.
    """
    for name in find_names(bundle, within="chats/"):
        for item in read_sessions(bundle, [name], _take_gemini_cli):
            found = isinstance(item, Conversation)
            yield replace(item, place=_find_place(bundle, name)) if found else item
    for name in find_names(bundle, ".json", within="chats/"):
        try:
            value = Record.of(bundle.read_json(name))
        except BundleRefused as refused:
            yield Fault(name, refused.reason)
            continue
        session = ClientSession(name, place=_find_place(bundle, name))
        _take_gemini_cli(session, value)
        for message in value.parts("messages"):
            _take_gemini_cli(session, message)
        if conversation := session.build():
            yield conversation


def _find_place(bundle: Bundle, name: str) -> str | None:
    file = f"{name.rpartition('chats/')[0]}.project_root"
    return bundle.read_head(file).decode(errors="replace").strip() if file in bundle.sizes else None


def _take_gemini_cli(session: ClientSession, entry: Record) -> None:
    header = entry.part("$set") or entry
    if "sessionId" in header:
        session.id = header.text("sessionId") or session.id
        session.ignored = session.ignored or header.get("kind") == "subagent"
    session.title = header.text("summary") or session.title
    if (key := entry.text("$rewindTo")) in session.turns:
        session.rewind(key)
    if entry.get("type") in ("user", "gemini"):
        session.add(entry.get("id"), read_entry(entry), entry.get("timestamp"))


def _read_copilot_cli(bundle: Bundle) -> Iterator[Item]:
    """Yield the sessions, a folder each with its events, without what sub-agents wrote."""
    names = find_names(bundle, "events.jsonl") or find_names(bundle)
    yield from read_sessions(bundle, names, _take_copilot_cli)


def _take_copilot_cli(session: ClientSession, entry: Record) -> None:
    data = entry.part("data")
    if entry.get("type") == "session.start":
        session.id = data.text("sessionId") or session.id
        session.place = data.part("context").text("cwd") or None
    else:
        session.add(entry.get("id"), read_entry(entry), entry.get("timestamp"))


FORMATS = (
    ImportFormat(
        "claude-code",
        "Claude Code",
        recognise(lambda one: "sessionId" in one and ("parentUuid" in one or "leafUuid" in one)),
        _read_claude_code,
        find_folder("CLAUDE_CONFIG_DIR", ".claude", "projects"),
    ),
    ImportFormat(
        "codex",
        "Codex",
        recognise(
            lambda one: one.get("type") == "session_meta" and "payload" in one,
            lambda one: {"id", "timestamp", "instructions"} <= one.keys(),
            names=_find_codex_files,
        ),
        _read_codex,
        find_folder("CODEX_HOME", ".codex"),
    ),
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
        recognise(lambda one: one.get("type") == "session.start" and "data" in one),
        _read_copilot_cli,
        find_folder("COPILOT_HOME", ".copilot", "session-state"),
    ),
)
