# ruff: noqa: RUF001 (letters that look alike are what these tests are about)
"""The texts that may be stored."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.writing import EMOJI, WRITTEN
from textrawl.values.text import clean_fact, clean_name, clean_relation, clean_text, count_cleaned

HIDDEN = [
    "\x00", "\x08", "\x0b", "\x0c", "\x1f", "\x7f", "\x80", "\x9f", "\u00ad", "\u034f", "\u061c",
    "\u115f", "\u180e", "\u200b", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e",
    "\u2060", "\u2066", "\u2069", "\u3164", "\ufdd0", "\ufeff", "\uffa0", "\ufffe", "\uffff",
    *(chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)),
    *map(chr, range(0x180B, 0x1810)), *map(chr, range(0xFE00, 0xFE10)), "\u2800", "\U00016fe4",
    *map(chr, range(0x13430, 0x13440)),
    chr(0xD800), chr(0xDFFF), "\U0001d173", "\U000e0001", "\U000e0041", "\U000e0100",
]  # fmt: skip
KEPT = [
    "👨‍👩‍👧‍👦", "🏳️‍🌈", "👩🏽‍💻", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می‌خواهم", "क्‍ष", "ന്‍", "❤️", "مرحبا", "שָׁלוֹם", "é",
    "日本語", "C:\\x\\u202e", "<script>", "Robert'); drop table students;--",
]  # fmt: skip

ANY = st.text(st.characters(exclude_categories=[]), max_size=40)


def test_what_hides_text_leaves_names_and_facts_and_is_counted() -> None:
    for character in HIDDEN:
        fact = f"likes{character}tea"
        facts = [{"observation": fact}, {"observation": "likes\r\ntea "}]

        assert clean_name(f"Je{character}ff") in ("Jeff", "Je ff")
        assert clean_name(character) == ""
        assert clean_fact(fact) in ("likestea", "likes\ntea")
        assert count_cleaned({"facts": facts}) == 1


def test_what_carries_meaning_stays() -> None:
    for text in KEPT:
        assert clean_fact(f"a {text} b") == f"a {text} b"
        assert clean_fact(text) == text
        assert clean_name(text) == text
        assert count_cleaned(text) == 0


def test_joiners_without_a_use_are_hidden_text() -> None:
    for text in ("a\u200db", "a\u200c", "\u200d", "👨\u200d", "ا \u200cب", "1\u200c2"):
        plain = re.sub("[\u200c\u200d]", "", text)

        assert "\u200d" not in clean_name(text)
        assert clean_fact(f"x {text} y") == f"x {plain} y"


def test_a_mark_of_direction_stays_between_two_scripts_alone() -> None:
    for text in ("כתובת: \u200eMain 5", "Main 5\u200f כתובת", "טלפון \u200e+49 89"):
        assert clean_fact(text) == text
        assert clean_name(text) == text
    assert clean_fact("Main\u200e 5 \u200f\u200eכתובת \u200f") == "Main 5 כתובת"


def test_codes_that_colour_a_terminal_are_removed_whole() -> None:
    assert (
        clean_fact("\x1b[1;31mERROR\x1b[0m in \x1b]0;title\x07Main \x1bMain")
        == "ERROR in Main Main"
    )


@given(st.lists(st.sampled_from([*WRITTEN, *EMOJI]), min_size=1, max_size=6))
def test_real_text_of_any_script_and_emoji_are_stored_as_they_are(words: list[str]) -> None:
    text = " ".join(words)

    assert clean_fact(text) == unicodedata.normalize("NFC", text)
    assert clean_name(text) == unicodedata.normalize("NFC", text)


def test_bytes_cannot_be_smuggled_in_what_changes_nothing_to_be_seen() -> None:
    for smuggled in (
        "ok\ufe00\ufe01", "n\ufe01o", "\u0431\ufe0f", "5\ufe0f", "\u4eba\ufe02", "\u4eba\U000e0101",
        "\u2764\ufe0f\ufe0e", "\u2801\u2800\u2800\u2801",
        "\U00013000\U00013430\U00013431\U00013432\U00013433\U00013434",
    ):  # fmt: skip
        assert len(clean_fact(smuggled)) < len(smuggled)
        assert len(clean_name(smuggled)) < len(smuggled)


@given(st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=8))
def test_only_the_three_flags_that_exist_hold_tags(region: str) -> None:
    flag = f"\U0001f3f4{''.join(chr(0xE0000 + ord(c)) for c in region)}\U000e007f"
    if region in ("gbeng", "gbsct", "gbwls"):
        assert clean_fact(flag) == flag
    else:
        assert clean_fact(f"flies {flag}") == "flies \U0001f3f4"


@pytest.mark.parametrize(
    ("given", "stored"),
    [("  Acme \t Corp\n", "Acme Corp"), ("a\u00a0b\u3000c", "a b c"), ("e\u0301", "é"),
     ("a\rb", "a b"), ("", ""), (" ", ""), ("Å", "Å")],
)  # fmt: skip
def test_names_are_composed_and_their_white_space_folded(given: str, stored: str) -> None:
    assert clean_name(given) == stored


def test_facts_keep_their_lines_and_lose_what_is_around() -> None:
    assert clean_fact("  a\r\nb\tc\n") == "a\nb\tc"


@pytest.mark.parametrize("given", ["Works at", " WORKS  at ", "works_at", "works\tat"])
def test_relations_are_lower_case_with_underscores(given: str) -> None:
    assert clean_relation(given) == "works_at"


@given(ANY)
def test_cleaning_a_clean_name_changes_nothing(name: str) -> None:
    clean = clean_name(name)

    assert clean_name(clean) == clean
    assert unicodedata.is_normalized("NFC", clean)
    assert clean == " ".join(clean.split())
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in clean)
    assert clean_relation(clean_relation(name)) == clean_relation(name)


@given(ANY)
def test_cleaning_a_clean_fact_changes_nothing(fact: str) -> None:
    clean = clean_fact(fact)

    assert clean_fact(clean) == clean
    assert clean_text(clean) == clean
    clean.encode()
