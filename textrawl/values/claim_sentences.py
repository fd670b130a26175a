"""The sentences of a text, and which of them can be quoted as facts."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from textrawl.values.claim_words import (
    Word,
    breaks,
    find_unspaced,
    has_any,
    is_light,
    read_phrases,
    read_words,
)

_LONGEST = 150  # words of a sentence: a longer one is a list or a page without full stops
_HEADING = 6  # words of a heading, or of the end of a letter
_SIGNED = 3  # words of the name there

SPEAKER = re.compile(
    r"^(?!(?i:subject|betreff|objet|asunto|from|to|cc|re|date|hypothesis|theory|rumou?r|guess|idea)\b)"
    r"(?:\W*\d\d?:\d\d\b)?[^\w\n]*\w+(?: \w+)?[^\w\n]{0,3}[:>\]][^\w\n]*\s",
    re.MULTILINE,
)
"""The name before a remark in a chat."""

_ABBREVIATED = (
    "[A-Z]|Mr|Mrs|Ms|Dr|St|No|vs|Prof|Fr|Hr|Jr|Sr|Rev|Gen|Lt|Mt|e\\.g|i\\.e|approx|p|ca|bzw|Nr"
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
_MARK = re.compile("[,\n\u2013\u2014]|--")
_ENDS = re.compile("[.!\u2026\u3002\uff01][\"')\\]\u00bb\u201d\u2019]*$")
_MARKUP = re.compile(r"[{}\\]|<\||</?\w|^#\s")


class Unsupported(ValueError):
    """No sentence of the text supports a claim. The message is the reason."""


@dataclass(frozen=True)
class Sentence:
    """A sentence with its words, and the place of its first character in the text."""

    text: str
    start: int
    words: Sequence[Word]

    @property
    def said(self) -> Sequence[Word]:
        """The words behind the name of a speaker."""
        label = SPEAKER.match(self.text)
        return [w for w in self.words if not label or w.start >= self.start + label.end()]

    @property
    def asks(self) -> bool:
        """It is a question."""
        return bool(_ASKS.search(self.text))

    @property
    def ends(self) -> bool:
        """It is no note: a mark ends it."""
        return bool(_ENDS.search(self.text))

    @property
    def is_heading(self) -> bool:
        """It is short, without a mark around it."""
        return len(self.words) <= _HEADING and self.text[0].isalpha() and not self.ends

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


def check_sentence(sentence: Sentence) -> None:
    """Raise Unsupported if a sentence supports no claim at all."""
    if len(sentence.words) > _LONGEST:
        raise Unsupported("its sentence is too long")
    if read_phrases("command").search(sentence.text):
        raise Unsupported("its sentence gives orders to its reader")
    if sentence.asks:
        raise Unsupported("its sentence asks")


def label_sentences(text: str, sentences: Sequence[Sentence]) -> list[str]:
    """Return the speaker of each sentence, or the heading above it, or who signs it."""
    labels, label, end = list[str](), "", 0
    signed = _sign(sentences[-1]) if sentences and not SPEAKER.search(text) else ""
    for one in sentences:
        above, below = text[end : one.start], text[one.end : one.end + 1]
        speaker = SPEAKER.match(one.text) if not end or "\n" in above else None
        if speaker:
            label = speaker[0].strip()
        elif below == "\n" and one.is_heading:
            label = one.text
        elif above.count("\n") > 1:
            label = ""
        told = has_any(one.words, "writers") and '"' not in one.text and one is not sentences[-1]
        labels.append(signed if signed and told else label)
        end = one.end
    return labels


def _sign(sentence: Sentence) -> str:
    """Return the name at the end of a text in the first person, or nothing."""
    words = sentence.words
    start = max((n for n, one in enumerate(words) if n and _MARK.search(one.mark)), default=0)
    named = words[start:]
    ends = len(words) > _HEADING or len(named) > _SIGNED or sentence.ends
    if ends or not (named and named[0].name and named[-1].name):
        return ""
    return sentence.text[named[0].start - sentence.start :]


def check_quotation(sentence: Sentence, names: Collection[str], asking: bool = False) -> None:
    """Raise Unsupported if a sentence speaks to its reader, or asks, unless its answer follows.

    `names` are plain words that are names in the text.
    """
    text, words = sentence.text, sentence.words
    if label := SPEAKER.match(text):
        said = sentence.said
        by = words[: len(words) - len(said)]
        speaks = len(by) == 1 and by[0].is_in("speaker")
        if speaks or not has_any(by, "address", "order", "reserved"):
            text, words = text[label.end() :], said
    check_sentence(Sentence(text.rstrip("?\uff1f\"') ") if asking else text, sentence.start, words))
    if (
        _MARKUP.search(text)
        or read_phrases("address_phrases").search(text)
        or has_any(words, "address")
        or find_unspaced(words, "address")
        or _orders(words, names)
    ):
        raise Unsupported("its sentence speaks to its reader")


def _orders(words: Sequence[Word], names: Collection[str]) -> bool:
    """Return whether a word that gives orders begins a part, also behind a comma or `and`."""
    for place in range(len(words)):
        kind = breaks(words, place)
        rest = words[place + _count(words[place:], "joint") :] if kind else ()
        begins = [n for n in range(1, len(rest)) if _orders_late(rest, n)]
        for part in (one for one in (rest, *(rest[n:] for n in begins)) if one):
            named = part[0].name and (kind != "hard" or part[0].plain in names)
            told = part[0].is_in("unchanged") and any(one.past for one in words[:place])
            orders = part[0].is_in("order") and not _is_noun(part)
            if not (named or told) and (orders or (part is rest and _takes_object(part))):
                return True
    return False


def _orders_late(part: Sequence[Word], place: int) -> bool:
    """Return whether an order can follow a phrase at a place: on Monday give Ann the keys."""
    before, after = part[place - 1], part[place + 1 : place + 2]
    subject = before.name and not before.is_in("day", "months")
    subject = subject or before.is_in("pronoun", "writing", "determiner", "modal", "joint")
    object_follows = has_any(after, "object", "determiner") or any(one.name for one in after)
    opens = part[0].is_in("at", "role", "opening")
    return opens and object_follows and not (subject or before.plain == "to")


def _is_noun(part: Sequence[Word]) -> bool:
    """Return whether the first word is no verb: answer by Ann, report of May."""
    if has_any(part[1:2], "agent") and (linked := part[2:3]):
        return not linked[0].plain.endswith("ing")
    return has_any(part[1:2], "copula", "modal")


def _count(words: Sequence[Word], *small: str) -> int:
    """Return how many adverbs, and words of some lists, stand before the others."""
    passed = (one.is_in(*small) or one.number or _is_adverb(one) for one in words)
    return next((n for n, one in enumerate(passed) if not one), len(words))


def _takes_object(words: Sequence[Word]) -> bool:
    """Return whether a word behind a boundary can be the verb of an order: call him."""
    if not words or words[0].past or words[0].plain.endswith(("s", "ing")) or words[0].number:
        return False
    small = ("at", "role", "opening", "subordinate", "condition", "subject", "denial", "modal")
    if is_light(words[0]) or words[0].is_in(*small):
        return False
    return has_any(words[1:2], "object", "determiner")


def _is_adverb(word: Word) -> bool:
    return word.is_in("adverb") or (word.plain.endswith("ly") and not word.is_in("order"))
