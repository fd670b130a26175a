"""Times: those that users write, texts of times, and the tense of a question.

The words of tenses are in the files of `languages`. A server reads the files once, at the first
question. The SQL function question_time() reads the period that a question names.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# Postgres accepts infinity, tomorrow and epoch as dates, but psycopg cannot read them back.
_INSTANT = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)?",
    re.ASCII | re.IGNORECASE,
)
_DAY_AHEAD = timedelta(hours=14)  # a day begins up to 14 hours earlier elsewhere than in UTC
_CLOCK_AHEAD = timedelta(minutes=5)  # a client's clock may be ahead


def read_day(text: str) -> date:
    """Return the day. Raises ValueError for any text but a date such as 2026-12-31."""
    with suppress(ValueError):
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
    raise ValueError("must be a date such as 2026-12-31")


def name_day(text: str) -> str:
    """Return the date of `today` or `yesterday` in UTC, and any other text as it is."""
    ago = {"today": 0, "yesterday": 1}.get(text.strip().lower())
    return text if ago is None else write_day(datetime.now(UTC) - timedelta(days=ago))


def read_instant(text: str, of_day: time = time.max) -> datetime:
    """Return the instant in UTC.

    A date means the time `of_day` of this day, by default its end. A text without an offset is in
    UTC. Raises ValueError for any other text.
    """
    text = text.strip()
    try:
        if _DATE.fullmatch(text):
            return datetime.combine(date.fromisoformat(text), of_day, UTC)
        if _INSTANT.fullmatch(text):
            instant = datetime.fromisoformat(text.upper().replace(",", "."))
            return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ValueError("must be ISO 8601, such as 2026-12-31 or 2026-12-31T18:00Z")


def read_past_instant(text: str) -> datetime:
    """Return the instant in UTC like `read_instant`, but a date means the beginning of the day.

    Raises ValueError for any other text, and for an instant in the future.
    """
    instant = read_instant(text, time.min)
    ahead = _DAY_AHEAD if _DATE.fullmatch(text.strip()) else _CLOCK_AHEAD
    if instant > datetime.now(UTC) + ahead:
        raise ValueError("lies in the future: give a date that has come, or leave it out")
    return instant


def read_as_of(text: str) -> datetime:
    """Return the instant in UTC like `read_instant`, but a date means the time just before its end.

    A fact that is valid until a day is still valid as of this day.
    """
    return read_instant(text, time.max.replace(microsecond=999_998))


def read_begin(text: str) -> datetime:
    """Return the instant in UTC like `read_instant`, but a date means the beginning of the day."""
    return read_instant(text, time.min)


def write_day(instant: datetime) -> str:
    """Return the day of an instant in UTC, such as 2026-12-31."""
    return instant.astimezone(UTC).date().isoformat()


def write_period(start: datetime, end: datetime | None) -> str:
    """Return the days of a period in UTC: 2021-03-01/2024-05-01, or without an end 2021-03-01/."""
    return f"{write_day(start)}/{write_day(end) if end else ''}"


def write_lifetime(period: str) -> str:
    """Return the period for the end of a line, such as (2021-03-01 to 2024-05-01)."""
    start, _, end = period.partition("/")
    return f" ({start} to {end})" if end else f" (from {start})"


_WHITE_SPACE = re.compile(r"\s+")
_PLAIN = str.maketrans({"\u2019": "'", "\u2013": "-"})  # apostrophe and dash of typography
_FOLDER = Path(__file__).parent / "languages"

TenseName = Literal["first", "ever", "last", "since", "before", "former", "now"]
TENSES: tuple[TenseName, ...] = get_args(TenseName)


class Tense(NamedTuple):
    """The time that a question is about.

    If it is `before`, `clause` has the words after it, which name something that came later.
    """

    name: TenseName
    clause: str = ""


def regularise(question: str) -> str:
    """Return a question as NFC, with single spaces and plain apostrophes and dashes."""
    text = unicodedata.normalize("NFC", question)
    return _WHITE_SPACE.sub(" ", text).translate(_PLAIN)


def find_tense(question: str) -> Tense | None:
    """Return the tense of a regular question, or None if no word shows it."""
    (tenses, any_tense), plain = _load(), _strip_accents(question)
    if not any_tense.search(plain):
        return None
    for name, pattern in tenses.items():
        if found := pattern.search(plain):
            clause = question[found.end() :].strip(" ?.!") if name == "before" else ""
            return Tense(name, clause)
    return None


def _strip_accents(text: str) -> str:
    """Return the text without accents. A text in NFC keeps its length."""
    if text.isascii():
        return text
    decomposed = (unicodedata.normalize("NFD", char) for char in text)
    return "".join(char[0] for char in decomposed)


@cache
def _load() -> tuple[Mapping[TenseName, re.Pattern[str]], re.Pattern[str]]:
    """Return the pattern of each tense for texts without accents, and one of all tenses."""
    texts = (path.read_text("utf-8") for path in sorted(_FOLDER.glob("*.toml")))
    files = [tomllib.loads(_strip_accents(text)) for text in texts]
    tenses: dict[TenseName, str] = {
        # The longest phrase comes first.
        name: "|".join(sorted({p for file in files for p in file[name]}, key=len, reverse=True))
        for name in TENSES
    }
    patterns: dict[TenseName, re.Pattern[str]]
    patterns = {name: _compile(words) for name, words in tenses.items()}
    return patterns, _compile("|".join(tenses.values()))


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)
