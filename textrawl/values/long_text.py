"""Texts that are longer than a fact: they are stored in parts, which together are the same text.

Only the graph toolset accepts them. White space stays at the end of the part before it.
"""

import re
import unicodedata
from hashlib import md5
from uuid import UUID

from textrawl.values.text import FACT_LENGTH

LONG_LENGTH = 20_000  # characters: in most scripts they fit into an answer of the graph toolset

_SENTENCE = re.compile(
    r"[.!?\u2026][\"')\]\u00bb\u201d\u2019]*\s+|[\u3002\uff01\uff1f][\u300d\u300f\u201d]*\s*|\n\s*"
)
_SPACE = re.compile(r"\s+")
_JOINERS = "\u200c\u200d"


def split_text(text: str, most: int = FACT_LENGTH) -> list[str]:
    """Return the parts of a text, none longer than `most`, cut after sentences or words."""
    parts, rest = list[str](), text
    while len(rest) > most:
        end = _find_end(rest, most)
        parts.append(rest[:end])
        rest = rest[end:]
    return [*parts, rest]


def number_text(text: str) -> UUID:
    """Return the number that the parts of a text share: its MD5, as Postgres computes it."""
    return UUID(md5(text.encode(), usedforsecurity=False).hexdigest())


def _find_end(text: str, most: int) -> int:
    """Return where the first part of a longer text ends."""
    for pattern in (_SENTENCE, _SPACE):
        ends = [found.end() for found in pattern.finditer(text, 0, most)]
        if ends and text[: ends[-1]].strip():
            return ends[-1]
    end = most
    while end > 1 and _continues(text, end):
        end -= 1
    return end if end > 1 else most


def _continues(text: str, place: int) -> bool:
    """Return whether the character at `place` combines with the one before it."""
    return unicodedata.category(text[place])[0] == "M" or (
        unicodedata.category(text[place]) == "Cf" or text[place - 1] in _JOINERS
    )
