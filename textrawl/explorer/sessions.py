"""Sessions of signed-in people, and one-time links. Both are kept in memory only.

A session holds the credential of an access token, not the token and not its rights: each request
looks the credential up again. The server knows sessions and links only by the SHA-256 of their
secrets, so that response times do not help to guess one.

Starlette's SessionMiddleware keeps sessions in signed cookies, and a server cannot end them.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256

from cachetools import TTLCache

IDLE = 30 * 60.0  # seconds without a request after which a session ends
LONGEST = 12 * 60 * 60.0  # seconds after which a session ends in any case
_LINK = 5 * 60.0  # seconds for which a one-time link can be used
_MOST_SESSIONS = 1000
_MOST_OF_ONE = 20  # sessions of one credential
_MOST_LINKS = 100
_BYTES = 32

Clock = Callable[[], float]


@dataclass(frozen=True)
class Session:
    """A signed-in browser. `form_token` proves that a form came from one of our pages."""

    credential: bytes | None
    form_token: str
    begun: float
    used: float


class Sessions:
    """The sessions of a server. If there are too many, the one that was used least recently ends.

    `clock` returns seconds.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        # The least recently used one first. A dict keeps the order in which keys were added, but a
        # cache of cachetools lists its keys in an order of its own, and listing them can be a use.
        self._sessions: dict[bytes, Session] = {}

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
        self._sessions[_hash(identity)] = Session(credential, form_token, now, now)
        return identity

    def find(self, identity: str) -> Session | None:
        """Return the session with this id, and count the request as its last use."""
        session = self._sessions.pop(_hash(identity), None)
        if session is None or not self._is_valid(session):
            return None
        session = replace(session, used=self._clock())
        self._sessions[_hash(identity)] = session  # added again as the most recently used one
        return session

    def end(self, identity: str) -> None:
        """End the session with this id, if there is one."""
        self._sessions.pop(_hash(identity), None)

    def _is_valid(self, session: Session) -> bool:
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


def _hash(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()
