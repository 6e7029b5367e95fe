"""Practice, checks and excluded evaluators in data: an export scores as its study, with and without."""

import csv
import json

import numpy as np
import pytest
from scipy import stats

from backend.analysis.table.response_rows import answers_of
from backend.analysis.table.unscored_rows import attention
from backend.foundation.errors import InvalidInput
from backend.report.findings import findings
from backend.responses.export import export
from backend.responses.readers import read_answers
from backend.responses.study_data import study_answers, study_rows, study_scores
from backend.scoring import score, score_answers
from tests.unit.response_rows import read_responses, score_file

from .. import sample_studies as studies
from .. import unscored_studies


@pytest.fixture
def study(world):
    """A study in which one evaluator of three of each model fails all checks, and is right in all else."""
    study = unscored_studies.add(
        world,
        studies.study(
            images=8,
            evaluators=3,
            practice_images=4,
            picture_checks=2,
            instructed_checks=2,
            exclude_checks_below=0.75,
        ),
    )
    for i in range(6):
        fails = i < 2
        unscored_studies.play(
            world.player(),
            right=lambda kind, fails=fails: kind == "practice" or (kind == "test") == fails,
        )
    return study


def test_scores_are_of_scored_trials_and_stand_with_and_without_exclusion(world, study):
    scores = study_scores(world.store, study)

    assert [(row["score"], row["evaluators"], row["responses"]) for row in scores["models"]] == [
        (100, 2, 16)
    ] * 2
    told = scores["exclusion"]
    assert (told["primary"], told["people"], told["excluded"]) == ("after exclusion", 6, 2)
    assert {row["model"]: (row["evaluators"], row["excluded"]) for row in told["models"]} == dict.fromkeys(
        study.models, (3, 1)
    )
    without = told["without"]
    assert [row["score"] for row in without["models"]] == [pytest.approx(200 / 3)] * 2
    rows = [row for row in study_rows(world.store, study) if row["trial_kind"] == "test"]
    everybody = score([{**row, "excluded": None} for row in rows], "infinity")
    assert without == everybody
    kept = score([{**row, "excluded": None} for row in rows if not row["excluded"]], "infinity")
    assert {name: scores[name] for name in kept} == kept


def test_an_export_with_all_rows_scores_as_the_study_does(world, study, tmp_path):
    export(world.store, study, tmp_path / "out")

    path = tmp_path / "out" / "data" / "study-faces_data.csv"
    assert score_file(tmp_path / "out") == study_scores(world.store, study)
    with path.open() as file:
        kinds = [row["trial_kind"] for row in csv.DictReader(file)]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "test": 48,
        "practice": 24,
        "check": 12,
        "instructed": 12,
    }
    assert score([*read_responses(path)], "infinity") == study_scores(world.store, study)
    lines = tmp_path / "rows.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in read_responses(path)))
    assert score_file(lines) == study_scores(world.store, study)


def test_the_tables_of_an_export_count_scored_trials_and_have_the_checks_beside_them(world, study, tmp_path):
    export(world.store, study, tmp_path / "out")

    data = tmp_path / "out" / "data"
    with (data / "study-faces_description-evaluators_data.csv").open() as file:
        people = [*csv.DictReader(file)]
    with (data / "study-faces_description-images_data.csv").open() as file:
        guesses = sum(int(row["number_guesses"]) for row in csv.DictReader(file))
    columns = ("responses", "checks", "checks_right", "excluded")
    assert sorted(tuple(row[name] for name in columns) for row in people) == [
        *[("8", "4", "0", "true")] * 2,
        *[("8", "4", "4", "false")] * 4,
    ]
    assert guesses == 48
    assert "48 responses of 6" in "".join(
        path.read_text() for path in (tmp_path / "out").iterdir() if path.is_file()
    )


def test_attention_is_told_of_everybody(world, study):
    told = attention(study_answers(world.store, study), 0.95)

    assert (told["people"], told["shown"], told["right"], told["all_right"]) == (6, 24, 16, 4)
    assert told["share"] == pytest.approx(4 / 6)
    # Wilson's with Student's quantile; s^2 / n is 4/15 / 6, so that n is effectively 2/9 of its inverse: 5
    # The lower end reaches farther by (1 + 2 q^2) / 4 of the skewness: that of four times 1/3 and twice -2/3
    # is nearer to 0 than 3 v b (1 - 2 p) / (p (1 - p)), b being the variance v without that of 24 answers
    variance = 4 / 15 / 6
    q, third = stats.t.ppf(0.975, 5), 3 * variance * (variance - 2 / 9 / 24) * (1 - 4 / 3) / (2 / 9)
    skewness = third / variance**1.5
    weight = (q + np.array([-skewness * (1 + 2 * q**2) / 4, 0])) ** 2 / 5
    ends = (4 / 6 + weight / 2 + np.array([-1, 1]) * np.sqrt(weight * (2 / 9 + weight / 4))) / (1 + weight)
    assert told["ci"] == pytest.approx(ends)
    # Clopper and Pearson, 4 of 6: R 4.3, binom.test(4, 6)$conf.int
    assert told["all_right_ci"] == pytest.approx([0.2227781, 0.9567281], abs=1e-6)
    assert sum(row["excluded"] for row in told["evaluators"]) == 2


def test_findings_are_those_after_exclusion(world, study):
    found = findings(study_answers(world.store, study))

    assert found["exclusion"]["excluded"] == 2
    assert len(found["findings"]["evaluators"]) == 4
    assert found["findings"]["attention"]["people"] == 6
    assert found == findings(study_answers(world.store, study))


def test_a_rule_that_leaves_nobody_is_told(world):
    study = unscored_studies.add(
        world, studies.study(images=4, instructed_checks=2, exclude_checks_below=0.5)
    )
    unscored_studies.play(world.player(), right=lambda kind: False)

    with pytest.raises(InvalidInput, match="leaves out all 1 evaluators"):
        study_scores(world.store, study)


def test_a_study_without_a_rule_has_no_exclusion_in_its_scores(world):
    study = unscored_studies.add(world, studies.study(images=4, instructed_checks=2))
    unscored_studies.play(world.player())

    assert "exclusion" not in study_scores(world.store, study)
    assert study_answers(world.store, study).unexcluded is None


HEADER = "model,evaluator,truth,response,trial_kind,excluded\n"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "gan,a,real,real,warm-up,",
            r"line 3: trial_kind must be 'test', 'practice', 'check' or 'instructed'",
        ),
        ("gan,a,real,real,test,perhaps", "line 3: excluded must be true or false"),
        (",a,fake,real,test,", "line 3: model must be a name"),
    ],
)
def test_a_bad_cell_is_refused_with_its_line(tmp_path, row, message):
    path = tmp_path / "r.csv"
    path.write_text(f"{HEADER}gan,a,fake,fake,test,\n{row}\n")

    with pytest.raises(InvalidInput, match=message):
        read_answers(path)


def test_rows_of_practice_need_no_model_and_a_file_of_them_alone_has_nothing_to_score(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(f"{HEADER},a,fake,fake,practice,\n,a,real,real,check,\n")

    with pytest.raises(InvalidInput, match="all are practice or attention checks"):
        read_answers(path)


def test_an_empty_kind_is_a_scored_trial():
    rows = [
        {"model": "gan", "evaluator": "a", "truth": truth, "response": "fake", "trial_kind": kind}
        for truth, kind in (
            ("real", ""),
            ("fake", None),
            ("fake", "test"),
            ("real", "test"),
            ("real", "practice"),
        )
    ]

    answers = answers_of(rows, "infinity")

    assert len(answers) == 4
    assert score_answers(answers)["models"][0]["score"] == 50
