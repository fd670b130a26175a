"""The layers of BERT as an ONNX graph, and the vectors of tokens with which they begin.

Both packaged encoders are such models. A subclass of BertGraph multiplies with the weights of its
file, as they are packed there.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from textrawl.models.onnx_graph import MICROSOFT, Array, write_model, write_node, write_tensor
from textrawl.models.onnx_runtime import open_session

Floats = NDArray[np.float32]

Embed = Callable[[Sequence[int]], Floats]
"""Makes the first vectors of tokens."""

_HEADS = 12


class BertGraph(ABC):
    """The graph from `x` to `y`, which both are the vectors of the tokens of a text.

    `parts` are its nodes and tensors. A layer has the matrices q, k, v, ao, fi and fo with their
    biases, and the norms aln and oln.
    """

    def __init__(self, width: int, epsilon: float) -> None:
        self.width = width
        self.parts: list[bytes] = []
        self._epsilon = epsilon

    def build(self, layers: int, threads: int) -> Callable[[Floats], Floats]:
        """Return the function that computes the last vectors of tokens from the first."""
        names = ["x", *(f"x{number}" for number in range(1, layers)), "y"]
        for number in range(layers):
            self._add_layer(f"l{number}", names[number], names[number + 1])
        session = open_session(
            write_model(self.parts, [("x", self.width), ("y", self.width)]), threads
        )

        def compute(vectors: Floats) -> Floats:
            [found] = session.run(None, {"x": vectors[np.newaxis]})
            return np.asarray(found, np.float32)[0]

        return compute

    @abstractmethod
    def read_floats(self, name: str) -> Floats:
        """Return a bias, or a part of a norm."""

    @abstractmethod
    def add_matrix(self, names: Sequence[str], source: str, target: str, bias: str = "") -> None:
        """Multiply `source` with the matrices `names` side by side, and add `bias` if it is one."""

    def add_node(
        self,
        kind: str,
        given: Sequence[str],
        *made: str,
        domain: str = "",
        **attributes: int | float,
    ) -> None:
        """Add a node that makes the tensors `made`."""
        self.parts.append(write_node(kind, given, made, attributes, domain))

    def add_tensor(self, name: str, values: Array) -> str:
        """Add a tensor, and return its name."""
        self.parts.append(write_tensor(name, values))
        return name

    def _add_layer(self, at: str, source: str, target: str) -> None:
        """Add a layer: attention, then a wider part, each with a norm after it."""
        heads = [f"{at}.q", f"{at}.k", f"{at}.v"]
        bias = np.concatenate([self.read_floats(f"{name}.b") for name in heads])
        self.add_matrix(heads, source, f"{at}.qkv", self.add_tensor(f"{at}.qkv.b", bias))
        made = [f"{name}.made" for name in heads]
        self.add_node("Split", [f"{at}.qkv"], *made, axis=2, num_outputs=3)
        self._add_own("MultiHeadAttention", made, f"{at}.attended", {"num_heads": _HEADS})
        self.add_matrix([f"{at}.ao"], f"{at}.attended", f"{at}.projected")
        self._add_norm(f"{at}.aln", f"{at}.projected", source, f"{at}.ao.b", f"{at}.half")
        self.add_matrix([f"{at}.fi"], f"{at}.half", f"{at}.wide")
        self._add_own("BiasGelu", [f"{at}.wide", self._add_floats(f"{at}.fi.b")], f"{at}.bent", {})
        self.add_matrix([f"{at}.fo"], f"{at}.bent", f"{at}.back")
        self._add_norm(f"{at}.oln", f"{at}.back", f"{at}.half", f"{at}.fo.b", target)

    def _add_norm(self, name: str, source: str, more: str, bias: str, target: str) -> None:
        floats = [self._add_floats(one) for one in (f"{name}.w", f"{name}.b", bias)]
        epsilon = {"epsilon": self._epsilon}
        self._add_own("SkipLayerNormalization", [source, more, *floats], target, epsilon)

    def _add_own(
        self, kind: str, given: Sequence[str], made: str, attributes: Mapping[str, int | float]
    ) -> None:
        """Add an operator of ONNX Runtime, which is not in the standard."""
        self.add_node(kind, given, made, domain=MICROSOFT, **attributes)

    def _add_floats(self, name: str) -> str:
        return self.add_tensor(name, self.read_floats(name))


def build_embedding(
    words: Embed, places: Floats, scale: Floats, shift: Floats, epsilon: float
) -> Embed:
    """Return the function that adds the vectors of places to those of words, with a norm after."""

    def embed(tokens: Sequence[int]) -> Floats:
        rows = words(tokens) + places[: len(tokens)]
        rows -= rows.mean(1, keepdims=True)
        rows /= np.sqrt((rows * rows).mean(1, keepdims=True) + epsilon)
        return rows * scale + shift

    return embed
