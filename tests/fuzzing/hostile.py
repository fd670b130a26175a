# ruff: noqa: RUF001 (letters that look alike are what this is about)
"""Values that break careless programs: characters, dates, numbers, shapes."""

from typing import Any

from hypothesis import strategies as st

CONTROLS = [chr(code) for code in (*range(0x20), 0x7F, *range(0x80, 0xA0))]
HIDING = [
    "\u00ad", "\u061c", "\u200b", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d",
    "\u202e", "\u2060", "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff", "\ufff9", "\ufffe",
    "\U000e0001", "\U000e0041", "\U000e007f", chr(0xD800), chr(0xDBFF), chr(0xDC00), chr(0xDFFF),
]  # fmt: skip
JOINED = ["👨‍👩‍👧‍👦", "🏳️‍🌈", "👩🏽‍💻", "می‌خواهم", "نامه‌ای", "क्‍ष", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]
"""Texts whose joiners and tags carry meaning: they have to stay."""

DATES: list[Any] = [
    "infinity", "-infinity", "tomorrow", "now", "today", "epoch", "allballs", "never",
    "2026-02-30", "2027-02-29", "10000-01-01", "+10000-01-01", "0000-01-01", "-0044-03-15",
    "0044-03-15 BC", "2026-13-01", "20301231", "12/31/2030", "31.12.2030", "Dec 31 2030",
    "2030-12-31T25:00Z", "2030-12-31T10:00+99:00", "2030-12-31T23:59:60Z", "2030-W01-1", "2030-001",
    "2030-12-31T10:00:00 Europe/Berlin", "٢٠٣٠-١٢-٣١", "２０３０-12-31", "1999-12-31", "1970-01-01",
    "2020-01-01T00:00:00Z", 1_924_905_600, -1, 1e300, True, ["2030-12-31"], {"year": 2030},
]  # fmt: skip
FUTURES = [
    "2096-02-29", "2030-12-31", "9999-12-31", "2030-12-31T18:00:00Z", "2030-03-31T02:30:00+02:00",
    "2030-12-31T18:00", "2030-12-31 18:00:00.123456-11:30", "2030-10-27T02:30:00+0100",
]  # fmt: skip

_FLOODS = ["x", "é", "e\u0301", "\u0301", "語", "🦄", "\U000e0041", "\u202e", "\x00", "[", '{"a":']
_LENGTHS = [1, 90, 101, 199, 200, 201, 999, 1_001, 1_999, 2_000, 2_001, 10_000, 65_536, 1_048_576]
_TEXTS = [
    "", " ", "null", "true", "NaN", "0", "-1", "1e5", "[]", "{}", "[null]", '["', '{"a"',
    "\\u0000", "\\", "'", '"', "'; drop table textrawl.entity; --", "%s", "{0}", "$1", "../etc",
    "<|endoftext|>", "</tool>", "\u2028", "\r", "\r\n", "\u0301", "İ", "ß" * 60, "ﬃ", "ǅ", "\u0958",
    "Z\u0351\u036b\u0343\u032a\u0302" * 40, "\u3164", "\ufe00\ufe01", "a\u200db", "1\u200c2",
]  # fmt: skip

ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=60)


def flood(part: str, length: int) -> str:
    """A text of nothing but `part`."""
    return (part * length)[:length]


FLOODS = st.builds(flood, st.sampled_from(_FLOODS), st.sampled_from(_LENGTHS))


def hide(part: str, place: int, text: str = "likes green tea") -> str:
    """A text with something in it that does not show."""
    return text[: place % len(text)] + part + text[place % len(text) :]


HIDDEN = st.builds(hide, st.sampled_from([*CONTROLS, *HIDING, *JOINED]), st.integers(0, 15))
TEXTS: st.SearchStrategy[Any] = st.one_of(HIDDEN, ANY_TEXT, st.sampled_from(_TEXTS), FLOODS)


def nest(depth: int, *, as_object: bool) -> Any:
    """A list in a list, or an object in an object, `depth` of them."""
    value: Any = 1
    for _ in range(depth):
        value = {"a": value} if as_object else [value]
    return value


NUMBERS: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([0, -1, 1, 51, 101, 2**31 - 1, 2**31, 2**63, -(2**63) - 1, 10**25, 10**400,
                     10**4_299, 0.0, -0.0, 0.5, 1.5, 1e308, 1e-320, 10.0]),
    st.sampled_from([float("nan"), float("inf"), float("-inf")]),
    st.integers(), st.floats(),
)  # fmt: skip
SHAPES: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    TEXTS,
    st.builds(nest, st.sampled_from([1, 3, 40, 150, 400]), as_object=st.booleans()),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=6,
    ),
)
"""Anything but what a parameter asks for."""
