"""The phrases of all languages, read from the files in `languages`, and the search for them."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

_FOLDER = Path(__file__).parent / "languages"
_AT_BEGINNING = "^"
_SENTENCE_START = r"(?:\A|[.!?:;\n])[\s\"'(*-]{0,9}"
# A phrase is not a part of a longer word, an address or a name such as C++.
_BEGIN, _END = r"(?<![\w.@#+])", r"(?![\w+#]|[.@]\w)"
_KINDS = (
    "save",
    "recall",
    "preference",
    "decision",
    "critical",
    "important",
    "uncertain",
    "question",
)


@dataclass(frozen=True)
class Phrases:
    """The phrases of all languages.

    `kinds` has a pattern for each kind of phrase. `topics` has a pattern for each entity that a
    text can imply. `tags` has the tag of each word that suggests a tag.
    """

    kinds: Mapping[str, re.Pattern[str]]
    known: re.Pattern[str]
    fillers: frozenset[str]
    topics: Mapping[str, re.Pattern[str]]
    tags: Mapping[str, str]
    stop_words: frozenset[str]
    after_names: frozenset[str]

    def find(self, kind: str, text: str) -> list[str]:
        """Return the phrases of one kind that a straightened text contains, in lower case."""
        spans = find_spans(self.kinds[kind], text)
        return list(dict.fromkeys(" ".join(text[a:b].lower().split()) for a, b in spans))


@cache
def load_phrases() -> Phrases:
    """Read the files of all languages. A server reads them once, at the first text."""
    files = [tomllib.loads(file.read_text("utf-8")) for file in sorted(_FOLDER.glob("*.toml"))]
    return build_phrases(files)


def build_phrases(languages: Iterable[Mapping[str, Any]]) -> Phrases:
    """Return the phrases of several languages, each with the keys of a file in `languages`."""
    files = list(languages)
    names = [cast("dict[str, list[str]]", file.get("names", {})) for file in files]
    topics = {name: text for file in files for name, text in file.get("topics", {}).items()}
    tags = {
        word: tag for file in files for tag, words in file.get("tags", {}).items() for word in words
    }
    return Phrases(
        kinds={kind: _compile(_gather(files, kind)) for kind in _KINDS},
        known=_compile(_gather(files, "known")),
        fillers=frozenset(_gather(files, "fillers")),
        topics={name: re.compile(text, re.IGNORECASE) for name, text in topics.items()},
        tags=tags,
        stop_words=frozenset(_gather(names, "stop_words")),
        after_names=frozenset(_gather(names, "after_names")),
    )


def find_spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return the beginning and the end of each phrase of `pattern` in the text."""
    return [match.span(match.lastgroup or 0) for match in pattern.finditer(text)]


def straighten(text: str) -> str:
    """Return the text with straight apostrophes, as the phrases have them."""
    return text.replace("\u2019", "'").replace("\u02bc", "'")


def _gather(files: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    return [phrase for file in files for phrase in cast("list[str]", file.get(key, []))]


def _compile(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of whole phrases. If two phrases match at one place, the longer one wins."""
    longest_first = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    anywhere = [_escape(phrase) for phrase in longest_first if not phrase.startswith(_AT_BEGINNING)]
    initial = [
        _escape(phrase.removeprefix(_AT_BEGINNING))
        for phrase in longest_first
        if phrase.startswith(_AT_BEGINNING)
    ]
    places = [f"{_BEGIN}(?P<anywhere>{'|'.join(anywhere)})"] if anywhere else []
    if initial:
        places.append(f"{_SENTENCE_START}(?P<initial>{'|'.join(initial)})")
    return re.compile(f"(?:{'|'.join(places) or '(?!)'}){_END}", re.IGNORECASE)


def _escape(phrase: str) -> str:
    return r"\s+".join(re.escape(word) for word in phrase.split())
