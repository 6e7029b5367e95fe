"""Features: the checks that every array passes before anything is computed from it."""

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput
from backend.metrics.features import Extractor, Features, check_comparable

ONE = Extractor("one", "a" * 64)
OTHER = Extractor("other", "b" * 64)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.zeros(3), "shape (3,)"),
        (np.zeros((0, 4)), "shape (0, 4)"),
        (np.zeros((3, 4), int), "int64"),
        (np.array([[0.0, 1], [np.nan, 0], [np.inf, 1]]), "2 of 3 pictures have NaN"),
    ],
)
def test_what_is_no_finite_array_of_pictures_by_dimensions_is_refused(values, expected):
    with pytest.raises(InvalidInput) as refused:
        Features(values, ONE, source="reals.npz")

    assert str(refused.value).startswith("reals.npz: ")
    assert expected in str(refused.value)


def test_features_of_two_extractors_or_widths_are_not_compared():
    reals = Features(np.zeros((3, 4)), ONE, source="reals.npz")

    with pytest.raises(InvalidInput, match=r"gan\.npz has features of other \(b{12}\), reals\.npz of one"):
        check_comparable(reals, Features(np.zeros((3, 4)), OTHER, source="gan.npz"))
    with pytest.raises(InvalidInput, match=r"gan\.npz has 5 features a picture, reals\.npz 4"):
        check_comparable(reals, Features(np.zeros((3, 5)), ONE, source="gan.npz"))
    check_comparable(reals, Features(np.ones((2, 4)), ONE))


def test_features_are_split_by_class():
    reals = Features(np.arange(6.0).reshape(3, 2), ONE, ("cat", "dog", "cat"))

    assert reals.of_class("cat").values.tolist() == [[0, 1], [4, 5]]
    assert reals.of_class("bird") is None


def test_an_identity_needs_a_whole_hash():
    with pytest.raises(InvalidInput, match="64 hexadecimal digits"):
        Extractor("one", "abc")
