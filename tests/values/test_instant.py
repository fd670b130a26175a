"""ISO 8601 dates and instants."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textrawl.values.times import read_instant


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
