"""A strict comparison of a claim with a sentence: the claim has to be a shortened copy of it.

The words of the claim have to follow the subject of the sentence in the same order. The claim may
leave out only light words between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from textrawl.values.claim_sentences import (
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
    """A search for the words of a claim in a sentence, after the subject of the sentence.

    `first` and `last` are positions of the subject. `lead` has the light words before the claim.
    """

    words: Sequence[Word]
    claim: Sequence[Word]
    first: int
    last: int
    lead: Sequence[Word] = ()
    _failed: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def succeeds(self) -> bool:
        """Return whether the sentence makes the claim about the subject."""
        return any(
            self._is_word(0, place)
            and self._has_verb(place)
            and self._has_tense(place)
            and self._continues(1, place)
            for place in range(self.last + 1, len(self.words))
        )

    def _is_word(self, number: int, place: int) -> bool:
        wanted, word = self.claim[number], self.words[place]
        if not is_same(wanted, word):
            return False
        if word.plain == f"{wanted.plain}e" and wanted.plain.endswith("t"):
            return False  # the claim "wohnt" is present, "wohnte" is past
        return wanted.name or wanted.past == word.past

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
        left_out = [self.words[n] for n in between]
        light = all(is_light(one) or one.is_in("joint") for one in left_out)
        return light and not (self.words[place].is_in("denial") and any(kinds))

    def _may_stop(self, place: int) -> bool:
        """Return whether a claim may end at a word and leave out the rest of the sentence."""
        if place + 1 == len(self.words) or breaks(self.words, place + 1) == "hard":
            return True
        after, kind = self.words[place + 1], breaks(self.words, place + 1)
        if not (kind or is_light(after) or after.is_in("role", "after")):
            return False
        left_out = self.words[place + 1 : find_end(self.words, place + bool(kind))]
        if not kind:
            return not changes(left_out)
        if after.is_in("joint"):  # another statement: and never went back
            adds = has_any(left_out[2:3], "at", "role", "subordinate")
            return not (adds and has_any(left_out[:2], "limit", "condition"))
        happened = after.plain == "before" and any(one.past for one in self.claim)
        return happened or not has_any(left_out[:2], "limit", "condition")

    def _has_verb(self, place: int) -> bool:
        """Return whether the verb at a place belongs to the subject."""
        between = self.words[self.last + 1 : place]
        kinds = [breaks(self.words, n) for n in range(self.last + 1, place + 1)]
        if "hard" in kinds:
            return False
        if between and between[-1].is_in("relative") and kinds[0] and len(between) <= _MOST_BEFORE:
            return True  # who swims: the name before `who` is the subject
        if not self._is_subject():
            return False
        if all(map(is_light, between)):
            return self._follows(between, kinds)
        return not self.words[self.last].owns and self._shares_subject(between, kinds, place)

    def _follows(self, between: Sequence[Word], kinds: Sequence[str]) -> bool:
        """Return whether the verb or an apposition follows the subject without a break."""
        if kinds[0] == "comma" and has_any(between, "determiner") and self.lead:
            return has_any(self.lead, "copula")  # Ngozi, a nurse: supports "is a nurse"
        return not any(kinds) or kinds[0] == "comma"

    def _has_tense(self, place: int) -> bool:
        """Return whether claim and sentence have the same tense, and the same `has` and `is`."""
        before = self.words[self.last + 1 : place]
        claims_past = has_any(self.lead, "was", "had") or any(one.past for one in self.claim)
        if has_any(before, "was", "had") and not claims_past:
            return False  # Tom was the CEO: a claim without a verb would say that he is
        copula = has_any(before, "copula")
        if copula and self.words[place].past and not has_any(self.lead, "copula"):
            return False  # Ann was paid: the claim "paid" would say that Ann paid
        for now, past in (("has", "had"), ("is", "was")):
            if has_any(self.lead, now) and has_any(before, past) and not has_any(before, now):
                return False
            if has_any(self.lead, past) and has_any(before, now) and not has_any(before, past):
                return False
        have = has_any(self.lead, "has", "had") and not has_any(self.lead, "is", "was")
        return not have or has_any(before, "has", "had", "is", "was")

    def _shares_subject(self, between: Sequence[Word], kinds: Sequence[str], place: int) -> bool:
        """Return whether a verb follows another one of the same subject: she swims and runs."""
        if kinds[0] or "clause" in kinds or not any(kinds):
            return False
        before = self.words[find_start(self.words, place) : place]
        if changes(between) or has_any(before, "pronoun"):  # "she" can be somebody else
            return False
        return all(is_light(w) or w.is_in("joint") for w in before)

    def _is_subject(self) -> bool:
        """Return whether the name from `first` to `last` can be the subject of its clause."""
        start = find_start(self.words, self.first)
        before = list(self.words[start : self.first])
        earlier = self.words[find_start(self.words, start, "hard") : start]
        excepted = before and before[0].plain == "but" and not before[0].mark.strip()
        settled = all(is_light(one) or one.is_in("settled") for one in earlier)
        if excepted or (has_any(before[:1], "that") and not settled):
            return False
        if has_any(earlier[:1], "limit", "denial") or has_any(before, "limit", "report"):
            return False
        phrase = [*earlier, *before]
        of_time = all(w.number or is_light(w) or w.is_in("role", "day", "months") for w in phrase)
        if has_any(phrase[:1], "at", "role") and not of_time:
            return False  # in the novel Ann is a spy, but not: since May 2021
        while before and (
            is_light(before[0]) or before[0].is_in("joint", "subordinate", "opening")
        ):
            if before[0].is_in("determiner", "possessive"):
                break
            before.pop(0)
        if before and before[0].plain == "only":
            before.pop(0)
        return _introduces(before)


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
    common = [one for one in noun if not one.name]
    return len(common) <= _MOST_BEFORE and not any(one.past for one in common)
