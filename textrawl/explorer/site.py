"""The state that pages share: the memory, sessions, rows of SQL, numbers, answers and notices."""

import secrets
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

from cachetools import TTLCache
from starlette.background import BackgroundTasks

from textrawl.access.principal import Directory, Principal
from textrawl.doctor.checks import CheckResult
from textrawl.errors import NotAuthenticated, TextrawlError
from textrawl.memory.fact_rows import ReportRow, StatisticsRow
from textrawl.memory.facts import MemoryOperations
from textrawl.memory.store import Store
from textrawl.memory.watches import Watches
from textrawl.postgres.database import Database
from textrawl.server.http.authentication import Lookup
from textrawl.server.http.guards import PAGES
from textrawl.settings import Settings
from textrawl.wire.replies import Renderer

PROPOSED = "Proposed: somebody who reviews decides."
UNCHANGED = "Nothing is different."
_MOST_NOTICES = 1000
_LONGEST_NOTICE = 30 * 60.0  # seconds


NoticePart = tuple[str, str, str]
"""One of several things: its name, its address, which can be empty, and what happened to it."""
Choice = tuple[str, str, Mapping[str, object]]
"""A button: its words, its action, and the fields of its form."""


@dataclass(frozen=True)
class Notice:
    """A sentence. `page` is the action that takes the change back, or empty, with its `fields`.

    `entity` and `space` lead to the entity that changed, if there is one. `parts` are the things
    of a change of several. `beside` is what the memory has that disagrees or says nearly the same,
    `why` the words for this, and `choices` are what can be done about it.
    """

    text: str
    entity: str = ""
    space: str = ""
    page: str = ""
    fields: Mapping[str, object] = field(default_factory=dict[str, object])
    parts: Sequence[NoticePart] = ()
    beside: str = ""
    why: str = ""
    choices: Sequence[Choice] = ()

    @property
    def label(self) -> str:
        """The words of the button."""
        return "Put it back" if self.page == "revert" else "Undo"


class Notices:
    """The notice that each session has not seen yet."""

    def __init__(self) -> None:
        self._waiting = TTLCache[str, Notice](_MOST_NOTICES, _LONGEST_NOTICE)

    def keep(self, session: str, notice: Notice) -> None:
        """Keep a notice for the next page of a session. It replaces one that was not seen."""
        self._waiting[session] = notice

    def take(self, session: str) -> Sequence[Notice]:
        """Return the notice of a session in a list, once."""
        notice = self._waiting.pop(session, None)
        return [] if notice is None else [notice]


@dataclass
class LastChecks:
    """The findings of the last checks, and their time. `at` is None before the first."""

    findings: Sequence[CheckResult] = ()
    at: datetime | None = None


Record = SimpleNamespace
"""A row of a SQL function with all its columns. The function says what they hold."""

Answer = TypeVar("Answer")

_MOST = 300  # answers
_LONGEST = 60.0  # seconds: some answers change with the time alone, such as the number of old facts
_OLDEST = 12 * 60 * 60.0  # seconds for which an answer can be shown while the next one is made
_PAUSE = 10.0  # seconds before an answer that takes long is made again, whatever was written


Key = tuple[Hashable, ...]
"""The subject of an answer. The person who asked comes first."""


@dataclass(frozen=True)
class _KeptAnswer(Generic[Answer]):
    state: str
    at: float
    answer: Answer


class AnswerCache(Generic[Answer]):
    """The last answers, each with the state of the database in which it was made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept = TTLCache[Key, _KeptAnswer[Answer]](_MOST, _OLDEST, timer=clock)
        self._running = set[Key]()

    async def find(self, key: Key, state: str, make: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the answer for `key` in `state`, for at most a minute. Make it if it is missing.

        Read the state before the call. A write during `make` then makes the answer out of date.
        """
        kept = self._kept.get(key)
        if kept is not None and kept.state == state and self._clock() - kept.at < _LONGEST:
            return kept.answer
        began = self._clock()
        answer = await make()
        self._kept[key] = _KeptAnswer(state, began, answer)
        return answer

    async def find_soon(
        self,
        key: Key,
        state: str,
        make: Callable[[], Awaitable[Answer]],
        after: BackgroundTasks,
        takes_long: Callable[[Answer], bool],
    ) -> Answer:
        """Return the answer of `find`, or the previous one if that shows that `find` takes long.

        Then the tasks in `after`, which run after the response, make the new answer.
        """
        kept = self._kept.get(key)
        if kept is None or not takes_long(kept.answer):
            return await self.find(key, state, make)
        if key not in self._running and self._clock() - kept.at >= _PAUSE:
            after.add_task(self._renew, key, state, make)
        return kept.answer

    def drop(self, person: Hashable) -> None:
        """Drop the answers to one person, who has changed something and wants to see it."""
        for key in [key for key in self._kept if key[0] == person]:
            self._kept.pop(key, None)

    async def _renew(self, key: Key, state: str, make: Callable[[], Awaitable[Answer]]) -> None:
        if key in self._running:
            return
        self._running.add(key)
        try:
            # The page is sent. If the database is away now, the next visit tries again.
            with suppress(TextrawlError):
                await self.find(key, state, make)
        finally:
            self._running.discard(key)


IDLE = 30 * 60.0  # seconds without a request after which a session ends
LONGEST = 12 * 60 * 60.0  # seconds after which a session ends in any case
_LINK = 5 * 60.0  # seconds for which a one-time link can be used
_MOST_SESSIONS = 1000
_MOST_OF_ONE = 20  # sessions of one credential
_MOST_LINKS = 100
_BYTES = 32

Clock = Callable[[], float]


@dataclass(frozen=True)
class BrowserSession:
    """A signed-in browser. `form_token` proves that a form came from one of our pages."""

    credential: bytes | None
    form_token: str
    begun: float
    used: float


class BrowserSessions:
    """The sessions of a server. If there are too many, the one that was used least recently ends.

    `clock` returns seconds.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        # The least recently used one first. A dict keeps the order in which keys were added, but a
        # cache of cachetools lists its keys in an order of its own, and listing them can be a use.
        self._sessions: dict[bytes, BrowserSession] = {}

    def begin(self, credential: bytes | None) -> str:
        """Begin a session, and return its secret id for the cookie. Every id is new."""
        self._sessions = {key: each for key, each in self._sessions.items() if self._is_valid(each)}
        own = [key for key, each in self._sessions.items() if each.credential == credential]
        if len(own) >= _MOST_OF_ONE:
            del self._sessions[own[0]]
        elif len(self._sessions) >= _MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        identity = secrets.token_urlsafe(_BYTES)
        form_token = secrets.token_urlsafe(_BYTES)
        now = self._clock()
        self._sessions[_hash(identity)] = BrowserSession(credential, form_token, now, now)
        return identity

    def find(self, identity: str) -> BrowserSession | None:
        """Return the session with this id, and count the request as its last use."""
        session = self._sessions.pop(_hash(identity), None)
        if session is None or not self._is_valid(session):
            return None
        session = replace(session, used=self._clock())
        self._sessions[_hash(identity)] = session  # added again as the most recently used one
        return session

    def has(self, identity: str) -> bool:
        """Return whether a session has this id, without counting this as a use."""
        session = self._sessions.get(_hash(identity))
        return session is not None and self._is_valid(session)

    def end(self, identity: str) -> None:
        """End the session with this id, if there is one."""
        self._sessions.pop(_hash(identity), None)

    def _is_valid(self, session: BrowserSession) -> bool:
        now = self._clock()
        return now - session.used < IDLE and now - session.begun <= LONGEST


class Links:
    """One-time links, each with the credential of the session that it begins."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._links = TTLCache[bytes, tuple[bytes | None]](_MOST_LINKS, _LINK, timer=clock)

    def make(self, credential: bytes | None) -> str:
        """Return the secret code of a new link."""
        code = secrets.token_urlsafe(_BYTES)
        self._links[_hash(code)] = (credential,)
        return code

    def use(self, code: str) -> tuple[bytes | None] | None:
        """Return the credential of the link in a tuple, or None. No code is accepted twice."""
        return self._links.pop(_hash(code), None)


_MOST_DRAFTED = 16_000_000  # characters of all drafts together


class Drafts:
    """Forms that came after the end of a session, for the person who signs in again.

    Only the browser that sent a form gets its secret.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._kept = TTLCache[bytes, Mapping[str, str]](
            _MOST_DRAFTED, IDLE, timer=clock, getsizeof=lambda form: len(str(form))
        )

    def keep(self, form: Mapping[str, str]) -> str:
        """Keep a form, and return its secret."""
        secret = secrets.token_urlsafe(_BYTES)
        self._kept[_hash(secret)] = form
        return secret

    def find(self, secret: str) -> dict[str, str]:
        """Return the fields of a form, or none if nothing is kept under this secret."""
        return dict(self._kept.get(_hash(secret), {}))


def _hash(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def describe_numbers(
    holdings: StatisticsRow, report: ReportRow, pairs: Sequence[Record] = ()
) -> dict[str, Any]:
    """Return the values that the templates in pages/numbers.html need."""
    recalls = report.recalls
    return {
        "holdings": holdings,
        "report": report,
        "saved": max(int(recalls["verbose_tokens"] or 0) - int(recalls["tokens"]), 0),
        "duplicates": count_pairs(pairs, "duplicate"),
        "conflicts": count_pairs(pairs, "conflict"),
    }


def count_pairs(pairs: Sequence[Record], kind: str) -> int:
    """Return the number of all pairs of a kind, also of those that are not listed."""
    return next((pair.total for pair in pairs if pair.kind == kind), 0)


ROOT = PAGES

OpenOwner = Callable[[], AbstractAsyncContextManager[Database]]
"""Opens the memory as its owner. Raises StartRefused if the login does not own the memory."""


@dataclass(frozen=True)
class Site:
    """An open memory with its settings, and the ways to sign in.

    `lookup` finds the principal of an access token. It is None if only one-time links sign in.
    `open_owner` is None if nobody who signs in can be the owner. `tickets` belong to forms that can
    be sent only once. `running` are the people with a statement that runs. `watches` tell pages
    that facts are new. `print_link` prints a one-time link to a page for the person at this
    machine.
    """

    store: Store
    renderer: Renderer
    directory: Directory
    settings: Settings
    lookup: Lookup | None = None
    sessions: BrowserSessions = field(default_factory=BrowserSessions)
    links: Links = field(default_factory=Links)
    last_checks: LastChecks = field(default_factory=LastChecks)
    answers: AnswerCache[Any] = field(default_factory=AnswerCache[Any])
    tickets: Links = field(default_factory=Links)
    notices: Notices = field(default_factory=Notices)
    drafts: Drafts = field(default_factory=Drafts)
    running: set[str] = field(default_factory=set[str])
    open_owner: OpenOwner | None = None
    watches: Watches | None = None
    print_link: Callable[[str], None] | None = None

    @property
    def own_machine(self) -> bool:
        """True if only the person at this machine can sign in."""
        return self.lookup is None

    async def look_up(self, token: str) -> Principal | None:
        """Return the principal of an access token, or None if it is not known."""
        try:
            return await self.lookup(token) if self.lookup else None
        except NotAuthenticated:
            return None

    @property
    def memory(self) -> MemoryOperations:
        """The operations that the tools call too."""
        return MemoryOperations(self.store)
