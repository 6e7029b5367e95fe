"""Plans of looks by simulation, against studies that were simulated independently of this code.

SD 9 points an evaluator, Student's t at the look's nominal level, looks at 10, 15, 20, 25, 30 (40,000
studies a row of another program): difference 0 rejects in 5.0% with 29.8 evaluators on average; 5 points
54.4%, 26.8; 10 points 98.8%, 18.8, bias +.6, the repeated interval covers 98.5%.
"""

import json
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from backend.analysis.planning.look_studies import STUDIES, conditional_power
from backend.analysis.planning.looks import LookPlan
from backend.analysis.planning.power import power
from backend.analysis.planning.simulated_looks import at_stop, simulated
from backend.analysis.planning.spread import Spread
from backend.analysis.planning.tournament_spreads import assumed
from backend.cli import main
from backend.experiment.planned_looks import aim_of

LOOKS = (10, 15, 20, 25, 30)
WITHIN = 55.0 * 45.0
SPREAD = Spread("gan", 55, 100, 0.45, 81 - WITHIN / 100, WITHIN, WITHIN / 100, 81, 1e9, pictures=(1e9, 1e9))
"""Evaluators have an SD of 9 points; hardly any share a picture."""
ERROR = 3 * (0.25 / STUDIES) ** 0.5


def stopped(looks=LOOKS, aim="apart", difference=0.0, models=2, spread=SPREAD, **options):
    plan = LookPlan(looks, aim_of(aim), **options)
    return simulated(spread, plan, difference, models).stopped()


@pytest.mark.parametrize(
    ("difference", "rejects", "evaluators"), [(0.0, 0.050, 29.8), (5.0, 0.544, 26.8), (10.0, 0.988, 18.8)]
)
def test_studies_stop_where_those_of_another_program_do(difference, rejects, evaluators):
    found = stopped(difference=difference)

    assert found.reached[:, 0].mean() == pytest.approx(rejects, abs=ERROR)
    assert found.evaluators.mean() == pytest.approx(evaluators, abs=0.3)


def test_the_estimate_at_the_stop_is_biased_and_the_repeated_interval_covers():
    found = stopped(difference=10.0)

    assert abs(found.difference.mean()) - 10 == pytest.approx(0.6, abs=0.15)
    assert found.pair_covers.mean() == pytest.approx(0.946, abs=0.012)
    assert found.repeated_covers.mean() == pytest.approx(0.985, abs=0.008)


def test_a_fixed_plan_has_the_planned_power():
    found = stopped(looks=(30,), difference=7.0)

    assert found.reached[:, 0].mean() == pytest.approx(power(SPREAD, 7.0, 30, 100, 0.95), abs=0.03)


def test_uncorrected_looks_would_err_often():
    """12.6% in the other program; here by a plan whose every look has the full level."""
    studies = simulated(SPREAD, LookPlan(LOOKS), 0.0)
    studies.errors = np.full(len(LOOKS), 0.05)

    found = studies.stopped()

    assert found.reached[:, 0].mean() == pytest.approx(0.126, abs=0.018)


def test_a_half_width_stops_early_and_covers():
    """By hand for Student's interval: 20 suffice, 3 to spare, if s < 5 sqrt(20 / 1.15) / 2.093, in 77%.

    The intervals of shares are a little longer.
    """
    found = stopped(looks=(20, 25, 30), aim="half-width=5")

    assert (found.evaluators == 20).mean() == pytest.approx(0.77, abs=0.08)
    assert found.covers.mean() == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("looks", [(30,), LOOKS])
def test_equality_is_claimed_of_models_at_the_margin_in_the_planned_share(looks):
    found = stopped(looks=looks, aim="equal-within=8", difference=8.0)

    assert found.reached[:, 0].mean() == pytest.approx(0.05, abs=0.012)


def test_giving_up_saves_evaluators_of_equal_models_and_adds_no_error():
    without, found = stopped(), stopped(aim="futility=10")

    assert found.evaluators.mean() < without.evaluators.mean() - 2
    assert found.reached.mean() <= without.reached.mean()


def test_a_model_that_is_apart_from_all_others_is_dropped():
    found = stopped(difference=15.0, models=3)

    assert found.evaluators[:, 0].mean() < 18
    assert found.evaluators[:, 1:].mean() > 29
    assert found.reached[:, :2].mean() > 0.99


def test_the_family_of_several_equal_models_errs_as_often_as_planned():
    assert stopped(models=4).reached.any(axis=1).mean() == pytest.approx(0.05, abs=0.012)


def test_looks_at_many_pairs_add_hardly_any_error_as_each_pair_has_boundaries_of_its_own():
    fixed, looks = (simulated(SPREAD, LookPlan(each), 0.0, 12, 1500) for each in ((30,), (15, 20, 25, 30)))
    as_of_one_pair = copy(looks)
    as_of_one_pair.errors = looks.plan.errors

    allowed = fixed.stopped().wrong.mean() + 0.005
    assert looks.stopped().wrong.mean() <= allowed < as_of_one_pair.stopped().wrong.mean()


def test_conditional_power_is_that_of_the_remaining_steps():
    """By hand: half of the information is in, and no difference: Phi(1 - 2 sqrt(2)) = Phi(-1.828)."""
    found = conditional_power(np.array([1.0]), np.array([1.0]), np.array([0.5]), 0.0, np.array([2.0]))

    # S = 1 at I = 1, the bar at I = 2 is 2 sqrt(2), one more step with SD 1
    assert found[0] == pytest.approx(0.0338, abs=1e-4)


def test_the_command_compares_a_plan_of_looks_with_the_fixed_one(tmp_path):
    arguments = ["plan", "--looks", "15,30", "--difference", "10", "--models", "2"]

    found = CliRunner().invoke(main, [*arguments, "--json", "-o", str(tmp_path / "plan.svg")])

    assert found.exit_code == 0, found.output
    plan = json.loads(found.stdout)
    assert plan["plan"]["looks"] == [15, 30]
    for row in plan["rows"]:
        assert row["fixed"]["people"] == 60
        assert 30 <= row["looks"]["people"] < 60
        assert row["looks"]["error"] == pytest.approx(0.05, abs=0.014)
        assert row["looks"]["smallest"] >= row["fixed"]["smallest"] - 0.05
    assert (tmp_path / "plan.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--looks", "30,15"], "looks must rise, such as 15,20,25,30; 15 follows 30"),
        (["--looks", "15,x"], "looks are numbers of evaluators such as 15,20,25,30, not '15,x'"),
        (["--looks", "15,30", "--aim", "half-width"], "needs a number above 0, such as half-width=5"),
        (["--looks", "15,30", "--width", "5"], "looks have an aim of their own"),
        (["--aim", "apart"], "aim and spending go with looks"),
        (["--looks", "15,30", "--aim", "ranks=1.5"], "the aim ranks needs a whole number from 1"),
        (
            ["--looks", "15,30", "--method", "time", "--models-per-session", "2"],
            "looks of HYPE-time are planned for sessions of one model",
        ),
        (["--looks", "15,30", "--models", "1"], "models that are to differ must be 2 or more, not 1"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(arguments, message):
    found = CliRunner().invoke(main, ["plan", *arguments])

    assert found.exit_code == 1
    assert message in found.output


def shared(models=4, alike=0.5):
    """Evaluators who judge several models, with half of what makes them differ in common."""
    return replace(SPREAD, models=models, alike=alike)


def test_evaluators_of_several_models_are_at_one_look_and_find_more_the_more_models_have_in_common():
    alone, together = (stopped(difference=6.0, models=4, spread=shared(4, alike)) for alike in (0, 0.9))

    assert (together.evaluators == together.evaluators[:, :1]).all()
    assert together.reached[:, 0].mean() > alone.reached[:, 0].mean() + 0.1
    assert together.pair_covers.mean() == pytest.approx(0.95, abs=0.012)


def test_equal_models_of_one_session_differ_as_seldom_as_planned():
    assert stopped(models=4, spread=shared()).wrong.mean() == pytest.approx(0.05, abs=0.012)
    assert stopped(models=4, spread=shared(2)).wrong.mean() == pytest.approx(0.05, abs=0.012)


def test_a_tournament_has_the_planned_power_and_error():
    """The power of a single pair, by the planner; among three models it is Holm's, which is at most that."""
    spread = assumed(2, 60)
    fixed = stopped((30,), difference=0.4, spread=spread)

    assert fixed.reached[:, 0].mean() == pytest.approx(power(spread, 0.4, 30, 60, 0.95), abs=0.03)
    assert stopped(models=4, spread=assumed(4, 60)).wrong.mean() <= 0.05 + ERROR


def test_ranks_stop_once_every_rank_is_known_to_so_many_places():
    two = stopped(difference=15.0, models=3, aim="ranks=2")
    one = stopped(difference=15.0, models=3, aim="ranks")

    assert two.reached.all(axis=1).mean() > 0.98
    assert one.reached[:, 0].mean() > 0.98
    assert one.reached.all(axis=1).mean() < 0.1
    assert two.evaluators.sum(axis=1).mean() < one.evaluators.sum(axis=1).mean() - 20
    assert stopped(models=3, aim="ranks").wrong.mean() == pytest.approx(0.05, abs=0.012)


@pytest.mark.parametrize("spending", ["obrien-fleming", "obrien-fleming-whole", "pocock"])
def test_each_spending_errs_as_often_as_planned(spending):
    assert stopped(spending=spending).wrong.mean() == pytest.approx(0.05, abs=0.012)


def test_bias_at_the_stop_is_that_of_studies_with_these_scores():
    """0.6 points in the other program, of two models 10 points apart; evaluators of one model stop later."""
    two, three = (
        at_stop([replace(SPREAD, score=65.0), *[SPREAD] * others], LookPlan(LOOKS)) for others in (1, 2)
    )

    assert two["bias"] == [pytest.approx(0.6, abs=0.15)]
    assert three["bias"][0] == pytest.approx(three["bias"][1], abs=0.1)
    assert 0.1 < three["bias"][0] < two["bias"][0]
    assert np.mean(three["covers"]) == pytest.approx(0.95, abs=0.015)
