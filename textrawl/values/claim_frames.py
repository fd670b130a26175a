"""Frames: the words around a sentence that say how its statement is meant.

A sentence has the frame of its headings, of the head of its list, block of code or paragraph, of a
comment, and of a sentence after it that takes it back. The table of frames is in grounding.toml.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from textrawl.values.claim_sentences import (
    HEADING,
    SPEAKER,
    Sentence,
    changes,
    has_any,
    is_light,
    matches,
    read_words,
)

_SIGNED = 3  # words of a name at the end of a letter
_SHORT = 3  # words of a sentence that takes back the one before: just a joke

_MARKED = re.compile(r"(#{1,6})\s")
_BULLET = re.compile(r"[-*+\u2022\u2013>|`~]|\d+[.)]$")
_INLINE = re.compile(r"[^\n:.!?;]+:(?=\s)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|/\*.*?(?:\*/|\Z)|~~.+?~~", re.DOTALL)
_FENCE = re.compile(r"^(?:```|~~~).*?(?:^(?:```|~~~)|\Z)", re.DOTALL | re.MULTILINE)
_DIGIT = re.compile(r"\d")
_DASH = re.compile("[,\n\u2013\u2014]|--")

# Levels of heads. A head ends those of its level and of higher ones.
_PLAIN, _LIST, _PARAGRAPH, _SENTENCE = 7, 8, 9, 10


@dataclass(frozen=True)
class _Head:
    """A head of the level `level`, which ends before the character `end`.

    It `lasts` until the next heading, or else until a blank line. A head that `is_known` changes
    nothing of what stands below.
    """

    text: str
    level: int
    end: int
    lasts: bool
    is_known: bool

    @property
    def is_unreal(self) -> bool:
        """The head says that what stands below is not so."""
        return matches("unreal", self.text)


@dataclass(frozen=True)
class Frame:
    """The frame of a sentence. `label` is quoted with it: a speaker, a heading or a signature."""

    label: str
    heads: Sequence[_Head]
    is_code: bool
    is_unreal: bool

    def is_plain(self, place: int) -> bool:
        """Return whether no frame changes a statement that begins at a place of the text."""
        heads = (one for one in self.heads if one.end <= place)
        return not (self.is_code or self.is_unreal) and all(one.is_known for one in heads)

    def denies(self, start: int) -> bool:
        """Return whether the frame says that a sentence is not so, which begins at `start`."""
        return self.is_unreal or any(one.is_unreal for one in self.heads if one.end <= start)


def find_frames(text: str, sentences: Sequence[Sentence], names: Collection[str]) -> list[Frame]:
    """Return the frame of each sentence. `names` are the plain words that are names in the text."""
    frames, heads, end = list[Frame](), list[_Head](), 0
    speakers = sum(1 for _ in SPEAKER.finditer(text))
    signed = _sign(sentences[-1]) if sentences and not speakers else ""
    codes, comments = ([one.span() for one in p.finditer(text)] for p in (_FENCE, _COMMENT))
    for number, one in enumerate(sentences):
        heads = [head for head in heads if _holds(head, one, text[end : one.start], end)]
        is_code = _overlaps(one, codes)
        if head := None if is_code else _read_head(text, one, end, names, speakers, codes):
            heads = [*(other for other in heads if other.level < head.level), head]
        unknown = [head for head in heads if not head.is_known]
        label = (unknown or heads)[-1].text if heads else ""
        by_writer = signed and has_any(one.words, "writers") and '"' not in one.text
        if by_writer and one is not sentences[-1]:
            label = signed
        after = () if one.asks else sentences[number + 1 : number + 2]
        is_unreal = _overlaps(one, comments) or any(map(_takes_back, after))
        frames.append(Frame(label, heads, is_code, is_unreal))
        end = one.end
    return frames


def _overlaps(sentence: Sentence, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < sentence.end and sentence.start < end for start, end in spans)


def _holds(head: _Head, sentence: Sentence, above: str, end: int) -> bool:
    """Return whether a head is one of a sentence, too, that follows the text `above` it."""
    is_item = bool(_BULLET.match(sentence.text))
    if head.level == _SENTENCE:
        return False
    if head.level == _PARAGRAPH and is_item and "\n" in above:
        return False
    blank = above.count("\n") > 1
    return head.lasts or not blank or (head.level == _LIST and (is_item or head.end == end))


def _read_head(
    text: str,
    one: Sentence,
    end: int,
    names: Collection[str],
    speakers: int,
    codes: Sequence[tuple[int, int]],
) -> _Head | None:
    """Return the head that a sentence is, or that begins it."""
    below = text[one.end : one.end + 2]
    begins_line = not end or "\n" in text[end : one.start]
    inline = _INLINE.match(one.text)
    speaker = SPEAKER.match(one.text) if begins_line else None
    written, level, lasts = one.text, _PARAGRAPH, False
    if marked := _MARKED.match(one.text):
        level, lasts = len(marked[1]), True
    elif begins_line and (
        one.text.rstrip("*_ ").endswith(":")
        or any(one.end <= start and not text[one.end : start].strip() for start, _ in codes)
    ):
        level = _LIST
    elif speaker:
        written = speaker[0].strip()
    elif begins_line and one.is_heading and below[:1] == "\n":
        level, lasts = _PLAIN, below == "\n\n"
    elif inline and len(read_words(inline[0])) < HEADING:
        written = inline[0]
        short = begins_line and len(read_words(written)) <= _SHORT - 1
        level = _PARAGRAPH if short or matches("unreal", written) else _SENTENCE
    elif matches("opens", one.text) or (
        matches("announces", one.text) and matches("unreal", one.text)
    ):
        lasts = begins_line and below == "\n\n"
    else:
        return None
    known = speakers > 1 if speaker else False
    return _Head(written, level, one.start + len(written), lasts, _is_known(written, names, known))


def _is_known(head: str, names: Collection[str], speaks: bool) -> bool:
    """Return whether a head changes nothing of what stands below."""
    words = read_words(head)
    if matches("unreal", head) or matches("opens", head):
        return False
    if speaks or len(words) > HEADING or has_any(words, "known_head", "speaker", "reserved"):
        return True
    if changes(words):
        return False
    return all(_DIGIT.search(one.plain) or is_light(one) or one.plain in names for one in words)


def _takes_back(sentence: Sentence) -> bool:
    """Return whether a sentence says of the one before that it is not so."""
    words = sentence.words_after_speaker
    after_speaker = sentence.text[words[0].start - sentence.start :] if words else ""
    if matches("taken_back", sentence.text) or matches("taken_back", after_speaker):
        return True
    first = len(words) <= _SHORT or has_any(words[:1], "refers_back")
    others = (one for one in words[first:] if not matches("unreal", one.plain))
    names = any(one.name and not is_light(one) for one in others)
    refers = len(words) <= _SHORT or has_any(words, "refers_back")
    return refers and not names and matches("unreal", after_speaker)


def _sign(sentence: Sentence) -> str:
    """Return the name at the end of a text in the first person, or nothing."""
    words = sentence.words
    start = max((n for n, one in enumerate(words) if n and _DASH.search(one.mark)), default=0)
    named = words[start:]
    ends = len(words) > HEADING or len(named) > _SIGNED or sentence.ends
    if ends or not (named and named[0].name and named[-1].name):
        return ""
    return sentence.text[named[0].start - sentence.start :]
