"""Answers are remembered until something is written, and for a minute at most."""

import pytest
from starlette.background import BackgroundTasks

from textrawl.explorer.site import AnswerCache

pytestmark = pytest.mark.anyio


class Counter:
    """Makes a new number each time. Its clock stands still."""

    def __init__(self) -> None:
        self.made = 0
        self.now = 0.0

    async def make(self) -> int:
        self.made += 1
        return self.made


async def test_an_answer_is_made_again_after_a_write_or_a_minute() -> None:
    counter = Counter()
    remembered = AnswerCache[int](clock=lambda: counter.now)

    assert await remembered.find(("ada",), "1", counter.make) == 1
    assert await remembered.find(("ada",), "1", counter.make) == 1
    assert await remembered.find(("ben",), "1", counter.make) == 2
    assert await remembered.find(("ada",), "2", counter.make) == 3
    counter.now = 60
    assert await remembered.find(("ada",), "2", counter.make) == 4


async def test_the_answer_that_nobody_asked_for_longest_is_dropped() -> None:
    counter = Counter()
    remembered = AnswerCache[int](clock=lambda: counter.now)
    for reader in range(301):
        await remembered.find((reader,), "1", counter.make)

    assert await remembered.find((300,), "1", counter.make) == 301
    assert await remembered.find((0,), "1", counter.make) == 302


async def test_an_answer_that_takes_long_is_made_after_the_page_that_shows_the_one_before() -> None:
    counter = Counter()
    remembered = AnswerCache[int](clock=lambda: counter.now)

    async def ask(state: str) -> tuple[int, int]:
        after = BackgroundTasks()
        shown = await remembered.find_soon(
            ("ada",), state, counter.make, after, lambda made: made > 1
        )
        await after()
        return shown, counter.made

    assert await ask("1") == (1, 1)
    assert await ask("2") == (2, 2)  # the first did not take long
    assert await ask("3") == (2, 2)  # too soon after the second
    counter.now = 10
    assert await ask("3") == (2, 3)
    assert await ask("3") == (3, 3)


async def test_whoever_has_changed_something_gets_no_answer_of_before() -> None:
    counter = Counter()
    remembered = AnswerCache[int](clock=lambda: counter.now)
    for person in ("ada", "ben"):
        await remembered.find((person, "spaces"), "1", counter.make)
    remembered.drop("ada")

    assert await remembered.find(("ben", "spaces"), "1", counter.make) == 2
    assert await remembered.find(("ada", "spaces"), "1", counter.make) == 3
