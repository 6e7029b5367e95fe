"""YAML written here is read back by PyYAML as what it was."""

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from backend.foundation.yaml_text import yaml_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
DATA = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(st.dictionaries(TEXTS, inner, min_size=1) | SCALARS) | st.dictionaries(TEXTS, inner)
    ),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, DATA, min_size=1))
def test_what_is_written_is_read_back(data):
    assert yaml.safe_load(yaml_text(data)) == data


@pytest.mark.parametrize("key", ["no", "on", "y", "null"])
def test_words_that_yaml_reads_as_something_else_are_quoted(key):
    assert yaml.safe_load(yaml_text({key: key})) == {key: key}


def test_half_a_surrogate_pair_becomes_a_replacement_character():
    assert yaml.safe_load(yaml_text({"a": "x\ud800y"})) == {"a": "x\ufffdy"}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_refused(number):
    with pytest.raises(ValueError, match="cannot be written as a number"):
        yaml_text({"a": number})
