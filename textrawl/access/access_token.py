"""Access tokens and grants: creation, recognition, hashing, and their rows.

A token is `trl_`, 43 base62 digits of 256 random bits, and 6 base62 digits of their CRC32. This is
the form of GitHub's tokens (github.blog, 5 April 2021, "Behind GitHub's new authentication token
formats"). Scanners recognise a leaked token by its prefix. The checksum detects a mistyped token
without a database. It is not a secret, and does not prove that a token is valid.

The database finds a token by its SHA-256. Tokens are never compared, so response times do not help
to guess one. A hash without salt is enough, because nobody can guess 256 random bits.
"""

import re
import secrets
from binascii import crc32
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal

Scope = Literal["read", "propose", "write", "forget", "review", "admin", "metrics"]

_PREFIX = "trl_"
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM_BYTES = 32
_BODY = 43  # digits that 256 bits need
_CHECKSUM = 6  # digits that 32 bits need
_SHOWN = 6  # digits after the prefix that are shown, to distinguish tokens: 35 of 256 bits
_FORM = re.compile(rf"{_PREFIX}([0-9A-Za-z]{{{_BODY}}})([0-9A-Za-z]{{{_CHECKSUM}}})")


def make_token() -> str:
    """Return a new token, of 53 characters."""
    body = _encode(int.from_bytes(secrets.token_bytes(_RANDOM_BYTES)), _BODY)
    return f"{_PREFIX}{body}{_sum(body)}"


def hash_token(token: str) -> bytes:
    """Return the SHA-256 (32 bytes) of any text. The database stores it instead of the token."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def is_token(text: str) -> bool:
    """Return whether `text` has the form of a token: prefix, length, digits and checksum."""
    found = _FORM.fullmatch(text)
    return found is not None and _sum(found[1]) == found[2]


def shorten_token(token: str) -> str:
    """Return the first 10 characters, which are stored as they are and shown in lists."""
    return token[: len(_PREFIX) + _SHOWN]


def _sum(body: str) -> str:
    return _encode(crc32(body.encode("ascii")), _CHECKSUM)


def _encode(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


@dataclass(frozen=True)
class GrantListRow:
    """A grant of list_grants. `login` is the database login that acts as the actor."""

    space_name: str
    actor_name: str
    scopes: list[str]
    granted_at: datetime
    login: str | None


@dataclass(frozen=True)
class RotatedTokenRow:
    """The new token that rotate_token recorded. `former_ends_at` is the end of the old token."""

    token: int
    actor: str
    home: str | None
    scopes: list[str]
    ends_at: datetime | None
    former_ends_at: datetime


@dataclass(frozen=True)
class RevokedTokenRow:
    """A token that revoke_token ended."""

    token: int
    prefix: str
    actor: str
    revoked_at: datetime


@dataclass(frozen=True)
class TokenListRow:
    """A token of list_tokens. `state` is `valid`, `expired` or `revoked`."""

    id: int
    prefix: str
    actor: str
    home: str | None
    scopes: list[str]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    state: str
