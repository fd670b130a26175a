"""Deletions that a user refused, kept for five minutes.

A model can claim that the user agreed (`confirm: true`). After a refusal in the same session this
claim is not enough. Then the server asks the user again. If the client cannot ask its user, the
server deletes nothing.
"""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from cachetools import TTLCache

_LIFETIME = 300.0  # seconds
_MOST_KEPT = 10_000


@dataclass(frozen=True)
class Target:
    """A deletion of an entity or, if `part` is given, of one part of the entity.

    `part` is the id or the text of this part.
    """

    entity: Hashable
    part: Hashable | None = None

    def overlaps(self, other: "Target") -> bool:
        """Return whether one of the two deletions would include the other."""
        whole = self.part is None or other.part is None
        return self.entity == other.entity and (whole or self.part == other.part)


class RefusedDeletions:
    """Refused deletions by session. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept = TTLCache[tuple[Hashable, Target], bool](_MOST_KEPT, _LIFETIME, clock)

    def add(self, session: Hashable, target: Target) -> None:
        """Remember that the user of `session` refused `target`."""
        self._kept[session, target] = True

    def remove(self, session: Hashable, target: Target) -> None:
        """Drop the refusals of `session` that overlap `target`, because the user now agreed."""
        for key in self._find(session, target):
            self._kept.pop(key, None)

    def has_any(self, session: Hashable) -> bool:
        """Return whether anything was refused in `session`."""
        return any(key[0] == session for key in self._kept)

    def overlap(self, session: Hashable, target: Target) -> bool:
        """Return whether a refusal of `session` overlaps `target`."""
        return bool(self._find(session, target))

    def _find(self, session: Hashable, target: Target) -> list[tuple[Hashable, Target]]:
        return [key for key in self._kept if key[0] == session and target.overlaps(key[1])]
