"""Work on long texts in steps that take a few milliseconds.

A thread keeps the interpreter for itself while one call of `re` or `unicodedata` runs. All other
threads wait for it, and so do all other calls of a server.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator

_WINDOW = 8192  # characters that one call of `re` looks at
_OVERLAP = 1024  # a match needs at most so many characters; a longer one is then matched whole
_MARKS = re.compile("[\u0300-\U0010ffff]{31,}")


def find_all(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Return what `pattern.finditer` does. No match can be empty."""
    return pattern.finditer(text) if len(text) <= _WINDOW else _find_in_windows(pattern, text)


def _find_in_windows(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    offset, length = 0, len(text)
    while offset < length:
        next_offset = end = min(offset + _WINDOW, length)
        limit = min(end + _OVERLAP, length)
        for found in pattern.finditer(text, offset, limit):
            if found.start() >= end:
                break
            whole = found if found.end() < limit else pattern.match(text, found.start())
            if whole is not None:
                yield whole
                next_offset = max(next_offset, whole.end())
            if found.end() == limit:
                break
        offset = next_offset


def replace_all(pattern: re.Pattern[str], write: Callable[[re.Match[str]], str], text: str) -> str:
    """Return what `pattern.sub` does."""
    if len(text) <= _WINDOW:
        return pattern.sub(write, text)
    parts, offset = list[str](), 0
    for found in find_all(pattern, text):
        parts += text[offset : found.start()], write(found)
        offset = found.end()
    return "".join([*parts, text[offset:]])


def compose(text: str) -> str:
    """Return a text as NFC, in linear time.

    The time of `unicodedata` is quadratic in the number of marks on one letter, unless the marks
    are in their order: 20,000 marks take 0.4 s, and 400,000 marks minutes.
    """
    return unicodedata.normalize("NFC", _MARKS.sub(_sort_marks, text))


def _sort_marks(run: re.Match[str]) -> str:
    """Return a run of characters in which the marks on each letter are in their order."""
    classes = [*map(unicodedata.combining, run[0])]
    if not any(classes):
        return run[0]
    letters, order = 0, list[tuple[int, int]]()
    for kind in classes:
        letters += not kind
        order.append((letters, kind))
    indexes = sorted(range(len(order)), key=order.__getitem__)
    return "".join(run[0][offset] for offset in indexes)
