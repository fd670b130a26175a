"""Deletions that a user refused, kept for five minutes.

A model may claim that the user agreed (`confirm: true`). After a refusal in the same session that
claim is not enough: the user is asked again, or nothing is deleted.
"""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from cachetools import TTLCache

_LIFETIME = 300.0  # seconds
_MOST_KEPT = 10_000


@dataclass(frozen=True)
class Target:
    """A deletion: of a whole entity, or of the `part` of it that an id or a text names."""

    entity: Hashable
    part: Hashable | None = None

    def overlaps(self, other: "Target") -> bool:
        """Return whether one of the two deletions would include the other."""
        whole = self.part is None or other.part is None
        return self.entity == other.entity and (whole or self.part == other.part)


class Declines:
    """Refused deletions by session; `clock` tells seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept = TTLCache[tuple[Hashable, Target], bool](_MOST_KEPT, _LIFETIME, clock)

    def add(self, session: Hashable, target: Target) -> None:
        """Keep that the user of `session` refused `target`."""
        self._kept[session, target] = True

    def remove(self, session: Hashable, target: Target) -> None:
        """Forget all refusals of `session` that overlap `target`, which the user agreed to."""
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
