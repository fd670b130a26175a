"""Facts that a session knows by their text, because a server over HTTP sends a digest without ids.

Digests and answers in lines have the same shape: the name of an entity, then a line for each of its
facts, which begins with `- ` or with a score. No name and no fact can look like another line.
"""

import hashlib
import re
from collections.abc import Collection

_FACT = re.compile(r"(?:-|[0-9]{1,3}) (?=\S)")


def hash_lines(text: str) -> list[str]:
    """Return a short hash of each fact in a text."""
    lines = map(_read_fact, text.split("\n"))
    return [_hash(fact) for fact in lines if fact]


def drop_known(text: str, known: Collection[str]) -> str:
    """Return the text without facts whose hash is known, and without entities that lose all."""
    kept, header = list[str](), ""
    for line in text.split("\n"):
        fact = _read_fact(line)
        if fact is None:
            header = line
        elif _hash(fact) not in known:
            kept += [header, line] if header else [line]
            header = ""
    return "\n".join(kept)


def _read_fact(line: str) -> str | None:
    """Return the fact of a line, or None for the name of an entity."""
    found = _FACT.match(line)
    return line[found.end() :] if found else None


def _hash(fact: str) -> str:
    return hashlib.sha256(fact.encode(errors="replace")).hexdigest()[:16]
