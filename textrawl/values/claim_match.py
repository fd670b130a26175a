"""A strict comparison of a claim with one sentence: the claim is the sentence, shortened.

The words of the claim stand in the sentence in the same order behind the subject. Between them only
light words, whole phrases and the first parts of a list are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from textrawl.values.claim_words import (
    Word,
    breaks,
    changes,
    find_end,
    find_start,
    has_any,
    is_light,
    is_same,
)

_MOST_LEFT_OUT = 14  # words between two words of a claim
_MOST_BEFORE = 2  # words of an apposition before a name: our tall neighbour Tom


@dataclass
class Match:
    """A search for the words of a claim in a sentence behind its subject.

    The subject stands from `first` to `last`. `lead` has the light words that begin the claim.
    """

    words: Sequence[Word]
    claim: Sequence[Word]
    first: int
    last: int
    lead: Sequence[Word] = ()
    _failed: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def succeeds(self) -> bool:
        """Return whether the sentence says the claim of the subject."""
        return any(
            self._is_word(0, place)
            and self._leads_to(place)
            and self._has_tense(place)
            and self._continues(1, place)
            for place in range(self.last + 1, len(self.words))
        )

    def _is_word(self, number: int, place: int) -> bool:
        wanted, word = self.claim[number], self.words[place]
        if not is_same(wanted, word):
            return False
        return wanted.name or not word.written or wanted.past == word.past

    def _continues(self, number: int, place: int) -> bool:
        if number == len(self.claim):
            return self._may_stop(place)
        if (number, place) in self._failed:
            return False
        end = min(place + _MOST_LEFT_OUT, len(self.words))
        for after in range(place + 1, end):
            if (
                self._is_word(number, after)
                and self._may_leave_out(number, place, after)
                and self._continues(number + 1, after)
            ):
                return True
        self._failed.add((number, place))
        return False

    def _may_leave_out(self, number: int, place: int, after: int) -> bool:
        """Return whether a claim may leave out the words between two places."""
        between = range(place + 1, after)
        kinds = [breaks(self.words, n) for n in range(place + 1, after + 1)]
        if "hard" in kinds:
            return not between and bool(self.claim[number].mark.strip())
        left = [self.words[n] for n in between]
        if all(is_light(one) or one.is_in("joint") for one in left):
            return not (self.words[place].is_in("denial") and any(kinds))
        before = self.words[place]
        if changes(left):
            return False
        led = before.is_in("role") or has_any(left, "determiner", "possessive")
        if led and self.words[after].name and not any(kinds) and _describes(left):
            return True
        if before.is_in("role", "denial"):
            return False  # the thing of a preposition or of a denial is the next one
        return self._ends_phrase(left, kinds, after) or self._ends_list(left, kinds, after)

    def _ends_phrase(self, left: Sequence[Word], kinds: Sequence[str], after: int) -> bool:
        """Return whether the words are phrases with prepositions, and another one follows."""
        if any(kinds) or not left[0].is_in("at", "role"):
            return False
        return self.words[after].is_in("role", "at") or left[-1].is_in("at")

    def _ends_list(self, left: Sequence[Word], kinds: Sequence[str], after: int) -> bool:
        """Return whether the words are things of a list before the one that follows."""
        if "clause" in kinds or not any(kinds):
            return False
        role = self.words[after].is_in("role")
        if left[0].is_in("role") is not role or (role and left[0].plain != self.words[after].plain):
            return False
        begin = find_start(self.words, after)
        rest = self.words[begin:after]
        parts = [n for n, kind in enumerate(kinds[:-1]) if kind]
        starts = [left[n + left[n].is_in("joint")] for n in parts if n + 1 < len(left)]
        if any(one.is_in("role", "at") for one in starts[: len(starts) - bool(rest)]):
            return False
        return all(is_light(one) or one.is_in("joint") for one in rest)

    def _may_stop(self, place: int) -> bool:
        """Return whether a claim may end at a word, and leave out the rest of the sentence."""
        if place + 1 == len(self.words) or breaks(self.words, place + 1) == "hard":
            return True
        after, kind = self.words[place + 1], breaks(self.words, place + 1)
        if self.words[place].owns and not self.claim[-1].owns:
            return False
        if not (kind or is_light(after) or after.is_in("role", "after")):
            return False
        rest = self.words[place + 1 : find_end(self.words, place + bool(kind))]
        if not kind:
            return not has_any(rest, "limit", "condition")
        if after.is_in("joint"):  # and never went back: this is another thing
            adds = has_any(rest[2:3], "at", "role", "subordinate")
            return not (adds and has_any(rest[:2], "limit", "condition"))
        happened = after.plain == "before" and any(one.past for one in self.claim)
        return happened or not has_any(rest[:1], "limit", "condition")

    def _leads_to(self, place: int) -> bool:
        """Return whether the subject is the one of the verb at a place."""
        if self.last < self.first:
            return place == self.first and self._is_subject()
        between = self.words[self.last + 1 : place]
        kinds = [breaks(self.words, n) for n in range(self.last + 1, place + 1)]
        if "hard" in kinds:
            return False
        if between and between[-1].is_in("relative") and kinds[0] and len(between) <= _MOST_BEFORE:
            return True  # who: the name before it is the subject, whatever it is before
        if not self._is_subject():
            return False
        if all(map(is_light, between)):
            return self._tells(between, kinds)
        return not self.words[self.last].owns and (
            self._passes_apposition(between, kinds)
            or self._passes_subjects(between, kinds)
            or self._shares_subject(between, kinds, place)
        )

    def _tells(self, between: Sequence[Word], kinds: Sequence[str]) -> bool:
        """Return whether a verb, or an apposition that says what it is, follows the subject."""
        if kinds[0] == "comma" and has_any(between, "determiner") and self.lead:
            return has_any(self.lead, "copula")  # Ngozi, a nurse: she is one
        return not any(kinds) or kinds[0] == "comma" or self._begins()

    def _passes_apposition(self, between: Sequence[Word], kinds: Sequence[str]) -> bool:
        """Return whether only an apposition stands before the verb: Ann, our nurse, sings."""
        first = between[0]
        given = first.is_in("determiner", "relative") or first.number or first.name
        if kinds[0] != "comma" or "comma" not in kinds[1:] or not given:
            return False
        end = len(kinds) - 1 - kinds[::-1].index("comma")
        return all(map(is_light, between[end:]))

    def _passes_subjects(self, between: Sequence[Word], kinds: Sequence[str]) -> bool:
        """Return whether only other subjects stand before the verb: Ann and her son Ben sing."""
        if not kinds[0] or not self._begins():
            return False
        if all(is_light(one) or one.is_in("joint") or one.name for one in between):
            return True
        named = [one for one in between[2:] if not is_light(one)]
        own = kinds[0] == "joint" and has_any(between[1:2], "possessive")
        return own and 0 < len(named) <= _MOST_BEFORE and named[-1].name

    def _has_tense(self, place: int) -> bool:
        """Return whether `has` and `is` of the claim are those of the sentence, and of its time."""
        said = self.words[self.last + 1 : place]
        told = has_any(self.lead, "was", "had") or any(one.past for one in self.claim)
        if has_any(said, "was", "had") and not told:
            return False  # Tom was the CEO: a claim without a verb would say that he is
        for now, past in (("has", "had"), ("is", "was")):
            if has_any(self.lead, now) and has_any(said, past) and not has_any(said, now):
                return False
            if has_any(self.lead, past) and has_any(said, now) and not has_any(said, past):
                return False
        owned = self.last >= self.first and self.words[self.last].owns
        have = has_any(self.lead, "has", "had") and not has_any(self.lead, "is", "was")
        return owned or not have or has_any(said, "has", "had", "is", "was")

    def _shares_subject(self, between: Sequence[Word], kinds: Sequence[str], place: int) -> bool:
        """Return whether a verb follows another one of the same subject: she swims and runs."""
        if kinds[0] or "clause" in kinds or not any(kinds):
            return False
        begin = find_start(self.words, place)
        rest = self.words[begin:place]
        if changes(between) or has_any(rest, "pronoun"):  # she can be another one
            return False
        return all(is_light(w) or w.is_in("joint") for w in rest)

    def _begins(self) -> bool:
        """Return whether only names stand before the subject in its clause."""
        start = find_start(self.words, self.first, "hard", "clause")
        before = self.words[start : self.first]
        small = [one for one in before if not (is_light(one) or one.name or one.is_in("joint"))]
        return len(small) <= 1 and (not before or small == [] or before[0].is_in("determiner"))

    def _is_subject(self) -> bool:
        """Return whether the subject stands where the subject of a clause stands."""
        start = find_start(self.words, self.first)
        before = list(self.words[start : self.first])
        earlier = self.words[find_start(self.words, start, "hard") : start]
        if before and before[0].is_in("that") and not has_any(earlier, "report"):
            return False
        if has_any(earlier[:1], "limit", "denial") or has_any(before[1:], "limit"):
            return False
        if before and has_any(before, "report") and not changes(before):
            return True
        while before and (
            is_light(before[0]) or before[0].is_in("joint", "subordinate", "opening")
        ):
            if before[0].is_in("determiner", "possessive"):
                break
            before.pop(0)
        if before and before[0].plain == "only":
            before.pop(0)
        return _introduces(before)


def _describes(words: Sequence[Word]) -> bool:
    """Return whether words before a name say what it is: with his wife Ann."""
    plain = [one for one in words if not is_light(one)]
    return len(plain) == 1 and not any(w.name or w.past or w.is_in("role") for w in plain)


def _introduces(before: Sequence[Word]) -> bool:
    """Return whether words before a name belong to it: our neighbour, Professor, Greta's son."""
    if not before:
        return True
    if before[-1].is_in("at", "role") or changes(before):
        return False
    if all(one.name or is_light(one) for one in before) and not any(one.owns for one in before):
        return True
    owners = [n for n, one in enumerate(before) if one.owns or one.is_in("determiner")]
    if not owners or any(not (one.name or is_light(one)) for one in before[: owners[0]]):
        return False
    noun = [one for one in before[owners[-1] + 1 :] if not is_light(one)]
    small = [one for one in noun if not one.name]
    return len(small) <= _MOST_BEFORE and not any(one.past for one in small)
