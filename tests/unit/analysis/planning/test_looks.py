import numpy as np
import pytest

from backend.analysis.planning.looks import LookPlan
from backend.experiment.planned_looks import LookAim, aim_of, looks_of
from backend.foundation.errors import InvalidInput


def test_errors_are_the_nominal_p_of_each_look():
    """Two-sided p of 3.7103, 2.9697, 2.5387, 2.2522, 2.0448."""
    plan = LookPlan((10, 15, 20, 25, 30))

    assert plan.errors == pytest.approx([0.00021, 0.00298, 0.01113, 0.02431, 0.04088], abs=5e-6)


def test_a_half_width_is_that_of_the_usual_interval_at_every_look():
    assert np.all(LookPlan((10, 20), LookAim("half-width", 5.0)).errors == pytest.approx(0.05))


@pytest.mark.parametrize(
    "text", ["apart", "apart=neighbours", "apart=gan", "half-width=5", "equal-within=2.5"]
)
def test_an_aim_is_written_as_it_is_read(text):
    assert str(aim_of(text, ["gan"])) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("near", "the aim must be apart, half-width, equal-within, futility or ranks, not 'near'"),
        ("half-width", "half-width needs a number above 0, such as half-width=5, not ''"),
        ("futility=-1", "futility needs a number above 0"),
        ("equal-within=nan", "equal-within needs a number above 0"),
        ("apart=vae", r"apart= must name all, neighbours or a model \(gan\), not 'vae'"),
    ],
)
def test_a_bad_aim_is_refused(text, message):
    with pytest.raises(InvalidInput, match=message):
        aim_of(text, ["gan"])


@pytest.mark.parametrize("text", ["", "15;20", "15,twenty", "-5,20", "15,,20", "1e3,2000", "٣,20"])
def test_looks_that_are_no_numbers_are_refused(text):
    with pytest.raises(InvalidInput, match="looks are numbers of evaluators such as 15,20,25,30"):
        looks_of(text)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"looks": (15, 15, 20)}, "looks must rise, such as 15,20,25,30; 15 follows 15"),
        ({"looks": (20, 15)}, "15 follows 20"),
        ({"looks": ()}, "a plan has 1 to 50 looks, not 0"),
        ({"looks": (3, 30)}, "the first look must be at 5 evaluators or more, not 3"),
        ({"spending": "linear"}, "spending must be one of obrien-fleming"),
        ({"level": 1.0}, "level must be between 0 and 1"),
    ],
)
def test_a_bad_plan_is_refused(changes, message):
    with pytest.raises(InvalidInput, match=message):
        LookPlan(**{"looks": (15, 30), **changes})


def test_every_part_of_a_plan_changes_its_digest():
    plans = [
        LookPlan((15, 30)),
        LookPlan((15, 31)),
        LookPlan((15, 30), LookAim("futility", 10.0)),
        LookPlan((15, 30), LookAim(pairs="neighbours")),
        LookPlan((15, 30), spending="pocock"),
        LookPlan((15, 30), level=0.9),
    ]

    assert len({plan.digest for plan in plans}) == len(plans)
    assert LookPlan((15, 30)).digest == plans[0].digest
