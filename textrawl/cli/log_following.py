"""New events for `textrawl log --follow`, from a memory that the command opens itself."""

from collections.abc import Callable
from contextlib import aclosing

from textrawl.cli.memory_session import watch
from textrawl.memory import commands
from textrawl.memory.command_results import EventRow


def follow(space: str | None, after: str | None, tell: Callable[[EventRow], None]) -> None:
    """Tell each event after a cursor, or from now on, without end."""

    async def work(session: commands.Session) -> None:
        start = await session.trail.find_end() if after is None else after
        async with aclosing(session.trail.follow(start)) as events:
            async for row in events:
                tell(row)

    watch(commands.read_events, space, work)
