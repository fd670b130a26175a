"""Dates, instants, and the tenses that the words of a question mean."""

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textrawl.values import times
from textrawl.values.times import find_tense, read_instant, regularise


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
        ("Dove abitava Giada prima di Ravenna?", "before", "Ravenna"),
        ("Dove abita adesso Giada?", "now", ""),
        ("Dove abitava Giada prima?", "former", ""),
        ("Desde quando vive a Joana em Braga?", "since", ""),
        ("Onde vivia a Joana antigamente?", "former", ""),
        ("¿Dónde vive mi primo?", None, ""),
        ("Wann fährt der Zug im Mai?", None, ""),
        ("What is Kim's first name?", None, ""),
        ("Wie oft wird der Brief verschickt?", None, ""),
        ("Was steht vor der Tür?", None, ""),
        ("Which tea does Jeff like?", None, ""),
        ("", None, ""),
    ],
)
def test_words_of_a_question_are_a_tense(question: str, name: str | None, clause: str) -> None:
    tense = find_tense(regularise(question))

    assert (tense and tense.name, tense.clause if tense else "") == (name, clause)


def test_the_files_of_all_languages_have_the_same_keys() -> None:
    files = {path.name: tomllib.loads(path.read_text("utf-8")) for path in FILES.glob("*.toml")}
    keys = {name: list(file) for name, file in files.items()}

    assert len(files) >= 4
    assert {name: found for name, found in keys.items() if found != keys["en.toml"]} == {}
