"""Tokens: how they look, and what is told from them."""

import re
import string
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from textrawl.access.access_token import hash_token, is_token, make_token, shorten_token

DIGITS = string.digits + string.ascii_letters
KNOWN = "trl_" + "0" * 43 + "2CZclj"  # of 256 zero bits: the CRC32 of 43 times "0" is 2018072207


def test_1000_tokens_are_all_different_and_all_carry_their_checksum() -> None:
    tokens = {make_token() for _ in range(1000)}

    assert len(tokens) == 1000
    assert all(is_token(token) for token in tokens)
    assert {len(token) for token in tokens} == {53}
    assert all(re.fullmatch("trl_[0-9A-Za-z]{49}", token) for token in tokens)


def test_every_digit_of_the_random_part_varies_as_256_bits_do() -> None:
    bodies = [make_token()[4:47] for _ in range(1000)]

    # The first digit holds what 256 bits have beyond 42 digits, nearly all of a digit.
    assert [place for place in range(43) if len({body[place] for body in bodies}) < 50] == []


def test_a_token_that_was_once_given_out_stays_one() -> None:
    assert is_token(KNOWN)


def test_only_the_first_ten_characters_are_shown() -> None:
    token = make_token()

    assert shorten_token(token) == token[:10]
    assert not is_token(shorten_token(token))


def test_a_token_is_kept_as_the_sha256_of_its_text() -> None:
    assert hash_token("trl_abc") == sha256(b"trl_abc").digest()
    assert len(hash_token(make_token())) == 32


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=80))
def test_any_text_has_a_hash_and_none_that_was_not_made_here_is_a_token(text: str) -> None:
    assert len(hash_token(text)) == 32
    assert not is_token(text)


@given(st.data())
def test_a_token_with_one_character_changed_is_refused(data: st.DataObject) -> None:
    token = make_token()
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.one_of(st.sampled_from(DIGITS), st.characters()))
    changed = token[:place] + other + token[place + 1 :]

    assert is_token(changed) == (changed == token)


@given(st.data())
def test_a_token_cut_or_continued_is_refused(data: st.DataObject) -> None:
    token = make_token()
    cut = data.draw(st.integers(0, len(token) - 1))
    more = data.draw(st.text(st.sampled_from(f"{DIGITS}\n "), min_size=1, max_size=3))

    assert not is_token(token[:cut])
    assert not is_token(token + more)
    assert not is_token(more + token)


@given(st.integers(4, 51))
def test_a_token_with_two_neighbours_swapped_is_refused(place: int) -> None:
    token = make_token()
    swapped = token[:place] + token[place + 1] + token[place] + token[place + 2 :]

    assert is_token(swapped) == (swapped == token)
