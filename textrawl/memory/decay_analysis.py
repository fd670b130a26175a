"""Intents, entities and strength that a text shows."""

import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, cast

_FOLDER = Path(__file__).parent / "languages"
_AT_BEGINNING = "^"
_SENTENCE_START = r"(?:\A|[.!?:;\n])[\s\"'(*-]{0,9}"
# A phrase is not a part of a longer word, an address or a name such as C++.
_BEGIN, _END = r"(?<![\w.@#+])", r"(?![\w+#]|[.@]\w)"
_KINDS = (
    "save",
    "recall",
    "preference",
    "decision",
    "critical",
    "important",
    "uncertain",
    "question",
)


@dataclass(frozen=True)
class Phrases:
    """The phrases of all languages.

    `kinds` has a pattern for each kind of phrase. `topics` has a pattern for each entity that a
    text can imply. `tags` has the tag of each word that suggests a tag.
    """

    kinds: Mapping[str, re.Pattern[str]]
    known: re.Pattern[str]
    fillers: frozenset[str]
    topics: Mapping[str, re.Pattern[str]]
    tags: Mapping[str, str]
    stop_words: frozenset[str]
    after_names: frozenset[str]

    def find(self, kind: str, text: str) -> list[str]:
        """Return the phrases of one kind that a straightened text contains, in lower case."""
        spans = find_spans(self.kinds[kind], text)
        return list(dict.fromkeys(" ".join(text[a:b].lower().split()) for a, b in spans))


@cache
def load_phrases() -> Phrases:
    """Read the files of all languages. A server reads them once, at the first text."""
    files = [tomllib.loads(file.read_text("utf-8")) for file in sorted(_FOLDER.glob("*.toml"))]
    return build_phrases(files)


def build_phrases(languages: Iterable[Mapping[str, Any]]) -> Phrases:
    """Return the phrases of several languages, each with the keys of a file in `languages`."""
    files = list(languages)
    names = [cast("dict[str, list[str]]", file.get("names", {})) for file in files]
    topics = {name: text for file in files for name, text in file.get("topics", {}).items()}
    tags = {
        word: tag for file in files for tag, words in file.get("tags", {}).items() for word in words
    }
    return Phrases(
        kinds={kind: _compile(_gather(files, kind)) for kind in _KINDS},
        known=_compile(_gather(files, "known")),
        fillers=frozenset(_gather(files, "fillers")),
        topics={name: re.compile(text, re.IGNORECASE) for name, text in topics.items()},
        tags=tags,
        stop_words=frozenset(_gather(names, "stop_words")),
        after_names=frozenset(_gather(names, "after_names")),
    )


def find_spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return the beginning and the end of each phrase of `pattern` in the text."""
    return [match.span(match.lastgroup or 0) for match in pattern.finditer(text)]


def straighten(text: str) -> str:
    """Return the text with straight apostrophes, as the phrases have them."""
    return text.replace("\u2019", "'").replace("\u02bc", "'")


def _gather(files: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    return [phrase for file in files for phrase in cast("list[str]", file.get(key, []))]


def _compile(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of whole phrases. If two phrases match at one place, the longer one wins."""
    longest_first = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    anywhere = [_escape(phrase) for phrase in longest_first if not phrase.startswith(_AT_BEGINNING)]
    initial = [
        _escape(phrase.removeprefix(_AT_BEGINNING))
        for phrase in longest_first
        if phrase.startswith(_AT_BEGINNING)
    ]
    forms = [f"{_BEGIN}(?P<anywhere>{'|'.join(anywhere)})"] if anywhere else []
    if initial:
        forms.append(f"{_SENTENCE_START}(?P<initial>{'|'.join(initial)})")
    return re.compile(f"(?:{'|'.join(forms) or '(?!)'}){_END}", re.IGNORECASE)


def _escape(phrase: str) -> str:
    return r"\s+".join(re.escape(word) for word in phrase.split())


MOST_ENTITIES = 10
_LONGEST_NAME = 100

_ADDRESS = re.compile(r"https?://[^\s<>\"')\]]+|[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_WORD = re.compile(r"[^\W_][\w'+#&/-]*(?:\.[^\W_][\w'+#&/-]*)*[+#]*")
_CODED = re.compile(r"[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}s?|[A-Z]+\d\w*")  # APIs, Q4
_SENTENCE_END = re.compile(r"[.!?:;\n]")

Span = tuple[int, int]


def find_entities(text: str) -> list[str]:
    """Return up to ten entities of a text in lower case, in the order in which they appear.

    An entity is an address, a name of the lists, or a word whose capitals show that it is a name.
    Entities that a text only implies come last.
    """
    text, phrases = straighten(text), load_phrases()
    spans, taken = list[Span](), bytearray(len(text))
    known = find_spans(phrases.known, text)
    for begin, end in chain(_find_addresses(text), known, _find_names(text, phrases)):
        if not any(taken[begin:end]):
            spans.append((begin, end))
            taken[begin:end] = b"1" * (end - begin)
    named = [text[begin:end].lower() for begin, end in sorted(spans)]
    implied = [name for name, pattern in phrases.topics.items() if pattern.search(text)]
    kept = (name for name in [*named, *implied] if len(name) <= _LONGEST_NAME)
    return list(dict.fromkeys(kept))[:MOST_ENTITIES]


def _find_addresses(text: str) -> Iterator[Span]:
    for match in _ADDRESS.finditer(text):
        yield match.start(), match.end() - len(match[0]) + len(match[0].rstrip(".,;:!?"))


def _find_names(text: str, phrases: Phrases) -> Iterator[Span]:
    """Yield the names. Adjacent words of a name, such as Ada Lovelace, are one name."""
    words = list(_WORD.finditer(text))
    shouted = text.upper() == text  # if all letters are capitals, capitals do not show names
    begin = end = -1
    for index, word in enumerate(words):
        named = not shouted and _is_name(text, words, index, phrases)
        joined = begin >= 0 and text[end : word.start()] == " "
        if begin >= 0 and not (named and joined):
            yield begin, end
            begin = -1
        if named:
            begin = word.start() if begin < 0 else begin
            end = word.end() - (2 if word[0].endswith("'s") else 0)
    if begin >= 0:
        yield begin, end


def _is_name(text: str, words: list[re.Match[str]], index: int, phrases: Phrases) -> bool:
    word = words[index][0].removesuffix("'s")
    if not word[:1].isupper() or word.lower() in phrases.stop_words:
        return _CODED.fullmatch(word) is not None and word.lower() not in phrases.stop_words
    if _CODED.fullmatch(word):
        return True
    between = text[words[index - 1].end() : words[index].start()] if index else "."
    if not _SENTENCE_END.search(between):
        return len(word) > 1
    return _begins_with_name(text, words, index, phrases)


def _begins_with_name(text: str, words: list[re.Match[str]], index: int, phrases: Phrases) -> bool:
    """Return whether the capitalised first word of a sentence is a name.

    It is a name if it is a genitive, or if a capitalised word or a verb such as "leads" follows.
    """
    word = words[index][0]
    if word.endswith("'s"):
        return True
    if index + 1 == len(words) or text[words[index].end() : words[index + 1].start()] != " ":
        return False
    following = words[index + 1][0]
    name_follows = following[:1].isupper() and following.lower() not in phrases.stop_words
    return name_follows or following.lower() in phrases.after_names


LEAST, MOST = 1.0, 2.0
_LENGTH, _LONG = 0.2, 500  # the weight of the length, and the characters of a long text
_ENTITIES, _MANY = 0.3, 5
_QUESTION = 0.05
_BANDS = (  # the kinds of markers, heaviest first, with the limits of their strength
    (("critical",), 1.8, 2.0),
    (("save",), 1.5, 1.5),
    (("important",), 1.4, 1.5),
    (("preference", "decision"), 1.3, 1.5),
)


def rate_strength(text: str, entities: Sequence[str]) -> float:
    """Return the strength of a memory with this text and these entities, from 1 to 2."""
    straight, phrases = straighten(text), load_phrases()
    for kinds, least, most in _BANDS:
        if any(phrases.kinds[kind].search(straight) for kind in kinds):
            share = min(1, len(text) / _LONG) * _LENGTH + min(1, len(entities) / _MANY) * _ENTITIES
            asked = _QUESTION if "?" in text else 0
            return round(max(least, min(most, least + share - asked)), 2)
    return LEAST


def has_marker(phrases: Phrases, straight: str) -> bool:
    """Return whether a straightened text has a marker of importance."""
    return any(phrases.kinds[kind].search(straight) for kinds, _, _ in _BANDS for kind in kinds)


CERTAIN = 0.9  # no phrase makes an intent more certain
SURE = 0.7  # from this confidence on, a memory should be saved without asking the user
_OFFSET = -2.0
_WEIGHTS = {
    "save": 5.0,
    "preference": 4.0,
    "critical": 3.0,
    "important": 2.0,
    "uncertain": -3.0,
    "question": -5.0,
}
_EACH_ENTITY, _MOST_FOR_ENTITIES = 0.8, 3.2
_POSSIBLE, _UNLIKELY = 0.5, 0.2
_QUERY_ENTITIES = 3
_QUERY_LENGTH = 50
_ENTITIES_TO_SEARCH = 2
_RECALLED = "\N{REPLACEMENT CHARACTER}"  # in place of a phrase that asks for something stored
_EDGES = " \t\n?!.,:;\"'()"


@dataclass(frozen=True)
class SaveIntent:
    """The intent to store a message, with arguments for save_memory."""

    should_save: bool
    confidence: float
    entities: list[str]
    tags: list[str]
    strength: float
    reasoning: str


@dataclass(frozen=True)
class RecallIntent:
    """The intent to search for something stored, with arguments for search_memory."""

    should_search: bool
    confidence: float
    query: str
    tags: list[str]
    entities: list[str]
    reasoning: str


def find_save_intent(message: str) -> SaveIntent:
    """Return whether a message has something to store.

    The confidence is a logistic function of the sum of the weights, and at most 0.9.
    """
    phrases, straight = load_phrases(), straighten(message)
    statement = _mask(phrases, straight)
    entities = find_entities(message)
    marked = has_marker(phrases, statement)
    confidence = min(CERTAIN, round(_weigh(phrases, statement, len(entities)), 3))
    should_save = confidence >= SURE
    return SaveIntent(
        should_save=should_save,
        confidence=confidence,
        entities=entities,
        tags=_suggest_tags(phrases, straight),
        strength=rate_strength(statement, entities) if should_save else LEAST,
        reasoning=f"{_detect(phrases.find('save', statement))} importance_marker: {marked} "
        f"entities_found: {len(entities)}",
    )


def find_recall_intent(message: str) -> RecallIntent:
    """Return whether a message asks for something stored, and the query to search with.

    A phrase such as "what did I say about" makes the intent certain, and the rest of the message is
    the query. Without a phrase, two entities make the intent possible.
    """
    phrases, straight = load_phrases(), straighten(message)
    found = phrases.find("recall", straight)
    if found:
        query, confidence = _remove_phrases(phrases, straight), CERTAIN
        entities = find_entities(query)
    else:
        entities = find_entities(message)
        possible = len(entities) >= _ENTITIES_TO_SEARCH
        confidence = _POSSIBLE if possible else _UNLIKELY
        query = " ".join(entities[:_QUERY_ENTITIES]) if possible else message[:_QUERY_LENGTH]
    return RecallIntent(
        should_search=confidence >= _POSSIBLE,
        confidence=confidence,
        query=query.strip(),
        tags=_suggest_tags(phrases, straight),
        entities=entities,
        reasoning=f"{_detect(found)} entities_found: {len(entities)}",
    )


def _weigh(phrases: Phrases, statement: str, entities: int) -> float:
    """Return the probability that a statement should be stored."""
    found = {kind for kind in _WEIGHTS if phrases.kinds[kind].search(statement)}
    if phrases.kinds["decision"].search(statement):
        found.add("preference")
    if _RECALLED in statement:
        found.add("question")
    if "critical" in found:
        found.discard("important")
    total = _OFFSET + sum(_WEIGHTS[kind] for kind in found)
    total += min(_EACH_ENTITY * entities, _MOST_FOR_ENTITIES)
    return 1 / (1 + math.exp(-total))


def _mask(phrases: Phrases, straight: str) -> str:
    """Return the text with a mark in place of each phrase that asks for something stored.

    So "do you remember" is a question, and not a request to remember.
    """
    for begin, end in reversed(find_spans(phrases.kinds["recall"], straight)):
        straight = f"{straight[:begin]}{_RECALLED}{straight[end:]}"
    return straight


def _remove_phrases(phrases: Phrases, straight: str) -> str:
    """Return the part of a message that names what to search for."""
    begin, end = find_spans(phrases.kinds["recall"], straight)[0]
    rest = straight[end:].strip(_EDGES) or straight[:begin].strip(_EDGES)
    words = re.split(r"\s+", rest)
    while len(words) > 1 and words[0].lower() in phrases.fillers:
        words.pop(0)
    return " ".join(words).strip(_EDGES)


def _suggest_tags(phrases: Phrases, text: str) -> list[str]:
    words = re.findall(r"\w+", text.lower())
    return list(dict.fromkeys(phrases.tags[word] for word in words if word in phrases.tags))


def _detect(found: list[str]) -> str:
    return f"Detected: {found}" if found else "Detected: no phrase"
