"""Grounding: a claim that an LLM took from a text is kept only if a sentence of it supports it.

A claim has to be its sentence, shortened (claim_match). The rules know no meaning, so they refuse a
claim that says the same in other words. Its sentence can be quoted instead, because what a text
says itself is no invention.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

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
    find_unspaced,
    fold,
    has,
    has_any,
    is_light,
    is_same,
    label_sentences,
    read_list,
    read_lists,
    read_phrases,
    read_words,
)

_BEFORE = 4  # sentences before one in which its entity can stand
_MOST_TRIED = 8  # sentences that a claim is compared with: those that have most of its words

_INTRODUCES = r"(?:\bI'?\u2019?m|\bI am|\b[Mm]y name is|\b[Ii]ch bin|\b[Jj]e suis|\b[Ss]oy) {0}\b"
_BULLET = re.compile(r"^(?:[-*\u2022\u2013\u2014]\s+)+")

_SHORT = 3  # words of a remark
_QUOTES = re.compile("[\"'\u00ab\u00bb\u2018\u2019\u201c-\u201e]")


@dataclass(frozen=True)
class Evidence:
    """A passage, and the place of its first character in its source.

    If it is `quoted`, it does not support the words of a claim, and stands in their place. Then
    `label` can be what the text has elsewhere: who speaks, who signs, or a heading.
    """

    text: str
    start: int
    quoted: bool = False
    label: str = ""

    @property
    def quotation(self) -> str:
        """The passage in one line, as a fact of its own, below its label."""
        parts = (self.label, _BULLET.sub("", self.text))
        return "\n".join(" ".join(one.split()) for one in parts if one)


@dataclass(frozen=True)
class _Entity:
    """A name with the words by which a text can name it."""

    name: str
    forms: tuple[Sequence[Word], ...]

    def find(self, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
        """Yield the first and the last place of each form of the name."""
        for form in self.forms:
            for place in range(len(words) - len(form) + 1):
                if all(is_same(a, b) for a, b in zip(form, words[place:], strict=False)):
                    yield place, place + len(form) - 1

    def is_in(self, words: Sequence[Word]) -> bool:
        """Return whether words name the entity."""
        return next(self.find(words), None) is not None


@dataclass(frozen=True)
class _Mention(_Entity):
    """An entity for passages that may name it by some words of its name.

    `parts` are the words of the name. Each of `telling` can stand for the whole name.
    """

    parts: Sequence[Word]
    telling: Sequence[Word]
    unspaced: str  # the name, if other scripts can write it together with other words

    def is_in(self, words: Sequence[Word]) -> bool:
        """Return whether words have a form of the name, a telling word, or most of its words."""
        if super().is_in(words):
            return True
        if self.unspaced and self.unspaced in "".join(one.plain for one in words):
            return True
        # Names can differ in a number or letter alone: report A, report B.
        distinct = (one for one in self.parts if one.number or len(one.plain) == 1)
        if not all(has(words, one) for one in distinct):
            return False
        found = sum(has(words, one) for one in self.parts)
        return 2 * found > len(self.parts) or any(has(words, one) for one in self.telling)


class _Claim:
    """The words of a claim that a sentence has to say, and the light words before them."""

    def __init__(self, entity: _Entity, text: str) -> None:
        self.words = read_words(text)
        named = max((last + 1 for first, last in entity.find(self.words) if first == 0), default=0)
        rest = self.words[named:]
        said = (w for w in rest if not (is_light(w) or w.is_in("joint")) or w.is_in("denial"))
        self.content = list(said)
        if not self.content:
            raise Unsupported("it says nothing")
        self.lead = rest[: rest.index(self.content[0])]


@dataclass(frozen=True)
class _Passage:
    """Sentences from `first` to `last`, and the label that says whose they are.

    If it is `first_hand`, its last sentence has the name of the entity.
    """

    first: int
    last: int
    label: str = ""
    first_hand: bool = False

    @property
    def order(self) -> tuple[int, int]:
        """Its order among passages that say as much: shorter ones first, then earlier ones."""
        return self.last - self.first, self.first


class Grounding:
    """The text that claims were taken from.

    `aliases` holds the other names of an entity, by its name without regard to case.
    """

    def __init__(self, text: str, aliases: Mapping[str, Sequence[str]] | None = None) -> None:
        self._text = text
        self._aliases = aliases or {}
        self._sentences = cut_text(text)
        self._labels = label_sentences(text, self._sentences)
        self._label_words = {one: read_words(one) for one in set(self._labels)}
        self._names = set[str]()
        self._index = dict[str, list[tuple[int, int, Word]]]()
        for number, sentence in enumerate(self._sentences):
            for place, word in enumerate(sentence.words):
                if word.name and breaks(sentence.words, place) != "hard":
                    self._names.add(word.plain)
                for key in word.keys:
                    self._index.setdefault(key, []).append((number, place, word))

    def support_fact(self, entity: str, claim: str) -> Evidence:
        """Return the sentence that supports a claim about an entity. Raises Unsupported."""
        named = self._read_entity(entity)
        said = _Claim(named, claim)
        for one in said.content:
            if not self._find(one):
                raise Unsupported(f"the text does not say {one.written}")
        ranked = self._rank(said.content, named)[:_MOST_TRIED]
        return self._choose(partial(self._check_fact, named, said, one) for one in ranked)

    def support_relation(self, source: str, relation: str, target: str) -> Evidence:
        """Return the sentence that supports a relation. Raises Unsupported."""
        ends = self._read_entity(source), self._read_entity(target)
        numbers = self._find_naming(ends[1])
        return self._choose(partial(self._check_relation, ends, relation, one) for one in numbers)

    def cite_fact(self, entity: str, claim: str) -> Evidence:
        """Return the sentence that supports a claim, or one to quote in its place.

        It names the entity and has most words of the claim, or it alone names the entity. The text
        has all names and numbers of the claim. Raises Unsupported.
        """
        try:
            return self.support_fact(entity, claim)
        except Unsupported:
            with suppress(Unsupported):
                return self._quote_fact(entity, claim)
            raise

    def cite_relation(self, source: str, relation: str, target: str) -> Evidence:
        """Return the sentence that supports a relation, or one with both ends to quote.

        Raises Unsupported.
        """
        try:
            return self.support_relation(source, relation, target)
        except Unsupported:
            with suppress(Unsupported):
                named, other = self._read_mention(source), self._read_mention(target)
                passages = [*self._list_passages(named), *self._list_passages(other)]
                words = {one: self._read_passage(one) for one in passages}
                both = [one for one in words if named.is_in(words[one]) and other.is_in(words[one])]
                return self._cite(named, sorted(both, key=lambda one: one.order))
            raise

    def _quote_fact(self, entity: str, claim: str) -> Evidence:
        named = self._read_mention(entity)
        content = _Claim(_Entity(entity, (read_words(entity),)), claim).content
        # The first word has a capital letter also if it is no name.
        telling = [w for w in content if w.number or (w.name and w.start)]
        if not all(map(self._has_part, telling)):
            raise Unsupported("the text does not have its names and numbers")
        wanted = [w for w in content if not (changes([w]) or w.is_in("role"))] or content
        passages = list(self._list_passages(named))
        words = {one: self._read_passage(one) for one in passages}
        counts = {one: sum(has(words[one], w) for w in wanted) for one in passages}
        near = [one for one in passages if counts[one]]
        if not near and sum(one.first_hand for one in passages) == 1:  # it can mean no other one
            near = passages
        return self._cite(named, sorted(near, key=lambda one: (-counts[one], one.order)))

    def names(self, name: str) -> bool:
        """Return whether the text has a name."""
        try:
            self._read_entity(name)
        except Unsupported:
            return False
        return True

    def find_invention(self, text: str) -> str | None:
        """Return the first name or number of `text` that the grounds do not have, or None."""
        for sentence in cut_text(text):
            for place, one in enumerate(sentence.words):
                # The first word has a capital letter also if it is no name.
                telling = one.number or (one.name and place > 0 and not is_light(one))
                if telling and not self._find(one):
                    return one.written
        return None

    def cite_line(self, line: str) -> str | None:
        """Return a line of a summary, or, if it invents a name or number, the nearest sentence."""
        if self.find_invention(line) is None:
            return line
        wanted = [w for w in read_words(line) if not is_light(w)]
        for number in self._rank(wanted, least=(len(wanted) + 1) // 2)[:_MOST_TRIED]:
            one = self._sentences[number]
            with suppress(Unsupported):
                check_quotation(one, self._names)
                return Evidence(one.text, one.start, quoted=True).quotation
        return None

    def _find(self, word: Word) -> set[tuple[int, int]]:
        """Return the sentences and places of a word in the text."""
        near = [one for key in word.keys for one in self._index.get(key, ())]
        return {(number, place) for number, place, one in near if is_same(word, one)}

    def _has_part(self, word: Word) -> bool:
        """Return whether the text has a word, or the number that begins it: 30-day."""
        return bool(self._find(word) or self._find(read_words(word.written.split("-")[0])[0]))

    def _find_naming(self, entity: _Entity) -> list[int]:
        return [n for n, one in enumerate(self._sentences) if entity.is_in(one.words)]

    def _rank(
        self, wanted: Sequence[Word], entity: _Entity | None = None, least: int = 1
    ) -> list[int]:
        """Return the sentences that have at least so many of the words, those with most first.

        Of those with as many words, the ones with the first word come first, and then the ones that
        name the entity or follow one that names it.
        """
        counts = Counter(n for one in wanted for n in {number for number, _ in self._find(one)})
        found = [number for number, count in counts.items() if count >= least]
        begun = {number for number, _ in self._find(wanted[0])} if wanted else set[int]()
        naming = self._find_naming(entity) if entity is not None else ()
        near = {place for number in naming for place in (number, number + 1)}
        return sorted(found, key=lambda n: (-counts[n], n not in begun, n not in near, n))

    def _read_entity(self, name: str) -> _Entity:
        """Return the forms of a name. Raises Unsupported if the text has none of them."""
        names = [name, *self._aliases.get(name.casefold(), ())]
        introduced = re.search(_INTRODUCES.format(re.escape(name)), self._text)
        writes = introduced or fold(name) in read_lists()["writer"]
        if writes and not SPEAKER.search(self._text):  # "I" is whoever speaks
            names += sorted(read_list("writers"))
        forms = [[w for w in read_words(one) if w.plain not in ("the", "a", "an")] for one in names]
        forms = [form for form in forms if form and all(self._find(part) for part in form)]
        if not forms or has_any(forms[0], "denial"):
            raise Unsupported(f"the text does not name {name}")
        alone = [
            [part]
            for form in forms
            for part in form
            if len(form) > 1 and all(len(w.plain) > 1 for w in form)  # not: report B
            if part.name and not self._is_shared(part, form)
        ]
        return _Entity(name, (*forms, *alone))

    def _is_shared(self, part: Word, name: Sequence[Word]) -> bool:
        """Return whether another name has the word, too: Team Falcon, Team Heron; report A."""
        for number, place in self._find(part):
            words = self._sentences[number].words
            after = words[place + 1 : place + 2]
            beside = (*words[max(place - 1, 0) : place], *after)
            if "," in "".join(one.mark for one in words[place : place + 2]):
                continue  # HR, Legal
            if any(w.name and not has(name, w) and not is_light(w) for w in beside):
                return True
            if any((w.number or len(w.plain) == 1) and not has(name, w) for w in after):
                return True
        return False

    def _choose(self, checks: Iterable[Callable[[], Evidence]]) -> Evidence:
        """Return the first passage that passes, or raise what the first one lacks."""
        reasons = list[Unsupported]()
        for check in checks:
            try:
                return check()
            except Unsupported as reason:
                reasons.append(reason)
        raise reasons[0] if reasons else Unsupported("no sentence says it")

    def _read_mention(self, name: str) -> _Mention:
        """Return the words that name an entity. Raises Unsupported if the text has none."""
        forms = tuple[Sequence[Word], ...]()
        with suppress(Unsupported):
            forms = self._read_entity(name).forms
        if fold(name) not in read_lists()["writer"]:
            forms = tuple(one for one in forms if not has_any(one, "writers"))
        parts = [w for w in read_words(name) if not is_light(w) or (w.name and w.number)]
        found = [one for one in parts if self._find(one)]
        describes = not all(one.name or one.number for one in parts)  # train from Graz to Linz
        lacks = describes and any(one.name and one not in found for one in parts[1:])
        telling = [
            one
            for one in found
            if (one.name or "." in one.plain) and len(parts) > 1 and not lacks
            if not self._is_shared(one, parts)
            if one is not parts[0]
            or any(self._sentences[number].words[place].name for number, place in self._find(one))
        ]
        unspaced = "" if name.isascii() else "".join(one.plain for one in read_words(name))
        written = unspaced and unspaced in fold(self._text)
        if not (forms or telling or written or 2 * len(found) > len(parts)):
            raise Unsupported(f"the text does not name {name}")
        return _Mention(name, forms, parts, telling, unspaced)

    def _list_passages(self, named: _Mention) -> Iterator[_Passage]:
        """Yield each sentence about an entity, with those before it that it needs."""
        nearest: int | None = None
        for number, sentence in enumerate(self._sentences):
            first, label = self._find_first(number), self._labels[number]
            begun = label in self._text[self._sentences[first].start : sentence.end]
            here, labelled = named.is_in(sentence.words), named.is_in(self._label_words[label])
            if here or labelled:
                nearest = number if here else nearest
                lacks = not begun and not (here and sentence.ends)
                yield _Passage(first, number, label if lacks else "", here)
            elif nearest is not None and number - nearest <= _BEFORE and self._goes_on(number):
                yield _Passage(min(first, nearest), number)

    def _find_first(self, number: int) -> int:
        """Return where the passage of a sentence begins: with its question, or its `she`."""
        words = self._sentences[number].said
        leans = has_any(words[:1], "pronoun", "possessive", "leaning")
        asked = number > 0 and self._sentences[number - 1].asks
        return max(number - (leans or asked or has_any(words[-1:], "elliptic")), 0)

    def _goes_on(self, number: int) -> bool:
        """Return whether a sentence goes on from others, and nobody else begins it."""
        before, words = self._sentences[number - 1].words[1:], self._sentences[number].words
        return not words or words[0].plain not in self._names or has(before, words[0])

    def _read_passage(self, one: _Passage) -> list[Word]:
        """Return the words of a passage with its label."""
        sentences = self._sentences[one.first : one.last + 1]
        return [*read_words(one.label), *(w for sentence in sentences for w in sentence.words)]

    def _cite(self, named: _Mention, passages: Sequence[_Passage]) -> Evidence:
        """Return the first passage that can be quoted. Raises Unsupported."""
        names = self._names.union(one.plain for one in named.parts)
        return self._choose(partial(self._quote, names, one) for one in passages)

    def _quote(self, names: Collection[str], passage: _Passage) -> Evidence:
        last = self._sentences[passage.last]
        for one in (*cut_text(passage.label), *self._sentences[passage.first : passage.last]):
            check_quotation(one, names, asking=True)
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
                continue  # its thing is that, not the entity
            if Match(words, claim.content, first, last, claim.lead).succeeds():
                _check_whole(claim, words, first)
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
        told, _, linked = (known or "").partition("|")
        telling = [*read_words(told), *(w for w in read_words(plain) if not is_light(w))]
        links = {*linked.split(), *plain.split()}
        for source in ends[0].find(words):
            for target in ends[1].find(words):
                if known == "" and not changes(words):  # any sentence with both
                    _check_whole(None, words, target[0])
                elif not _says_relation(words, source, target, telling, links):
                    continue
                _check_whole(None, words, source[0])
                return Evidence(sentence.text, sentence.start)
        raise Unsupported(f"no sentence says {relation} of {ends[0].name} and {ends[1].name}")


def _says_relation(
    words: Sequence[Word],
    source: tuple[int, int],
    target: tuple[int, int],
    telling: Sequence[Word],
    links: Collection[str],
) -> bool:
    """Return whether a verb between two names, or a noun of the second, says a relation."""
    between = words[source[1] + 1 : target[0]]
    if target[0] <= source[1] or changes(between) or has_any(between, "subordinate"):
        return False
    after = words[target[1] + 1 : find_end(words, target[1])]
    dated = any(one.number or one.is_in("day", "months") for one in after[1:2])  # since 2020
    led = has_any(after[:1], "role") and not dated
    if led or has_any(after, "limit") or words[source[1]].owns:
        return False  # leads Ben to the door; works there until May; Ada's brother does
    if words[target[1]].owns:  # Dmitri is Carla's manager
        return all(map(is_light, between)) and any(has(telling, one) for one in after[:1])
    for place, verb in enumerate(between, source[1] + 1):
        same = [one for one in telling if is_same(one, verb)]
        timely = any(one.plain == verb.plain or one.past == verb.past for one in same)
        rest = words[place + 1 : target[0]]
        linked = all(one.plain in links for one in rest if one.is_in("at", "role"))
        if timely and linked and not any((w.name and not is_light(w)) for w in rest):
            role = [w for w in rest if w.is_in("role")][-1:]
            claim = [verb, *role, *words[target[0] : target[1] + 1]]
            if Match(words[: target[1] + 1], claim, *source).succeeds():
                return True
    return False


def _check_whole(claim: _Claim | None, words: Sequence[Word], place: int) -> None:
    """Refuse a claim that drops the condition or doubt of its sentence, or that others say it."""
    start = find_start(words, min(place, len(words) - 1), "hard")
    part = words[start : find_end(words, start, "hard")]
    said = claim.words if claim else ()
    told, spoken = (" ".join(w.plain for w in some) for some in (words, said))
    conditions = read_phrases("condition_phrases")
    if (has_any(part, "condition") or conditions.search(told)) and not (
        has_any(said, "condition") or conditions.search(spoken)
    ):
        raise Unsupported("its sentence has a condition")
    unsure = find_unspaced(part, "condition", "doubt") - find_unspaced(said, "condition", "doubt")
    end = find_end(words, start, "hard")
    denied = len(words) - end <= _SHORT and has_any(words[end:], "denial")  # Ada is ill (not true)
    quoted = any(_QUOTES.search(w.mark) for w in words)
    if denied or unsure or quoted or (has_any(words, "hearsay") and not has_any(said, "hearsay")):
        raise Unsupported("its sentence does not say that it is so")
