"""Sentences and their words, prepared for comparisons with claims and for quotations.

The lists of words are in grounding.toml.
"""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

_INFLECTION = 3  # letters by which one form of a word may be longer than another
_NAME_ENDING = 2  # the same for a name
_INDEXED = 3  # first letters that two forms of a word or a name share
_LIGHT = ("light", "at")
_CHANGING = ("denial", "doubt", "condition", "limit")
_STEM = 4  # letters that two forms of a word share at least

_HARD = re.compile(r"[;:()\[\]|\u2026\u2013\u2014!?]|\s-\s")
_COMMA = re.compile("[,\u3001\uff0c]")
_WORD = re.compile(
    r"(?<!\w)[LlDd]['\u2019](?=[^\W\d_])|[^\W_]+(?:['\u2019.,-][^\W_]+|(?<=\d)[:/](?=\d)[^\W_]+)*|[$%\u00a3\u00a5\u20ac]"
)
_POSSESSIVE = re.compile(r"(?:['\u2019]s|(?<=s)['\u2019])$")
# Scripts without spaces.
_IDEOGRAPHS = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th|er|e)")
_CONTRACTION = re.compile(r"(.+)(n't|'ll|'ve|'re|'m|'d)")
_EXPANDED = {"n't": "not", "'ll": "will", "'ve": "have", "'re": "are", "'m": "am", "'d": "would"}
_STEMS = {"ca": "can", "wo": "will", "sha": "shall"}  # before n't


@dataclass(frozen=True)
class Word:
    """A word with its form for comparisons.

    `mark` is the punctuation before the word, and `start` its place in the text. A `name` has a
    capital letter; a `number` begins with a digit. All forms of an irregular word share a `root`.
    """

    written: str
    plain: str
    root: str
    mark: str
    start: int
    name: bool
    number: bool

    def is_in(self, *lists: str) -> bool:
        """Return whether the word stands in one of the lists."""
        return any(self.plain in read_list(one) for one in lists)

    @property
    def owns(self) -> bool:
        """The word is a possessive such as Ada's."""
        return bool(_POSSESSIVE.search(self.written))

    @property
    def keys(self) -> set[str]:
        """The keys of an index: two forms of a word always share at least one key."""
        return {self.root, self.plain[:_INDEXED]}

    @property
    def past(self) -> bool:
        """The word is a past form, provided that it is a verb."""
        return self.plain.endswith("ed") or self.plain in _read_past()


@cache
def read_lists() -> dict[str, Any]:
    """Return the lists of words."""
    path = resources.files("textrawl.values") / "grounding.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def read_list(name: str) -> frozenset[str]:
    """Return the words of one list."""
    words: Sequence[str] = read_lists()[name]
    return frozenset(" ".join(words).split())


@cache
def read_frame(name: str) -> re.Pattern[str]:
    """Return a pattern that finds each pattern of a row in the table of frames."""
    patterns: str = read_lists()["frames"][name]
    return re.compile("|".join(patterns.split()).replace("_", " "), re.IGNORECASE | re.MULTILINE)


def matches(name: str, text: str) -> bool:
    """Return whether a text has one of the patterns of a row in the table of frames."""
    return bool(read_frame(name).search(f"{fold(text)}\n{text}"))


def fold(text: str) -> str:
    """Return a text in lower case and without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))


@cache
def _read_numbers() -> Mapping[str, str]:
    lists: Sequence[str] = read_lists()["numbers"]
    return {word: str(n) for n, words in enumerate(lists) for word in words.split()}


@cache
def _read_roots() -> Mapping[str, str]:
    """Map the forms of an irregular word to one text, and the names of a month to another."""
    months: Sequence[str] = read_lists()["months"]
    named = {f"m{number}": words for number, words in enumerate(months, 1)}
    lists = (*read_lists()["forms"], *months)
    return {word: words for words in lists for word in words.split()} | named


@cache
def _read_past() -> frozenset[str]:
    """Return the irregular forms of the past."""
    past = (words.partition("|")[2] for words in read_lists()["forms"])
    return frozenset(" ".join(past).split())


def _write_plain(word: str) -> Iterator[str]:
    """Yield the forms of a word for comparisons. A date has a form for year, month and day."""
    if date := _DATE.fullmatch(word):
        yield date[1]
        yield f"m{int(date[2])}"
        if date[3]:
            yield str(int(date[3]))
        return
    plain = fold(word)
    if short := _CONTRACTION.fullmatch(plain):
        yield _STEMS.get(short[1], short[1])
        yield _EXPANDED[short[2]]
    elif plain == "cannot":
        yield from ("can", "not")
    elif ordinal := _ORDINAL.fullmatch(plain):
        yield ordinal[1]
    elif plain[0].isdigit():
        yield plain.replace(",", "").removesuffix(".0")
    elif _IDEOGRAPHS.search(plain) and len(plain) > 1:
        yield from plain
    else:
        bare = _POSSESSIVE.sub("", plain).rstrip("'")  # l'eau
        yield _read_numbers().get(bare) or bare


def read_words(text: str, start: int = 0) -> list[Word]:
    """Return the words of a text that begins at `start`."""
    words, end = list[Word](), 0
    for found in _WORD.finditer(text):
        mark, written = text[end : found.start()], unicodedata.normalize("NFC", found[0])
        name = written != written.lower()
        titled = written == "I" and words and words[-1].name and not is_light(words[-1])
        if titled and not mark.strip():
            written = "1"  # a Roman number: Statistics I
        for plain in filter(None, _write_plain(written.replace("\u2019", "'"))):
            root, place = _read_roots().get(plain, plain), start + found.start()
            number = plain[0].isdigit()
            words.append(Word(written, plain, root, mark, place, name, number))
            mark, name = "", False
        end = found.end()
    return words


def is_same(one: Word, other: Word) -> bool:
    """Return whether two words are the same, or forms of one word or of one name."""
    if one.root == other.root:
        return True
    irregular = " " in one.root and " " in other.root  # so it has another root
    if irregular or one.number or other.number or one.plain[:_INDEXED] != other.plain[:_INDEXED]:
        return False
    short, long = sorted((one.plain, other.plain), key=len)
    if one.name and other.name:
        if is_light(one) or is_light(other):  # Theo is not The
            return False
        return long.startswith(short) and len(long) - len(short) <= _NAME_ENDING
    pairs = enumerate(zip(short, long, strict=False))
    shared = next((n for n, (a, b) in pairs if a != b), len(short))
    return shared >= _STEM and all(_is_ending(word[shared:]) for word in (short, long))


def _is_ending(letters: str) -> bool:
    """Return whether letters can be an ending. Endings of other scripts are not listed."""
    return (
        not letters
        or letters in read_list("endings")
        or (not letters.isascii() and len(letters) <= _INFLECTION)
    )


def has(words: Sequence[Word], wanted: Word) -> bool:
    """Return whether `words` have a word or a form of it."""
    return any(is_same(wanted, one) for one in words)


def has_any(words: Sequence[Word], *lists: str) -> bool:
    """Return whether one of `words` stands in one of the lists."""
    return any(one.is_in(*lists) for one in words)


def is_light(word: Word) -> bool:
    """Return whether a claim may leave out a word, or add it."""
    return word.is_in(*_LIGHT) and not (word.name and word.number)


def changes(words: Sequence[Word]) -> bool:
    """Return whether the words have a denial, a doubt, a condition or a limit."""
    return any(w.is_in(*_CHANGING) and not (w.name and w.is_in("months")) for w in words)


def breaks(words: Sequence[Word], place: int) -> str:
    """Return the kind of boundary before a word: `hard`, `comma`, `joint`, `clause`, or nothing."""
    word = words[place]
    if place == 0 or _HARD.search(word.mark):
        return "hard"
    if _COMMA.search(word.mark):
        return "comma"
    if word.is_in("joint"):
        return "joint"
    opens = place + 1 < len(words) and word.is_in("opening") and words[place + 1].is_in("pronoun")
    return "clause" if opens or word.is_in("subordinate") else ""


def find_start(words: Sequence[Word], place: int, *kinds: str) -> int:
    """Return the start of the part around a word. Boundaries of `kinds` end it; default: all."""
    while place > 0 and not _is_boundary(words, place, kinds):
        place -= 1
    return place


def find_end(words: Sequence[Word], place: int, *kinds: str) -> int:
    """Return the place after the part around a word. `kinds`: see find_start."""
    place += 1
    while place < len(words) and not _is_boundary(words, place, kinds):
        place += 1
    return place


def _is_boundary(words: Sequence[Word], place: int, kinds: Sequence[str]) -> bool:
    kind = breaks(words, place)
    return kind in kinds if kinds else bool(kind)


_LONGEST = 150  # words of a sentence: a longer one is a list or a page without full stops
HEADING = 6
"""Words that a heading has at most, and the end of a letter."""

SPEAKER = re.compile(
    r"^(?!(?i:subject|betreff|objet|asunto|from|to|cc|re|date|hypothesis|theory|rumou?r|guess|idea)\b)"
    r"(?:[^\w\n]*\d\d?:\d\d\b)?[^\w\n]*\w+(?: \w+)?[^\w\n]{0,3}[:>\]][^\w\n]*\s",
    re.MULTILINE,
)
"""The name before a remark in a chat."""

_ABBREVIATED = (
    "[A-Z]|Mr|Mrs|Ms|Dr|St|No|vs|Prof|Fr|Hr|Jr|Sr|Rev|Gen|Lt|Mt|e\\.g|i\\.e|approx|p|ca|bzw|Nr"
)
_OPEN = "that and or but not if is was the a an of to in at on for with by from und dass que y et"
# A sentence goes on in the next line if its line is long, if a comma or a word of _OPEN ends it, or
# if the next line is indented or begins in lower case.
_SENTENCE_END = re.compile(
    "".join(rf"(?<!\b{one})" for one in _ABBREVIATED.split("|"))
    + r"(?<![.!?\u2026])[.!?\u2026]++[\"')\]\u00bb\u201d\u2019*_~]*(?=\s|$)|[\u3002\uff01\uff1f]+"
    r"|\n\s*\n|\n(?=\s*(?:[-*\u2022>#|\[]|\S+:|\d+[.)]\s))|(?<![^\n]{60})(?<!,)"
    + "".join(rf"(?<!\b{one})" for one in _OPEN.split())
    + r"\n(?!(?:[ \t]+|\s*[a-z\u00df-\u00ff]))"
)
_ASKS = re.compile("[?\uff1f][\"')\\]\u00bb\u201d\u2019]*$")
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
    def words_after_speaker(self) -> Sequence[Word]:
        """The words without the name of a speaker that begins the sentence."""
        label = SPEAKER.match(self.text)
        return [w for w in self.words if not label or w.start >= self.start + label.end()]

    @property
    def asks(self) -> bool:
        """The sentence is a question."""
        return bool(_ASKS.search(self.text))

    @property
    def ends(self) -> bool:
        """A mark ends the sentence, so it is no note."""
        return bool(_ENDS.search(self.text))

    @property
    def is_heading(self) -> bool:
        """The sentence is short, and no mark begins or ends it."""
        return len(self.words) <= HEADING and self.text.lstrip("*_")[:1].isalpha() and not self.ends

    @property
    def end(self) -> int:
        """The place after the last character."""
        return self.start + len(self.text)


def cut_text(text: str) -> list[Sentence]:
    """Return the sentences of a text."""
    found, start = list[Sentence](), 0
    for end in [*(one.end() for one in _SENTENCE_END.finditer(text)), len(text)]:
        part = text[start:end]
        if stripped := part.strip():
            place = start + len(part) - len(part.lstrip())
            found.append(Sentence(stripped, place, read_words(stripped, place)))
        start = end
    return found


def check_sentence(sentence: Sentence) -> None:
    """Raise Unsupported if a sentence supports no claim at all."""
    if len(sentence.words) > _LONGEST:
        raise Unsupported("its sentence is too long")
    if matches("orders", sentence.text):
        raise Unsupported("its sentence gives orders to its reader")
    if sentence.asks:
        raise Unsupported("its sentence asks")


def check_quotation(sentence: Sentence, names: Collection[str], answered: bool = False) -> None:
    """Raise Unsupported if a sentence speaks to its reader, or asks without being `answered`.

    `names` are the plain words that are names in the text.
    """
    text, words = sentence.text, sentence.words
    if label := SPEAKER.match(text):
        remark = sentence.words_after_speaker
        speaker = words[: len(words) - len(remark)]
        ordered = has_any(speaker, "address", "order", "reserved")
        if not ordered or (len(speaker) == 1 and speaker[0].is_in("speaker")):
            text, words = text[label.end() :], remark
    checked = text.rstrip("?\uff1f\"') ") if answered else text
    check_sentence(Sentence(checked, sentence.start, words))
    speaks = matches("addresses", text) or has_any(words, "address")
    if _MARKUP.search(text) or speaks or _orders(words, names):
        raise Unsupported("its sentence speaks to its reader")


def _orders(words: Sequence[Word], names: Collection[str]) -> bool:
    """Return whether an order begins the sentence, or follows a comma or a word like `and`."""
    for place in range(len(words)):
        kind = breaks(words, place)
        rest = words[place + _count_small(words[place:]) :] if kind else ()
        begins = [n for n in range(1, len(rest)) if _orders_late(rest, n)]
        for part in (one for one in (rest, *(rest[n:] for n in begins)) if one):
            named = part[0].name and (kind != "hard" or part[0].plain in names)
            past = part[0].is_in("unchanged") and any(one.past for one in words[:place])
            orders = part[0].is_in("order") and not _is_noun(part)
            if not (named or past) and (orders or (part is rest and _takes_object(part))):
                return True
    return False


def _orders_late(part: Sequence[Word], place: int) -> bool:
    """Return whether an order can begin at a place after a phrase: on Monday give Ann keys."""
    before, after = part[place - 1], part[place + 1 : place + 2]
    subject = before.name and not before.is_in("day", "months")
    subject = subject or before.is_in("pronoun", "writing", "determiner", "modal", "joint")
    object_follows = has_any(after, "object", "determiner") or any(one.name for one in after)
    opens = part[0].is_in("at", "role", "opening")
    return opens and object_follows and not (subject or before.plain == "to")


def _is_noun(part: Sequence[Word]) -> bool:
    """Return whether the first word is a noun: answer by Ann, report of May."""
    if has_any(part[1:2], "agent") and (linked := part[2:3]):
        return not linked[0].plain.endswith("ing")
    return has_any(part[1:2], "copula", "modal")


def _count_small(words: Sequence[Word]) -> int:
    """Return how many adverbs, numbers and words such as `and` stand before the others."""
    for number, one in enumerate(words):
        adverb = one.is_in("adverb") or (one.plain.endswith("ly") and not one.is_in("order"))
        if not (adverb or one.number or one.is_in("joint")):
            return number
    return len(words)


def _takes_object(words: Sequence[Word]) -> bool:
    """Return whether a word behind a boundary can be the verb of an order: call him."""
    if not words or words[0].past or words[0].plain.endswith(("s", "ing")) or words[0].number:
        return False
    small = ("at", "role", "opening", "subordinate", "condition", "subject", "denial", "modal")
    if is_light(words[0]) or words[0].is_in(*small):
        return False
    return has_any(words[1:2], "object", "determiner")
