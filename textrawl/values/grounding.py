"""Grounding: a claim that an LLM took from a text is kept only if a sentence of it supports it.

The rules compare words, names, numbers, denials and doubts. They know no meaning, so they drop a
claim that says the same in other words. It is better to lose one than to store what nobody said.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

_INFLECTION = 3  # letters that one form of a word may have more than another
_NAME_ENDING = 2  # as before, for a name
_INDEXED = 3  # first letters that two forms of a word or a name share
_MOST_TRIED = 8  # sentences that a claim is compared with: those that have most of its words
_STEM = 4  # letters that two forms of a word share at least
_BEFORE = 3  # sentences before the one with a pronoun in which its name can stand
_CLAUSE = 3  # words that a clause has at least
_NEAR = 3  # words between a number and the thing that it counts

_SENTENCE_END = re.compile(
    r"(?<!\b[A-Z])(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bNo)(?<!\bvs)"
    r"[.!?\u2026]+[\"')\]\u00bb\u201d\u2019]*(?=\s|$)|[\u3002\uff01\uff1f]+|\n+"
)
_CLAUSE_END = re.compile(
    r"[;:,\u3001\uff0c]\s|\s(?:-|\u2013|\u2014)\s"
    r"|\s(?=(?:but|while|whereas|although|though|and|because|before|after|where|who|which|when"
    r"|aber|sondern|während|und|weil|wo|mais|et|parce|où|qui|pero|porque|donde|y)\s)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['\u2019.,-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PASSIVE = re.compile(r"\b(?:by|von|vom|durch|par|por)\b", re.IGNORECASE)
_ARTICLES = ("the", "a", "an")
_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th|er|e)")


class Unsupported(ValueError):
    """No sentence of the text supports a claim. The message is the reason."""


@dataclass(frozen=True)
class _Token:
    """A word with its form for comparisons. `name` says that it has a capital letter.

    `number` says that it begins with a digit. All irregular forms of a word have one `root`.
    """

    written: str
    plain: str

    number: bool
    name: bool
    root: str


@cache
def _read_lists() -> dict[str, Any]:
    path = resources.files("textrawl.values") / "grounding.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def _read_words(name: str) -> frozenset[str]:
    return frozenset(" ".join(_read_lists()[name]).split())


def _fold(text: str) -> str:
    """Return a text in lower case and without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in apart if not unicodedata.combining(c)))


@cache
def _read_numbers() -> Mapping[str, str]:
    """Return the number of each number word."""
    return {
        word: str(n) for n, words in enumerate(_read_lists()["numbers"]) for word in words.split()
    }


def _write_plain(word: str) -> Iterator[str]:
    """Yield the forms of a word for comparisons. A date has a form for year, month and day."""
    if date := _DATE.fullmatch(word):
        yield date[1]
        yield f"m{int(date[2])}"
        if date[3]:
            yield str(int(date[3]))
        return
    plain = _fold(word)
    if ordinal := _ORDINAL.fullmatch(plain):
        yield ordinal[1]
    elif plain[0].isdigit():
        yield plain.replace(",", "").removesuffix(".0")
    elif _IDEOGRAPHS.search(plain) and len(plain) > 1:
        yield from (plain[place : place + 2] for place in range(len(plain) - 1))
    else:
        bare = plain if plain in _read_words("denial") else _POSSESSIVE.sub("", plain)
        yield _read_numbers().get(bare) or bare


def _build_token(written: str, plain: str) -> _Token:
    name = written != written.lower()
    return _Token(written, plain, plain[0].isdigit(), name, _read_roots().get(plain, plain))


def _read_tokens(text: str) -> list[_Token]:
    return [
        _build_token(found[0], plain)
        for found in _WORD.finditer(unicodedata.normalize("NFC", text))
        for plain in _write_plain(found[0].replace("\u2019", "'"))
        if plain
    ]


def _is_same(one: _Token, other: _Token) -> bool:
    """Return whether two words are the same, or forms of one word or of one name."""
    if one.root == other.root:
        return True
    if one.number or other.number or one.plain[:_INDEXED] != other.plain[:_INDEXED]:
        return False
    short, long = sorted((one.plain, other.plain), key=len)
    if one.name and other.name:
        return long.startswith(short) and len(long) - len(short) <= _NAME_ENDING
    pairs = enumerate(zip(short, long, strict=False))
    shared = next((n for n, (a, b) in pairs if a != b), len(short))
    rest = len(short) - shared, len(long) - shared
    return shared >= _STEM and rest[0] <= _INFLECTION and rest[1] <= _INFLECTION + 1


@cache
def _read_roots() -> Mapping[str, str]:
    """Return one text for all forms of an irregular word, and one for all names of a month."""
    months: Sequence[str] = _read_lists()["months"]
    lists = (*_read_lists()["forms"], *months)
    named = {f"m{number}": words for number, words in enumerate(months, 1)}
    return {word: words for words in lists for word in words.split()} | named


def _is_light(token: _Token) -> bool:
    """Return whether a word carries nothing that could be invented."""
    return token.plain in _read_words("function")


def _has(tokens: Sequence[_Token], wanted: _Token) -> bool:
    return any(_is_same(wanted, one) for one in tokens)


@dataclass(frozen=True)
class _Passage:
    """A sentence, or a clause from the word `first` of its sentence on."""

    text: str
    tokens: tuple[_Token, ...]
    first: int = 0


def _cut(text: str, ends: re.Pattern[str]) -> list[_Passage]:
    """Return the parts of a text."""
    parts, start, first = list[_Passage](), 0, 0
    for end in [*(found.end() for found in ends.finditer(text)), len(text)]:
        if part := text[start:end].strip():
            tokens = tuple(_read_tokens(part))
            parts.append(_Passage(part, tokens, first))
            first += len(tokens)
        start = end
    return parts


def _cut_clauses(sentence: _Passage) -> list[_Passage]:
    """Return the clauses of a sentence. A part of two words or less belongs to the one before."""
    clauses = list[_Passage]()
    for one in _cut(sentence.text, _CLAUSE_END):
        if not clauses or len(one.tokens) >= _CLAUSE:
            clauses.append(one)
            continue
        last = clauses.pop()
        clauses.append(_Passage(f"{last.text} {one.text}", last.tokens + one.tokens, last.first))
    return clauses


def _find_antecedents(clauses: Sequence[_Passage], number: int) -> list[int]:
    """Return a clause, and the ones before it that it goes on with: she swims and runs."""
    found = [number]
    while found[-1] and clauses[found[-1]].tokens[0].plain in _read_words("conjunction"):
        first = clauses[found[-1]].tokens[1:3]
        if any(one.name or _refers([one]) or _has_any([one], "writing") for one in first[:1]):
            break  # it has a subject of its own
        found.append(found[-1] - 1)
    return found


@dataclass(frozen=True)
class _Entity:
    """A name with the words by which a text can name it."""

    name: str
    forms: tuple[Sequence[_Token], ...]

    def find(self, tokens: Sequence[_Token]) -> tuple[int, int] | None:
        """Return the first and the last place of a form whose words all stand in `tokens`."""
        for form in self.forms:
            places = [
                next((n for n, one in enumerate(tokens) if _is_same(part, one)), -1)
                for part in form
            ]
            if min(places) >= 0:
                return min(places), max(places)
        return None


class _Statement:
    """A claim about an entity: its words, and those that say something beside the name."""

    def __init__(self, entity: _Entity, claim: str) -> None:
        self.entity = entity
        self.words = _read_tokens(claim)
        self.own = [token for form in entity.forms for token in form]
        self.content = [
            one
            for one in self.words
            if not (_is_light(one) or _has(self.own, one) or one.plain in _read_words("denial"))
        ]
        if not self.content:
            raise Unsupported("it says nothing")

    def count(self, tokens: Sequence[_Token]) -> int:
        """Return the number of words that stand in `tokens`."""
        return sum(_has(tokens, one) for one in self.content)

    def rate(self, tokens: Sequence[_Token]) -> tuple[int, bool]:
        """Return the number of words in `tokens`, and whether they name the entity."""
        return self.count(tokens), self.entity.find(tokens) is not None

    def contradicts(self, tokens: Sequence[_Token], word: _Token) -> bool:
        """Return whether a name that is not in the claim stands after a word."""
        place = next(n for n, one in enumerate(tokens) if _is_same(word, one))
        return any(one.name and not self.knows(one) for one in tokens[place + 1 :])

    def knows(self, token: _Token) -> bool:
        """Return whether a word stands in the claim or in a name of the entity."""
        return _has(self.words, token) or _has(self.own, token)

    def lists(self, first: _Token, second: _Token) -> bool:
        """Return whether only a conjunction stands between two words."""
        between = self.words[self.words.index(first) + 1 : self.words.index(second)]
        return all(one.plain in _read_words("conjunction") for one in between)

    def adds(self, tokens: Sequence[_Token], main: Sequence[_Token]) -> bool:
        """Return whether `tokens` have a word that `main` does not have."""
        return any(_has(tokens, one) and not _has(main, one) for one in self.content)


class Grounding:
    """The text that claims were taken from."""

    def __init__(self, text: str) -> None:
        self._sentences = _cut(text, _SENTENCE_END)
        self._index = dict[str, list[tuple[int, int, _Token]]]()
        for number, sentence in enumerate(self._sentences):
            for place, token in enumerate(sentence.tokens):
                for key in {token.root, token.plain[:_INDEXED]}:
                    self._index.setdefault(key, []).append((number, place, token))

    def support_fact(self, entity: str, claim: str) -> str:
        """Return the sentence that supports a claim about an entity. Raises Unsupported."""
        statement = _Statement(self._read_entity(entity), claim)
        counts = Counter[int]()
        for one in statement.content:
            counts.update({number for number, _ in self._find(one)})
        ranked = sorted(counts, key=lambda number: (-counts[number], number))[:_MOST_TRIED]
        return _choose(lambda number: self._check_fact(statement, number), ranked)

    def support_relation(self, source: str, relation: str, target: str) -> str:
        """Return the sentence that supports a relation. Raises Unsupported."""
        ends = self._read_entity(source), self._read_entity(target)
        near = {number for form in ends[1].forms for number, _ in self._find(form[0])}
        numbers = [one for one in sorted(near) if ends[1].find(self._sentences[one].tokens)]
        return _choose(lambda number: self._check_relation(ends, relation, number), numbers)

    def names(self, name: str) -> bool:
        """Return whether the text has a name."""
        try:
            self._read_entity(name)
        except Unsupported:
            return False
        return True

    def find_invention(self, text: str) -> str | None:
        """Return the first name or number of `text` that the grounds do not have, or None."""
        for sentence in _cut(text, _SENTENCE_END):
            for place, one in enumerate(sentence.tokens):
                # The first word has a capital letter also if it is no name.
                telling = one.number or (one.name and place > 0 and not _is_light(one))
                if telling and not self._find(one):
                    return one.written
        return None

    def _find(self, token: _Token) -> set[tuple[int, int]]:
        """Return the sentences and places of a word in the text."""
        keys = {token.root, token.plain[:_INDEXED]}
        near = [one for key in keys for one in self._index.get(key, ())]
        return {(number, place) for number, place, one in near if _is_same(token, one)}

    def _read_entity(self, name: str) -> _Entity:
        """Return the forms of a name. Raises Unsupported if the text has none of them."""
        names = [name]
        if _fold(name) in _read_lists()["writer"]:
            names += sorted(_read_words("writers"))
        forms = [[t for t in _read_tokens(one) if t.plain not in _ARTICLES] for one in names]
        forms = [form for form in forms if form and all(self._find(part) for part in form)]
        if not forms:
            raise Unsupported(f"the text does not name {name}")
        alone = [
            [part]
            for form in forms
            for part in form
            if len(form) > 1 and part.name and not self._is_shared(part, form)
        ]
        return _Entity(name, (*forms, *alone))

    def _is_shared(self, part: _Token, name: Sequence[_Token]) -> bool:
        """Return whether a word is a part of another name, too, as in Team Falcon, Team Heron."""
        for number, place in self._find(part):
            tokens = self._sentences[number].tokens
            beside = (*tokens[max(place - 1, 0) : place], *tokens[place + 1 : place + 2])
            if any(t.name and not _has(name, t) and not _is_light(t) for t in beside):
                return True
        return False

    def _check_fact(self, statement: _Statement, number: int) -> str:
        sentence = self._sentences[number]
        _refuse_orders(sentence)
        self._check_words(statement, number)
        clauses = _cut_clauses(sentence)
        told = [n for n, one in enumerate(clauses) if statement.count(one.tokens)]
        main = max(told, key=lambda n: statement.rate(clauses[n].tokens))
        _check_numbers(statement, clauses[main], sentence)
        _check_names(statement, clauses, sentence)
        self._check_subject(statement, clauses, main, number)
        for clause in (clauses[n] for n in told):
            if statement.adds(clause.tokens, clauses[main].tokens):
                _refuse_subject(statement, clause)
        said = {n for one in told for n in _find_antecedents(clauses, one)}
        _check_polarity(statement.words, [clauses[n] for n in sorted(said)], sentence)
        return sentence.text

    def _check_words(self, statement: _Statement, number: int) -> None:
        """Require all words of a claim. The sentence can refer to names of the one before it."""
        tokens = self._sentences[number].tokens
        before = self._sentences[number - 1].tokens if number else ()
        named = [one for one in before if one.name]
        plain = {one.plain for one in tokens}
        if not plain & _read_words("place"):
            named = named[:1] if plain & _read_words("possessive") else []
        for one in statement.content:
            if not (_has(tokens, one) or (one.name and _has(named, one))):
                raise Unsupported(f"its sentence does not say {one.written}")

    def _check_subject(
        self, statement: _Statement, clauses: Sequence[_Passage], main: int, number: int
    ) -> None:
        """Require that a clause is about the entity: it names it, or refers to it."""
        entity, clause = statement.entity, clauses[main]
        if place := entity.find(clause.tokens):
            _check_place(statement, place, clause)
            return
        head = _refuse_subject(statement, clause)
        before = self._sentences[max(number - _BEFORE, 0) : number]
        earlier = [token for one in before for token in one.tokens]
        own = _refers(clause.tokens) or _has_any(head, "possessive")
        if own:
            near = [*earlier, *(token for one in clauses[:main] for token in one.tokens)]
        elif main:
            above = [
                token for n in _find_antecedents(clauses, main)[1:] for token in clauses[n].tokens
            ]
            near = above or [token for one in clauses[:main] for token in one.tokens]
            near += earlier if _refers(above) else []
        else:  # a clause without a subject can stand before it: born in Accra, Kwame ...
            near = [] if head or len(clauses) == 1 else [*clauses[1].tokens[:_CLAUSE]]
        if not entity.find(near):
            raise Unsupported(f"its sentence is not about {entity.name}")

    def _check_relation(self, ends: tuple[_Entity, _Entity], relation: str, number: int) -> str:
        sentence = self._sentences[number]
        _refuse_orders(sentence)
        places = [end.find(sentence.tokens) for end in ends]
        earlier = [
            t for one in self._sentences[max(number - _BEFORE, 0) : number] for t in one.tokens
        ]
        if not places[0] and not ends[0].find(earlier):
            raise Unsupported("no sentence has both names")
        _check_verb(relation, sentence)
        _check_direction(relation, places, sentence)
        told = [one for one in _cut_clauses(sentence) if ends[1].find(one.tokens)]
        if told and not any(ends[0].find(one.tokens) for one in told):
            _refuse_other(ends, told[0])
        _check_polarity(_read_tokens(relation.replace("_", " ")), told or [sentence], sentence)
        return sentence.text


def _has_any(tokens: Sequence[_Token], words: str) -> bool:
    return any(one.plain in _read_words(words) for one in tokens)


def _refers(tokens: Sequence[_Token]) -> bool:
    return _has_any(tokens, "pronoun")


def _refuse_subject(statement: _Statement, clause: _Passage) -> Sequence[_Token]:
    """Return the words of a clause before those of a claim, unless they name another subject."""
    verb = next(n for n, one in enumerate(clause.tokens) if _has(statement.content, one))
    head = clause.tokens[:verb]
    if not statement.entity.find(clause.tokens) and (subject := _find_subject(head, statement)):
        raise Unsupported(f"its sentence is about {subject}")
    return head


def _find_subject(head: Sequence[_Token], statement: _Statement) -> str | None:
    """Return another subject of a clause that begins with `head`, or None."""
    writers = [one for one in head if one.plain in _read_words("writing")]
    if writers and not _has_any(statement.own, "writing"):
        return writers[0].written
    others = [
        one
        for one in head
        if not (_is_light(one) or statement.knows(one) or one.plain in _read_words("denial"))
    ]
    if _refers(head):  # other words beside a pronoun, such as "already he", are no subject
        others = [one for one in others if one.name and not one.number and one is not head[0]]
    return others[0].written if others else None


def _refuse_other(ends: tuple[_Entity, _Entity], clause: _Passage) -> None:
    """Refuse a clause in which another name than the source stands before the target."""
    known = [token for end in ends for form in end.forms for token in form]
    target = ends[1].find(clause.tokens)
    head = clause.tokens[: target[0]] if target else ()
    if others := [one for one in head if one.name and not _is_light(one) and not _has(known, one)]:
        raise Unsupported(f"its sentence is about {others[0].written}")


def _choose(check: Callable[[int], str], numbers: Sequence[int]) -> str:
    """Return the first sentence that passes, or raise the reason of the first one."""
    reasons = list[Unsupported]()
    for number in numbers:
        try:
            return check(number)
        except Unsupported as reason:
            reasons.append(reason)
    raise reasons[0] if reasons else Unsupported("no sentence says it")


def _refuse_orders(sentence: _Passage) -> None:
    if _read_orders().search(sentence.text):
        raise Unsupported("its sentence gives orders to its reader")


@cache
def _read_orders() -> re.Pattern[str]:
    return re.compile("|".join(_read_lists()["command"]), re.IGNORECASE)


def _check_numbers(statement: _Statement, clause: _Passage, sentence: _Passage) -> None:
    """Require that each number stands before the thing that it counts in the claim."""
    for place, one in enumerate(statement.content):
        if not one.number or _DATE.fullmatch(one.written):
            continue
        counted = [thing for thing in statement.content[place + 1 : place + 2] if not thing.number]
        where = clause if counted and _has(clause.tokens, counted[0]) else sentence
        if not _has(where.tokens, one):
            raise Unsupported(f"its sentence does not say {one.written}")
        if counted and not _is_counted(one, counted[0], where.tokens):
            raise Unsupported(f"its sentence says another number than {one.written}")


def _check_names(statement: _Statement, clauses: Sequence[_Passage], sentence: _Passage) -> None:
    """Require that a name stands in a clause with the word before it, and names in their order."""
    named = [one for one in statement.content if one.name and _has(sentence.tokens, one)]
    for word, name in pairwise(statement.content):
        apart = [one for one in clauses if _has(one.tokens, word)]
        if name not in named or any(_has(one.tokens, name) for one in apart):
            continue
        if any(statement.contradicts(one.tokens, word) for one in apart):
            raise Unsupported(f"its sentence does not say {word.written} of {name.written}")
    if _PASSIVE.search(sentence.text):
        return
    for first, second in pairwise(named):
        places = [
            [n for n, one in enumerate(sentence.tokens) if _is_same(name, one)]
            for name in (first, second)
        ]
        if min(places[0]) > max(places[1]) and not statement.lists(first, second):
            raise Unsupported("its sentence says it the other way round")


def _is_counted(number: _Token, thing: _Token, tokens: Sequence[_Token]) -> bool:
    """Return whether `number` is the last number before the thing, or none is near it."""
    for place in (n for n, one in enumerate(tokens) if _is_same(thing, one)):
        near = [one for one in tokens[max(place - _NEAR, 0) : place] if one.number]
        if not near or near[-1].plain == number.plain:
            return True
    return False


def _check_place(statement: _Statement, place: tuple[int, int], clause: _Passage) -> None:
    """Refuse a clause in which the entity is the object, or only the owner of the subject."""
    tokens = clause.tokens
    after = tokens[place[1] + 1] if place[1] + 1 < len(tokens) else None
    if after and _owns(tokens[place[1]]) and not _is_light(after):
        if not _has(statement.content, after):
            raise Unsupported(f"its sentence is about {after.written}")
        return
    said = [n for n, one in enumerate(tokens) if _has(statement.content, one)]
    if not said or max(said) > place[0]:
        return
    if _is_apposition(tokens, place[0], said) or _PASSIVE.search(clause.text):
        return
    raise Unsupported("its sentence says it the other way round")


def _is_apposition(tokens: Sequence[_Token], place: int, said: Sequence[int]) -> bool:
    """Return whether what is said stands before a name: her friend Leo, the drummer is Lola."""
    if place and tokens[place - 1].plain in _read_words("copula"):
        return True
    start = place - 1
    while start > 0 and (start in said or (tokens[start].name and not _owns(tokens[start]))):
        start -= 1
    return start < place - 1 and (
        tokens[start].plain in _read_words("determiner") or _owns(tokens[start])
    )


def _owns(token: _Token) -> bool:
    """Return whether a word says to whom the next one belongs."""
    own = token.plain in _read_words("writers") and token.plain in _read_words("determiner")
    return own or bool(_POSSESSIVE.search(token.written))


def _check_verb(relation: str, sentence: _Passage) -> None:
    """Require a word that says the relation."""
    plain = _fold(relation).replace("_", " ").replace("-", " ")
    known: str | None = _read_lists()["relations"].get(plain.replace(" ", "_"))
    telling = [one for one in _read_tokens(f"{known or ''} {plain}") if known or not _is_light(one)]
    if known != "" and telling and not any(_has(sentence.tokens, one) for one in telling):
        raise Unsupported(f"no word of its sentence says {relation}")


def _check_direction(
    relation: str, places: Sequence[tuple[int, int] | None], sentence: _Passage
) -> None:
    """Refuse a relation whose ends stand the other way round."""
    mutual: Sequence[str] = _read_lists()["relations_in_both_directions"]["names"].split()
    source, target = places
    if source is None or target is None or _fold(relation).replace(" ", "_") in mutual:
        return
    owned = bool(_POSSESSIVE.search(sentence.tokens[target[1]].written))
    if source > target and not owned and not _PASSIVE.search(sentence.text):
        raise Unsupported("its sentence says it the other way round")


def _check_polarity(claim: Sequence[_Token], told: Sequence[_Passage], sentence: _Passage) -> None:
    """Require the denial, the doubt and the past of a sentence in the claim, and no other ones."""
    said = {one.plain for one in claim}
    denied = any(_denies(one.tokens) for one in told)
    if denied is not _denies(claim):
        raise Unsupported("its sentence denies it" if denied else "its sentence does not deny it")
    doubt = _read_words("doubt") | _read_words("condition")
    doubtful = any(
        one.plain in _read_words("doubt") and not one.name
        for clause in told
        for one in clause.tokens
    ) or _has_any(sentence.tokens, "condition")
    asked = sentence.text.rstrip().endswith(("?", "\uff1f"))
    if (doubtful or asked) and not said & doubt:
        raise Unsupported("its sentence does not say that it is so")
    ended = any(one.plain in _read_words("past") for clause in told for one in clause.tokens)
    was = any(one.plain in _read_words("was") or one.plain.endswith("ed") for one in claim)
    if ended and not was and not said & _read_words("past"):
        raise Unsupported("its sentence says that it was so once")


def _denies(tokens: Sequence[_Token]) -> bool:
    """Return whether words deny something. A denied refusal is no denial."""
    parts: Sequence[str] = _read_lists()["denied_part"]
    denied = _has_any(tokens, "denial") or any(
        part in one.plain for one in tokens for part in parts
    )
    return denied is not _has_any(tokens, "refusal")
