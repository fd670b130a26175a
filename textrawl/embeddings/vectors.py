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

    Raises TextRefused with the positions of blank texts. Some providers refuse a whole batch with
    one, and a static model makes a zero vector of it.
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
    """Return rows of raw numbers as unit vectors, float32, in the same order.

    `dimensions` is the required size of a row, None for a new model. Raises ProviderFailed for
    another size, and TextRefused with positions for rows with NaN, infinity or only zeros.
    """
    _check_sizes({len(row) for row in rows}, dimensions)
    matrix = np.asarray(rows, dtype=np.float64)
    _refuse(~np.isfinite(matrix), "a vector that holds NaN or infinity")
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    _refuse(largest == 0, "a vector of zeros")
    # Divide by the largest number first: squares of very large or small ones would overflow.
    scaled = matrix / largest
    return list((scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32))


def _check_sizes(sizes: set[int], dimensions: int | None) -> None:
    if len(sizes) != 1 or 0 in sizes:
        raise ProviderFailed("The embedding provider sent vectors of mixed or no dimensions")
    [size] = sizes
    if dimensions is not None and size != dimensions:
        raise ProviderFailed(
            f"The embedding provider sent vectors of {size} dimensions, expected are "
            f"{dimensions}: another model runs under this name; check TEXTRAWL_EMBEDDING_MODEL"
        )
    if size > MAX_DIMENSIONS:
        raise ProviderFailed(describe_excess(size))


def describe_excess(dimensions: int) -> str:
    """Return the message for a model with more dimensions than can be indexed."""
    return (
        f"The embedding model gives {dimensions} dimensions, pgvector indexes at most "
        f"{MAX_DIMENSIONS}: set TEXTRAWL_EMBEDDING_MODEL to a smaller model"
    )


def _refuse(invalid: NDArray[np.bool_], description: str) -> None:
    positions = [int(row) for row in np.flatnonzero(invalid.any(axis=1))]
    if positions:
        raise TextRefused(
            f"The embedding model made {description} of a text: change the text or "
            "TEXTRAWL_EMBEDDING_MODEL",
            positions=positions,
        )


def compose_document(entity: str, observation: str) -> str:
    """Return the text that is embedded for a fact: the entity's name is part of its meaning."""
    return f"{entity}: {observation}"
