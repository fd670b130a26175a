"""Frames: the words around a sentence that say how its statement is meant.

A sentence has the frame of its headings, of the head of its list, block of code or paragraph, of a
comment, and of a sentence after it that takes it back. The table of frames is in grounding.toml.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from textrawl.values.claim_sentences import (
    HEADING,
    SPEAKER,
    Sentence,
    changes,
    fold,
    has_any,
    is_light,
    matches,
    read_frame,
    read_words,
)

_SIGNED = 3  # words of a name at the end of a letter
_SHORT = 3  # words of a sentence that takes back the one before: just a joke
_DENYING = 40  # characters of a denial before such words: not an April fools' joke
_CARRIED = 2  # words of a head before a colon that also belongs to the next sentences

_ITEM = re.compile(r"[-*+\u2022\u2013>|`~]|\d+[.)]$")
_MARKED = re.compile(r"(#{1,6})\s+")
_BELOW = re.compile(
    r"[*_ ]*(?P<line>\n)(?P<blank>[ \t]*\n)?\s*(?:(?P<rule>[-=]{3,})\s*\n|(?P<fence>```|~~~))?"
)
_INLINE = re.compile(r"[^\n:.!?;]+:(?=\s)")
_UNREAL = re.compile(
    r"<!--.*?(?:-->|\Z)|/\*.*?(?:\*/|\Z)|(?<!~)~~[^~]+~~(?!~)|^\s*[-*+] \[ \][^\n]*",
    re.DOTALL | re.MULTILINE,
)
_CODE = re.compile(r"^(?:```|~~~).*?(?:^(?:```|~~~)|\Z)", re.DOTALL | re.MULTILINE)
_DENIED = re.compile(r"\b(?:no|not|isn.t|never|kein\w*|nicht)(?:\s[\w'\u2019]+){0,3}\s$")
_DIGIT = re.compile(r"\d")
_DASH = re.compile("[,\n\u2013\u2014]|--")

_CODED = "unknown"  # the kind of what stands in code
_PLAIN, _LIST, _PARAGRAPH, _SENTENCE = 7, 8, 9, 10  # levels below those of marked headings


def is_unreal(text: str) -> bool:
    """Return whether a text has words for what is not so, and does not deny them: no joke."""
    plain = fold(text)
    found = read_frame("unreal").finditer(plain)
    return any(
        not _DENIED.search(plain[max(one.start() - _DENYING, 0) : one.start()]) for one in found
    )


@dataclass(frozen=True)
class _Head:
    """A head that ends before the character `end`, and ends heads of its level and higher ones.

    Of what stands below it a `known` head says nothing, and an `unreal` one that it is not so. It
    `lasts` until the next heading, or else until a blank line.
    """

    text: str
    level: int
    end: int
    lasts: bool
    kind: str

    def holds(self, sentence: Sentence, above: str, end: int) -> bool:
        """Return whether it is a head of the next sentence too, below the text `above`."""
        is_item = bool(_ITEM.match(sentence.text))
        if self.level == _SENTENCE or (self.level == _PARAGRAPH and is_item and "\n" in above):
            return False
        in_list = self.level == _LIST and (is_item or self.end == end)
        return self.lasts or in_list or above.count("\n") <= 1


@dataclass(frozen=True)
class Frame:
    """The frame of a sentence. `label` is quoted with it: a speaker, a heading or a signature."""

    label: str
    heads: Sequence[_Head]
    kinds: frozenset[str]

    def has(self, kind: str, place: int) -> bool:
        """Return whether a statement that begins at a place of the text has a frame of a kind."""
        return kind in self.kinds.union(one.kind for one in self.heads if one.end <= place)


def find_frames(text: str, sentences: Sequence[Sentence]) -> list[Frame]:
    """Return the frame of each sentence."""
    frames, heads, end = list[Frame](), list[_Head](), 0
    speakers = Counter(one[0].strip() for one in SPEAKER.finditer(text))
    chat = speakers if max(speakers.values(), default=0) > 1 else ()
    signed = _sign(sentences[-1]) if sentences and not speakers else ""
    for one, kinds in zip(sentences, _mark(text, sentences), strict=True):
        above = text[end : one.start]
        heads = [head for head in heads if head.holds(one, above, end)]
        found = _find_head(text, one, not end or "\n" in above) if _CODED not in kinds else None
        if found:
            head = _Head(*found, kind=_sort(found[0], found[0] in chat))
            heads = [*(other for other in heads if other.level < head.level), head]
        unknown = [head.text for head in heads if head.kind != "known"]
        label = [*(head.text for head in heads), *unknown][-1:]
        by_writer = has_any(one.words, "writers") and '"' not in one.text
        if signed and by_writer and one is not sentences[-1]:
            label = [signed]
        frames.append(Frame("".join(label), heads, frozenset(kinds)))
        end = one.end
    return frames


def _mark(text: str, sentences: Sequence[Sentence]) -> list[set[str]]:
    """Return the kinds of each sentence, without those of its heads."""
    kinds, last = [set[str]() for _ in sentences], 0
    starts, ends = [one.start for one in sentences], [one.end for one in sentences]
    for kind, pattern in ((_CODED, _CODE), ("unreal", _UNREAL)):
        for span in pattern.finditer(text):
            for number in range(bisect_right(ends, span.start()), bisect_left(starts, span.end())):
                kinds[number].add(kind)
    for number, one in enumerate(sentences):
        if matches("before", one.text) and is_unreal(one.text):
            last = number
        elif number and not sentences[number - 1].asks and _takes_back(one):
            kinds[number - 1].add("unreal")
    for earlier in kinds[:last]:
        earlier.add("unreal")
    return kinds


def _find_head(text: str, one: Sentence, begins_line: bool) -> tuple[str, int, int, bool] | None:
    """Return text, level, end and duration of the head that a sentence is, or begins with."""
    written, level, lasts = one.text, 0, False
    below, inline = _BELOW.match(text, one.end), _INLINE.match(one.text)
    blank = bool(below and below["blank"])
    if marked := _MARKED.match(written):
        written, level, lasts = written[marked.end() :], len(marked[1]), True
    elif below and below["rule"]:
        level, lasts = 1, True
    elif below and (written.rstrip("*_ ").endswith(":") or below["fence"]):
        level = _LIST
    elif begins_line and (speaker := SPEAKER.match(written)):
        written, level = speaker[0].strip(), _PARAGRAPH
    elif begins_line and below and one.is_heading:
        level, lasts = _PLAIN, blank
    elif inline and ((length := len(read_words(inline[0]))) < HEADING or is_unreal(inline[0])):
        carried = is_unreal(inline[0]) or (begins_line and length <= _CARRIED)
        written, level = inline[0], _PARAGRAPH if carried else _SENTENCE
    elif matches("opens", written) or (matches("announces", written) and is_unreal(written)):
        level, lasts = _PARAGRAPH, begins_line and blank
    end = one.start + one.text.index(written) + len(written)
    return (written, level, end, lasts) if level else None


def _sort(head: str, speaks: bool) -> str:
    """Return the kind of a head: known, unknown or unreal."""
    words = read_words(head)
    if is_unreal(head) or matches("opens", head):
        return "unreal"
    small = all(_DIGIT.search(one.plain) or is_light(one) for one in words) and not changes(words)
    known = speaks or small or len(words) > HEADING or matches("known", head)
    return "known" if known and not matches("told", head) else "unknown"


def _takes_back(sentence: Sentence) -> bool:
    """Return whether a sentence says of the one before that it is not so."""
    words = sentence.words_after_speaker
    remark = sentence.text[words[0].start - sentence.start :] if words else ""
    if matches("taken_back", sentence.text) or matches("taken_back", remark):
        return True
    short = len(words) <= _SHORT
    interjects = "," in "".join(one.mark for one in words[1:2])
    no_name = short or interjects or has_any(words[:1], "refers_back", "subordinate")
    others = (one for one in words[no_name:] if not is_unreal(one.plain) and not is_light(one))
    refers = (short or has_any(words, "refers_back")) and is_unreal(remark)
    return refers and not any(one.name for one in others)


def _sign(sentence: Sentence) -> str:
    """Return the name at the end of a text in the first person, or nothing."""
    words = sentence.words
    start = max((n for n, one in enumerate(words) if n and _DASH.search(one.mark)), default=0)
    named = words[start:]
    ends = len(words) > HEADING or len(named) > _SIGNED or sentence.ends
    if ends or not (named and named[0].name and named[-1].name):
        return ""
    return sentence.text[named[0].start - sentence.start :]
