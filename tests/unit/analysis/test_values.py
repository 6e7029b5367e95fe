"""The values of evaluators as numbers and as exact multiples of a unit, which must be the same values."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.analysis.table.evaluator_values import balanced, plain

SIDE = st.integers(0, 30).flatmap(lambda seen: st.tuples(st.integers(0, seen), st.just(seen)))
SEEN = st.tuples(SIDE, SIDE).filter(lambda sides: sides[0][1] + sides[1][1] > 0)


def judges_of(sides):
    fakes, reals = zip(*sides, strict=True)
    wrong_fakes, seen_fakes = np.array(fakes).T
    wrong_reals, seen_reals = np.array(reals).T
    return SimpleNamespace(
        wrong_fakes=wrong_fakes, wrong_reals=wrong_reals, fakes=seen_fakes, reals=seen_reals,
        wrong=wrong_fakes + wrong_reals, seen=seen_fakes + seen_reals,
    )  # fmt: skip


def exact_plain(fakes, reals):
    return Fraction(100 * (fakes[0] + reals[0]), fakes[1] + reals[1])


def exact_balanced(fakes, reals):
    errors = [Fraction(100 * wrong, seen) for wrong, seen in (fakes, reals) if seen]
    return sum(errors) / len(errors)


@pytest.mark.parametrize(("values_of", "exact"), [(plain, exact_plain), (balanced, exact_balanced)])
@given(sides=st.lists(SEEN, min_size=1, max_size=5))
def test_values_are_the_exact_shares_and_so_are_their_multiples(values_of, exact, sides):
    mine = np.arange(len(sides))

    values = values_of(judges_of(sides), mine, list("abcde"[: len(sides)]))

    expected = [exact(*each) for each in sides]
    assert values.numbers == pytest.approx([float(value) for value in expected])
    if values.lattice is not None:
        assert [int(whole) * values.lattice.unit for whole in values.lattice.whole] == expected


def test_values_of_a_usual_study_have_exact_multiples():
    sides = [((3, 50), (20, 50)), ((10, 50), (0, 50))]

    for values_of in (plain, balanced):
        assert values_of(judges_of(sides), np.arange(2), ["a", "b"]).lattice is not None
