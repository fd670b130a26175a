"""Texts that are cut into chunks of at most 512 tokens, at headings, functions and paragraphs.

Neighbouring chunks have up to 64 tokens in common, so that a passage at a border is whole in one
chunk. A long text is cut piece by piece, because the time of the splitter can grow with the square
of the length.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any, NamedTuple, Protocol

from semantic_text_splitter import CodeSplitter, MarkdownSplitter, TextSplitter

from textrawl.wire.token_counter import choose_counter


class Splitter(Protocol):
    """A splitter of semantic-text-splitter."""

    def chunk_indices(self, text: str) -> list[tuple[int, str]]:
        """Return the chunks of a text, each with the number of characters before it."""
        ...


class Bounds(NamedTuple):
    """The most characters of a line and of a piece. A chunk has to be shorter than a line."""

    line: int
    piece: int


def split_pieces(splitter: Splitter, text: str, bounds: Bounds) -> Iterator[tuple[int, str]]:
    """Yield the chunks of a text, each with its start.

    A text within the bounds is one piece. The last chunk of a piece is not used, unless the text
    ends there. The next piece begins with it. So no chunk ends because a piece does, and
    neighbouring chunks overlap as usual.
    """
    start = 0
    while start < len(text):
        end = _find_end(text, start, bounds)
        chunks = splitter.chunk_indices(text[start:end])
        following = end
        if chunks and end < len(text) and chunks[-1][0] > 0:
            following = start + chunks.pop()[0]
        for within, chunk in chunks:
            yield start + within, chunk
        start = following


def _find_end(text: str, start: int, bounds: Bounds) -> int:
    """Return the end of the piece that begins at `start`: in the first line that is too long."""
    offset = start  # the beginning of a line
    most = start + bounds.piece
    while offset < most:
        end = text.find("\n", offset, offset + bounds.line)
        if end < 0:
            return min(offset + bounds.line, most, len(text))
        offset = end + 1
    return most


HTML = frozenset({".html", ".htm", ".xhtml"})
PDF = ".pdf"
MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"})
TEXTS = frozenset(
    {"", ".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex", ".sql", ".sh", ".bash"}
)
LANGUAGES = {
    ".py": "python",
    ".pyi": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".c": "c",
    ".h": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cxx": "cpp",
    ".hh": "cpp",
    ".hpp": "cpp",
}
"""Programming languages. If the grammar of a language is installed, the grammar cuts its files.

Bash is not here, because its grammar crashes the process on some texts.
"""
DOCUMENTS = HTML | {PDF} | MARKDOWN | TEXTS | LANGUAGES.keys()
"""The ends of the names of files that are taken out of a folder."""


def find_kind(name: str) -> str:
    """Return the kind of a file for `chunk_text`: markdown, text or a programming language."""
    ending = find_ending(name)
    return "markdown" if ending in MARKDOWN | HTML else LANGUAGES.get(ending, "text")


def find_ending(name: str) -> str:
    """Return the end of a name with its dot, in lower case. It is empty for a name like README."""
    return PurePath(name).suffix.lower()


MOST_TOKENS, OVERLAP = 512, 64
MOST_CHARACTERS = 8000  # in a chunk; check_source() in SQL allows no more
_BOUNDS = Bounds(line=12_000, piece=100_000)
_BOUNDS_OF_CODE = Bounds(line=12_000, piece=16_000)  # deep syntax also takes time
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
    if kind == "turn":
        return MarkdownSplitter.from_callback(_measure, _TURN_TOKENS)
    grammar = _load_grammar(kind)
    if grammar is None:
        return TextSplitter.from_callback(_measure, MOST_TOKENS, OVERLAP)
    return CodeSplitter.from_callback(grammar, _measure, MOST_TOKENS, OVERLAP)


_TURN_TOKENS = 448  # the author and the time of a turn, which stand before it, need some more


def cut_turn(text: str) -> Iterator[str]:
    """Cut a turn into pieces that do not overlap. Each leaves room for the author of the turn."""
    if _measure(text) <= _TURN_TOKENS:
        yield from (text,) if text else ()
        return
    for _, piece in split_pieces(_open_splitter("turn"), text, _BOUNDS):
        yield piece


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
