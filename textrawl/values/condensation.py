"""The query of a long text: its questions, and the sentences that name something known.

A text of up to 100,000 characters becomes a query of at most 1,000. First what was pasted is left
out. Of the rest the questions count, then the sentences with names that the memory knows, then the
last and the first. A query of few sentences finds more than one of many, because a search weighs
at most twelve words.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from textrawl.values.pasted import (
    UNSPACED,
    count_words,
    is_question,
    remove_pasted,
    split_sentences,
)
from textrawl.values.text import QUERY_LENGTH, clean_name

SHORT_PROMPT = 300  # characters of a prompt that stay as they are
_ASKED = 400  # characters of a query with a question; more words would hide those of the question
_BESIDE = 200  # characters of other sentences that are added to a question without a known name
_OUTER = 2  # sentences at the beginning and at the end, of which one can be a greeting
_MOST_SENTENCES = 1500
_LOOKED_UP = 12_000  # characters in which names are looked up, which takes some milliseconds
_NAMELIKE = re.compile(r"\S\s+[^\W\d_a-z]|\d|[^\W\d_]{2}[^\w\s][^\W\d_]")  # a capital, digits
_OPENING = "([{<\"'*_`\u00ab\u00bf\u00a1\u201c\u201e\u2018-"
_CLOSING = ".,;:!?)]}>\"'*_`\u2026\u00bb\u201c\u201d\u2019\u061f\u060c"
_GENITIVE = re.compile(r"(?<=\w\w)(?:['\u2019]?s|['\u2019]\w{1,3})\Z")
_PREFIXING = re.compile(r"[\u0590-\u06ff]{4}")  # Arabic and Hebrew: articles stand in the word
_UNSPACED_RUN = re.compile(rf"{UNSPACED}{{2,}}")
_QUESTION_WORDS = Path(__file__).parent / "question_words.toml"
_BEGINNING = 60  # characters of a sentence in which question words are looked for
_LONGEST_NAME = 8  # characters of a name in a script without spaces


@dataclass(frozen=True)
class Prose:
    """The sentences of a long text that a person wrote.

    `asking` are the places of questions and requests. `keys` has the possible names of entities in
    the form of the SQL function name_key(), each with the places of its sentences.
    """

    sentences: Sequence[str]
    asking: frozenset[int]
    keys: Mapping[str, Collection[int]]

    def write_query(self, known: Collection[str] = ()) -> str:
        """Return the query. `known` are those of the keys that are names of entities."""
        if _is_short(self.sentences) and not self.asking:
            return clean_name(" ".join(self.sentences))
        named = frozenset(number for key in known for number in self.keys[key])
        chosen, left = list[int](), QUERY_LENGTH
        for number, budget in self._rank(named):
            left = min(left, budget - sum(len(self.sentences[one]) + 1 for one in chosen))
            if number not in chosen and (not chosen or len(self.sentences[number]) <= left):
                chosen.append(number)
        text = " ".join(self.sentences[number] for number in sorted(chosen))
        return shorten(clean_name(text))

    def _rank(self, named: frozenset[int]) -> Iterator[tuple[int, int]]:
        """Yield places, the best first, each with the length that the query may then have."""
        last_first = range(len(self.sentences) - 1, -1, -1)
        if self.asking:
            asking = self._choose_questions(named)
            yield from ((number, _ASKED) for number in asking)
            if named.isdisjoint(asking):
                near = sorted(named, key=lambda number: abs(number - asking[0]))
                yield from ((number, _ASKED + _BESIDE) for number in near)
            return
        yield from ((number, QUERY_LENGTH) for number in last_first if number in named)
        for number in last_first:  # the last, the first, the last but one, and so on
            yield number, QUERY_LENGTH
            yield len(self.sentences) - 1 - number, QUERY_LENGTH

    def _choose_questions(self, named: frozenset[int]) -> Sequence[int]:
        """Return the places of the questions that count, the best first.

        A question at the beginning or at the end is more likely that of the writer than one of a
        pasted text. A question without a known name does not count beside one with a name there.
        """
        last = len(self.sentences) - 1
        asking = sorted(self.asking, reverse=True)
        outer = [p for p in dict.fromkeys((asking[0], asking[-1])) if min(p, last - p) < _OUTER]
        known = [number for number in asking if number in named]
        if not named.isdisjoint(outer):
            return [*(number for number in outer if number in named), *known]
        if known:
            return [*outer, *known]
        fits = sum(len(self.sentences[number]) + 1 for number in asking) <= _ASKED
        return asking if fits else [*outer, *asking][: len(outer) or None]


def condense(text: str, longest: int = QUERY_LENGTH) -> str:
    """Return a query of at most 1,000 characters, without a look-up of names.

    A text of at most `longest` characters stays as it is.
    """
    return text if len(text) <= longest else read_prose(text).write_query()


def read_prose(text: str) -> Prose:
    """Return the sentences of a text without what was pasted, unless all of it was pasted."""
    found, half = split_sentences(remove_pasted(text)), _MOST_SENTENCES // 2
    if len(found) > _MOST_SENTENCES:
        found = found[:half] + found[-half:]
    sentences = [shorten(one, _ASKED) for one in found if count_words(one)]
    sentences = sentences or [shorten(" ".join(text.split()))]
    asking = _find(sentences, is_question) or _find(sentences, asks_without_mark)
    wanted = sentences if asking or not _is_short(sentences) else ()
    return Prose(sentences, asking, _gather_keys(wanted, asking))


def asks_without_mark(sentence: str) -> bool:
    """Return whether the words of a sentence ask for something."""
    begin, within = _load_question_words()
    plain = unicodedata.normalize("NFC", sentence[:_BEGINNING]).lstrip(_OPENING)
    return bool(begin.match(plain) or (not plain.isascii() and within.search(plain)))


@cache
def _load_question_words() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the words at the beginning of a question, and those anywhere in it."""
    file: dict[str, Any] = tomllib.loads(_QUESTION_WORDS.read_text("utf-8"))
    within = (word for words in file.pop("within").values() for word in words)
    begin = (word for words in file.values() for word in words)
    return re.compile(rf"(?:{'|'.join(begin)})(?!\w)", re.IGNORECASE), re.compile("|".join(within))


def _find(sentences: Sequence[str], test: Callable[[str], bool]) -> frozenset[int]:
    return frozenset(number for number, sentence in enumerate(sentences) if test(sentence))


def _is_short(sentences: Sequence[str]) -> bool:
    """Return whether all sentences count if none is a question."""
    return sum(len(one) + 1 for one in sentences) <= SHORT_PROMPT


def _gather_keys(
    sentences: Sequence[str], asking: Collection[int]
) -> Mapping[str, Collection[int]]:
    """Return possible names: of questions first, then of sentences that look like having one."""
    last = len(sentences) - 1

    def rank(number: int) -> tuple[bool, bool, int]:
        namelike = _NAMELIKE.search(sentences[number]) is not None
        return number not in asking, not namelike, min(number, last - number)

    keys, left = dict[str, set[int]](), _LOOKED_UP
    for number in sorted(range(len(sentences)), key=rank):
        left -= len(sentences[number])
        if left < 0:
            break
        for key in list_name_keys(sentences[number]):
            keys.setdefault(key, set()).add(number)
    return keys


def list_name_keys(sentence: str) -> Iterator[str]:
    """Yield the runs of words that can be a name, in the form of the SQL function name_key().

    A name of more than two words begins with a capital letter. A name of one or two letters is
    mostly an ordinary word.
    """
    words = sentence.split()
    folded = [_fold(word) for word in words]
    for number, word in enumerate(words):
        most = 2 if word[0].islower() else 4
        before = ""
        for end in range(number, min(number + most, len(words))):
            for spelled in _spell(folded[end]):
                key = f"{before} {spelled}" if before else spelled.lstrip(_OPENING)
                if len(key) > 2 or len(key.encode()) > 2:  # noqa: PLR2004 - as names_entity()
                    yield key
            before = f"{before} {folded[end]}" if before else folded[end].lstrip(_OPENING)
    # In a script without spaces, each run of a few characters can be a name.
    for run in () if sentence.isascii() else _UNSPACED_RUN.findall(_fold(sentence)):
        for start in range(len(run)):
            for end in range(start + 2, min(start + _LONGEST_NAME, len(run)) + 1):
                yield run[start:end]


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


@lru_cache(4096)
def _spell(word: str) -> frozenset[str]:
    """Return the last word of a name also without marks, a genitive, or a joined article."""
    bare = word.rstrip(_CLOSING)
    joined = (bare[skipped:] for skipped in (1, 2, 3)) if _PREFIXING.match(bare) else ()
    return frozenset((word, bare, _GENITIVE.sub("", bare), *joined))


def shorten(text: str, most: int = QUERY_LENGTH) -> str:
    """Return the beginning and the end of a text, which are cut between words if possible."""
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    beginning, end = text[:half], text[-half:]
    return f"{beginning.rpartition(' ')[0] or beginning} {end.partition(' ')[2] or end}"
