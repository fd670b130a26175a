"""Texts in chunks: sizes, overlaps, and the places where they are cut."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from textrawl.memory.chunking import (
    LANGUAGES,
    MOST_CHARACTERS,
    MOST_TOKENS,
    OVERLAP,
    chunk_text,
    find_kind,
)
from textrawl.wire.token_counter import choose_counter

KINDS = ["text", "markdown", *sorted(set(LANGUAGES.values()))]
SENTENCE = "The kitchen closes at ten and the last train leaves at eleven. "
SECTIONS = "".join(f"## Section {n}\n\n{SENTENCE * 12}\n\n" for n in range(8))
FUNCTIONS = "\n".join(
    f"def step_{n}(given):\n" + f"    given += {n}\n\n" * 60 + "    return given\n"
    for n in range(6)
)


def cut(text: str, kind: str = "text") -> list[str]:
    return [text[chunk.start :][: chunk.length] for chunk in chunk_text(text, kind)]


@given(text=st.text(st.characters(codec="utf-8"), max_size=3000))
def test_no_chunk_is_too_large_and_nothing_but_white_space_is_lost(text: str) -> None:
    count = choose_counter().count
    for kind in KINDS:
        chunks = chunk_text(text, kind)
        covered = {place for c in chunks for place in range(c.start, c.start + c.length)}

        assert [chunk.part for chunk in chunks] == list(range(1, len(chunks) + 1))
        for chunk, piece in zip(chunks, cut(text, kind), strict=True):
            assert 1 <= chunk.length == len(piece) <= MOST_CHARACTERS
            assert chunk.tokens == count(piece) <= MOST_TOKENS
        assert "".join(c for place, c in enumerate(text) if place not in covered).strip() == ""


def test_a_text_without_a_place_to_cut_is_cut_all_the_same() -> None:
    for text in ("a" * 100_000, "." * 100_000, "記憶" * 20_000, "👩‍👩‍👧" * 9000):
        chunks = chunk_text(text)

        assert sum(chunk.length for chunk in chunks) >= len(text)
        assert max(chunk.tokens for chunk in chunks) <= MOST_TOKENS
        assert max(chunk.length for chunk in chunks) <= MOST_CHARACTERS


def test_neighbouring_chunks_overlap_a_little() -> None:
    chunks = chunk_text(" ".join(SENTENCE.strip() for _ in range(200)))
    shared = [
        choose_counter().count(SENTENCE) * (a.start + a.length - b.start) / len(SENTENCE)
        for a, b in pairwise(chunks)
    ]

    assert 0 < min(shared) <= max(shared) <= OVERLAP


def test_markdown_is_cut_before_headings() -> None:
    assert all(piece.startswith("## Section") for piece in cut(SECTIONS, "markdown"))


def test_code_is_cut_between_functions() -> None:
    """Blank lines inside functions mislead only the splitter of texts."""
    starts = [piece.splitlines()[0] for piece in cut(FUNCTIONS, "python")]

    assert all(line.startswith("def step_") for line in starts)
    assert any(not piece.startswith("def") for piece in cut(FUNCTIONS))


def test_a_chunk_is_written_as_sql_wants_it() -> None:
    assert json.dumps(chunk_text("  Tea at four.\n")) == "[[1, 2, 12, 4]]"


def test_white_space_has_no_chunks() -> None:
    for text in ("", " \n\t "):
        assert chunk_text(text) == []


def test_a_small_change_leaves_most_chunks_as_they_are() -> None:
    """So that an edited file needs few new vectors."""
    text = "\n\n".join(f"Day {n}. {SENTENCE * (n % 7 + 3)}" for n in range(200))
    before = set(cut(text))
    after = cut(text.replace("Day 0.", "The day of the first new dish.", 1))

    assert len(set(after) - before) <= 2


def test_the_end_of_a_name_tells_the_kind() -> None:
    names = ["README.md", "a.b/Server.PY", "view.tsx", "notes", "notes.txt", ".gitignore"]

    assert [find_kind(name) for name in names] == [
        "markdown", "python", "tsx", "text", "text", "text",
    ]  # fmt: skip
