"""The strength of a memory that its text suggests.

A text without a marker is an ordinary memory with the strength 1. A marker raises the strength, and
then length and entities raise it further:

| marker | from | to |
| --- | --- | --- |
| a preference or a decision | 1.3 | 1.5 |
| important | 1.4 | 1.5 |
| a request to store something | 1.5 | 1.5 |
| critical | 1.8 | 2 |

A question lowers the strength by 0.05 within these limits.
"""

from collections.abc import Sequence

from textrawl.toolsets.decay.analysis.phrases import Phrases, load_phrases, straighten

LEAST, MOST = 1.0, 2.0
_LENGTH, _LONG = 0.2, 500  # the weight of the length, and the characters of a long text
_ENTITIES, _MANY = 0.3, 5
_QUESTION = 0.05
_BANDS = (  # the kinds of markers, heaviest first, with the limits of their strength
    (("critical",), 1.8, 2.0),
    (("save",), 1.5, 1.5),
    (("important",), 1.4, 1.5),
    (("preference", "decision"), 1.3, 1.5),
)


def rate_strength(text: str, entities: Sequence[str]) -> float:
    """Return the strength of a memory with this text and these entities, from 1 to 2."""
    straight, phrases = straighten(text), load_phrases()
    for kinds, least, most in _BANDS:
        if any(phrases.kinds[kind].search(straight) for kind in kinds):
            share = min(1, len(text) / _LONG) * _LENGTH + min(1, len(entities) / _MANY) * _ENTITIES
            asked = _QUESTION if "?" in text else 0
            return round(max(least, min(most, least + share - asked)), 2)
    return LEAST


def has_marker(phrases: Phrases, straight: str) -> bool:
    """Return whether a straightened text has a marker of importance."""
    return any(phrases.kinds[kind].search(straight) for kinds, _, _ in _BANDS for kind in kinds)
