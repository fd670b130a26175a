"""Texts that are longer than a fact. They are stored in parts, which together equal the text.

Only the graph toolset accepts such texts. White space between two parts belongs to the first part.
"""

import re
import unicodedata
from hashlib import md5
from uuid import UUID

from textrawl.values.limits import FACT_LENGTH

LONG_LENGTH = 20_000  # characters that fit, in most scripts, into an answer of the graph toolset

_SENTENCE = re.compile(
    r"[.!?\u2026][\"')\]\u00bb\u201d\u2019]*\s+|[\u3002\uff01\uff1f][\u300d\u300f\u201d]*\s*|\n\s*"
)
_SPACE = re.compile(r"\s+")
_JOINERS = "\u200c\u200d"


def split_text(text: str, most: int = FACT_LENGTH) -> list[str]:
    """Split a text after sentences or words into parts of at most `most` characters."""
    parts, rest = list[str](), text
    while len(rest) > most:
        end = _find_end(rest, most)
        parts.append(rest[:end])
        rest = rest[end:]
    return [*parts, rest]


def number_text(text: str) -> UUID:
    """Return the MD5 of a text as Postgres computes it. All parts of the text have this id."""
    return UUID(md5(text.encode(), usedforsecurity=False).hexdigest())


def _find_end(text: str, most: int) -> int:
    """Return the end of the first part of `text`, which is longer than `most` characters."""
    for pattern in (_SENTENCE, _SPACE):
        ends = [found.end() for found in pattern.finditer(text, 0, most)]
        if ends and text[: ends[-1]].strip():
            return ends[-1]
    end = most
    while end > 1 and _continues(text, end):
        end -= 1
    return end if end > 1 else most


def _continues(text: str, place: int) -> bool:
    """Return whether the character at `place` combines with the character before it."""
    return unicodedata.category(text[place])[0] == "M" or (
        unicodedata.category(text[place]) == "Cf" or text[place - 1] in _JOINERS
    )
