"""What is declared is taken; what is not is named."""

from typing import Annotated

import pytest
from msgspec import Meta, Struct

from backend.foundation.conversion import converted
from backend.foundation.errors import InvalidInput


class Answers(Struct):
    """Numbers with one bound, and texts."""

    answers: dict[str, Annotated[float, Meta(ge=0)] | Annotated[str, Meta(max_length=3)]]


def test_what_is_declared_is_taken():
    assert converted({"answers": {"a": 0.0, "b": "yes"}}, Answers) == Answers({"a": 0.0, "b": "yes"})


def test_the_entry_that_does_not_fit_is_named_where_numbers_have_a_lower_bound_alone():
    with pytest.raises(InvalidInput, match=r"\bb\b"):
        converted({"answers": {"a": 1.5, "b": "too long", "c": 2.5}}, Answers)
