"""Texts that are cut into chunks of at most 512 tokens, at headings, functions and paragraphs.

Neighbouring chunks have up to 64 tokens in common, so that a passage at a border is whole in one
of them. A long text is cut piece by piece, because the time of the splitter can grow with the
square of a text.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from semantic_text_splitter import CodeSplitter, MarkdownSplitter, TextSplitter

from textrawl.documents.kinds import LANGUAGES
from textrawl.documents.pieces import Bounds, Splitter, split_pieces
from textrawl.wire.token_counter import choose_counter

MOST_TOKENS, OVERLAP = 512, 64
MOST_CHARACTERS = 8000  # in a chunk; check_source() in SQL allows no more
_BOUNDS = Bounds(line=12_000, piece=100_000)
_BOUNDS_OF_CODE = Bounds(line=12_000, piece=16_000)  # the depth of its syntax costs time as well
_PACKAGES = {"tsx": "typescript"}  # grammars in a package that has another name


class Chunk(NamedTuple):
    """A chunk of a text, as SQL wants it: `start` is the number of characters before it."""

    part: int
    start: int
    length: int
    tokens: int


def chunk_text(text: str, kind: str = "text") -> list[Chunk]:
    """Cut a text into chunks, without white space at their ends.

    The `kind` is markdown, text or a programming language (see `kinds`). Texts that only have white
    space have no chunks. Raises UnicodeEncodeError for lone surrogates.
    """
    count = choose_counter().count
    bounds = _BOUNDS if kind in ("text", "markdown") else _BOUNDS_OF_CODE
    found = split_pieces(_open_splitter(kind), text, bounds)
    return [
        Chunk(part, start, len(chunk), count(chunk))
        for part, (start, chunk) in enumerate(found, start=1)
    ]


@cache
def _open_splitter(kind: str) -> Splitter:
    if kind == "markdown":
        return MarkdownSplitter.from_callback(_measure, MOST_TOKENS, OVERLAP)
    grammar = _load_grammar(kind)
    if grammar is None:
        return TextSplitter.from_callback(_measure, MOST_TOKENS, OVERLAP)
    return CodeSplitter.from_callback(grammar, _measure, MOST_TOKENS, OVERLAP)


def _measure(text: str) -> int:
    """Return the size of a text in tokens: at least 512 for each 8,000 characters."""
    return max(choose_counter().count(text), -(-len(text) * MOST_TOKENS // MOST_CHARACTERS))


def _load_grammar(kind: str) -> Any:
    """Return the grammar of a programming language, or None if it is not installed."""
    name = f"tree_sitter_{_PACKAGES.get(kind, kind)}"
    if kind not in LANGUAGES.values() or find_spec(name) is None:
        return None
    grammar: Any = import_module(name)  # optional: the extra `documents` has it
    load = getattr(grammar, f"language_{kind}", None) or grammar.language
    return load()
