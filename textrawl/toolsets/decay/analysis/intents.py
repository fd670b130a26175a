"""The intents of a message: to store something, or to search for something stored."""

import math
import re
from dataclasses import dataclass

from textrawl.toolsets.decay.analysis.entities import find_entities
from textrawl.toolsets.decay.analysis.phrases import Phrases, find_spans, load_phrases, straighten
from textrawl.toolsets.decay.analysis.strength import LEAST, has_marker, rate_strength

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
