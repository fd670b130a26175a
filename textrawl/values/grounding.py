"""Grounding: a claim that an LLM took from a text is kept only if one sentence supports it.

The claim has to be a shortened copy of that sentence (claim_match). The rules compare words and not
meanings, so they refuse a paraphrase. The sentence can be quoted instead of the claim, because a
quotation invents nothing.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from textrawl.values.claim_frames import find_frames, is_unreal
from textrawl.values.claim_match import Match
from textrawl.values.claim_sentences import (
    SPEAKER,
    Unsupported,
    Word,
    breaks,
    changes,
    check_quotation,
    check_sentence,
    cut_text,
    find_end,
    find_start,
    fold,
    has,
    has_any,
    is_light,
    is_same,
    matches,
    read_list,
    read_lists,
    read_words,
)

_MOST_BACK = 4  # sentences from the last one that names an entity to one still about the entity
_MOST_TRIED = 8  # sentences that a claim is compared with: those that share most words with it

_INTRODUCES = r"(?:\bI'?\u2019?m|\bI am|\b[Mm]y name is|\b[Ii]ch bin|\b[Jj]e suis|\b[Ss]oy) {0}\b"
_BULLET = re.compile(r"^(?:[-*\u2022\u2013\u2014]\s+)+")

_ALONE = ("conditional", "told", "opens")  # frames that a sentence has by its own words
_QUOTES = re.compile("[\"'\u00ab\u00bb\u2018\u2019\u201c-\u201e]")


@dataclass(frozen=True)
class Evidence:
    """A passage of the source text, which begins at the character `start`.

    A `quoted` passage does not support the words of a claim: it replaces them. Its `label` is the
    name of its speaker, the signature of the text or a heading.
    """

    text: str
    start: int
    quoted: bool = False
    label: str = ""

    @property
    def quotation(self) -> str:
        """The text of a fact: the label, if there is one, and the passage in one line."""
        parts = (self.label, _BULLET.sub("", self.text))
        return "\n".join(" ".join(part.split()) for part in parts if part)


@dataclass(frozen=True)
class _Entity:
    """An entity. `forms` has the words of each name that the text can use for it."""

    name: str
    forms: tuple[Sequence[Word], ...]

    def find(self, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
        """Yield the positions of the first and the last word of each mention."""
        for form in self.forms:
            for index in range(len(words) - len(form) + 1):
                if all(is_same(a, b) for a, b in zip(form, words[index:], strict=False)):
                    yield index, index + len(form) - 1

    def is_in(self, words: Sequence[Word]) -> bool:
        """Return whether `words` name the entity."""
        return next(self.find(words), None) is not None


@dataclass(frozen=True)
class _Mention(_Entity):
    """An entity that a passage may also name by a few words of its name.

    `parts` are the words of the name. Each word of `identifying` can stand for the whole name.
    """

    parts: Sequence[Word]
    identifying: Sequence[Word]
    unspaced: str  # the name without spaces, because some scripts have none; empty if it is ASCII

    def is_in(self, words: Sequence[Word]) -> bool:
        """Return whether `words` have a form of the name, an identifying word or most parts."""
        if super().is_in(words):
            return True
        if self.unspaced and self.unspaced in "".join(word.plain for word in words):
            return True
        # Two names can differ only in a number or a letter: report A, report B.
        distinct = (part for part in self.parts if part.number or len(part.plain) == 1)
        if not all(has(words, part) for part in distinct):
            return False
        found = sum(has(words, part) for part in self.parts)
        return 2 * found > len(self.parts) or any(has(words, part) for part in self.identifying)


class _Claim:
    """A claim: its `content` has to be in a sentence, the light words of its `lead` do not."""

    def __init__(self, entity: _Entity, text: str) -> None:
        self.words = read_words(text)
        ends = (last + 1 for first, last in entity.find(self.words) if first == 0)
        words = self.words[max(ends, default=0) :]  # without the entity
        light = [w for w in words if is_light(w) or w.is_in("joint")]
        self.content = [w for w in words if w not in light or w.is_in("denial")]
        if not self.content:
            raise Unsupported("it says nothing")
        self.lead = words[: words.index(self.content[0])]


@dataclass(frozen=True)
class _Passage:
    """The sentences from number `first` to number `last`, and their label as in Evidence.

    `names_entity` is true if the last sentence itself names the entity.
    """

    first: int
    last: int
    label: str = ""
    names_entity: bool = False

    @property
    def order(self) -> tuple[int, int]:
        """The key that sorts equally good passages: shorter ones first, then earlier ones."""
        return self.last - self.first, self.first


class Grounding:
    """A text from which claims were taken.

    `aliases` maps the case-folded name of an entity to its other names.
    """

    def __init__(self, text: str, aliases: Mapping[str, Sequence[str]] | None = None) -> None:
        self._text = text
        self._aliases = aliases or {}
        self._sentences = cut_text(text)
        self._names = set[str]()
        self._index = dict[str, list[tuple[int, int, Word]]]()
        for number, sentence in enumerate(self._sentences):
            for index, word in enumerate(sentence.words):
                if word.name and breaks(sentence.words, index) != "hard":
                    self._names.add(word.plain)
                for key in word.keys:
                    self._index.setdefault(key, []).append((number, index, word))
        self._frames = find_frames(text, self._sentences)
        self._label_words = {one.label: read_words(one.label) for one in self._frames}

    def support_fact(self, entity: str, claim: str) -> Evidence:
        """Return the sentence that supports a claim about an entity. Raises Unsupported."""
        subject = self._read_entity(entity)
        parsed = _Claim(subject, claim)
        for word in parsed.content:
            if not self._find(word):
                raise Unsupported(f"the text does not say {word.written}")
        ranked = self._rank(parsed.content, subject)[:_MOST_TRIED]
        return self._choose(partial(self._check_fact, subject, parsed, number) for number in ranked)

    def support_relation(self, source: str, relation: str, target: str) -> Evidence:
        """Return the sentence that supports a relation. Raises Unsupported."""
        ends = self._read_entity(source), self._read_entity(target)
        numbers = self._find_sentences_naming(ends[1])
        return self._choose(partial(self._check_relation, ends, relation, n) for n in numbers)

    def cite_fact(self, entity: str, claim: str) -> Evidence:
        """Return the sentence that supports a claim, or one to quote in its place.

        The quoted sentence shares most words with the claim, or it alone names the entity. The text
        has to contain all names and numbers of the claim. Raises Unsupported.
        """
        try:
            return self.support_fact(entity, claim)
        except Unsupported:
            with suppress(Unsupported):
                return self._quote_fact(entity, claim)
            raise

    def cite_relation(self, source: str, relation: str, target: str) -> Evidence:
        """Return the sentence that supports a relation, or one to quote that names both ends.

        Raises Unsupported.
        """
        try:
            return self.support_relation(source, relation, target)
        except Unsupported:
            with suppress(Unsupported):
                ends = [self._read_mention(name) for name in (source, target)]
                passages = [passage for end in ends for passage in self._list_passages(end)]
                words = {passage: self._read_passage(passage) for passage in passages}
                both = [one for one in words if all(end.is_in(words[one]) for end in ends)]
                return self._cite(ends[0], sorted(both, key=lambda passage: passage.order))
            raise

    def _quote_fact(self, entity: str, claim: str) -> Evidence:
        mention = self._read_mention(entity)
        content = _Claim(_Entity(entity, (read_words(entity),)), claim).content
        # The first word has a capital letter even if it is no name.
        names_and_numbers = [w for w in content if w.number or (w.name and w.start)]
        if not all(map(self._has_word_or_its_number, names_and_numbers)):
            raise Unsupported("the text does not have its names and numbers")
        wanted = [w for w in content if not (changes([w]) or w.is_in("role"))] or content
        passages = list(self._list_passages(mention))
        words = {one: self._read_passage(one) for one in passages}
        counts = {one: sum(has(words[one], w) for w in wanted) for one in passages}
        similar = [one for one in passages if counts[one]]
        if not similar and sum(one.names_entity for one in passages) == 1:  # the only candidate
            similar = passages
        return self._cite(mention, sorted(similar, key=lambda one: (-counts[one], one.order)))

    def names(self, name: str) -> bool:
        """Return whether the text contains a name."""
        try:
            self._read_entity(name)
        except Unsupported:
            return False
        return True

    def find_invention(self, text: str) -> str | None:
        """Return the first name or number of `text` that this text does not have, or None."""
        for sentence in cut_text(text):
            for index, word in enumerate(sentence.words):
                # The first word has a capital letter even if it is no name.
                is_name = word.name and index > 0 and not is_light(word)
                if (word.number or is_name) and not self._find(word):
                    return word.written
        return None

    def cite_line(self, line: str) -> str | None:
        """Return a line of a summary. If it invents a name or number, return a sentence or None."""
        if self.find_invention(line) is None:
            return line
        wanted = [w for w in read_words(line) if not is_light(w)]
        for number in self._rank(wanted, least=(len(wanted) + 1) // 2)[:_MOST_TRIED]:
            sentence = self._sentences[number]
            with suppress(Unsupported):
                check_quotation(sentence, self._names)
                return Evidence(sentence.text, sentence.start, quoted=True).quotation
        return None

    def _find(self, word: Word) -> set[tuple[int, int]]:
        """Return the number of the sentence and the position there of each form of a word."""
        candidates = [found for key in word.keys for found in self._index.get(key, ())]
        return {(number, index) for number, index, one in candidates if is_same(word, one)}

    def _has_word_or_its_number(self, word: Word) -> bool:
        """Return whether the text has a word, or the part before its hyphen: 30-day."""
        return bool(self._find(word) or self._find(read_words(word.written.split("-")[0])[0]))

    def _find_sentences_naming(self, entity: _Entity) -> list[int]:
        return [n for n, sentence in enumerate(self._sentences) if entity.is_in(sentence.words)]

    def _rank(
        self, wanted: Sequence[Word], entity: _Entity | None = None, least: int = 1
    ) -> list[int]:
        """Return the sentences that have at least `least` of the wanted words, most words first.

        Among equals, sentences with the first wanted word come first. Sentences that name the
        entity, or follow one that does, come next.
        """
        counts = Counter(n for one in wanted for n in {number for number, _ in self._find(one)})
        found = [number for number, count in counts.items() if count >= least]
        with_first = {number for number, _ in self._find(wanted[0])} if wanted else set[int]()
        naming = self._find_sentences_naming(entity) if entity is not None else ()
        near = {nearby for number in naming for nearby in (number, number + 1)}
        return sorted(found, key=lambda n: (-counts[n], n not in with_first, n not in near, n))

    def _read_entity(self, name: str) -> _Entity:
        """Return the forms of a name. Raises Unsupported if the text has none of them."""
        names = [name, *self._aliases.get(name.casefold(), ())]
        introduced = re.search(_INTRODUCES.format(re.escape(name)), self._text)
        is_writer = introduced or fold(name) in read_lists()["writer"]
        if is_writer and not SPEAKER.search(self._text):  # in a chat, "I" is each speaker
            names += sorted(read_list("writers"))
        forms = [[w for w in read_words(one) if w.plain not in ("the", "a", "an")] for one in names]
        forms = [form for form in forms if form and all(self._find(part) for part in form)]
        if not forms or has_any(forms[0], "denial"):
            raise Unsupported(f"the text does not name {name}")
        single_words = [
            [part]
            for form in forms
            for part in form
            if len(form) > 1 and all(len(w.plain) > 1 for w in form)  # report B is not B
            if part.name and not self._is_shared(part, form)
        ]
        return _Entity(name, (*forms, *single_words))

    def _is_shared(self, part: Word, name: Sequence[Word]) -> bool:
        """Return whether another name also has a word: Team Falcon, Team Heron; report A."""
        for number, index in self._find(part):
            words = self._sentences[number].words
            after = words[index + 1 : index + 2]
            beside = (*words[max(index - 1, 0) : index], *after)
            if "," in "".join(one.mark for one in words[index : index + 2]):
                continue  # two names: HR, Legal
            if any(w.name and not has(name, w) and not is_light(w) for w in beside):
                return True
            if any((w.number or len(w.plain) == 1) and not has(name, w) for w in after):
                return True
        return False

    def _choose(self, checks: Iterable[Callable[[], Evidence]]) -> Evidence:
        """Return the evidence of the first check that passes, or raise the first refusal."""
        refusals = list[Unsupported]()
        for check in checks:
            try:
                return check()
            except Unsupported as refusal:
                refusals.append(refusal)
        raise refusals[0] if refusals else Unsupported("no sentence says it")

    def _read_mention(self, name: str) -> _Mention:
        """Return an entity and what can name it. Raises Unsupported if the text does not."""
        forms = tuple[Sequence[Word], ...]()
        with suppress(Unsupported):
            forms = self._read_entity(name).forms
        if fold(name) not in read_lists()["writer"]:
            forms = tuple(one for one in forms if not has_any(one, "writers"))
        parts = [w for w in read_words(name) if not is_light(w) or (w.name and w.number)]
        found = [one for one in parts if self._find(one)]
        describes = not all(one.name or one.number for one in parts)  # train from Graz to Linz
        misses_name = describes and any(one.name and one not in found for one in parts[1:])
        identifying = [
            one
            for one in found
            if (one.name or "." in one.plain) and len(parts) > 1 and not misses_name
            if not self._is_shared(one, parts)
            if one is not parts[0]
            or any(self._sentences[number].words[index].name for number, index in self._find(one))
        ]
        unspaced = "" if name.isascii() else "".join(one.plain for one in read_words(name))
        written = unspaced and unspaced in fold(self._text)
        if not (forms or identifying or written or 2 * len(found) > len(parts)):
            raise Unsupported(f"the text does not name {name}")
        return _Mention(name, forms, parts, identifying, unspaced)

    def _list_passages(self, mention: _Mention) -> Iterator[_Passage]:
        """Yield each sentence about an entity, with the earlier ones to which it refers."""
        nearest: int | None = None
        for number, sentence in enumerate(self._sentences):
            first, label = self._find_first(number), self._frames[number].label
            has_label = label in self._text[self._sentences[first].start : sentence.end]
            names_entity = mention.is_in(sentence.words)
            if names_entity or mention.is_in(self._label_words[label]):
                nearest = number if names_entity else nearest
                plain = not self._frames[number].has("unknown", sentence.start)
                complete = has_label or (names_entity and sentence.ends and plain)
                yield _Passage(first, number, "" if complete else label, names_entity)
            elif nearest is not None and number - nearest <= _MOST_BACK and self._goes_on(number):
                yield _Passage(min(first, nearest), number)

    def _find_first(self, number: int) -> int:
        """Return the number of the sentence before if this one answers it or refers to it."""
        words = self._sentences[number].words_after_speaker
        refers = has_any(words[:1], "pronoun", "possessive", "referring")
        answers = number > 0 and self._sentences[number - 1].asks
        return max(number - (refers or answers or has_any(words[-1:], "elliptic")), 0)

    def _goes_on(self, number: int) -> bool:
        """Return whether a sentence can have the subject of the last one: no new name begins it."""
        before, words = self._sentences[number - 1].words[1:], self._sentences[number].words
        return not words or words[0].plain not in self._names or has(before, words[0])

    def _read_passage(self, passage: _Passage) -> list[Word]:
        """Return the words of a passage and of its label."""
        sentences = self._sentences[passage.first : passage.last + 1]
        return [*read_words(passage.label), *(w for sentence in sentences for w in sentence.words)]

    def _cite(self, mention: _Mention, passages: Sequence[_Passage]) -> Evidence:
        """Return the first passage that can be quoted. Raises Unsupported."""
        names = self._names.union(part.plain for part in mention.parts)
        return self._choose(partial(self._quote, names, passage) for passage in passages)

    def _quote(self, names: Collection[str], passage: _Passage) -> Evidence:
        last = self._sentences[passage.last]
        for number in range(passage.first, passage.last + 1):
            if self._frames[number].has("unreal", last.end):
                raise Unsupported("the text does not say that it is so")
        for earlier in (*cut_text(passage.label), *self._sentences[passage.first : passage.last]):
            check_quotation(earlier, names, answered=True)
        check_quotation(last, names)
        if all(w.name or w.number or is_light(w) for w in self._read_passage(passage)):
            raise Unsupported("its sentence states nothing")
        start = self._sentences[passage.first].start
        text = self._text[start : last.end]
        return Evidence(text, start, quoted=True, label=passage.label)

    def _check_fact(self, entity: _Entity, claim: _Claim, number: int) -> Evidence:
        sentence = self._sentences[number]
        check_sentence(sentence)
        words = sentence.words
        for first, last in entity.find(words):
            if words[last].owns and has_any(claim.words[:1], "copula"):
                continue  # "Ada's car is red" says nothing about Ada
            if Match(words, claim.content, first, last, claim.lead).succeeds():
                self._check_frame(claim, number, first)
                return Evidence(sentence.text, sentence.start)
        raise Unsupported("its sentence does not say that")

    def _check_relation(
        self, ends: tuple[_Entity, _Entity], relation: str, number: int
    ) -> Evidence:
        sentence = self._sentences[number]
        check_sentence(sentence)
        words = sentence.words
        plain = fold(relation).replace("_", " ").replace("-", " ")
        known: str | None = read_lists()["relations"].get(plain.replace(" ", "_"))
        listed, _, prepositions = (known or "").partition("|")
        verbs = [*read_words(listed), *(w for w in read_words(plain) if not is_light(w))]
        links = {*prepositions.split(), *plain.split()}
        for source in ends[0].find(words):
            for target in ends[1].find(words):
                if known == "" and not changes(words):  # naming both is enough
                    self._check_frame(None, number, target[0])
                elif not _says_relation(words, source, target, verbs, links):
                    continue
                self._check_frame(None, number, source[0])
                return Evidence(sentence.text, sentence.start)
        raise Unsupported(f"no sentence says {relation} of {ends[0].name} and {ends[1].name}")

    def _check_frame(self, claim: _Claim | None, number: int, index: int) -> None:
        """Raise Unsupported if a claim drops a frame of its statement, which begins at a word."""
        sentence, words = self._sentences[number], self._sentences[number].words
        kept = claim.words if claim else ()
        said, told = (" ".join(one.plain for one in some) for some in (words, kept))
        whole, start = f"{said}\n{sentence.text}", words[index].start
        part = words[(first := find_start(words, index, "hard")) : find_end(words, first, "hard")]
        remark = sentence.text[start - sentence.start :]
        frames = self._frames[number]
        if (
            (is_unreal(said) and not is_unreal(told))
            or any(matches(one, whole) and not matches(one, told) for one in _ALONE)
            or (has_any(part, "condition") and not has_any(kept, "condition"))
            or matches("taken_back", remark)
            or any(_QUOTES.search(one.mark) for one in words)
            or frames.has("unknown", start)
            or frames.has("unreal", start)
        ):
            raise Unsupported("the text does not say that it is so")


def _says_relation(
    words: Sequence[Word],
    source: tuple[int, int],
    target: tuple[int, int],
    verbs: Sequence[Word],
    links: Collection[str],
) -> bool:
    """Return whether a sentence has one of the verbs (or nouns) of a relation for two names."""
    between = words[source[1] + 1 : target[0]]
    if target[0] <= source[1] or changes(between) or has_any(between, "subordinate"):
        return False
    after = words[target[1] + 1 : find_end(words, target[1])]
    dated = any(one.number or one.is_in("day", "months") for one in after[1:2])  # since 2020
    continues = has_any(after[:1], "role") and not dated
    if continues or has_any(after, "limit") or words[source[1]].owns:
        return False  # leads Ben to the door; works there until May; Ada's brother does
    if words[target[1]].owns:  # Dmitri is Carla's manager
        return all(map(is_light, between)) and any(has(verbs, one) for one in after[:1])
    for index, verb in enumerate(between, source[1] + 1):
        forms = [one for one in verbs if is_same(one, verb)]
        same_tense = any(one.plain == verb.plain or one.past == verb.past for one in forms)
        behind = words[index + 1 : target[0]]
        linked = all(one.plain in links for one in behind if one.is_in("at", "role"))
        if same_tense and linked and not any((w.name and not is_light(w)) for w in behind):
            preposition = [w for w in behind if w.is_in("role")][-1:]
            claim = [verb, *preposition, *words[target[0] : target[1] + 1]]
            if Match(words[: target[1] + 1], claim, *source).succeeds():
                return True
    return False
