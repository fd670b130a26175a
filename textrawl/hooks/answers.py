"""Which facts the answers of a session used, as far as the client's transcript tells.

An answer used a fact if it quotes the id, or most words of the fact that the user did not write.
"""

import re
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from textrawl.hooks.sessions import Given
from textrawl.hooks.transcripts import read_texts
from textrawl.values.text import SHORT_ID

_WORD = re.compile(r"[^\W_]{4,}")  # shorter words are in every text
_LEAST_WORDS, _LEAST_SHARE = 2, 2 / 3  # words of a fact, and the share of them in one answer


class Answers(NamedTuple):
    """The answers of an agent: time in milliseconds, text and words. And the words of the user."""

    texts: tuple[tuple[float, str, frozenset[str]], ...]
    known: frozenset[str]

    def tell_use(self, given: Given, fact: str, content: str) -> str:
        """Return `yes`, `no`, or nothing if the words of the fact cannot tell."""
        later = [(text, words) for at, text, words in self.texts if at >= given.at]
        own = _find_words(content) - self.known
        if any(fact[:SHORT_ID] in text for text, _ in later):
            return "yes"
        if not later or len(own) < _LEAST_WORDS:
            return ""
        least = len(own) * _LEAST_SHARE
        return "yes" if any(len(own & words) >= least for _, words in later) else "no"


def read_answers(transcript: str) -> Answers:
    """Return the answers in a transcript. There are none if it cannot be read."""
    with suppress(OSError, ValueError):
        messages = read_texts(Path(transcript))
        asked = (message.text for message in messages if message.author == "user")
        answers = [(_find_time(one.at), one.text) for one in messages if one.author != "user"]
        texts = [(at, text, _find_words(text)) for at, text in answers]
        return Answers(tuple(texts), _find_words(" ".join(asked)))
    return Answers((), frozenset())


def _find_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _find_time(at: str) -> float:
    """Return the time in milliseconds. An answer without a time can be of any time."""
    with suppress(ValueError):
        return datetime.fromisoformat(at).timestamp() * 1000
    return float("inf")
