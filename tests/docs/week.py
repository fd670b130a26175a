"""A week of memories that fade, played on a database with a clock that moves."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from tests.support.pages import write_table

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
TEXTS = {
    "JWT": "Use JWT tokens for authentication in all new APIs",
    "standup": "The standup is at half past nine this week",
    "contract": "Remember: the contract with Acme ends in June",
}
STRENGTHS = {"JWT": 1.0, "standup": 1.0, "contract": 1.5}
TAGS = {"JWT": ["security", "jwt"], "standup": ["team"], "contract": ["acme"]}


class Week:
    """The memories by name, and the actions of the days."""

    def __init__(self, owner: psycopg.Connection[Any]) -> None:
        self._owner = owner
        self._ids: dict[str, Any] = {}

    def _ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._owner.execute(query, values).fetchall()  # pyright: ignore[reportArgumentType]

    def save(self, moment: datetime) -> None:
        for name, text in TEXTS.items():
            [(self._ids[name],)] = self._ask(
                "select memory_id from save_memory(to_jsonb(%s::text), tags => %s,"
                " strength => %s, moment => %s)",
                text,
                TAGS[name],
                STRENGTHS[name],
                moment,
            )

    def observe(self, moment: datetime) -> None:
        self._ask(
            "select reinforce_memories(array[%s], '{api,backend}', review => true, moment => %s)",
            self._ids["JWT"],
            moment,
        )

    def touch(self, moment: datetime) -> None:
        self._ask(
            "select reinforce_memories(array[%s], moment => %s)", self._ids["contract"], moment
        )

    def wait(self, moment: datetime) -> None:
        """Let time pass."""

    def collect(self, moment: datetime) -> None:
        self._ask(
            "select forget_faded(array(select memory_id from fading_memories(moment => %s)),"
            " moment => %s)",
            moment,
            moment,
        )

    def read_scores(self, moment: datetime) -> list[str]:
        rows = self._ask(
            "select observation_id, status, decay_score(use_count, last_used, strength,"
            " moment => %s) from retention",
            moment,
        )
        scores = {own: f"{score:.2f}" if kept == "active" else kept for own, kept, score in rows}
        return [scores[self._ids[name]] for name in TEXTS]


def write_week(owner: psycopg.Connection[Any]) -> str:
    """Play the week, and return the table of the scores after each day."""
    week = Week(owner)
    days: list[tuple[int, str, Callable[[datetime], None]]] = [
        (0, "`save_memory` saves the three memories", week.save),
        (
            1,
            "`observe_memory_usage`: JWT helped with `api`, `backend`: another domain",
            week.observe,
        ),
        (3, "`touch_memory`: contract", week.touch),
        (7, "nobody uses any of them", week.wait),
        (48, "still nobody: `gc` takes nothing", week.collect),
        (49, "the score of the standup is below 0.05: `gc` takes it", week.collect),
    ]
    rows = list[list[str]]()
    for day, story, act in days:
        moment = MONDAY + timedelta(days=day)
        act(moment)
        rows.append([str(day), story, *week.read_scores(moment)])
    return write_table(["day", "", *TEXTS], rows)
