"""Times: those that users write, texts of times, and the time that a question is about.

A question has a period that it names, and a tense. The words of tenses, seasons and parts of a year
are in the files of `languages`. A server reads the files once, at the first question.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

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


_YEARS = r"(?:19|20)\d\d"
_ISO = rf"{_YEARS}-[01]\d(?:-[0-3]\d)?"
_DAY = r"[0-3]?\d(?:st|nd|rd|th)?"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_NUMBER = (
    r"(?:\d{1,3}|an?\ (?:few|couple\ of)|an?|few|couple\ of|several|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve)"
)
_ENGLISH = rf"""
    {_ISO}
    | {_DAY}(?:\ of)?\ {_MONTH}\b\.?(?:,?\ {_YEARS})?
    | {_MONTH}\.?\ (?:the\ )?{_DAY}(?:,?\ {_YEARS})?
    | {_MONTH}\.?(?:,|\ of)?\ {_YEARS}
    | (?P<lead>in|during|since|from|of|by|between|and|to|until|before|after|early|late|mid|last
        |this|past|spring|summer|autumn|fall|winter)
        \ (?P<named>{_MONTH}(?:\.?(?:,|\ of)?\ {_YEARS})?|{_YEARS}(?!-\d))
    | (?:on|last|this|past)\ (?P<weekday>{_WEEKDAY})
    | (?P<few>{_NUMBER})\ (?P<ago>hour|day|week|month|year)s?\ ago
    | (?:last|past|previous)\ (?P<many>{_NUMBER})\ (?P<unit>day|week|month|year)s?(?!\ of)
    | (?:last|past|previous|this)\ (?P<one>week|month|year)(?!\ of)
    | the\ day\ before\ yesterday | yesterday | today | tonight
    | this\ (?:morning|afternoon|evening) | last\ night
"""
_PHRASES = {
    "en": _ENGLISH,
    "de": rf"""
        {_ISO} | (?:\d\d?\.\ )?(?:jan|feb|märz|apr|mai|jun|jul|aug|sep|okt|nov|dez)[a-z]*\ {_YEARS}
        | (?:letzte|vorige|diese)[nrs]?\ (?:woche|monat|jahr) | gestern | vorgestern | heute
        | vor\ \w+\ (?:tagen|wochen?|monat(?:en)?|jahr(?:en)?)""",
    "fr": rf"""
        (?:\d\d?\ )?(?:janv|févr|mars|avr|mai|juin|juil|août|sept|oct|nov|déc)[a-z]*\ {_YEARS}
        | la\ semaine\ dernière | le\ mois\ dernier | l'année\ dernière
        | cette\ semaine | ce\ mois-ci | cette\ année | hier | avant-hier | aujourd'hui
        | il\ y\ a\ \w+\ (?:jours?|semaines?|mois|ans?)""",
    "es": rf"""
        (?:\d\d?\ de\ )?(?:ene|feb|mar|abr|may|jun|jul|ago|sep|oct|nov|dic)[a-z]*\ (?:de\ )?{_YEARS}
        | la\ semana\ pasada | el\ mes\ pasado | el\ año\ pasado | esta\ semana | este\ mes
        | este\ año | ayer | anteayer | hoy | hace\ \w+\ (?:días?|semanas?|mes(?:es)?|años?)""",
    "it": rf"""
        (?:\d\d?\ )?(?:genn|febb|mar|apr|magg|giu|lug|ago|sett|ott|nov|dic)[a-z]*\ {_YEARS}
        | settimana\ scorsa | mese\ scorso | anno\ scorso | questa\ settimana | questo\ mese
        | quest'anno | ieri | oggi | \d+\ (?:giorni|settimane|mesi|anni)\ fa""",
    "pt": rf"""
        (?:\d\d?\ de\ )?(?:jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez)[a-zç]*
            \ (?:de\ )?{_YEARS}
        | semana\ passada | mês\ passado | ano\ passado | esta\ semana | este\ mês | este\ ano
        | ontem | anteontem | hoje | há\ \w+\ (?:dias?|semanas?|mês|meses|anos?)""",
    "nl": rf"""
        (?:\d\d?\ )?(?:jan|feb|maart|apr|mei|jun|jul|aug|sep|okt|nov|dec)[a-z]*\ {_YEARS}
        | (?:vorige?|deze|dit)\ (?:week|maand|jaar) | gisteren | eergisteren | vandaag
        | \d+\ (?:dagen|weken|maanden|jaar)\ geleden""",
    "ja": rf"""
        {_YEARS}年(?:[01]?\d月(?:[0-3]?\d日)?)? | 先週 | 先月 | 去年 | 昨年 | 昨日 | 一昨日 | 今日
        | 今週 | 今月 | 今年 | \d+(?:日|週間|[かヶ]月|年)前""",
}
_FLAGS = re.IGNORECASE | re.VERBOSE
PATTERNS = {
    language: re.compile(phrases if language == "ja" else rf"\b(?:{phrases})\b", _FLAGS)
    for language, phrases in _PHRASES.items()
}
"""The expressions by language. A question is searched with each of them in this order."""
_BARE = {
    "de": rf"""{_YEARS} | (?:im|seit|ab)\ (?P<named>
        (?:jan|feb|märz|apr|mai|jun|jul|aug|sep|okt|nov|dez)[a-z]*(?:\ {_YEARS})?)""",
    "fr": rf"""{_YEARS} | en\ (?P<named>
        (?:janv|févr|mars|avr|mai|juin|juil|août|sept|oct|nov|déc)[a-z]*(?:\ {_YEARS})?)""",
    "es": rf"""{_YEARS} | en\ (?P<named>
        (?:ene|feb|mar|abr|may|jun|jul|ago|sep|oct|nov|dic)[a-z]*(?:\ (?:de\ )?{_YEARS})?)""",
}
_TOLD = {
    language: re.compile(rf"\b(?:{_PHRASES[language]}|{bare})(?![\w-]|[.,]\d)", _FLAGS)
    for language, bare in _BARE.items()
}
"""The expressions of questions that are known to be in a language: also years and months alone."""
_WORDS = """
    jan january feb february mar march apr april may jun june jul july aug august sep sept september
    oct october nov november dec december monday tuesday wednesday thursday friday saturday sunday
    ago last past previous this yesterday today tonight
    januar februar märz mai juni juli oktober dezember
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    letzte letzten letzter letztes vorige vorigen voriger voriges diese diesen dieser dieses vor
    gestern vorgestern heute
    dernière dernier cette ce hier aujourd il
    pasada pasado esta este ayer anteayer hoy hace
    scorsa scorso questa questo quest ieri oggi fa
    passada passado ontem anteontem hoje há
    vorig deze dit gisteren eergisteren vandaag geleden
"""
ANCHORS = frozenset(_WORDS.split())
"""Each time expression has one of these words, a year in digits, or one of `IDEOGRAPHS`."""
IDEOGRAPHS = re.compile("[年月週日]")


_LINK = re.compile(r" ?(?:and|to|until|till|-|und|bis|et|à|y|al?|e|até|en|tot) ?", re.IGNORECASE)
_LINKING = {"and", "to", "until"}
_NUMBERS = {"a": (1, 1), "an": (1, 1), "few": (2, 5), "couple": (2, 3), "several": (3, 8)}
"""The smallest and the largest number that a word means. dateparser reads all other numbers."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_WORD = re.compile(r"\w+")
_WHITE_SPACE = re.compile(r"\s+")
_PLAIN = str.maketrans({"\u2019": "'", "\u2013": "-"})  # apostrophe and dash of typography
_FOLDER = Path(__file__).parent / "languages"

TenseName = Literal["first", "ever", "last", "since", "before", "former", "now"]
Part = Literal["early", "middle", "late"]
TENSES: tuple[TenseName, ...] = get_args(TenseName)
_SEASONS = ("spring", "summer", "autumn", "winter")
_PARTS: tuple[Part, ...] = get_args(Part)


class Tense(NamedTuple):
    """The time that a question is about.

    If it is `before`, `clause` has the words after it, which name something that came later.
    """

    name: TenseName
    clause: str = ""


@dataclass(frozen=True)
class _TimeWords:
    """The words of all languages, as patterns for texts without accents."""

    tenses: Mapping[TenseName, re.Pattern[str]]
    any_tense: re.Pattern[str]
    seasons: Sequence[re.Pattern[str]]
    any_season: re.Pattern[str]
    parts: Mapping[Part, re.Pattern[str]]
    languages: Mapping[str, re.Pattern[str]]


class NamedPeriod(NamedTuple):
    """A period. `end` is the first instant after it."""

    start: datetime
    end: datetime

    def widen(self, before: timedelta, after: timedelta) -> "NamedPeriod":
        """Return a longer period, within the calendar of Python."""
        first, last = (limit.replace(tzinfo=UTC) for limit in (datetime.min, datetime.max))
        return NamedPeriod(
            max(self.start, first + before) - before, min(self.end, last - after) + after
        )

    def cut(self, part: Part) -> "NamedPeriod":
        """Return the first, the middle or the last third of the period."""
        third, place = (self.end - self.start) / 3, _PARTS.index(part)
        return NamedPeriod(self.start + place * third, self.start + (place + 1) * third)


class QuestionTime(NamedTuple):
    """The time that a question is about: a period, a tense, or both."""

    period: NamedPeriod | None = None
    tense: Tense | None = None


class _Found(NamedTuple):
    """A period, and the place of its words in the question. `name` is the place after "in"."""

    period: NamedPeriod
    start: int
    name: int
    end: int


def names_time(question: str) -> bool:
    """Return whether `question` may name a period. This takes microseconds."""
    if IDEOGRAPHS.search(question) or _YEAR.search(question):
        return True
    if not ANCHORS.isdisjoint(_WORD.findall(question.lower())):
        return True
    return bool(_load().any_season.search(_strip_accents(question)))


def find_period(question: str, now: datetime) -> NamedPeriod | None:
    """Return the period in UTC that `question`, asked at `now`, names, or None if it names none.

    If the question names several periods, return the first. Two expressions that belong together
    ("between March and May", "last year in June") make one period. The first call of dateparser
    takes more than a second, and each further call about a millisecond.
    """
    found = _locate_period(regularise(question), now.astimezone(UTC))
    return found.period if found else None


def read_time(question: str, now: datetime) -> QuestionTime:
    """Return the period and the tense of a question that is asked at `now`.

    A word of the period is not a word of the tense: "last spring" is a period, but "last visit" is
    a tense. A question for the time before a period is about the day before it.
    """
    question, now = regularise(question), now.astimezone(UTC)
    found = _locate_period(question, now) if names_time(question) else None
    if found is None:
        return QuestionTime(tense=find_tense(question))
    start, period = found.start, found.period
    if period.start <= now < period.end == period.start + timedelta(days=1):
        return QuestionTime(period, find_tense(question))  # "today" can mean the present
    if (before := _find_before(question, found.name)) is not None:
        start, day = min(start, before), timedelta(days=1)
        end = max(period.start, datetime.min.replace(tzinfo=UTC) + day)
        period = NamedPeriod(end - day, end)
    return QuestionTime(period, find_tense(f"{question[:start]} , {question[found.end :]}"))


def _locate_period(question: str, now: datetime) -> _Found | None:
    """Return the first period that a question names."""
    if season := _find_season(question, now):
        return season
    told = _tell_language(question)
    patterns = ([(told, _TOLD[told])] if told in _TOLD else []) + list(PATTERNS.items())
    for language, pattern in patterns:
        matches = list(pattern.finditer(question))
        for match, following in zip_longest(matches, matches[1:]):
            if found := match and _read_linked(question, match, following, language, now):
                return found
    return None


def regularise(question: str) -> str:
    """Return a question as NFC, with single spaces and plain apostrophes and dashes."""
    text = unicodedata.normalize("NFC", question)
    return _WHITE_SPACE.sub(" ", text).translate(_PLAIN)


def _read_linked(
    question: str,
    match: re.Match[str],
    following: re.Match[str] | None,
    language: str,
    now: datetime,
) -> _Found | None:
    """Return the period of `match`. If `following` belongs to it, return the period of both."""
    name = match.start("named") if match.groupdict().get("named") else match.start()
    period = _read_match(match, language, now)
    before = _strip_accents(question[:name])
    parts = _load().parts.items()
    part: Part | None = next((one for one, words in parts if words.search(before)), None)
    if period and part:
        period = period.cut(part)
    end = match.end()
    if following is not None:
        between = question[end : following.start()]
        lead = str(following.groupdict().get("lead")).lower()
        if _LINK.fullmatch(between) or (between == " " and lead in _LINKING):
            year = _YEAR.search(following[0])
            period = _read_match(match, language, now, year=year[0] if year else "")
            last = _read_match(following, language, now)
            if period and last and period.start < last.end:
                period, end = NamedPeriod(period.start, last.end), following.end()
        elif period and between in (" ", ", "):
            inner = _read_match(following, language, now, year=str(period.start.year))
            if inner and period.start <= inner.start and inner.end <= period.end:
                period, end = inner, following.end()
    return period and _Found(period, match.start(), name, end)


def _read_match(
    match: re.Match[str], language: str, now: datetime, year: str = ""
) -> NamedPeriod | None:
    """Return the period of `match`. If the expression has no year, `year` is added to it."""
    part = match.groupdict()
    text = part.get("named") or part.get("weekday") or match[0]
    if year and not _YEAR.search(text):
        text = f"{text} {year}"
    if unit := part.get("ago") or part.get("unit"):
        number = (part["few"] or part["many"]).lower().removesuffix(" of").split()[-1]
        least, most = _NUMBERS.get(number, (number, number))
        start = _read(f"{most} {unit} ago", language, now)
        end = _read(f"{least} {unit} ago", language, now) if part["ago"] else NamedPeriod(now, now)
        return NamedPeriod(start.start, end.end) if start and end else None
    if part.get("one") and not text.lower().startswith("this"):
        text = f"last {part['one']}"
    period = _read(text, language, now)
    if period and str(part.get("lead")).lower() == "since":
        return NamedPeriod(period.start, max(period.end, now))
    return period


def _read(text: str, language: str, now: datetime) -> NamedPeriod | None:
    """Return the day, week, month or year that `text` names."""
    from dateparser.date import DateDataParser  # noqa: PLC0415 - takes most of a second

    base = now.replace(tzinfo=None)
    settings = {"RELATIVE_BASE": base, "PREFER_DATES_FROM": "past"}
    found = DateDataParser(languages=[language], settings=settings).get_date_data(text)
    if found.date_obj is None:
        return None
    return _cover(found.date_obj.replace(tzinfo=UTC), found.period)


def _cover(instant: datetime, unit: str | None) -> NamedPeriod | None:
    """Return the day, or the week, month or year, of `instant`. None: beyond Python's calendar."""
    day = datetime.combine(instant.date(), time.min, UTC)
    try:
        match unit:
            case "week":
                start = day - timedelta(days=day.weekday())
                return NamedPeriod(start, start + timedelta(days=7))
            case "month":
                start = day.replace(day=1)
                return NamedPeriod(start, (start + timedelta(days=31)).replace(day=1))
            case "year":
                start = day.replace(month=1, day=1)
                return NamedPeriod(start, start.replace(year=start.year + 1))
            case _:
                return NamedPeriod(day, day + timedelta(days=1))
    except (OverflowError, ValueError):
        return None


def find_tense(question: str) -> Tense | None:
    """Return the tense of a regular question, or None if no word shows it."""
    words, plain = _load(), _strip_accents(question)
    if not words.any_tense.search(plain):
        return None
    for name, pattern in words.tenses.items():
        if found := pattern.search(plain):
            clause = question[found.end() :].strip(" ?.!") if name == "before" else ""
            return Tense(name, clause)
    return None


def _find_season(question: str, now: datetime) -> _Found | None:
    """Return the first season that a question names as a time, or None.

    It has three months: of the year that the question names, or else of the last that has begun.
    """
    words, plain = _load(), _strip_accents(question)
    if not words.any_season.search(plain):
        return None
    for place, pattern in enumerate(words.seasons):
        for found in pattern.finditer(plain):
            if found["year"] or found["lead"] or found["follow"]:
                month = 3 + 3 * place  # spring is the first
                year = int(found["year"] or now.year - (month > now.month))
                start = datetime(year, month, 1, tzinfo=UTC)
                period = NamedPeriod(start, (start + timedelta(days=93)).replace(day=1))
                return _Found(period, found.start(), found.start(), found.end())
    return None


def _find_before(question: str, place: int) -> int | None:
    """Return where the word "before" begins that stands directly before `place`, or None."""
    plain = _strip_accents(question)
    for found in _load().tenses["before"].finditer(plain):
        if found.end() <= place and not plain[found.end() : place].strip(" ,"):
            return found.start()
    return None


def _tell_language(question: str) -> str | None:
    """Return the language of a question, or None if no word shows it."""
    plain = _strip_accents(question)
    counts = {name: len(words.findall(plain)) for name, words in _load().languages.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else None


def _strip_accents(text: str) -> str:
    """Return the text without accents. A text in NFC keeps its length."""
    if text.isascii():
        return text
    decomposed = (unicodedata.normalize("NFD", char) for char in text)
    return "".join(char[0] for char in decomposed)


@cache
def _load() -> _TimeWords:
    paths = sorted(_FOLDER.glob("*.toml"))
    files = {path.stem: tomllib.loads(_strip_accents(path.read_text("utf-8"))) for path in paths}
    tenses: dict[TenseName, str] = {name: _gather(files, "tenses", name) for name in TENSES}
    seasons = [_gather(files, "seasons", name) for name in _SEASONS]
    lead, follow = (_gather(files, "seasons", key) for key in ("lead", "follow"))
    year = rf"(?: (?:of|de|del))? (?P<year>{_YEARS})"
    season = rf"(?:(?P<lead>{lead}) ?)?(?:%s)(?:{year}| (?P<follow>{follow}))?"
    parts: dict[Part, str] = {part: _gather(files, "parts", part) for part in _PARTS}
    tell = {name: "|".join(file["tell"]) for name, file in files.items()}
    return _TimeWords(
        tenses={name: _compile(words) for name, words in tenses.items()},
        any_tense=_compile("|".join(tenses.values())),
        seasons=[_compile(season % words) for words in seasons],
        any_season=_compile("|".join(seasons)),
        parts={part: _compile(words, r"[ -]\Z") for part, words in parts.items()},
        languages={name: _compile(words) for name, words in tell.items() if words},
    )


def _gather(files: Mapping[str, Mapping[str, Any]], table: str, key: str) -> str:
    """Return the phrases of all languages as one pattern, the longest first."""
    phrases = {phrase for file in files.values() for phrase in file[table][key]}
    return "|".join(sorted(phrases, key=len, reverse=True))


def _compile(pattern: str, end: str = r"(?!\w)") -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern}){end}", re.IGNORECASE)
