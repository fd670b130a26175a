"""Grounding: a claim that an LLM took from a text is kept only if a sentence of it supports it.

A claim has to be its sentence, shortened (claim_match), or another order of its words
(claim_orders). The rules know no meaning, so they drop a claim that says the same in other words.
It is better to lose one than to store what nobody said.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import takewhile

from textrawl.values.claim_match import Match
from textrawl.values.claim_orders import move_front, name_things, vary
from textrawl.values.claim_words import (
    Word,
    breaks,
    changes,
    find_end,
    find_start,
    find_unspaced,
    fold,
    has,
    has_any,
    is_light,
    is_same,
    read_list,
    read_lists,
    read_words,
)

_MOST_TRIED = 8  # sentences that a claim is compared with: those that have most of its words
_BEFORE = 3  # sentences before the one with a pronoun in which its name can stand
_LONGEST = 150  # words of a sentence: a longer one is a list or a page without full stops
_NEAR = 4  # words that the parts of a name may stand apart: the cluster in Oslo

_SENTENCE_END = re.compile(
    r"(?<!\b[A-Z])(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bNo)(?<!\bvs)"
    r"[.!?\u2026]+[\"')\]\u00bb\u201d\u2019]*(?=\s|$)|[\u3002\uff01\uff1f]+|\n+"
)
_ASKS = re.compile("[?\uff1f][\"')\\]\u00bb\u201d\u2019]*$")
_INTRODUCES = r"(?:\bI'?\u2019?m|\bI am|\b[Mm]y name is|\b[Ii]ch bin|\b[Jj]e suis|\b[Ss]oy) {0}\b"


class Unsupported(ValueError):
    """No sentence of the text supports a claim. The message is the reason."""


@dataclass(frozen=True)
class Evidence:
    """A sentence, and the place of its first character in its source."""

    text: str
    start: int


@dataclass(frozen=True)
class _Sentence:
    text: str
    start: int
    words: Sequence[Word]

    @cached_property
    def orders(self) -> Sequence[Sequence[Word]]:
        """The sentence, and others that say the same."""
        return list(vary(self.words))


@cache
def _read_orders() -> re.Pattern[str]:
    return re.compile("|".join(read_lists()["command"]), re.IGNORECASE)


@cache
def _read_conditions() -> re.Pattern[str]:
    return re.compile("|".join(read_lists()["condition_phrases"]), re.IGNORECASE)


def _cut(text: str) -> list[_Sentence]:
    """Return the sentences of a text."""
    found, start = list[_Sentence](), 0
    for end in [*(one.end() for one in _SENTENCE_END.finditer(text)), len(text)]:
        part = text[start:end]
        if said := part.strip():
            place = start + len(part) - len(part.lstrip())
            found.append(_Sentence(said, place, read_words(said, place)))
        start = end
    return found


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
            if len(form) > 1:
                yield from self._find_apart(form, words)

    def _find_apart(self, form: Sequence[Word], words: Sequence[Word]) -> Iterator[tuple[int, int]]:
        """Yield a place of a name that is told in another order: the cluster in Oslo."""
        places = [next((n for n, w in enumerate(words) if is_same(one, w)), -1) for one in form]
        first, last = min(places), max(places)
        between = [w for n, w in enumerate(words[first : last + 1], first) if n not in places]
        turned = first >= 0 and places != sorted(places) and last - first <= _NEAR
        if turned and all(map(is_light, between)):
            yield first, last

    def is_in(self, words: Sequence[Word]) -> bool:
        """Return whether words name the entity."""
        return next(self.find(words), None) is not None


class _Claim:
    """The words of a claim that a sentence has to say, in one or two orders."""

    def __init__(self, entity: _Entity, text: str) -> None:
        self.words = read_words(text)
        found = sorted(entity.find(self.words))
        self.names_subject = not found or found[0][0] == 0
        self.begins_with_owner = bool(self.words) and self.words[0].is_in("possessive")
        rest = self.words
        if found and found[0][0] == 0:
            rest = self.words[max(last for first, last in found if first == 0) + 1 :]
        self.content = self._read_content(rest)
        if not self.content:
            raise Unsupported("it says nothing")
        self.lead = rest[: rest.index(self.content[0])]
        self.orders = [self.content, *map(self._read_content, move_front(rest))]

    def _read_content(self, words: Sequence[Word]) -> Sequence[Word]:
        return [w for w in words if not (is_light(w) or w.is_in("joint")) or w.is_in("denial")]


class Grounding:
    """The text that claims were taken from.

    `aliases` holds the other names of an entity, by its name without regard to case.
    """

    def __init__(self, text: str, aliases: Mapping[str, Sequence[str]] | None = None) -> None:
        self._text = text
        self._aliases = aliases or {}
        self._sentences = _cut(text)
        self._index = dict[str, list[tuple[int, int, Word]]]()
        for number, sentence in enumerate(self._sentences):
            for place, word in enumerate(sentence.words):
                for key in word.keys:
                    self._index.setdefault(key, []).append((number, place, word))

    def support_fact(self, entity: str, claim: str) -> Evidence:
        """Return the sentence that supports a claim about an entity. Raises Unsupported."""
        named = self._read_entity(entity)
        said = _Claim(named, claim)
        counts = Counter[int]()
        for one in said.content:
            found = {number for number, _ in self._find(one)}
            if not found:
                raise Unsupported(f"the text does not say {one.written}")
            counts.update(found)
        ranked = sorted(counts, key=lambda number: (-counts[number], number))[:_MOST_TRIED]
        return self._choose(lambda number: self._check_fact(named, said, number), ranked)

    def support_relation(self, source: str, relation: str, target: str) -> Evidence:
        """Return the sentence that supports a relation. Raises Unsupported."""
        ends = self._read_entity(source), self._read_entity(target)
        numbers = [n for n, one in enumerate(self._sentences) if ends[1].is_in(one.words)]
        return self._choose(lambda number: self._check_relation(ends, relation, number), numbers)

    def names(self, name: str) -> bool:
        """Return whether the text has a name."""
        try:
            self._read_entity(name)
        except Unsupported:
            return False
        return True

    def find_invention(self, text: str) -> str | None:
        """Return the first name or number of `text` that the grounds do not have, or None."""
        for sentence in _cut(text):
            for place, one in enumerate(sentence.words):
                # The first word has a capital letter also if it is no name.
                telling = one.number or (one.name and place > 0 and not is_light(one))
                if telling and not self._find(one):
                    return one.written
        return None

    def _find(self, word: Word) -> set[tuple[int, int]]:
        """Return the sentences and places of a word in the text."""
        near = [one for key in word.keys for one in self._index.get(key, ())]
        return {(number, place) for number, place, one in near if is_same(word, one)}

    def _read_entity(self, name: str) -> _Entity:
        """Return the forms of a name. Raises Unsupported if the text has none of them."""
        names = [name, *self._aliases.get(name.casefold(), ())]
        introduced = re.search(_INTRODUCES.format(re.escape(name)), self._text)
        if introduced or fold(name) in read_lists()["writer"]:
            names += sorted(read_list("writers"))
        forms = [[w for w in read_words(one) if w.plain not in ("the", "a", "an")] for one in names]
        forms = [form for form in forms if form and all(self._find(part) for part in form)]
        if not forms or has_any(forms[0], "denial"):
            raise Unsupported(f"the text does not name {name}")
        alone = [
            [part]
            for form in forms
            for part in form
            if len(form) > 1 and part.name and not self._is_shared(part, form)
        ]
        return _Entity(name, (*forms, *alone))

    def _is_shared(self, part: Word, name: Sequence[Word]) -> bool:
        """Return whether a word is a part of another name, too, as in Team Falcon, Team Heron."""
        for number, place in self._find(part):
            words = self._sentences[number].words
            beside = (*words[max(place - 1, 0) : place], *words[place + 1 : place + 2])
            if any(w.name and not has(name, w) and not is_light(w) for w in beside):
                return True
        return False

    def _choose(self, check: Callable[[int], None], numbers: Sequence[int]) -> Evidence:
        """Return the first sentence that passes, or raise the reason of the first one."""
        reasons = list[Unsupported]()
        for number in numbers:
            try:
                check(number)
            except Unsupported as reason:
                reasons.append(reason)
            else:
                return Evidence(self._sentences[number].text, self._sentences[number].start)
        raise reasons[0] if reasons else Unsupported("no sentence says it")

    def _check_fact(self, entity: _Entity, claim: _Claim, number: int) -> None:
        sentence = self._sentences[number]
        _refuse_orders(sentence)
        for words in self._write_orders(number):
            for first, last in self._find_subjects(entity, claim, words, number):
                if words[last].owns and has_any(claim.words[:1], "copula"):
                    continue  # its thing is that, not the entity
                for said in claim.orders:
                    if Match(words, said, first, last, claim.lead).succeeds():
                        _check_whole(claim, words, first)
                        return
        if self._is_kin(entity, claim, sentence, number):
            return
        raise Unsupported("its sentence does not say that")

    def _write_orders(self, number: int) -> Iterator[Sequence[Word]]:
        sentence = self._sentences[number]
        yield from sentence.orders
        before = self._sentences[number - 1].words if number else ()
        for clear in name_things(sentence.words, before):
            yield from vary(clear)

    def _find_subjects(
        self, entity: _Entity, claim: _Claim, words: Sequence[Word], number: int
    ) -> Iterator[tuple[int, int]]:
        """Yield the places of words that stand for the subject of a claim."""
        if not claim.names_subject:  # the claim has its own subject
            for place, word in enumerate(words):
                start = find_start(words, place)
                own = [w for w in words[start:place] if not w.is_in("determiner", "subordinate")]
                if is_same(word, claim.content[0]) and all(has(claim.words[:2], w) for w in own):
                    yield place, place - 1
            return
        yield from entity.find(words)
        yield from self._find_left_out(entity, claim, words, number)
        for place, word in enumerate(words):
            if word.is_in("writing") and self._is_speaker(entity, words, place):
                yield place, place
            owns = claim.begins_with_owner and word.is_in("possessive")
            if (owns or word.is_in("pronoun")) and self._means(entity, words, place, number):
                yield place, place

    def _find_left_out(
        self, entity: _Entity, claim: _Claim, words: Sequence[Word], number: int
    ) -> Iterator[tuple[int, int]]:
        """Yield the places where notes leave out a subject: allergic to nuts; takes no aspirin."""
        before = [w for one in self._sentences[max(number - 1, 0) : number] for w in one.words]
        for place, word in enumerate(words):
            near = [*before, *words[:place]]
            others = [*_read_names(before[1:]), *_read_names(words[1:place])]
            if breaks(words, place) == "hard" and is_same(word, claim.content[0]) and not word.owns:
                found = next(entity.find(near), None)
                if found and found[0] == 0 and not others:
                    yield place, place - 1

    def _is_speaker(self, entity: _Entity, words: Sequence[Word], place: int) -> bool:
        """Return whether the name of the entity and a colon begin what a writer says."""
        return any(
            first == 0 and last < place and ":" in words[last + 1].mark
            for first, last in entity.find(words[:place])
        )

    def _means(self, entity: _Entity, words: Sequence[Word], place: int, number: int) -> bool:
        """Return whether a pronoun means the entity, because nobody else is named before it.

        If others are named, the entity stands first, and no verb connects it with a person.
        """
        before = words[:place]
        goes_on = not any(_read_names(before)) or has_any(before[:2], "pronoun")  # she ... her
        if goes_on and not entity.is_in(before):
            for earlier in reversed(self._sentences[max(number - _BEFORE, 0) : number]):
                before = earlier.words
                if any(_read_names(before)) or entity.is_in(before):
                    break
        named = list(_read_names(before))
        found = next(entity.find(before), None)
        if found is None or (found[1] + 1 < len(before) and before[found[1]].owns):
            return False
        others = [one for one in named if one[1] < found[0] or found[1] < one[0]]
        for one, other in (("male", "female"), ("female", "male")):
            if words[place].is_in(one) and has_any([*before, *words], other) and others:
                return False
        if has_any(before, "social"):
            return not [one for one in others if not has_any(before[one[0] : one[1] + 1], "thing")]
        return all(found[0] < one[0] for one in others)

    def _is_kin(self, entity: _Entity, claim: _Claim, sentence: _Sentence, number: int) -> bool:
        """Return whether a sentence tells in passing what the entity is: Henrik's wife Solveig."""
        words = sentence.words
        owners = [w for w in claim.content if w.name]
        nouns = [w for w in claim.content if not w.name]
        if not (nouns and has_any(claim.words[:1], "copula")):
            return False
        owner = _Entity("", (owners,)) if owners else None
        for first, _ in entity.find(words):
            end = first
            while end and is_light(words[end - 1]):  # our landlord, Mr Petrov; her coach is Bengt
                end -= 1
            start = end - len(nouns)
            if start < 1 or not all(map(is_same, nouns, words[start:end])):
                continue
            if has_any(words[end:first], "was") is not has_any(claim.words[:1], "was"):
                continue
            if self._is_own(owner, words, start - 1, number):
                return True
        return False

    def _is_own(
        self, owner: _Entity | None, words: Sequence[Word], place: int, number: int
    ) -> bool:
        """Return whether the word before a noun is the owner, or a determiner if nobody owns it."""
        word = words[place]
        if owner is None:
            return word.is_in("determiner") and bool(breaks(words, place))
        if word.owns:
            return any(last == place for _, last in owner.find(words))
        return word.is_in("possessive") and self._means(owner, words, place, number)

    def _check_relation(self, ends: tuple[_Entity, _Entity], relation: str, number: int) -> None:
        sentence = self._sentences[number]
        _refuse_orders(sentence)
        plain = fold(relation).replace("_", " ").replace("-", " ")
        key = plain.replace(" ", "_")
        known: str | None = read_lists()["relations"].get(key)
        telling = read_words(known or "") + [w for w in read_words(plain) if not is_light(w)]
        for words in sentence.orders:
            if known == "" and all(end.is_in(words) for end in ends):
                if changes(words):
                    raise Unsupported("its sentence does not say that")
                for end in ends:
                    _check_whole(None, words, next(end.find(words))[0])
                return
            for first, last in self._find_ends(ends[0], words, number):
                for target in ends[1].find(words):
                    if _says_relation(words, (first, last), target, telling):
                        _check_whole(None, words, first)
                        return
        raise Unsupported(f"no sentence says {relation} of {ends[0].name} and {ends[1].name}")

    def _find_ends(
        self, entity: _Entity, words: Sequence[Word], number: int
    ) -> Iterator[tuple[int, int]]:
        yield from entity.find(words)
        for place, word in enumerate(words):
            if word.is_in("pronoun") and self._means(entity, words, place, number):
                yield place, place


def _says_relation(
    words: Sequence[Word], source: tuple[int, int], target: tuple[int, int], telling: Sequence[Word]
) -> bool:
    """Return whether a verb between two names, or a noun of the second, says a relation."""
    between = words[source[1] + 1 : target[0]]
    if target[0] <= source[1] or changes(between) or has_any(between, "subordinate"):
        return False
    if words[source[1]].owns:  # Ada's brother, or her manager, does it
        return False
    if has_any(words[target[1] + 1 : find_end(words, target[1])], "limit"):
        return False  # Ada worked at Acme until May
    if words[target[1]].owns:  # Dmitri is Carla's manager
        return all(map(is_light, between)) and any(
            has(telling, one) for one in words[target[1] + 1 : target[1] + 2]
        )
    for place, verb in enumerate(between, source[1] + 1):
        same = [one for one in telling if is_same(one, verb)]
        timely = any(one.plain == verb.plain or one.past == verb.past for one in same)
        rest = words[place + 1 : target[0]]
        if not timely or any((w.name and not is_light(w)) or w.is_in("agent") for w in rest):
            continue
        role = [w for w in rest if not is_light(w)][-1:]
        claim = [verb, *(w for w in role if w.is_in("role")), *words[target[0] : target[1] + 1]]
        match = Match(words[: target[1] + 1], claim, *source)
        if match.succeeds() or _stands_beside(words, source, place, telling):
            return True
    return False


def _stands_beside(
    words: Sequence[Word], source: tuple[int, int], place: int, telling: Sequence[Word]
) -> bool:
    """Return whether a preposition belongs to the subject: Ada is an engineer at Acme."""
    between = words[source[1] + 1 : place]
    parts = [breaks(words, n) for n in range(source[1] + 1, place + 1)]
    named = any(w.name and not is_light(w) for w in between)  # Ada says that Ben is at Acme
    lead = list(takewhile(is_light, between))
    acts = False  # Ada left her job at Acme, or is eating there
    if verb := between[len(lead) : len(lead) + 1]:
        noun = has_any(lead, "determiner") or not (verb[0].past or verb[0].plain.endswith("ing"))
        acts = not (has_any(lead, "copula") and noun) and not has(telling, verb[0])
    stands = words[place].is_in("at") and not acts
    return stands and not (any(parts) or named or has_any(between, "role"))


def _read_names(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last places of names that can be persons."""
    place = 0
    while place < len(words):
        end = place
        while (
            end < len(words) and words[end].name and (end == place or not words[end].mark.strip())
        ):
            end += 1
        if end > place:
            named = [
                w
                for w in words[place:end]
                if not (
                    is_light(w)
                    or w.is_in("opening", "day", "limit", "condition", "denial", "months")
                )
            ]
            prepared = (place and words[place - 1].is_in("at")) or words[place].is_in("at", "role")
            starts = place == 0 and end == 1 and len(words) > 1 and words[1].is_in("at", "role")
            if named and not prepared and not starts:
                yield place, end - 1
        place = max(end, place + 1)


def _refuse_orders(sentence: _Sentence) -> None:
    if len(sentence.words) > _LONGEST:
        raise Unsupported("its sentence is too long")
    if _read_orders().search(sentence.text):
        raise Unsupported("its sentence gives orders to its reader")
    if _ASKS.search(sentence.text):
        raise Unsupported("its sentence asks")


def _check_whole(claim: _Claim | None, words: Sequence[Word], place: int) -> None:
    """Require the condition of a sentence, and that others say it, in the claim."""
    start = find_start(words, min(place, len(words) - 1), "hard")
    part = words[start : find_end(words, start, "hard")]
    said = claim.words if claim else ()
    text = " ".join(w.plain for w in part)
    conditional = has_any(part, "condition") or _read_conditions().search(text)
    spoken = " ".join(w.plain for w in said)
    if conditional and not (has_any(said, "condition") or _read_conditions().search(spoken)):
        raise Unsupported("its sentence has a condition")
    unsure = find_unspaced(part, "condition", "doubt") - find_unspaced(said, "condition", "doubt")
    if unsure or (has_any(part, "hearsay") and not has_any(said, "hearsay")):
        raise Unsupported("its sentence does not say that it is so")
