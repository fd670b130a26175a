"""The state of a session: what its hooks gave the model and stored, so that nothing comes twice.

Each session has a file in the data folder, to which hooks append lines. A line is a word, or a word
and a value:

    of CLIENT PROJECT   the client, and the repository or the name of the folder
    turn                a prompt, or the end of a turn
    given KIND TIME TOKENS ID...
                        at an event of this kind, at this time in milliseconds, the model got these
                        facts with so many tokens
    compacted           the conversation was compacted, so the model no longer has earlier facts
    reminded            the agent was reminded to store facts
    text HASH           this text of the transcript is stored
    event KEY TIME      a hook got this input, at this time in milliseconds
    transcript PATH     the client's file of the conversation
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from textrawl_client.unix_socket import GOING_ON

FOLDER = "sessions"
_KEY = "fence-key"
KEPT_DAYS = 7
_TWICE = 1500  # milliseconds within which the same event comes from a second configuration
_MOST_BYTES = 4 << 20
_WORDS = ("of", "given", "text", "turn", "reminded", "transcript", "event")
_ID, _SHORT_ID = 36, 8  # characters
_WAIT, _PAUSE = 1.0, 0.005  # seconds to wait for another hook of the session


class Given(NamedTuple):
    """Facts that the model got at an event, by their ids. `at` is in milliseconds."""

    kind: str
    at: int
    tokens: int
    facts: tuple[str, ...]

    @property
    def time(self) -> datetime:
        """The time of the event."""
        return datetime.fromtimestamp(self.at / 1000, UTC)


class SessionState(NamedTuple):
    """The events of a session so far.

    `known` are the short ids of the facts that the model got since the last compaction. `project`
    is the best key of the repository, or else the name of the folder.
    """

    known: frozenset[str] = frozenset()
    given: tuple[Given, ...] = ()
    client: str = ""
    project: str = ""
    texts: frozenset[str] = frozenset()
    turns: int = 0
    reminded: bool = False
    transcript: str = ""
    events: tuple[tuple[str, int], ...] = ()

    def has_just_run(self, key: str) -> bool:
        """Return whether a hook with the same input ran a moment ago.

        This happens if a plugin and the settings of a client both contain the hook.
        """
        now = _now()
        return any(known == key and abs(now - at) < _TWICE for known, at in self.events)


class HookSession:
    """The file of a session. As a context manager, it waits for other hooks of the session."""

    def __init__(self, folder: Path, client: str, session: str) -> None:
        self.id = hashlib.sha256(f"{client}\n{session}".encode()).hexdigest()
        self._path = folder / FOLDER / self.id
        self._mark = folder / GOING_ON / self.chat
        self._file = -1

    def __enter__(self) -> "HookSession":
        """Open and lock the file. Raises OSError, or TimeoutError if it stays locked."""
        for private in (self._path.parents[1], self._path.parent):
            private.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(self._path, flags, 0o600)
        end = time.monotonic() + _WAIT
        while not self._lock():
            if time.monotonic() > end:
                self.__exit__()
                raise TimeoutError("Another hook of this session is still at work")
            time.sleep(_PAUSE)
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file, which unlocks it."""
        os.close(self._file)

    def read(self) -> SessionState:
        """Return what happened so far."""
        os.lseek(self._file, 0, os.SEEK_SET)
        with os.fdopen(os.dup(self._file), "rb") as file:
            return _read_lines(file)

    def read_key(self) -> bytes:
        """Return the key of this user's digests, made by the first hook that needs it."""
        key = self._path.parents[1] / _KEY
        if not key.exists():
            draft = self._path.with_name(f"{self.id}.{_KEY}")
            draft.touch(0o600)
            draft.write_bytes(os.urandom(32))
            with suppress(FileExistsError):  # of another session, which was quicker
                os.link(draft, key)
            draft.unlink()
        return key.read_bytes()

    def add(self, *lines: str) -> None:
        """Append lines in one write."""
        os.write(self._file, "".join(f"{line}\n" for line in lines).encode())

    def add_given(self, kind: str, tokens: int, facts: Iterable[str]) -> None:
        """Append that the model got these facts at an event of this kind, now."""
        self.add(" ".join(["given", kind, str(_now()), str(tokens), *facts]))

    def add_event(self, key: str) -> None:
        """Append that a hook ran with this input, now."""
        self.add(f"event {key} {_now()}")

    @property
    def chat(self) -> str:
        """The id of the session in journal entries."""
        return self.id[:16]

    def mark(self, *, going_on: bool) -> None:
        """Note whether the session goes on. Meanwhile no answer has the texts captured from it."""
        if going_on:
            self._mark.parent.mkdir(mode=0o700, exist_ok=True)
            self._mark.touch(0o600)
        else:
            self._mark.unlink(missing_ok=True)

    def _lock(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def remove_old_sessions(folder: Path) -> None:
    """Delete files of sessions that did nothing for a week."""
    oldest = time.time() - KEPT_DAYS * 86_400
    for entry in (*folder.glob(f"{FOLDER}/*"), *folder.glob(f"{GOING_ON}/*")):
        if entry.lstat().st_mtime < oldest:
            entry.unlink(missing_ok=True)


def read_sessions(folder: Path) -> dict[str, SessionState]:
    """Return the sessions of the last week by their ids, the newest first."""
    found = list[tuple[float, str, SessionState]]()
    for path in (folder / FOLDER).glob("?" * hashlib.sha256().digest_size * 2):
        with suppress(FileNotFoundError), path.open("rb") as file:  # a hook deletes old ones
            found.append((os.fstat(file.fileno()).st_mtime, path.name, _read_lines(file)))
    return {name: state for _, name, state in sorted(found, reverse=True)}


def _read_lines(file: BinaryIO) -> SessionState:
    lists: dict[str, list[str]] = {word: [] for word in _WORDS}
    forgotten = 0  # of what was given
    for line in file.read(_MOST_BYTES).decode(errors="replace").splitlines():
        word, _, value = line.partition(" ")
        if word == "compacted":
            forgotten = len(lists["given"])
        elif word in lists:  # another word is a line that was cut when the disk was full
            lists[word].append(value)
    given = tuple(map(_read_given, lists["given"]))
    client, _, project = "".join(lists["of"][-1:]).partition(" ")
    return SessionState(
        known=frozenset(fact[:_SHORT_ID] for one in given[forgotten:] for fact in one.facts),
        given=given,
        client=client,
        project=project,
        texts=frozenset(lists["text"]),
        turns=len(lists["turn"]),
        reminded=bool(lists["reminded"]),
        transcript="".join(lists["transcript"][-1:]),
        events=tuple(map(_read_event, lists["event"])),
    )


def _read_given(value: str) -> Given:
    kind, at, tokens, *facts = [*value.split(" "), "", ""]
    whole = tuple(fact for fact in facts if len(fact) == _ID)  # the last one can be cut
    return Given(kind, _read_number(at), _read_number(tokens), whole)


def _read_event(value: str) -> tuple[str, int]:
    key, _, at = value.rpartition(" ")
    return key, _read_number(at)


def _read_number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _now() -> int:
    return int(time.time() * 1000)
