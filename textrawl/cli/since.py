"""`--since`: an instant, or how long ago."""

import re
from datetime import UTC, datetime

from textrawl.cli.administration import read_span
from textrawl.errors import ArgumentInvalid
from textrawl.values.instant import read_instant

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def find_start(text: str) -> datetime:
    """The instant in UTC; of a date its beginning, of a span such as 2h what lies as far back.

    Raises ArgumentInvalid, also for what lies ahead.
    """
    text, now = text.strip(), datetime.now(UTC)
    if "-" not in text and text[:1].isdecimal():
        return now - read_span(text)
    try:
        start = read_instant(f"{text}T00:00:00Z" if _DATE.fullmatch(text) else text)
    except ValueError as error:
        raise ArgumentInvalid(
            f"{error}, or a span such as 2h or 7d", title="Wrong --since"
        ) from None
    if start > now:
        raise ArgumentInvalid("give a time that has passed", title="Wrong --since")
    return start
