"""Sessions of coding agents as JSON Lines, with a message on each line.

A text of a person is what the person typed. Results of tools, texts of the program, and what a
sub-agent was told or wrote are left out.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from textrawl.archive.bundles import Bundle, read_object
from textrawl.archive.formats import as_object, as_text, read_time
from textrawl.archive.items import Conversation, Fault, Item, Turn
from textrawl.environment import read_foreign
from textrawl.values.transcripts import Json, Message


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
    """Return the first objects of the first files, to see what they are."""
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
    left out if the hash of its id is in `seen`, which gets those of the messages of each
    conversation.
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
    """Return a function that finds a folder in that of the variable, or else below the home."""

    def find() -> Path:
        base = read_foreign(variable)
        return Path(base, *parts[1:]) if base else Path.home().joinpath(*parts)

    return find


def read_place(value: object) -> str | None:
    """Return a folder of a session."""
    return as_text(as_object(value).get("cwd")) or None
