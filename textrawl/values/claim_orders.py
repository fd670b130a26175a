"""Other orders of the words of a sentence that say the same, with a pronoun replaced or not."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from textrawl.values.claim_words import (
    Word,
    breaks,
    changes,
    find_end,
    find_start,
    is_light,
)


def vary(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Yield a sentence, and its parts in other orders that say the same."""
    yield words
    yield from move_front(words)
    for place, word in enumerate(words):
        if word.is_in("agent"):
            yield from _write_active(words, place)
        if word.plain == "not" and place > 1 and words[place - 1].is_in("joint"):
            yield from _write_denial(words, place)
        if word.plain == "of" or (word.is_in("role") and words[place + 1 : place + 2]):
            yield from _write_owner(words, place)
        if word.is_in("writing") and breaks(words, place):
            yield from _write_passive(words, place)
        if word.is_in("copula") or (place and ":" in word.mark):
            yield from _turn(words, place)


def move_front(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Yield orders in which a first phrase or condition of a part stands at its end."""
    for start in range(len(words)):
        begin = start + words[start].is_in("joint")
        if not breaks(words, start) or begin >= len(words):
            continue
        comma = find_end(words, begin, "hard", "comma")
        ends = comma < len(words) and breaks(words, comma) == "comma"
        first = words[begin]
        if ends and first.is_in("opening"):
            yield _swap(words, begin, comma, find_end(words, comma, "hard"))
        if ends and first.past:
            yield from _move_participle(words, begin, comma)
        if first.is_in("day") or (first.is_in("at", "role") and not first.past):
            yield from _move_phrase(words, begin, comma)


def _move_participle(words: Sequence[Word], begin: int, comma: int) -> Iterator[Sequence[Word]]:
    """Yield `Kwame born in Accra` for `born in Accra, Kwame ...`."""
    end = comma
    while end < len(words) and words[end].name:
        end += 1
    if end > comma:
        yield [*words[comma:end], replace(words[begin], mark=" "), *words[begin + 1 : comma]]


def _move_phrase(words: Sequence[Word], begin: int, comma: int) -> Iterator[Sequence[Word]]:
    """Yield `he works in Rome since May` for `since May he works in Rome`."""
    if changes(words[begin : begin + 2]):
        return
    for stop in range(begin + 1, min(comma + 1, len(words) - 1)):
        word, before = words[stop], words[stop - 1]
        if stop < comma and not (word.is_in("pronoun") or (word.name and not before.name)):
            continue
        if not before.is_in("at", "role", "joint") and breaks(words, stop) != "hard":
            yield _swap(words, begin, stop, find_end(words, stop))


def _swap(words: Sequence[Word], begin: int, middle: int, end: int) -> Sequence[Word]:
    """Return words in which the ones from `begin` stand behind those from `middle`."""
    first = replace(words[middle], mark=words[begin].mark)
    second = replace(words[begin], mark=" ")
    moved = [first, *words[middle + 1 : end], second, *words[begin + 1 : middle]]
    return [*words[:begin], *moved, *words[end:]]


def _write_active(words: Sequence[Word], place: int) -> Iterator[Sequence[Word]]:
    """Yield `Ann wrote the book` for `the book was written by Ann`."""
    verb = place - 1
    start = find_start(words, verb)
    if verb < 1 or is_light(words[verb]):
        return
    end = place + 1
    while end < len(words) and (words[end].name or words[end].is_in("determiner")):
        if end > place + 1 and breaks(words, end):
            break
        end += 1
    agent = words[place + 1 : end]
    object_start, object_end = start, verb
    if words[start].is_in("joint"):  # it was written by Ann and reviewed by Ben
        object_start = find_start(words, start - 1)
        object_end = start
    aux = [n for n in range(object_start, object_end) if words[n].is_in("copula")]
    if not agent or not aux:
        return
    thing = words[object_start : aux[0]]
    if thing and not (changes(words[aux[0] : verb]) or changes(thing)):
        thing = [replace(thing[0], mark=" "), *thing[1:]]
        now = words[aux[0]].is_in("now")  # a participle says no time: they are sent by Ann
        said = replace(words[verb], written="") if now else words[verb]
        yield [*agent, said, *thing, *words[end : find_end(words, end - 1)]]


def _turn(words: Sequence[Word], place: int) -> Iterator[Sequence[Word]]:
    """Yield `Lola is the drummer` for `the drummer is (called) Lola`, and for `drummer: Lola`."""
    colon = not words[place].is_in("copula")
    start, begin = find_start(words, place - 1 if colon else place), place + (not colon)
    begin += not colon and words[begin : begin + 1] != [] and words[begin].plain == "called"
    end = begin
    while end < len(words) and words[end].name and (end == begin or not breaks(words, end)):
        end += 1
    if end > begin and not changes(words[start:end]) and (end == len(words) or breaks(words, end)):
        verb = [] if colon else [replace(words[place], mark=" ")]
        yield [*words[begin:end], *verb, replace(words[start], mark=" "), *words[start + 1 : place]]


def _write_denial(words: Sequence[Word], place: int) -> Iterator[Sequence[Word]]:
    """Yield `he is not allergic to eggs` for `he is allergic to nuts, but not to eggs`."""
    if place + 1 == len(words) or not words[place + 1].is_in("at", "role"):
        return
    start, end = find_start(words, place - 2), find_end(words, place)
    same = [n for n in range(start, place - 1) if words[n].plain == words[place + 1].plain]
    verbs = [n for n in range(start, place - 1) if words[n].is_in("copula", "modal")]
    if same and verbs and verbs[0] < same[0]:
        told = [*words[start : verbs[0] + 1], words[place], *words[verbs[0] + 1 : same[0]]]
        yield [*told, *words[place + 1 : end]]


def _write_owner(words: Sequence[Word], place: int) -> Iterator[Sequence[Word]]:
    """Yield `the car's colour is red` for `the colour of the car is red`, and `Ann's letter`."""
    start, end = find_start(words, place), place + 1
    named = words[place].plain != "of"
    while end < len(words) and (words[end].name if named else not words[end].is_in("copula")):
        if breaks(words, end) or words[end].is_in("role"):
            break
        end += 1
    if not (start < place and place + 1 < end < len(words)) or changes(words[start:end]):
        return
    if words[end - 1].owns:
        return
    last = replace(words[end - 1], written=f"{words[end - 1].written}'s")
    thing = [replace(words[start], mark=" "), *words[start + 1 : place]]
    yield [*words[place + 1 : end - 1], last, *thing, *words[end : find_end(words, end)]]


def _write_passive(words: Sequence[Word], place: int) -> Iterator[Sequence[Word]]:
    """Yield `the car sold in May` for `we sold the car in May`. The claim has: it was sold."""
    thing = place + 2
    end = thing + 1
    while end < len(words) and not (breaks(words, end) or words[end].is_in("at", "role")):
        end += 1
    if end < len(words) and words[thing].is_in("determiner") and words[place + 1].past:
        verb = replace(words[place + 1], mark=" ")
        yield [*words[thing:end], verb, *words[end : find_end(words, end)]]


def name_things(words: Sequence[Word], before: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Yield a sentence with the thing that `it` or `there` means, if it can mean one alone.

    It is the only object of the clause before it, or of the sentence before.
    """
    for place, word in enumerate(words):
        start = find_start(words, place)
        if not place or not word.is_in("thing_pronoun", "there"):
            continue
        clause = words[find_start(words, start - 1) : start] if start else before
        if word.is_in("there"):
            things = list(_find_places(clause))
        elif all(is_light(one) or one.is_in("joint", "role") for one in words[start:place]):
            continue  # a subject
        else:
            things = list(_find_objects(clause))
        if len(things) != 1 or clause[things[0][1] - 1].owns:
            continue
        first, last = things[0]
        end = find_end(words, place) if word.plain == "where" else place + 1
        kept = [*words[place:end]] if word.plain == "where" else []
        thing = [replace(clause[first], mark=" "), *clause[first + 1 : last]]
        yield [*words[:place], *kept, *thing, *words[end:]]
        if last < len(clause) and clause[last].is_in("at"):  # the house in Rome
            more = find_end(clause, last)
            stop = next((n for n in range(last + 1, more) if clause[n].is_in("at", "role")), more)
            yield [*words[:place], *kept, *thing, *clause[last:stop], *words[end:]]


def _find_places(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Yield the places of names that are no subject: at Acme, joined Acme Corp."""
    place = 1
    while place < len(words):
        end = place
        while end < len(words) and words[end].name and not (breaks(words, end) and end > place):
            end += 1
        first, plain = words[place], not (words[place - 1].name or breaks(words, place))
        if end > place and plain and not (first.is_in("months") or is_light(first)):
            yield place, end
        place = max(end, place + 1)


def _find_objects(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Yield the places of things that follow a verb at once."""
    for place in range(1, len(words)):
        verb, word = words[place - 1], words[place]
        given = word.is_in("determiner") or (word.name and not is_light(word))
        if not given or verb.name or is_light(verb) or verb.is_in("role", "joint", "subordinate"):
            continue
        end = place + 1
        while end < len(words) and not (
            breaks(words, end) or words[end].is_in("at", "role", "often") or is_light(words[end])
        ):
            end += 1
        yield place, end
