"""Tokens of textrawl: how they are made, told from other text, and kept.

A token is `trl_`, 43 base62 digits of 256 random bits, and 6 of a CRC32 of those, after GitHub's
tokens (github.blog, 5 April 2021, "Behind GitHub's new authentication token formats"): scanners
know a leaked one by its prefix, and a mistyped one is told from an unknown one without a database.
The checksum keeps no secret and proves nothing. A token is looked up by its SHA-256, never
compared, so that no comparison can take longer the more of it was guessed; a plain hash is enough,
since nobody guesses 256 bits.
"""

import re
import secrets
from binascii import crc32
from hashlib import sha256

_PREFIX = "trl_"
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM_BYTES = 32
_BODY = 43  # digits that 256 bits need
_CHECKSUM = 6  # digits that 32 bits need
_SHOWN = 6  # digits after the prefix by which people tell tokens apart: 35 of 256 bits
_FORM = re.compile(rf"{_PREFIX}([0-9A-Za-z]{{{_BODY}}})([0-9A-Za-z]{{{_CHECKSUM}}})")


def make_token() -> str:
    """A new token, of 53 characters."""
    body = _encode(int.from_bytes(secrets.token_bytes(_RANDOM_BYTES)), _BODY)
    return f"{_PREFIX}{body}{_sum(body)}"


def hash_token(token: str) -> bytes:
    """SHA-256 of the text, 32 bytes: all that the database keeps. Any text has one."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def is_token(text: str) -> bool:
    """Whether `text` can be a token: prefix, length, digits and checksum."""
    found = _FORM.fullmatch(text)
    return found is not None and _sum(found[1]) == found[2]


def shorten_token(token: str) -> str:
    """The first 10 characters, which are stored in the clear and shown in lists."""
    return token[: len(_PREFIX) + _SHOWN]


def _sum(body: str) -> str:
    return _encode(crc32(body.encode("ascii")), _CHECKSUM)


def _encode(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
