"""Long texts are cut into bounded pieces first, so that the work grows with their size alone."""

from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from semantic_text_splitter import TextSplitter

from textrawl.memory import chunking
from textrawl.memory.chunking import LANGUAGES, Bounds, chunk_text, split_pieces

KINDS = ["text", "markdown", *sorted(set(LANGUAGES.values()))]
LINE, PIECE, PIECE_OF_CODE = 12_000, 100_000, 16_000
SENTENCE = "The kitchen closes at ten and the last train leaves at eleven. "
# Article 1 of the Universal Declaration of Human Rights.
CHINESE = "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。"  # noqa: RUF001
JAPANESE = "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。"
THAI = (
    "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม "
    "และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ "
)
CLUSTERS = [
    "a", "漢", "。", "e\u0301", "o\u0302\u0323", "ก็", "นี้", "ทั้", "कि", "한", "\u1112\u1161\u11ab",
    "👩\u200d👩\u200d👧", "👍\U0001f3fd", "🇹🇭", "❤\ufe0f",
]  # fmt: skip


class Recorder:
    """A splitter that keeps the pieces that it is given."""

    def __init__(self, splitter: Any) -> None:
        self._splitter = splitter
        self.pieces: list[str] = []

    def chunk_indices(self, text: str) -> Any:
        self.pieces.append(text)
        return self._splitter.chunk_indices(text)


def split(text: str, kind: str) -> list[tuple[int, str]]:
    """The chunks of the splitter alone."""
    splitter = chunking._open_splitter(kind)  # pyright: ignore[reportPrivateUsage]
    return splitter.chunk_indices(text)


def cut(text: str, kind: str) -> list[tuple[int, str]]:
    return [(one.start, text[one.start :][: one.length]) for one in chunk_text(text, kind)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a" * 50_000, "text"),
        ("漢" * 50_000, "text"),
        ("漢" * 50_000, "markdown"),
        (CHINESE.replace("。", "") * 1000, "text"),
        ("word " * 50_000, "markdown"),
        (">" * 50_000, "markdown"),
        (" > - " * 20_000, "markdown"),
        ("|a|b|\n" * 50_000, "markdown"),
        ("\n" * 250_000 + " x", "text"),
        ("a+" * 8000, "python"),
        ("(a\n+" * 20_000, "python"),
        ("{" * 50_000, "javascript"),
    ],
)
def test_the_splitter_is_never_given_a_long_line_or_piece(
    text: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(chunking._open_splitter(kind))  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(chunking, "_open_splitter", {kind: recorder}.get)

    chunk_text(text, kind)

    assert max(map(len, recorder.pieces)) <= (
        PIECE_OF_CODE if kind in LANGUAGES.values() else PIECE
    )
    assert sum(map(len, recorder.pieces)) <= 4 * len(text)
    assert max(len(line) for piece in recorder.pieces for line in piece.split("\n")) <= LINE


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.text(max_size=3000))
def test_a_text_within_the_bounds_has_the_chunks_of_the_splitter(kind: str, text: str) -> None:
    assert cut(text, kind) == split(text, kind)


@pytest.mark.parametrize(
    "text", [SENTENCE, CHINESE, JAPANESE, THAI, "漢", "a", "👩\u200d👩\u200d👧"]
)
@pytest.mark.parametrize("kind", ["text", "markdown"])
def test_a_line_that_is_too_long_has_the_chunks_of_the_splitter(text: str, kind: str) -> None:
    long = "".join(f"{text}{n % 7}" for n in range(4 * LINE // len(text)))

    assert cut(long, kind) == split(long, kind)


@pytest.mark.parametrize(("text", "ends"), [(CHINESE, "。"), (JAPANESE, "。"), (SENTENCE, ".")])
def test_chunks_of_a_long_line_end_with_sentences(text: str, ends: str) -> None:
    chunks = cut(text * (4 * LINE // len(text)), "text")

    assert len(chunks) > 20
    assert all(chunk.endswith(ends) for _, chunk in chunks)


@settings(max_examples=20)
@given(clusters=st.lists(st.sampled_from(CLUSTERS), min_size=20, max_size=60))
def test_no_grapheme_cluster_is_torn(clusters: list[str]) -> None:
    repeated = clusters * (3 * LINE // sum(map(len, clusters)))
    borders = {0, *accumulate(map(len, repeated))}
    chunks = cut("".join(repeated), "text")

    assert {start for start, _ in chunks} <= borders
    assert {start + len(chunk) for start, chunk in chunks} <= borders


@given(
    text=st.text(st.sampled_from("a漢é .。\n#\u0301"), max_size=400),
    bounds=st.builds(Bounds, st.integers(21, 60), st.integers(60, 200)),
)
def test_the_pieces_cover_the_text_whatever_their_size(text: str, bounds: Bounds) -> None:
    recorder = Recorder(TextSplitter(20))
    chunks = list(split_pieces(recorder, text, bounds))
    covered = {place for start, chunk in chunks for place in range(start, start + len(chunk))}

    assert all(text.startswith(chunk, start) for start, chunk in chunks)
    assert all(text[place].isspace() for place in set(range(len(text))) - covered)
    assert all(len(piece) <= bounds.piece for piece in recorder.pieces)
    assert all(len(line) <= bounds.line for piece in recorder.pieces for line in piece.split("\n"))
