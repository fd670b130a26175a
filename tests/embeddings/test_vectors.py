import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textrawl.models.embeddings import TextRefused, check_vectors


@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3).filter(
            any
        ),
        min_size=1,
        max_size=5,
    )
)
def test_any_finite_vector_but_zero_becomes_a_unit_vector(rows: list[list[float]]) -> None:
    vectors = check_vectors(rows, 3)

    assert [vector.dtype for vector in vectors] == [np.float32] * len(rows)
    assert [float(np.linalg.norm(vector)) for vector in vectors] == pytest.approx(
        [1] * len(rows), abs=1e-6
    )


def test_every_unusable_row_is_named() -> None:
    with pytest.raises(TextRefused) as caught:
        check_vectors([[float("inf"), 1.0], [1.0, 1.0], [float("nan"), 1.0]], None)

    assert caught.value.positions == (0, 2)
