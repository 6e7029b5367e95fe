"""Planned looks in reports and registrations."""

import pytest
from click.testing import CliRunner

from backend.analysis.planning.family_errors import family_errors
from backend.analysis.planning.looks import LookPlan
from backend.cli import main
from backend.report import planned_looks
from backend.report.build import ReportOptions, study_info
from backend.responses import study_looks

from .. import sample_studies as studies
from ..test_planned_looks import FAR, NEAR, finish, planned


@pytest.fixture
def stopped(world):
    """A study of two models that stopped at its second look of three."""
    world.add(planned(aim="apart", spending="obrien-fleming", base_usd_cents=100, bonus_usd_cents=0))
    for wrong in (NEAR, FAR):
        finish(world, 5, wrong)
        study_looks.decide(world.store, world.store.study("faces"), world.clock.now.isoformat())
    return world


def section_of(world):
    study = world.store.study("faces")
    info = study_info(world.store, study, world.clock.now, ReportOptions())
    return planned_looks.section(info.looks, "percent"), study


def test_the_report_of_a_stopped_study_says_at_which_look_and_what_that_saved(stopped):
    section, study = section_of(stopped)

    plan, course, intervals, at_stop, methods = section.paragraphs
    assert plan.startswith(
        "The study is analysed at 5, 10 and 15 evaluators of each model, and is to stop once all pairs"
    )
    assert study.looks_digest in plan
    assert "The study ended at look 2 of 3 (10 evaluators of each model): the aim apart is reached." in course
    assert course.endswith("Against the fixed plan that saved 10 evaluators (33%), and $10.00 at most.")
    assert "usual ones, of everybody who finished" in intervals
    assert at_stop.startswith("Under stopping, two-sided p < .001 (stage-wise ordering). The difference is")
    assert "It stopped at look 2, with 10 evaluators of each model: the aim apart is reached." in methods
    decisions, pairs = section.tables
    assert [row["decision"] for row in decisions.rows] == ["go on", "stop"]
    assert pairs.cells[0][-1] == "apart"
    low, high = pairs.rows[0]["ci"], pairs.rows[0]["repeated_ci"]
    assert high[0] < low[0] < low[1] < high[1]


def test_a_report_of_several_models_has_the_p_for_all_pairs_and_the_bias_of_each(world):
    study = planned(aim="apart", looks="5,10", spending="obrien-fleming")
    world.add(studies.replaced(study, models=("gan", "vae", "wae")))
    finish(world, 5, {"gan": [0, 1], "vae": [3, 4], "wae": [6, 7]})
    study_looks.decide(world.store, world.store.study("faces"), world.clock.now.isoformat())

    section, _ = section_of(world)

    wanted = family_errors(LookPlan((5, 10)), 3, is_tukey=True)
    assert f"is below {wanted[0]:.5f}, {wanted[1]:.5f}. The plan was fixed" in section.paragraphs[0]
    assert [row["error"] for row in section.tables[0].rows] == [wanted[0]]
    pairs = section.tables[1]
    assert [column.head for column in pairs.columns][-2:] == ["bias", "usual interval covers"]
    assert all(0.8 < row["covers"] <= 1 and abs(row["bias"]) < 5 for row in pairs.rows)


def test_before_the_first_look_a_report_has_no_section(world):
    world.add(planned())
    finish(world, 1, NEAR)

    assert section_of(world)[0] is None


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"aim": "half-width=4"}, "every 95% interval of a score is at most 4 percentage points to a side"),
        ({"aim": "equal-within=5"}, "equal within 5 percentage points by one-sided tests"),
        ({"aim": "apart=gan"}, "gan differs significantly from every other model"),
        ({"aim": "futility=6"}, "the last look would find a difference of 6 percentage points with a"),
        ({"looks": "", "aim": "apart"}, "30 evaluators of each model finish; nothing is tested before"),
        ({"exclude_faster_ms": 200}, "Evaluators are left out by a median response time under 200 ms."),
    ],
)
def test_a_registration_states_what_ends_the_study(world, tmp_path, settings, told):
    study = planned(**settings)
    world.add(study)

    found = CliRunner().invoke(main, ["preregister", "faces", "--data", str(tmp_path)])

    assert told in found.stdout
    assert "Nobody has taken part yet." in found.stdout
    plan = study.protocol.looks.plan
    assert plan is None or plan.digest in found.stdout


def test_a_registration_that_comes_too_late_says_so(world, tmp_path):
    world.add(planned())
    world.open()

    found = CliRunner().invoke(main, ["preregister", "faces", "--data", str(tmp_path)])

    assert "Evaluators have taken part since 2026-01-01" in found.stdout
    assert "note: evaluators have taken part in faces already" in found.stderr
