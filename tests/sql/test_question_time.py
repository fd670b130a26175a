"""The times that questions name, in the words by which the texts of facts are read."""

from datetime import UTC, datetime

import psycopg

NOW = datetime(2026, 11, 22, 15, tzinfo=UTC)  # a Sunday
WEEK = ("2026-11-09", "2026-11-16")
MARCH = ("2023-03-01", "2023-04-01")
TWO_DAYS_AGO = ("2026-11-20", "2026-11-21")
YESTERDAY = ("2026-11-21", "2026-11-22")
TODAY = ("2026-11-22", "2026-11-23")
NAMED = (
    ("What did Jeff do last week?", *WEEK),
    ("past week", *WEEK),
    ("What happened in March 2023?", *MARCH),
    ("what happened in march,  2023", *MARCH),
    ("the Mar. 2023 release", *MARCH),
    ("Which books did Tim read last March?", "2026-03-01", "2026-04-01"),
    ("since January", "2026-01-01", "2026-11-22T15:00"),
    ("in December", "2025-12-01", "2026-01-01"),
    ("What did Ada say two days ago?", *TWO_DAYS_AGO),
    ("a couple of months ago", "2026-09-01", "2026-10-01"),
    ("How did it go two weeks ago?", "2026-11-05", "2026-11-12"),
    ("what did I say yesterday", *YESTERDAY),
    ("the day before yesterday", *TWO_DAYS_AGO),
    ("last night", *YESTERDAY),
    ("this morning", *TODAY),
    ("this month", "2026-11-01", "2026-12-01"),
    ("last year's trip", "2025-01-01", "2026-01-01"),
    ("in the last two weeks", "2026-11-08", "2026-11-23"),
    ("over the past 10 days", "2026-11-12", "2026-11-23"),
    ("in the last two weeks of August 2023", "2023-08-01", "2023-09-01"),
    ("on Friday", *TWO_DAYS_AGO),
    ("last weekend", "2026-11-14", "2026-11-16"),
    ("8 May 2023", "2023-05-08", "2023-05-09"),
    ("May 8th, 2023", "2023-05-08", "2023-05-09"),
    ("on the 3rd of July", "2026-07-03", "2026-07-04"),
    ("what was said on the 14th?", "2026-11-14", "2026-11-15"),
    ("2023-05-08", "2023-05-08", "2023-05-09"),
    ("in 2023", "2023-01-01", "2024-01-01"),
    ("plans for summer 2022", "2022-06-01", "2022-09-01"),
    ("what did Jeff do last spring?", "2026-03-01", "2026-06-01"),
    ("last winter", "2025-12-01", "2026-03-01"),
    ("letzten Herbst", "2025-09-01", "2025-12-01"),
    ("Où était Jeff l'été dernier ?", "2026-06-01", "2026-09-01"),
    ("en otoño de 2025", "2025-09-01", "2025-12-01"),
    ("last year in June", "2025-06-01", "2025-07-01"),
    ("last year, in October 2025", "2025-10-01", "2025-11-01"),
    ("Wo war Jeff Anfang 2022?", "2022-01-01", "2023-01-01"),
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
    ("Qu'a fait Luc aujourd'hui ?", *TODAY),
    ("¿Qué hizo Jeff la semana pasada?", *WEEK),
    ("en marzo de 2023", *MARCH),
    ("la settimana scorsa", *WEEK),
    ("em março de 2023", *MARCH),
    ("vorige week", *WEEK),
    ("Wat deed Ada gisteren?", *YESTERDAY),
    ("先週ジェフは何をしましたか", *WEEK),
    ("2023年3月に何がありましたか", *MARCH),
    ("where did Rosa work before 2022", "2021-12-31", "2022-01-01"),
    ("Wo war Rosa vor 2022?", "2021-12-31", "2022-01-01"),
    ("avant 2022, où ?", "2021-12-31", "2022-01-01"),
)
UNNAMED = (
    "favourite editor", "Who may march in the parade?", "Sat on a chair in the sun",
    "the 2020 model of the car", "second project", "port 2024", "31 February 2023", "May 45",
    "what is on the list this time", "the last of us", "the past", "10.2023.1.5", "tomorrow",
    "a second ago we march", "Mars rover", "in 10 years", "who is the first one", "",
)  # fmt: skip


def read(sql: psycopg.Connection, question: str) -> tuple[datetime | None, datetime | None, str]:
    [row] = sql.execute(
        "select starts, ends, rest from question_time(%s, %s)", (question, NOW)
    ).fetchall()
    return row


def test_an_expression_means_a_period(sql: psycopg.Connection) -> None:
    wrong = dict[str, object]()
    for question, *period in NAMED:
        start, end = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in period)
        if (found := read(sql, question))[:2] != (start, end):
            wrong[question] = found
    assert not wrong, "\n".join(map(str, wrong.items()))


def test_other_questions_name_no_period(sql: psycopg.Connection) -> None:
    named = {text: found for text in UNNAMED if (found := read(sql, text)) != (None, None, text)}
    assert not named, "\n".join(map(str, named.items()))


def test_the_words_of_a_time_are_not_in_the_rest(sql: psycopg.Connection) -> None:
    for question, rest in (
        ("what did Ada do the day before yesterday?", "what did Ada do ,?"),
        ("Il y a deux semaines, quoi de neuf ?", ",, quoi de neuf ?"),
        ("which visit was last in May 8th, 2023?", "which visit was last in ,, ,?"),
        ("where did Rosa work before 2022", "where did Rosa work ,"),
    ):
        assert read(sql, question)[2] == rest


def test_the_day_is_the_one_of_utc(sql: psycopg.Connection) -> None:
    [early, late] = sql.execute(
        "select (question_time('today', at)).starts from unnest(%s::timestamptz[]) at",
        (["2026-11-23 01:00+14", "2026-11-22 23:00+00"],),
    ).fetchall()
    assert early == late
