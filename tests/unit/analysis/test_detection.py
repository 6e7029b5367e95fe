"""d-prime and criterion: by hand, and recovered from simulated evaluators."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from backend.analysis.detection import detection, sensitivity
from backend.analysis.error_rates import sides
from backend.analysis.table.response_rows import answers_of

from ..shared_pictures import shared_answers


def rows(model, evaluator, hits, fakes, false_alarms, reals):
    for truth, called_fake, seen in (("fake", hits, fakes), ("real", false_alarms, reals)):
        for i in range(seen):
            response = "fake" if i < called_fake else "real"
            yield {"model": model, "evaluator": evaluator, "truth": truth, "response": response}


def found_of(*people, level=0.95):
    answers = answers_of([row for one in people for row in rows(*one)], "infinity")
    return detection(answers, 0, level)


def test_one_evaluator_by_hand():
    # corrected shares 40.5 / 51 and 10.5 / 51; z from any table of the normal distribution
    found = found_of(("m", "a", 40, 50, 10, 50))

    assert found["d_prime"] == pytest.approx(2 * 0.8208, abs=2e-4)
    assert found["criterion"] == pytest.approx(0, abs=1e-12)
    assert found["d_prime_ci"] is None


def test_counts_of_nothing_and_everything_have_a_finite_d_prime():
    d_prime, criterion = sensitivity(np.array([50]), np.array([50]), np.array([0]), np.array([50]))

    # z(50.5 / 51) = 2.3339
    assert d_prime[0] == pytest.approx(2 * norm.ppf(50.5 / 51))
    assert criterion[0] == pytest.approx(0, abs=1e-12)


def test_someone_who_always_says_real_leans_to_real_and_tells_nothing_apart():
    found = found_of(("m", "a", 0, 50, 0, 50))

    assert found["d_prime"] == pytest.approx(0, abs=1e-12)
    assert found["criterion"] > 2


def test_an_evaluator_of_one_side_is_left_out_and_counted():
    found = found_of(("m", "a", 40, 50, 10, 50), ("m", "b", 10, 20, 0, 0))

    assert found["evaluators"] == 1
    assert found_of(("m", "b", 10, 20, 0, 0)) is None


def test_evaluators_cannot_vary_less_than_by_chance():
    # three who all err once a side, which is called right with 27.5 / 31, of 10 by each; scipy's binomial
    found = found_of(*(("m", name, 9, 10, 1, 10) for name in "abc"))

    chance, z = binom(10, 27.5 / 31).pmf(np.arange(11)), norm.ppf((np.arange(11) + 0.5) / 11)
    half = norm.ppf(0.975) * np.sqrt(2 * (chance @ z**2 - (chance @ z) ** 2) / 3)
    d_prime = 2 * norm.ppf(9.5 / 11)
    assert found["d_prime_ci"] == pytest.approx([d_prime - half, d_prime + half])
    assert found["criterion_ci"] == pytest.approx([-half / 2, half / 2])


@pytest.mark.parametrize(("hits", "false_alarms"), [(10, 0), (10, 3), (0, 3), (7, 10), (7, 0)])
def test_where_everybody_gave_a_side_one_answer_nothing_but_the_correction_bounds_d_prime(hits, false_alarms):
    found = found_of(*(("m", name, hits, 10, false_alarms, 10) for name in "abc"))

    assert (found["d_prime_ci"], found["criterion_ci"]) == (None, None)
    assert np.isfinite(found["d_prime"])


@given(st.integers(0, 50), st.integers(0, 50))
def test_swapping_the_names_of_the_sides_turns_the_leaning_only(hits, false_alarms):
    here = sensitivity(np.array([hits]), np.array([50]), np.array([false_alarms]), np.array([50]))
    there = sensitivity(np.array([50 - false_alarms]), np.array([50]), np.array([50 - hits]), np.array([50]))

    assert there[0] == pytest.approx(here[0], abs=1e-9)
    assert there[1] == pytest.approx(-here[1], abs=1e-9)


def test_known_sensitivity_and_bias_come_back_and_intervals_hold_them():
    """300 studies of 30 evaluators of 100 images, d' about 1.2 and c about 0.3."""
    rng = np.random.default_rng(6)
    d, c = rng.normal(1.2, 0.4, (300, 30)), rng.normal(0.3, 0.3, (300, 30))
    hits = rng.binomial(50, norm.cdf(d / 2 - c))
    false_alarms = rng.binomial(50, norm.cdf(-d / 2 - c))

    d_prime, criterion = sensitivity(hits, np.full(hits.shape, 50), false_alarms, np.full(hits.shape, 50))

    # the log-linear correction takes some percent off (Hautus, 1995)
    assert d_prime.mean() == pytest.approx(1.2, abs=0.05)
    assert criterion.mean() == pytest.approx(0.3, abs=0.02)
    half = 2.0452 * criterion.std(axis=1, ddof=1) / 30**0.5
    assert np.mean(np.abs(criterion.mean(axis=1) - 0.3) < half) == pytest.approx(0.95, abs=0.035)


@pytest.mark.parametrize(("people", "pictures", "share"), [(30, 40, 0.4), (10, 40, 0.3), (30, 1000, 0.4)])
def test_intervals_cover_where_everybody_saw_the_same_pictures(people, pictures, share):
    """300 studies, pictures of SD .6: 95% (SE 1.3%); over evaluators alone, 75 to 80% with 40 a side."""
    rng = np.random.default_rng(people + pictures)

    found = [detection(shared_answers(rng, people, pictures, share), 0, 0.95) for _ in range(300)]

    for name in ("d_prime", "criterion"):
        low, high = np.array([one[f"{name}_ci"] for one in found]).T
        middle = np.mean([one[name] for one in found])
        assert 0.91 < np.mean((low <= middle) & (middle <= high)) < 0.985


def test_how_models_differ_is_no_part_of_the_variance_of_numbers_over_all_of_them():
    easy = [row for i in range(6) for row in rows("easy", f"e{i}", 48 - i % 3, 50, 2 + i % 3, 50)]
    hard = [row for i in range(6) for row in rows("hard", f"h{i}", 28 - i % 3, 50, 24 + i % 3, 50)]

    found = sides(answers_of([*easy, *hard], "infinity"), 0.95)

    low, high = found["accuracy"]["ci"]
    assert high - low < 6  # evaluators differ by 20 points, and within a model by no more than chance: +-2.6
    low, high = found["detection"]["d_prime_ci"]
    assert high - low < 0.5
