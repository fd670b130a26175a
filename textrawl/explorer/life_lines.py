"""Life lines: each fact as a line over time, while it was valid."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from textrawl.explorer.site import Record

_WIDTH = 1000.0  # units of the whole time
_SHORTEST = 6.0  # of a line, so that a fact of a minute is seen
_STEP = 8  # from one line to the next


@dataclass(frozen=True)
class LifeLine:
    """The line of a fact. `state` is valid, ended or wrong."""

    id: UUID
    text: str
    state: str
    left: float
    right: float
    y: int


@dataclass(frozen=True)
class LifeLines:
    """The lines of some facts, from `begin` until `end`. `mark` is the place of a moment."""

    lines: Sequence[LifeLine]
    begin: datetime
    end: datetime
    mark: float | None
    height: int


def draw_lives(facts: Sequence[Record], moment: datetime | None) -> LifeLines | None:
    """Return the lives of facts, or None if there are fewer than two."""
    if len(facts) < 2:  # noqa: PLR2004 - there is nothing to compare
        return None
    now = datetime.now(UTC)
    begin = min(fact.valid_from for fact in facts)
    end = max([now, *(fact.valid_from for fact in facts)])
    span = max((end - begin).total_seconds(), 1.0)

    def place(at: datetime) -> float:
        return min(max((at - begin).total_seconds() / span, 0.0), 1.0) * _WIDTH

    lines = [_draw(fact, place, number) for number, fact in enumerate(facts)]
    mark = None if moment is None else round(place(moment), 1)
    return LifeLines(lines, begin, end, mark, _STEP * len(facts))


def _draw(fact: Record, place: Callable[[datetime], float], number: int) -> LifeLine:
    stopped = fact.wrong_at or fact.valid_until
    left = place(fact.valid_from)
    right = _WIDTH if stopped is None else place(stopped)
    right = min(max(right, left + _SHORTEST), _WIDTH)
    state = "wrong" if fact.wrong is not None else "valid" if fact.valid else "ended"
    left = min(left, right - _SHORTEST)
    y = number * _STEP + _STEP // 2
    return LifeLine(fact.id, fact.content, state, round(left, 1), round(right, 1), y)
