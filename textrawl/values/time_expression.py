"""Time expressions in questions, such as "last week", "in March 2023" and "two days ago".

Regular expressions find the expression in a question. dateparser, which knows the words of each
language, computes its period. Most questions have no word of a time expression, and for them the
check takes microseconds.
"""

import re
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

from textrawl.values.time_phrases import ANCHORS, IDEOGRAPHS, PATTERNS

_LINK = re.compile(r" ?(?:and|to|until|till|-|und|bis|et|à|y|al?|e|até|en|tot) ?", re.IGNORECASE)
_LINKING = {"and", "to", "until"}
_NUMBERS = {"a": (1, 1), "an": (1, 1), "few": (2, 5), "couple": (2, 3), "several": (3, 8)}
"""The smallest and the largest number that a word means. dateparser reads all other numbers."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_WORD = re.compile(r"\w+")
_WHITE_SPACE = re.compile(r"\s+")
_PLAIN = str.maketrans({"\u2019": "'", "\u2013": "-"})  # apostrophe and dash of typography


class Period(NamedTuple):
    """A period. `end` is the first instant after it."""

    start: datetime
    end: datetime

    def widen(self, before: timedelta, after: timedelta) -> "Period":
        """Return a longer period, within the calendar of Python."""
        first, last = (limit.replace(tzinfo=UTC) for limit in (datetime.min, datetime.max))
        return Period(max(self.start, first + before) - before, min(self.end, last - after) + after)


def names_time(question: str) -> bool:
    """Return whether `question` may contain a time expression. This takes microseconds."""
    if IDEOGRAPHS.search(question) or _YEAR.search(question):
        return True
    return not ANCHORS.isdisjoint(_WORD.findall(question.lower()))


def find_period(question: str, now: datetime) -> Period | None:
    """Return the period in UTC that `question`, asked at `now`, names, or None if it names none.

    If the question names several periods, return the first. Two expressions that belong together
    ("between March and May") make one period. The first call of dateparser takes more than a
    second, and each further call about a millisecond.
    """
    question, now = _normalize(question), now.astimezone(UTC)
    for language, pattern in PATTERNS.items():
        matches = list(pattern.finditer(question))
        for place, match in enumerate(matches):
            following = matches[place + 1] if place + 1 < len(matches) else None
            if period := _read_linked(question, match, following, language, now):
                return period
    return None


def _normalize(question: str) -> str:
    return _WHITE_SPACE.sub(" ", question).translate(_PLAIN)


def _read_linked(
    question: str,
    match: re.Match[str],
    following: re.Match[str] | None,
    language: str,
    now: datetime,
) -> Period | None:
    """Return the period of `match`. If `following` belongs to it, include the period of both."""
    if following is None or not _is_linked(question[match.end() : following.start()], following):
        return _read_match(match, language, now)
    last = _read_match(following, language, now)
    year = _YEAR.search(following[0])
    first = _read_match(match, language, now, year=year[0] if year else "")
    if first and last and first.start < last.end:
        return Period(first.start, last.end)
    return first


def _is_linked(between: str, following: re.Match[str]) -> bool:
    lead = following.groupdict().get("lead")
    return bool(_LINK.fullmatch(between)) or (between == " " and str(lead).lower() in _LINKING)


def _read_match(
    match: re.Match[str], language: str, now: datetime, year: str = ""
) -> Period | None:
    """Return the period of `match`. If the expression has no year, `year` is added to it."""
    part = match.groupdict()
    text = part.get("named") or part.get("weekday") or match[0]
    if year and not _YEAR.search(text):
        text = f"{text} {year}"
    if unit := part.get("ago") or part.get("unit"):
        least, most = _read_number(part["few"] or part["many"])
        start = _read(f"{most} {unit} ago", language, now)
        end = _read(f"{least} {unit} ago", language, now) if part["ago"] else Period(now, now)
        return Period(start.start, end.end) if start and end else None
    if part.get("one") and not text.lower().startswith("this"):
        text = f"last {part['one']}"
    period = _read(text, language, now)
    if period and str(part.get("lead")).lower() == "since":
        return Period(period.start, max(period.end, now))
    return period


def _read_number(text: str) -> tuple[str, str]:
    words = text.lower().removesuffix(" of").split()
    least, most = _NUMBERS.get(words[-1], (words[-1], words[-1]))
    return str(least), str(most)


def _read(text: str, language: str, now: datetime) -> Period | None:
    """Return the day, week, month or year that `text` names."""
    from dateparser.date import DateDataParser  # noqa: PLC0415 - takes most of a second

    base = now.replace(tzinfo=None)
    settings = {"RELATIVE_BASE": base, "PREFER_DATES_FROM": "past"}
    found = DateDataParser(languages=[language], settings=settings).get_date_data(text)
    if found.date_obj is None:
        return None
    return _cover(found.date_obj.replace(tzinfo=UTC), found.period)


def _cover(instant: datetime, unit: str | None) -> Period | None:
    """Return the day, or the week, month or year, of `instant`. None: beyond Python's calendar."""
    day = datetime.combine(instant.date(), time.min, UTC)
    try:
        match unit:
            case "week":
                start = day - timedelta(days=day.weekday())
                return Period(start, start + timedelta(days=7))
            case "month":
                start = day.replace(day=1)
                return Period(start, (start + timedelta(days=31)).replace(day=1))
            case "year":
                start = day.replace(month=1, day=1)
                return Period(start, start.replace(year=start.year + 1))
            case _:
                return Period(day, day + timedelta(days=1))
    except (OverflowError, ValueError):
        return None
