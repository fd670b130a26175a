"""Notices: a page says once which change was made there, with a button that takes it back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cachetools import TTLCache

PROPOSED = "Proposed: somebody who reviews decides."
_MOST = 1000
_LONGEST = 30 * 60.0  # seconds


NoticePart = tuple[str, str, str]
"""One of several things: its name, its address, which can be empty, and what happened to it."""


@dataclass(frozen=True)
class Notice:
    """A sentence. `page` is the action that takes the change back, or empty, with its `fields`.

    `entity` and `space` lead to the entity that changed, if there is one. `parts` are the things
    of a change of several.
    """

    text: str
    entity: str = ""
    space: str = ""
    page: str = ""
    fields: Mapping[str, object] = field(default_factory=dict[str, object])
    parts: Sequence[NoticePart] = ()

    @property
    def label(self) -> str:
        """The words of the button."""
        return "Put it back" if self.page == "revert" else "Undo"


class Notices:
    """The notice that each session has not seen yet."""

    def __init__(self) -> None:
        self._waiting = TTLCache[str, Notice](_MOST, _LONGEST)

    def keep(self, session: str, notice: Notice) -> None:
        """Keep a notice for the next page of a session. It replaces one that was not seen."""
        self._waiting[session] = notice

    def take(self, session: str) -> Sequence[Notice]:
        """Return the notice of a session in a list, once."""
        notice = self._waiting.pop(session, None)
        return [] if notice is None else [notice]
