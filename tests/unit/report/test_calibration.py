"""The report of a calibration: what it says of a difference, as text, page, tables and figure."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from backend.analysis.agreement.item_agreement import agreement
from backend.metrics.calibration import schedule
from backend.report.calibration import report
from backend.report.text_report import as_text
from backend.report.write import write
from validate.calibration import votes_of_judges


def scores(better, count=200, seed=0):
    """Return the agreement of two metrics, of which the calibrated one is right more often by `better`."""
    rng = np.random.default_rng(seed)
    votes = votes_of_judges(rng.choice([0.1, 0.9], count), 5, rng)
    side = votes.share > 0.5
    right = rng.random(count)

    def distances(chance):
        is_right = right < chance
        return np.stack([np.ones(count), np.where(side == is_right, 0.5, 1.5)], axis=1)

    return agreement(votes, {"calibrated": distances(0.7 + better), "before": distances(0.7)})


def data_of(better=0.2, **more):
    """Return the data of a calibration, as `openhype calibrate --json` prints them."""
    names = ("train", "validation", "held-out")
    curve = [
        {"step": step, "train_loss": 0.6, "validation_loss": 0.6 - step / 1000, "train_score": 70.0,
         "validation_score": 69.0}
        for step in (0, 50, 100)
    ]  # fmt: skip
    return {
        "source": "lab", "file": "alex.pth", "net": "alex", "lpips_version": "0.1",
        "trunk": {"file": "trunk.pth", "hash": "a" * 64, "is_published": True},
        "start": {"kind": "uniform", "file": None, "hash": None, "published_version": None},
        "seed": 0, "level": 0.95, "triplets": 600, "references": 600, "votes": 3000, "evaluators": 20,
        "simulated": False,
        "schedule": {**asdict(schedule.default(200)), "train_triplets": 200},
        "fit": {"step": 100, "steps": 1100, "is_at_limit": False, "curve": curve},
        "layers": [
            {"layer": 1, "channels": 64, "zeros_before": 0, "zeros": 9, "mean_before": 0.1, "mean": 0.2,
             "largest": 1.0, "part_before": 100.0, "part": 100.0}
        ],
        "shares": [
            {"share": name, "references": 200, "agreement": scores(better, seed=i)}
            for i, name in enumerate(names)
        ],
        "split": [{"item": f"cnn/{i}", "set": "cnn", "share": names[i % 3]} for i in range(600)],
        "weights": {"hash": "b" * 64, "sha256": "c" * 64},
        "programs": {"openhype": "1", "python": "3", "numpy": "2", "torch": "2"},
        **more,
    }  # fmt: skip


def text_of(data):
    return as_text(report(data, "2026-01-01", "1"))


@pytest.mark.parametrize(
    ("better", "verdict"),
    [
        (0.2, "The calibrated metric agrees better with people than before: by "),
        (-0.2, "The calibrated metric agrees worse with people than before, by −"),
        (0.005, "It is not shown to be better than before: the interval of the difference, "),
        (0.0, "It orders the pictures of all held-out triplets as before: nothing shows that it is better."),
    ],
)
def test_the_verdict_is_that_of_the_interval_on_held_out_triplets(better, verdict):
    data = data_of(better)

    assert verdict in text_of(data)
    assert verdict in report(data, "2026-01-01", "1").summary


def test_the_text_names_version_start_and_what_the_scores_are_from():
    start = {"kind": "file", "file": "lin.pth", "hash": "d" * 64, "published_version": "0.0"}

    text = text_of(data_of(start=start, lpips_version="0.0"))

    assert (
        "Metric: LPIPS v0.0, AlexNet\nTriplets: 600\nReferences: 600\nVotes: 3,000\nEvaluators: 20\n" in text
    )
    assert "by share, with 95% intervals over evaluators and triplets" in text
    assert "On 200 held-out triplets of 200 references, which took part neither in the fit nor in its" in text
    assert "and the metric as it was (the published v0.0) with " in text
    assert "only the held-out scores say" in text


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"fit": {**data_of()["fit"], "step": 0}}, "the weights are those of the start"),
        ({"fit": {**data_of()["fit"], "steps": 110, "is_at_limit": True}}, "more may help (--steps)"),
        ({"layers": [{**data_of()["layers"][0], "largest": 0.0}]}, "every weight is 0"),
        ({"trunk": {**data_of()["trunk"], "is_published": False}}, "trunk.pth is not recognised as the"),
        ({"references": 300}, "600 triplets have 300 references; intervals count triplets"),
    ],
)
def test_what_limits_the_result_is_said(more, note):
    assert note in text_of(data_of(**more))


def test_the_page_has_scores_curve_weights_and_split(tmp_path):
    made = report(data_of(source="<b>lab</b>"), "2026-01-01", "1")

    write(made, tmp_path)

    page = (tmp_path / "index.html").read_text("utf-8")
    assert "&lt;b&gt;lab" in page
    assert "<b>lab" not in page
    assert (tmp_path / "figures" / "learning_curve.svg").stat().st_size > 1000
    rows = json.loads((tmp_path / "tables" / "split.json").read_text("utf-8"))["rows"]
    assert len(rows) == 600
    table = (tmp_path / "tables" / "calibration.md").read_text("utf-8").splitlines()
    assert [line.split(" | ")[0].strip("| ") for line in table[2:]] == ["train", "validation", "held-out"]
    assert json.loads((tmp_path / "report.json").read_text("utf-8"))["calibration"]["seed"] == 0


def test_simulated_votes_are_marked():
    data = data_of(simulated=True)

    made = report(data, "2026-01-01", "1")
    assert text_of(data).startswith("Simulated sessions: nobody looked")
    assert "(simulated)" in made.title
    assert {figure.stamp for figure in made.figures} == {"simulated sessions"}
