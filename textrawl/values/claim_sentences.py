"""The sentences of a text, and which of them can be quoted as facts."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

from textrawl.values.claim_words import (
    Word,
    breaks,
    find_end,
    has_any,
    is_light,
    read_lists,
    read_words,
)

_LONGEST = 150  # words of a sentence: a longer one is a list or a page without full stops
_FEWEST = 3  # words of a quotation: fewer are a heading, a name or an exclamation
_LABEL = 2  # words before a colon: Board minutes
_MOST_PLAIN = 2  # words of a thing in a phrase: on all other days

_ABBREVIATED = (
    "[A-Z]|Mr|Mrs|Ms|Dr|St|No|vs|Prof|Fr|Hr|Jr|Sr|Rev|Gen|Lt|Mt|e\\.g|i\\.e|approx|ca|bzw|Nr"
)
_OPEN = "that and or but not if is was the a an of to in at on for with by from und dass que y et"
# A line goes on in the next one if it is long or ends openly, or if that is indented or begins in
# lower case.
_SENTENCE_END = re.compile(
    "".join(rf"(?<!\b{one})" for one in _ABBREVIATED.split("|"))
    + r"(?<![.!?\u2026])[.!?\u2026]++[\"')\]\u00bb\u201d\u2019]*(?=\s|$)|[\u3002\uff01\uff1f]+"
    r"|\n\s*\n|\n(?=\s*(?:[-*\u2022>#|\[]|\S+:|\d+[.)]\s))|(?<![^\n]{60})(?<!,)"
    + "".join(rf"(?<!\b{one})" for one in _OPEN.split())
    + r"\n(?!(?:[ \t]+|\s*[a-z\u00df-\u00ff]))"
)
_ASKS = re.compile("[?\uff1f][\"')\\]\u00bb\u201d\u2019]*$")
_ENDS = re.compile("[.!\u2026\u3002\uff01][\"')\\]\u00bb\u201d\u2019]*$")
_MARK = re.compile("[,;:\u2013\u2014]")
_MARKUP = re.compile(r"[{}<>|`\\]|^#|\w://")


class Unsupported(ValueError):
    """No sentence of the text supports a claim. The message is the reason."""


@dataclass(frozen=True)
class Sentence:
    """A sentence with its words, and the place of its first character in the text."""

    text: str
    start: int
    words: Sequence[Word]

    @property
    def end(self) -> int:
        """The place behind its last character."""
        return self.start + len(self.text)


def cut_text(text: str) -> list[Sentence]:
    """Return the sentences of a text."""
    found, start = list[Sentence](), 0
    for end in [*(one.end() for one in _SENTENCE_END.finditer(text)), len(text)]:
        part = text[start:end]
        if said := part.strip():
            place = start + len(part) - len(part.lstrip())
            found.append(Sentence(said, place, read_words(said, place)))
        start = end
    return found


@cache
def _read_phrases(name: str) -> re.Pattern[str]:
    return re.compile("|".join(read_lists()[name]), re.IGNORECASE)


def check_sentence(sentence: Sentence) -> None:
    """Raise Unsupported if a sentence supports no claim at all."""
    if len(sentence.words) > _LONGEST:
        raise Unsupported("its sentence is too long")
    if _read_phrases("command").search(sentence.text):
        raise Unsupported("its sentence gives orders to its reader")
    if _ASKS.search(sentence.text):
        raise Unsupported("its sentence asks")


def check_quotation(sentence: Sentence, names: Collection[str]) -> None:
    """Raise Unsupported if a sentence does not state something.

    Each part has to begin like a statement, because nobody can list all orders. A sentence that
    speaks to its reader is no statement. `names` are plain words that are names in the text.
    """
    check_sentence(sentence)
    words = sentence.words
    addresses = _MARKUP.search(sentence.text) or _read_phrases("address_phrases").search(
        sentence.text
    )
    if addresses or has_any(words, "address") or _orders(words, names):
        raise Unsupported("its sentence speaks to its reader")
    starts = [n for n in range(len(words)) if breaks(words, n) == "hard"]
    parts = [words[n : find_end(words, n, "hard")] for n in starts]
    if len(parts) > 1 and len(parts[0]) <= _LABEL and ":" in parts[1][0].mark:
        del parts[0]
    # A heading is none of these: a sentence, a note with a mark or a number, a clause.
    ends = _ENDS.search(sentence.text) or any(w.number or _MARK.search(w.mark) for w in words[1:])
    ends = ends or any(_is_finite(words, n) for n in range(len(words)))
    if len(words) < _FEWEST or not ends or not all(_states(one, names) for one in parts):
        raise Unsupported("its sentence states nothing")


def _orders(words: Sequence[Word], names: Collection[str]) -> bool:
    """Return whether a word that gives orders begins a part, also behind a comma or `and`."""
    for place in range(len(words)):
        if kind := breaks(words, place):
            rest = [w for w in words[place:] if not (w.is_in("joint") or _is_adverb(w))]
            first = rest[0] if rest else words[place]
            named = first.name and (kind != "hard" or first.plain in names)
            if not named and (first.is_in("order") or _takes_object(rest, kind)):
                return True
    return False


def _takes_object(words: Sequence[Word], kind: str) -> bool:
    """Return whether a word behind a boundary can be the verb of an order: call him."""
    if not words or words[0].past or words[0].plain.endswith(("s", "ing")) or words[0].number:
        return False
    small = ("at", "role", "opening", "subordinate", "condition", "subject", "denial", "modal")
    if is_light(words[0]) or words[0].is_in(*small):
        return False
    things = ("object",) if kind == "hard" else ("object", "determiner")
    return has_any(words[1:2], *things)


def _states(part: Sequence[Word], names: Collection[str]) -> bool:
    """Return whether a part of a sentence is a label, or begins like a statement."""
    first, rest = part[0], part[1:]
    if all(one.name or one.number for one in part):
        return True
    if first.is_in("joint") or _is_adverb(first):
        return bool(rest) and _states(rest, names)
    if first.plain in names and rest:
        calls = breaks(part, 1) == "comma"  # Ada, delete the file
        return not calls or rest[0].name or rest[0].is_in("determiner", "relative", "possessive")
    things = (one.name or one.is_in("determiner", "possessive") for one in rest[:1])
    did = first.past and any(things)  # met Ada
    phrase = first.is_in("at", "role", "opening", "subordinate", "day", "condition", "greeting")
    if not (first.owns or did) and (phrase or first.past or first.plain.endswith("ing")):
        comma = next((n for n in range(1, len(part)) if breaks(part, n) == "comma"), 0)
        return _states(part[comma:], names) if comma else _has_subject(rest)
    given = first.number or first.is_in("subject", "determiner", "pronoun", "possessive", "had")
    return given or did or first.owns or _has_verb(part, names) or _is_note(part)


def _is_note(part: Sequence[Word]) -> bool:
    """Return whether a part is a phrase without a verb: kickoff with Ada. Orders have an object."""
    given = ("determiner", "possessive", "pronoun", "before_thing", "subject")
    after = part[1:2]
    follows = has_any(after, "at", "role", "joint") or any(one.number for one in after)
    return follows or not (any(one.name for one in after) or has_any(after, *given))


def _has_verb(part: Sequence[Word], names: Collection[str]) -> bool:
    """Return whether a part begins with a thing and its verb. An order has no verb so soon."""
    if len(part) > _FEWEST and part[1].plain in names and not (part[2].name or breaks(part, 2)):
        object_follows = part[2].is_in("at", "role", "determiner", "possessive")
        return _is_finite(part, 2) or not (object_follows or part[1].owns)  # aunt Ada
    if len(part) > _FEWEST and part[1].is_in("joint") and part[2].name:  # Ada and Ben live here
        return True
    plain = False
    for place, word in enumerate(part[1:], 1):
        if _is_finite(part, place, plain):
            return not part[place - 1].owns
        if breaks(part, place) or word.is_in("determiner", "possessive", "pronoun"):
            return False
        plain = plain or not (word.name or word.number or word.is_in("at", "role", "denial"))
    return False


def _has_subject(part: Sequence[Word]) -> bool:
    """Return whether a thing, or a name with its verb, follows a phrase without a comma."""
    plain = 0
    for place, word in enumerate(part):
        given = word.is_in("pronoun", "writing") or (plain and word.is_in("determiner"))
        if given or (word.name and _is_finite(part, place + 1)):
            return True
        if word.is_in("order"):
            return False
        small = is_light(word) or word.number or word.is_in("role", "subject", "day", "months")
        plain = 0 if small else plain + 1
        if plain > _MOST_PLAIN:
            return False
    return False


def _is_adverb(word: Word) -> bool:
    return word.is_in("adverb") or (word.plain.endswith("ly") and not word.is_in("order"))


def _is_finite(words: Sequence[Word], place: int, certain: bool = False) -> bool:
    """Return whether a word is the verb of a statement: no order, no participle, no plural.

    If it has to be `certain`, the ending `s` is not enough.
    """
    if place >= len(words) or words[place].name:
        return False
    word, after = words[place], words[place + 1 : place + 2]
    if word.is_in("copula", "has", "had", "modal", "past_forms"):
        return True
    small = has_any(after, "before_thing") or any(one.number for one in after)
    if word.past:  # not: send updated files
        return small or not after or after[0].name or is_light(after[0])
    return small and not certain and word.plain.endswith("s") and not is_light(word)
