"""Sessions of signed-in people, and one-time links. Both are kept in memory only.

A session holds the credential of an access token, not the token and not its rights: each request
looks the credential up again. The server knows sessions and links only by the SHA-256 of their
secrets, so that response times do not help to guess one.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

IDLE = 30 * 60.0  # seconds without a request after which a session ends
LONGEST = 12 * 60 * 60.0  # seconds after which a session ends in any case
_LINK = 5 * 60.0  # seconds for which a one-time link can be used
_MOST_SESSIONS = 1000
_MOST_OF_ONE = 20  # sessions of one credential
_BYTES = 32

Clock = Callable[[], float]


@dataclass(eq=False)
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
        self._sessions: dict[bytes, Session] = {}

    def begin(self, credential: bytes | None) -> str:
        """Begin a session, and return its secret id for the cookie. Every id is new."""
        now = self._clock()
        self._end_old(now)
        own = [key for key, each in self._sessions.items() if each.credential == credential]
        if len(own) >= _MOST_OF_ONE:
            self._end_oldest(own)
        if len(self._sessions) >= _MOST_SESSIONS:
            self._end_oldest(list(self._sessions))
        identity = secrets.token_urlsafe(_BYTES)
        form_token = secrets.token_urlsafe(_BYTES)
        self._sessions[_hash(identity)] = Session(credential, form_token, now, now)
        return identity

    def find(self, identity: str) -> Session | None:
        """Return the session with this id, and count the request as its last use."""
        now, key = self._clock(), _hash(identity)
        session = self._sessions.get(key)
        if session is None:
            return None
        if _has_ended(session, now):
            del self._sessions[key]
            return None
        session.used = now
        return session

    def end(self, identity: str) -> None:
        """End the session with this id, if there is one."""
        self._sessions.pop(_hash(identity), None)

    def _end_old(self, now: float) -> None:
        ended = [key for key, session in self._sessions.items() if _has_ended(session, now)]
        for key in ended:
            del self._sessions[key]

    def _end_oldest(self, keys: list[bytes]) -> None:
        del self._sessions[min(keys, key=lambda key: self._sessions[key].used)]


def _has_ended(session: Session, now: float) -> bool:
    return now - session.used > IDLE or now - session.begun > LONGEST


class Links:
    """One-time links, each with the credential of the session that it begins."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._links: dict[bytes, tuple[bytes | None, float]] = {}

    def make(self, credential: bytes | None) -> str:
        """Return the secret code of a new link."""
        code = secrets.token_urlsafe(_BYTES)
        self._links[_hash(code)] = credential, self._clock() + _LINK
        return code

    def use(self, code: str) -> tuple[bytes | None] | None:
        """Return the credential of the link in a tuple, or None. No code is accepted twice."""
        found = self._links.pop(_hash(code), None)
        if found is None or self._clock() > found[1]:
            return None
        return (found[0],)


def _hash(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()
