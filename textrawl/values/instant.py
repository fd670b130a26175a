"""ISO 8601 dates and instants in arguments."""

import re
from datetime import UTC, date, datetime, time

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# Postgres accepts infinity, tomorrow and epoch as dates, but psycopg cannot read them back.
_INSTANT = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)?",
    re.ASCII | re.IGNORECASE,
)


def read_instant(text: str) -> datetime:
    """Return the instant in UTC. A date means the end of that day; without an offset, UTC is meant.

    Raises ValueError for any other text.
    """
    text = text.strip()
    try:
        if _DATE.fullmatch(text):
            return datetime.combine(date.fromisoformat(text), time.max, UTC)
        if _INSTANT.fullmatch(text):
            instant = datetime.fromisoformat(text.upper().replace(",", "."))
            return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ValueError("must be ISO 8601, such as 2026-12-31 or 2026-12-31T18:00Z")


def read_future_instant(text: str) -> datetime:
    """Return the instant in UTC like `read_instant`, if it is in the future.

    Raises ValueError for any other text, and for an instant that has passed.
    """
    instant = read_instant(text)
    if instant <= datetime.now(UTC):
        raise ValueError("has passed already: give a date that lies ahead, or leave it out")
    return instant


def write_day(instant: datetime) -> str:
    """Return the day of an instant in UTC, such as 2026-12-31."""
    return instant.astimezone(UTC).date().isoformat()
