"""The option `--since`: an instant, or a span before now."""

import re
from datetime import UTC, datetime

from textrawl.cli.administration import read_span
from textrawl.errors import ArgumentInvalid
from textrawl.values.instant import read_instant

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def find_start(text: str) -> datetime:
    """Return the instant that `text` names: an instant, a date, or a span before now, such as 2h.

    A date stands for the beginning of the day in UTC. Raises ArgumentInvalid, also for a time in
    the future.
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
