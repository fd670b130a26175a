"""Dates, instants, and the times that the words of a question mean."""

import tomllib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import EXAMPLES
from textrawl.values import times
from textrawl.values.times import find_period, names_time, read_instant, read_time


def test_dates_and_instants_are_read_in_utc() -> None:
    for text, instant in (
        ("2026-12-31", datetime(2026, 12, 31, 23, 59, 59, 999999, UTC)),
        (" 2026-12-31T18:00:00Z ", datetime(2026, 12, 31, 18, tzinfo=UTC)),
        ("2026-12-31T18:00", datetime(2026, 12, 31, 18, tzinfo=UTC)),
        ("2026-12-31 18:00+02:00", datetime(2026, 12, 31, 16, tzinfo=UTC)),
        ("2026-12-31t18:00:00.123z", datetime(2026, 12, 31, 18, 0, 0, 123000, UTC)),
        ("2026-12-31T18:00:00,123456789-0530", datetime(2026, 12, 31, 23, 30, 0, 123456, UTC)),
        ("2024-02-29", datetime(2024, 2, 29, 23, 59, 59, 999999, UTC)),
        ("0001-01-01", datetime(1, 1, 1, 23, 59, 59, 999999, UTC)),
    ):
        assert read_instant(text) == instant
        assert read_instant(text).utcoffset() == timedelta(0)


def test_what_is_no_date_is_refused_with_an_example() -> None:
    for text in (
        "", "infinity", "-infinity", "tomorrow", "now", "epoch", "2026-02-30", "2025-02-29",
        "2026-13-01", "10000-01-01", "0000-01-01", "-0044-03-15", "0044-03-15 BC", "2026-1-1",
        "20261231", "2026-W01-1", "2026", "12/31/2026", "Dec 31 2026", "2026-12-31T24:30",
        "2026-12-31T25:00Z", "2026-12-31T18:00:61Z", "2026-12-31T18:00+25:00",
        "2026-12-31T10:00+99:00", "9999-12-31T23:59-14:00", "0001-01-01T00:00+14:00",
        "٢٠٢٦-١٢-٣١", "2026-12-31\x00", "2026-12-31T18:00 Europe/Oslo",
    ):  # fmt: skip
        with pytest.raises(ValueError, match="such as 2026-12-31"):
            read_instant(text)


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_instant_that_python_writes_is_read_again(instant: datetime) -> None:
    assert read_instant(instant.isoformat()) == instant


@given(st.text(max_size=30))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        assert read_instant(text).tzinfo is UTC
    except ValueError as refusal:
        assert "ISO 8601" in str(refusal)  # noqa: PT017 - both outcomes are allowed


FILES = Path(times.__file__).parent / "languages"
NOW = datetime(2026, 11, 22, 15, tzinfo=UTC)  # a Sunday
WEEK = ("2026-11-09", "2026-11-16")
MARCH = ("2023-03-01", "2023-04-01")
_WORDS = """
    in before spring herbst early last since between and to the of 2023 1999-13-99 May march 31
    8th , ago two a few couple week years Friday 999 vor la semaine il y a 2023年99月 - hace 0
"""
TWO_DAYS_AGO = ("2026-11-20", "2026-11-21")


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What did Jeff do last week?", *WEEK),
        ("past week", *WEEK),
        ("What happened in March 2023?", *MARCH),
        ("what happened in march,  2023", *MARCH),
        ("the Mar. 2023 release", *MARCH),
        ("Which books did Tim read last March?", "2026-03-01", "2026-04-01"),
        ("since January", "2026-01-01", "2026-11-22T15:00"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("What did Ada say two days ago?", *TWO_DAYS_AGO),
        ("a couple of months ago", "2026-08-01", "2026-10-01"),
        ("How did it go a few weeks ago?", "2026-10-12", "2026-11-09"),
        ("an hour ago", "2026-11-22", "2026-11-23"),
        ("what did I say yesterday", "2026-11-21", "2026-11-22"),
        ("the day before yesterday", *TWO_DAYS_AGO),
        ("last night", "2026-11-21", "2026-11-22"),
        ("this morning", "2026-11-22", "2026-11-23"),
        ("this month", "2026-11-01", "2026-12-01"),
        ("last year's trip", "2025-01-01", "2026-01-01"),
        ("in the last two weeks", "2026-11-02", "2026-11-22T15:00"),
        ("over the past 10 days", "2026-11-12", "2026-11-22T15:00"),
        ("in the last two weeks of August 2023", "2023-08-01", "2023-09-01"),
        ("on Friday", *TWO_DAYS_AGO),
        ("8 May 2023", "2023-05-08", "2023-05-09"),
        ("May 8th, 2023", "2023-05-08", "2023-05-09"),
        ("on the 3rd of July", "2026-07-03", "2026-07-04"),
        ("2023-05-08", "2023-05-08", "2023-05-09"),
        ("in 2023", "2023-01-01", "2024-01-01"),
        ("plans for summer 2022", "2022-06-01", "2022-09-01"),
        ("what did Jeff do last spring?", "2026-03-01", "2026-06-01"),
        ("last winter", "2025-12-01", "2026-03-01"),
        ("letzten Herbst", "2026-09-01", "2026-12-01"),
        ("Où était Jeff l'été dernier ?", "2026-06-01", "2026-09-01"),
        ("en otoño de 2025", "2025-09-01", "2025-12-01"),
        ("last year in June", "2025-06-01", "2025-07-01"),
        ("last year, in October 2025", "2025-10-01", "2025-11-01"),
        ("in late March 2023", "2023-03-21T16:00", "2023-04-01"),
        ("Wo war Jeff Anfang 2022?", "2022-01-01", "2022-05-02T16:00"),
        ("Wo hat Anna 2022 gewohnt?", "2022-01-01", "2023-01-01"),
        ("entre 2017 et 2019, où habitait Luc ?", "2017-01-01", "2020-01-01"),
        ("¿Dónde estaba en marzo?", "2026-03-01", "2026-04-01"),
        ("between March and May 2023", "2023-03-01", "2023-06-01"),
        ("from 3 May to 8 May 2023", "2023-05-03", "2023-05-09"),
        ("from 2023-02-01 to 2023-02-10", "2023-02-01", "2023-02-11"),
        ("from 2022 to 2024", "2022-01-01", "2025-01-01"),
        ("Was hat Jeff letzte Woche gemacht?", *WEEK),
        ("Was geschah im März 2023?", *MARCH),
        ("Was sagte Ada vor zwei Tagen?", *TWO_DAYS_AGO),
        ("Qu'est-ce que Jeff a fait la semaine dernière ?", *WEEK),
        ("en mars 2023", *MARCH),
        ("l\u2019année dernière", "2025-01-01", "2026-01-01"),
        ("¿Qué hizo Jeff la semana pasada?", *WEEK),
        ("en marzo de 2023", *MARCH),
        ("la settimana scorsa", *WEEK),
        ("em março de 2023", *MARCH),
        ("vorige week", *WEEK),
        ("先週ジェフは何をしましたか", *WEEK),
        ("2023年3月に何がありましたか", *MARCH),
    ],
)
def test_an_expression_means_a_period(question: str, start: str, end: str) -> None:
    period = tuple(datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (start, end))

    assert names_time(question)
    assert find_period(question, NOW) == period


@pytest.mark.parametrize(
    "question",
    ["", "favourite editor", "Who may march in the parade?", "Sat on a chair in the sun",
     "the 2020 model of the car", "second project", "port 2024", "31 February 2023", "May 45",
     "what is on the list this time", "the last of us", "the past", "10.2023.1.5", "tomorrow",
     "a second ago we march", "Mars rover", "in 10 years"],
)  # fmt: skip
def test_other_questions_name_no_period(question: str) -> None:
    assert find_period(question, NOW) is None


@pytest.mark.parametrize(
    ("question", "name", "clause"),
    [
        ("Where does Mo live now?", "now", ""),
        ("Was isst Karin zurzeit?", "now", ""),
        ("Où habite Luc aujourd'hui ?", "now", ""),
        ("Where did Mo live before he moved to Berlin?", "before", "he moved to Berlin"),
        ("Wer leitete den Chor vor Tobias Reuter?", "before", "Tobias Reuter"),
        ("¿Quién era presidente antes de Nuria?", "before", "Nuria"),
        ("What was Rosa's previous employer?", "former", ""),
        ("Did Ada use to smoke? She used to", "former", ""),
        ("Quel était l'ancien employeur de Luc ?", "former", ""),
        ("¿donde vivia anteriormente?", "former", ""),
        ("Which editor did Omar use at first?", "first", ""),
        ("Wie schwer war Heinz anfangs?", "first", ""),
        ("When was Dana last on call?", "last", ""),
        ("Seit wann lebt Karin vegan?", "since", ""),
        ("Combien de fois Luc a-t-il couru ?", "ever", ""),
        ("last March", None, ""),
        ("What is Kim's first name?", None, ""),
        ("Wie oft wird der Brief verschickt?", None, ""),
        ("Was steht vor der Tür?", None, ""),
        ("Which tea does Jeff like?", None, ""),
        ("", None, ""),
    ],
)
def test_words_of_a_question_are_a_tense(question: str, name: str | None, clause: str) -> None:
    tense = read_time(question, NOW).tense

    assert (tense and tense.name, tense.clause if tense else "") == (name, clause)


def test_before_a_period_means_the_day_before_it() -> None:
    day = tuple(datetime(2021, 12, number, tzinfo=UTC) for number in (31, 31))

    for question in (
        "where did Rosa work before 2022",
        "Wo war Rosa vor 2022?",
        "avant 2022, où ?",
    ):
        period, tense = read_time(question, NOW)
        assert period == (day[0], day[1] + timedelta(days=1)), question
        assert tense is None


def test_the_files_of_all_languages_have_the_same_keys() -> None:
    files = {path.name: tomllib.loads(path.read_text("utf-8")) for path in FILES.glob("*.toml")}
    keys = {
        name: [(table, *(file[table] if isinstance(file[table], dict) else ())) for table in file]
        for name, file in files.items()
    }

    assert len(files) >= 4
    assert {name: found for name, found in keys.items() if found != keys["en.toml"]} == {}


def test_the_day_is_the_one_of_utc() -> None:
    late = datetime(2026, 11, 23, 1, tzinfo=timezone(timedelta(hours=14)))
    assert find_period("today", late) == find_period("today", NOW)


@settings(max_examples=3 * EXAMPLES)
@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(
            st.sampled_from(_WORDS.split()),
            max_size=9,
        ).map(" ".join),
    ),
    st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31)),
)
def test_no_question_breaks_the_reader(question: str, now: datetime) -> None:
    period = find_period(question, now.replace(tzinfo=UTC))
    read_time(question, now.replace(tzinfo=UTC))

    if period is not None:
        assert names_time(question)
        assert period.start < period.end
        longer = period.widen(timedelta(days=1), timedelta(days=3))
        assert longer.start <= period.start < period.end <= longer.end
