"""The correlation of 2AFC and JND scores over metrics: by scipy, by hand, and where there is none."""

import json

import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from backend.analysis.agreement.across_judgments import across_judgments


def found_of(two_afc, jnd):
    """Return the data of metrics with these scores by either judgment."""

    def scored(scores):
        cells = [{"metric": f"m{i}", "score": score, "ci": None} for i, score in enumerate(scores)]
        rows = [{**cell, "column": column} for cell in cells for column in ("cnn", "average")]
        for row in rows:
            row["score"] = row["score"] if row["column"] == "average" else 50.0
        return {"columns": [{"column": "cnn"}, {"column": "average"}], "metrics": rows}

    data = across_judgments({"2afc": scored(two_afc), "jnd": scored(jnd)})
    json.dumps(data, allow_nan=False)
    return {row["coefficient"]: (row["value"], row["ci"]) for row in data["correlations"]}


def test_correlations_are_of_the_last_column_and_those_of_scipy():
    x, y = [60.0, 65.0, 70.0, 63.0, 68.0], [40.0, 52.0, 55.0, 50.0, 45.0]

    found = found_of(x, y)

    pearson = pearsonr(x, y)
    assert found["pearson"][0] == pytest.approx(pearson.statistic)
    assert found["pearson"][1] == pytest.approx([*pearson.confidence_interval()])
    assert found["spearman"][0] == pytest.approx(spearmanr(x, y).statistic)
    assert found["kendall"][0] == pytest.approx(kendalltau(x, y).statistic)
    assert found["spearman"][1][0] < found["spearman"][0] < found["spearman"][1][1]


def test_three_metrics_have_a_correlation_without_interval_and_two_have_none():
    three, two = found_of([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]), found_of([1.0, 2.0], [1.0, 2.0])

    assert three["spearman"] == (pytest.approx(0.5), None)
    assert {value for value, _ in two.values()} == {None}


def test_a_metric_without_a_jnd_area_is_no_part_of_the_correlation():
    found = found_of([1.0, 2.0, 3.0, 9.0], [1.0, 3.0, 2.0, None])

    assert found["spearman"][0] == pytest.approx(0.5)
