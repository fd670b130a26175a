"""The base class of replies: structured content has the keys of the original, in snake_case."""

from datetime import datetime

from textrawl.wire.replies import SNAKE_CASE, Reply


class DecayReply(Reply):
    """A reply with snake_case keys."""

    model_config = SNAKE_CASE


def shorten(text: str, most: int) -> str:
    """Return a text, or its first `most` characters and an ellipsis. 0 means the whole text."""
    return text if not most or len(text) <= most else f"{text[:most].rstrip()}…"


def count_days(begin: datetime, end: datetime) -> float:
    """Return the days between two instants, rounded to a tenth."""
    return round(max(0.0, (end - begin).total_seconds()) / 86_400, 1)
