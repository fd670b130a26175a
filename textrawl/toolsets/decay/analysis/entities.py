"""The entities of a text, found by lists and by their spelling."""

import re
from collections.abc import Iterator

from textrawl.toolsets.decay.analysis.phrases import Phrases, find_spans, load_phrases, straighten

MOST_ENTITIES = 10
_LONGEST_NAME = 100

_ADDRESS = re.compile(r"https?://[^\s<>\"')\]]+|[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_WORD = re.compile(r"[^\W_][\w'+#&/-]*(?:\.[^\W_][\w'+#&/-]*)*[+#]*")
_CODED = re.compile(r"[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}s?|[A-Z]+\d\w*")  # APIs, Q4
_SENTENCE_END = re.compile(r"[.!?:;\n]")

Place = tuple[int, int]


def find_entities(text: str) -> list[str]:
    """Return up to ten entities of a text in lower case, in the order in which they appear.

    An entity is an address, a name of the lists, or a word whose capitals show that it is a name.
    Entities that a text only implies come last.
    """
    text, phrases = straighten(text), load_phrases()
    places, taken = list[Place](), bytearray(len(text))
    for finder in (_find_addresses, _find_known, _find_names):
        for begin, end in finder(text, phrases):
            if not any(taken[begin:end]):
                places.append((begin, end))
                taken[begin:end] = b"1" * (end - begin)
    named = [text[begin:end].lower() for begin, end in sorted(places)]
    implied = [name for name, pattern in phrases.topics.items() if pattern.search(text)]
    kept = (name for name in [*named, *implied] if len(name) <= _LONGEST_NAME)
    return list(dict.fromkeys(kept))[:MOST_ENTITIES]


def _find_addresses(text: str, _: Phrases) -> Iterator[Place]:
    for match in _ADDRESS.finditer(text):
        yield match.start(), match.end() - len(match[0]) + len(match[0].rstrip(".,;:!?"))


def _find_known(text: str, phrases: Phrases) -> Iterator[Place]:
    yield from find_spans(phrases.known, text)


def _find_names(text: str, phrases: Phrases) -> Iterator[Place]:
    """Yield the names. Adjacent words of a name, such as Ada Lovelace, are one name."""
    words = list(_WORD.finditer(text))
    shouted = text.upper() == text  # if all letters are capitals, capitals do not show names
    begin = end = -1
    for place, word in enumerate(words):
        named = not shouted and _is_name(text, words, place, phrases)
        joined = begin >= 0 and text[end : word.start()] == " "
        if begin >= 0 and not (named and joined):
            yield begin, end
            begin = -1
        if named:
            begin = word.start() if begin < 0 else begin
            end = word.end() - (2 if word[0].endswith("'s") else 0)
    if begin >= 0:
        yield begin, end


def _is_name(text: str, words: list[re.Match[str]], place: int, phrases: Phrases) -> bool:
    word = words[place][0].removesuffix("'s")
    if not word[:1].isupper() or word.lower() in phrases.stop_words:
        return _CODED.fullmatch(word) is not None and word.lower() not in phrases.stop_words
    if _CODED.fullmatch(word):
        return True
    between = text[words[place - 1].end() : words[place].start()] if place else "."
    if not _SENTENCE_END.search(between):
        return len(word) > 1
    return _begins_with_name(text, words, place, phrases)


def _begins_with_name(text: str, words: list[re.Match[str]], place: int, phrases: Phrases) -> bool:
    """Return whether the capitalised first word of a sentence is a name.

    It is a name if it is a genitive, or if a capitalised word or a verb such as "leads" follows.
    """
    word = words[place][0]
    if word.endswith("'s"):
        return True
    if place + 1 == len(words) or text[words[place].end() : words[place + 1].start()] != " ":
        return False
    following = words[place + 1][0]
    name_follows = following[:1].isupper() and following.lower() not in phrases.stop_words
    return name_follows or following.lower() in phrases.after_names
