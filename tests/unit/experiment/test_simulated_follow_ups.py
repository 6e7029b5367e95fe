"""Follow-ups of simulated evaluators: what the study asks, and confidence as signal detection has it."""

from random import Random
from statistics import NormalDist, fmean

import pytest

from backend.experiment import follow_ups
from backend.experiment.judgments import real_or_fake
from backend.experiment.settings import with_settings
from backend.experiment.simulated_follow_ups import certainty, simulated_follow_ups

REASONS = "Hands|Text|Light"


@pytest.mark.parametrize("confidence", ["none", "2", "7", "slider"])
@pytest.mark.parametrize("mark", ["none", "click", "box"])
@pytest.mark.parametrize("needed", ["optional", "required"])
def test_what_is_simulated_is_what_the_study_asks(confidence, mark, needed):
    settings = {"confidence": confidence, "mark": mark, "mark_needed": needed, "comment": needed}
    study = with_settings(real_or_fake.INFINITY, {"reasons": REASONS, **settings})
    rng = Random(1)

    for i in range(300):
        response, is_right = rng.choice(["real", "fake"]), rng.random() < 0.7
        facts = simulated_follow_ups(study, response, is_right, rng.random(), Random(i), rng)

        follow_ups.check(study, response, facts)


def test_without_follow_ups_nothing_is_simulated():
    assert simulated_follow_ups(real_or_fake.INFINITY, "fake", True, 0.8, Random(1), Random(1)) == {}


@pytest.mark.parametrize("accuracy", [0.55, 0.75, 0.95])
def test_evidence_is_that_of_an_observer_of_such_accuracy(accuracy):
    """The share of evidence of at least e (in SD from 0), over right and wrong answers together, is
    Phi(z(p) - e) + Phi(-z(p) - e): that of a Normal with mean z(p) beyond +e or -e."""
    normal, rng, e = NormalDist(), Random(7), 1.0
    z, bound = normal.inv_cdf(accuracy), 2 * normal.cdf(e) - 1

    sure = [certainty(rng.random() < accuracy, accuracy, rng) >= bound for _ in range(20000)]

    assert fmean(sure) == pytest.approx(normal.cdf(z - e) + normal.cdf(-z - e), abs=0.012)


def test_right_answers_are_surer_than_wrong_ones_unless_the_observer_guesses():
    rng = Random(3)

    def difference(accuracy):
        right, wrong = ([certainty(kind, accuracy, rng) for _ in range(4000)] for kind in (True, False))
        return fmean(right) - fmean(wrong)

    assert difference(0.5) == pytest.approx(0, abs=0.03)
    assert difference(0.6) < difference(0.9)
    assert difference(0.9) > 0.3


def test_marks_on_a_picture_are_around_one_place():
    study = with_settings(real_or_fake.INFINITY, {"mark": "click", "mark_needed": "required"})
    rng = Random(5)

    def places(picture):
        marks = [
            simulated_follow_ups(study, "fake", True, 0.8, Random(picture), rng)["mark"] for _ in range(200)
        ]
        return [fmean(axis) for axis in zip(*marks, strict=True)]

    assert places("a") == pytest.approx(places("a"), abs=40)
    assert max(abs(a - b) for a, b in zip(places("a"), places("b"), strict=True)) > 60
