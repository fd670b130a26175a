"""Checks of texts before they are embedded, and of vectors afterwards."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textrawl.embeddings.faults import ProviderFailed, TextRefused
from textrawl.embeddings.models import MAX_DIMENSIONS

Vector = NDArray[np.float32]
"""One embedding: shape (dimensions,), unit length."""


def check_texts(texts: Sequence[str]) -> list[str]:
    """Return `texts` with `?` for lone surrogates, which UTF-8 cannot encode.

    Raises TextRefused with the positions of blank texts. Some providers refuse a whole batch that
    contains a blank text, and a static model makes a zero vector from it.
    """
    blank = [position for position, text in enumerate(texts) if not text.strip()]
    if blank:
        raise TextRefused("A text is blank: give it some words", positions=blank)
    return [text.encode("utf-8", "replace").decode() for text in texts]


def check_count(rows: Sequence[Sequence[float]], texts: int) -> None:
    """Raise ProviderFailed unless there is one row per text."""
    if len(rows) != texts:
        raise ProviderFailed(
            f"The embedding provider sent {len(rows)} vectors for {texts} texts: retry later"
        )


def check_vectors(
    rows: Sequence[Sequence[float]] | NDArray[np.float32], dimensions: int | None
) -> list[Vector]:
    """Return rows of raw numbers as unit vectors of float32, in the same order.

    `dimensions` is the required size of a row, or None for a new model. Raises ProviderFailed for
    another size. Raises TextRefused with the positions of rows with NaN, infinity or only zeros.
    """
    _check_sizes({len(row) for row in rows}, dimensions)
    matrix = np.asarray(rows, dtype=np.float64)
    _refuse(~np.isfinite(matrix), "a vector with NaN or infinity")
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    _refuse(largest == 0, "a vector of zeros")
    # Divide by the largest number first, because the squares of very large or very small numbers
    # would overflow or become zero.
    scaled = matrix / largest
    return list((scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32))


def _check_sizes(sizes: set[int], dimensions: int | None) -> None:
    if len(sizes) != 1 or 0 in sizes:
        raise ProviderFailed("The embedding provider sent empty vectors or vectors of mixed sizes")
    [size] = sizes
    if dimensions is not None and size != dimensions:
        raise ProviderFailed(
            f"The embedding provider sent vectors of {size} dimensions instead of "
            f"{dimensions}: another model has this name now; check TEXTRAWL_EMBEDDING_MODEL"
        )
    if size > MAX_DIMENSIONS:
        raise ProviderFailed(describe_excess(size))


def describe_excess(dimensions: int) -> str:
    """Return the message for a model with more dimensions than can be indexed."""
    return (
        f"The embedding model has {dimensions} dimensions, but pgvector indexes at most "
        f"{MAX_DIMENSIONS}: set TEXTRAWL_EMBEDDING_MODEL to a smaller model"
    )


def _refuse(invalid: NDArray[np.bool_], description: str) -> None:
    positions = [int(row) for row in np.flatnonzero(invalid.any(axis=1))]
    if positions:
        raise TextRefused(
            f"The embedding model made {description} from a text: change the text or "
            "TEXTRAWL_EMBEDDING_MODEL",
            positions=positions,
        )


def compose_document(entity: str, observation: str) -> str:
    """Return the text to embed for a fact. The entity's name is part of the fact's meaning."""
    return f"{entity}: {observation}"
