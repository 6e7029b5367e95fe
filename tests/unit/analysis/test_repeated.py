"""Tests where evaluators judged several models: pingouin, scipy, whole matrices, and simulation."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from backend.analysis import reliability
from backend.analysis.comparisons import repeated
from backend.analysis.table.designs import Crossing, crossing_of, design_of
from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.table.response_rows import answers_of
from backend.report.compose import compose
from backend.report.context import SourceInfo
from backend.report.findings import findings
from backend.scoring import score

from .. import texts

TABLE = np.array(
    [
        [12, 18, 25, 31], [20, 22, 24, 40], [8, 16, 30, 28],
        [15, 15, 21, 35], [22, 30, 29, 44], [10, 19, 18, 37],
    ],
    float,
)  # fmt: skip


def crossing(values, is_there=None):
    values = np.asarray(values, float)
    is_there = np.ones(values.shape, bool) if is_there is None else np.asarray(is_there, bool)
    return Crossing([f"m{i}" for i in range(values.shape[1])], np.where(is_there, values, 0.0), is_there)


def judged(values, is_there=None, each=50):
    """Return responses in which evaluator e errs on so many of 100 images of model m, half of them real."""
    rows = []
    for e, of_evaluator in enumerate(np.asarray(values, int)):
        for m, wrong in enumerate(of_evaluator):
            if is_there is not None and not is_there[e][m]:
                continue
            for k in range(2 * each):
                truth, other = ("fake", "real") if k % 2 else ("real", "fake")
                rows.append(
                    {"model": f"m{m}", "evaluator": f"e{e}", "truth": truth, "stimulus": f"{truth}{k}{m}"}
                    | {"response": other if k < wrong else truth}
                )
    return rows


# Repeated measures, all of everybody


def test_the_anova_is_that_of_pingouin():
    # pingouin 0.6, rm_anova(correction=True): F, p_unc, eps, p_GG_corr; statsmodels' AnovaRM has the same F
    found = repeated.anova(crossing(TABLE))

    assert found["df"] == [3, 15]
    assert found["F"] == pytest.approx(34.572849619660644, rel=1e-12)
    assert found["p_sphericity"] == pytest.approx(5.583380169629849e-07, rel=1e-9)
    assert found["epsilon"] == pytest.approx(0.4876310014924375, rel=1e-12)
    assert found["p"] == pytest.approx(0.0002928315975916296, rel=1e-9)


def test_the_explained_shares_are_those_of_pingouin():
    # generalised and partial eta squared: effsize="ng2" and "np2"
    found = repeated.effect_sizes(crossing(TABLE))

    assert found["eta_squared"] == pytest.approx(0.7174137407669736, rel=1e-12)
    assert found["partial_eta_squared"] == pytest.approx(0.8736507467100401, rel=1e-12)


def test_pairs_are_paired_t_tests_with_holms_p():
    # pingouin 0.6, pairwise_tests(padjust="holm"): T, p_unc, p_corr
    found = repeated.pairs(crossing(TABLE), 0.95)

    expected = [
        (-3.6666666666666665, 0.014493675302670055, 0.055440012069239306),
        (-3.709645251221234, 0.013860003017309826, 0.055440012069239306),
        (-17.75040627920733, 1.0413730815698253e-05, 6.248238489418952e-05),
        (-1.9159057555235692, 0.11352311137925004, 0.11352311137925004),
        (-11.931058533454047, 7.290615994486967e-05, 0.00036453079972434833),
        (-3.5408983259120634, 0.01654676052898675, 0.055440012069239306),
    ]
    assert [(row["t"], row["p_alone"], row["p"]) for row in found] == [
        pytest.approx(row, rel=1e-9) for row in expected
    ]
    assert [(row["df"], row["both"]) for row in found] == [(pytest.approx(5), 6)] * 6


def test_intervals_are_bonferronis():
    # six pairs: the t interval at 1 - .05 / 6
    row = repeated.pairs(crossing(TABLE), 0.95)[1]

    theirs = stats.ttest_rel(TABLE[:, 0], TABLE[:, 2]).confidence_interval(1 - 0.05 / 6)
    assert row["ci"] == pytest.approx([theirs.low, theirs.high], rel=1e-9)


def test_of_two_models_f_is_the_square_of_t_and_the_effect_is_that_of_the_differences():
    two = crossing(TABLE[:, :2])

    test, anova = repeated.paired(two, 0.95), repeated.anova(two)

    apart = TABLE[:, 0] - TABLE[:, 1]
    theirs = stats.ttest_rel(TABLE[:, 0], TABLE[:, 1])
    assert anova["F"] == pytest.approx(test["t"] ** 2)
    assert (anova["p"], anova["epsilon"]) == (pytest.approx(theirs.pvalue), pytest.approx(1))
    assert test["p"] == pytest.approx(theirs.pvalue)
    assert test["effect"]["d"] == pytest.approx(apart.mean() / apart.std(ddof=1))
    tails = [stats.nct.cdf(test["t"], 5, end * np.sqrt(6)) for end in test["effect"]["d_ci"]]
    assert tails == pytest.approx([0.975, 0.025], abs=1e-6)


# Partly overlapping


def degrees_by_matrices(is_there, covariance):
    """Return tr(G)^2 / tr(G^2) with the whole matrix G of the residuals, element by element."""
    a, b = (np.flatnonzero(is_there[:, model]) for model in (0, 1))
    values = [(e, 0) for e in a] + [(e, 1) for e in b]
    omega = np.array([[covariance[m][k] * (e == f) for f, k in values] for e, m in values])
    contrast = np.zeros((len(is_there), len(values)))
    for place, (e, m) in enumerate(values):
        size = len((a, b)[m])
        sign = (1 - 2 * m) / np.sqrt(size * (size - 1))
        contrast[e, place] += sign
        for other in (a, b)[m]:
            contrast[other, place] -= sign / size
    g = contrast @ omega @ contrast.T
    return np.trace(g) ** 2 / np.trace(g @ g)


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_degrees_of_freedom_are_those_of_the_whole_matrix(only_a, only_b, both, seed):
    if min(only_a, only_b) + both < 2:
        return
    rng = np.random.default_rng(seed)
    is_there = np.zeros((only_a + only_b + both, 2), bool)
    is_there[: only_a + both, 0] = True
    is_there[only_a:, 1] = True
    values = rng.normal(0, 2, (len(is_there), 1)) + rng.normal(0, 1, is_there.shape)
    some = crossing(values, is_there)
    covariance, counts = repeated.covariance_of(some), is_there.astype(float).T @ is_there

    found = repeated.degrees(covariance, counts, np.array([0]), np.array([1]))

    own = np.diag(covariance) * np.diag(counts)
    shared = covariance[0, 1] * counts[0, 0] * counts[1, 1] / both if both else 0.0
    expected = degrees_by_matrices(is_there, [[own[0], shared], [shared, own[1]]])
    assert found[0] == pytest.approx(expected, rel=1e-9)


def test_without_overlap_it_is_welchs_test():
    is_there = np.zeros((9, 2), bool)
    is_there[:4, 0], is_there[4:, 1] = True, True
    values = np.arange(18.0).reshape(9, 2) ** 1.3

    (row,) = repeated.pairs(crossing(values, is_there), 0.95)

    theirs = stats.ttest_ind(values[:4, 0], values[4:, 1], equal_var=False)
    assert (row["t"], row["df"], row["p"]) == pytest.approx((theirs.statistic, theirs.df, theirs.pvalue))


def test_of_everybody_the_wald_test_is_hotellings():
    found = repeated.wald(crossing(TABLE))

    apart = TABLE[:, :3] - TABLE[:, [3]]
    t_squared = 6 * apart.mean(0) @ np.linalg.solve(np.cov(apart.T), apart.mean(0))
    assert found["df"] == pytest.approx([3, 3])
    assert found["F"] == pytest.approx(3 / (5 * 3) * t_squared)


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_intervals_of_all_pairs_hold_together_in_95_of_100(share):
    """400 studies of four models and 14 lenient or strict people; binomial SE 1.1%."""
    rng = np.random.default_rng(8)
    held = false = 0
    for _ in range(400):
        values = 6 * rng.normal(size=(14, 1)) + rng.normal(0, [2, 3, 4, 6], (14, 4))
        is_there = rng.random((14, 4)) < share
        is_there[:3] = True
        rows = repeated.pairs(crossing(values, is_there), 0.95)
        held += all(row["ci"][0] <= 0 <= row["ci"][1] for row in rows)
        false += min(row["p"] for row in rows) < 0.05

    assert 0.93 <= held / 400 <= 0.99
    assert held + false == 400


# What there is nothing to tell of


@pytest.mark.parametrize(
    ("values", "is_there"),
    [
        ([[5, 5], [9, 9]], None),
        ([[5, 7], [9, 11]], None),
        ([[100 / 3, 50 / 3], [200 / 3, 50]], None),  # 50 / 3 but for rounding
        ([[5, 0], [9, 0]], [[1, 0], [1, 0]]),
    ],
)
def test_differences_that_do_not_vary_have_no_test(values, is_there):
    with np.errstate(all="raise", invalid="ignore", divide="ignore"):
        assert repeated.pairs(crossing(values, is_there), 0.95) == []
        assert repeated.pair_effects(crossing(values, is_there), 0.95) == []


# Designs in the scores


def test_designs_are_recognised():
    full, one_less = np.ones((4, 3), bool), np.ones((4, 3), bool)
    one_less[2, 1] = False
    apart = np.eye(3, dtype=bool)[[0, 1, 2, 0, 1, 2]]

    kinds = [
        design_of(answers_of(judged(np.full(there.shape, 9), there), "infinity")).kind
        for there in (full, one_less, apart)
    ]

    assert kinds == ["within", "mixed", "between"]


def test_scores_of_people_who_judged_every_model_are_compared_within_them():
    found = score(judged(TABLE), "infinity")

    assert (found["design"], found["people"], found["pairs_method"]) == ("within", 6, "paired")
    assert [row["score"] for row in found["models"]] == pytest.approx(sorted(TABLE.mean(0))[::-1])
    assert found["anova"]["F"] == pytest.approx(34.572849619660644)
    assert found["warnings"] == [
        "6 evaluators judged more than one model (such as e0); models are compared within evaluators "
        "(paired), with p-values by Holm and intervals by Bonferroni"
    ]
    assert pair_in(texts.of_rows(judged(TABLE), "infinity")).startswith("m3 − m0 21.3 [")


def pair_in(text):
    """Return the line of the first pair of a text, with single spaces."""
    return " ".join(next(line for line in text.splitlines() if line.startswith("m3 − m0 ")).split())


def test_pairs_are_those_over_pictures_too_only_where_pictures_are_named_and_shared():
    rows = judged(TABLE)
    nameless = [{name: cell for name, cell in row.items() if name != "stimulus"} for row in rows]

    without, over = (texts.of_rows(some, "infinity") for some in (nameless, rows))

    assert pair_in(without).startswith("m3 − m0 21.3 [16.3, 26.4] < .001 ")
    assert "over pictures too" not in without
    # everybody errs on the same pictures
    assert re.match(r"m3 − m0 21.3 \[16.3, 26.4\] < .001 \[6.6, 36.0\] ", pair_in(over))
    assert "interval (over pictures too)" in over


def test_paired_intervals_are_narrower_than_tukeys_where_people_differ_more_than_models():
    rng = np.random.default_rng(1)
    values = np.clip(30 + 12 * rng.normal(size=(20, 1)) + rng.normal(0, 2, (20, 3)) + [0, 3, 6], 0, 100)
    renamed = [{**row, "evaluator": row["evaluator"] + row["model"]} for row in judged(values)]

    within, between = score(judged(values), "infinity"), score(renamed, "infinity")

    width = [one["pairs"][0]["ci"][1] - one["pairs"][0]["ci"][0] for one in (within, between)]
    assert width[0] < width[1] / 3
    # the score of a model is the same whoever judged others
    assert [row["ci"] for row in within["models"]] == [row["ci"] for row in between["models"]]


@pytest.mark.slow("finds everything in a simulated study of each design")
def test_findings_and_their_words_bear_every_design():
    for share in (1.0, 0.5):
        rng = np.random.default_rng(2)
        is_there = rng.random(TABLE.shape) < share
        is_there[:2] = True
        found = findings(answers_of(judged(TABLE, is_there), "infinity"))

        page = compose(found, SourceInfo("t", "s", "2026-01-01", "0"))

        assert "Differences between models" in texts.of_findings(found)
        (section,) = (one for one in page.sections if one.id == "pairs")
        assert any("within evaluators" in text for text in section.paragraphs)
        assert found["findings"]["pairs_advised"] == {1.0: "paired", 0.5: "clustered"}[share]
        assert found["findings"]["equal_spread"] is None


def test_a_person_is_in_one_half_of_the_evaluators_with_all_models():
    """People differ very much, models do not: whole people tell nothing, people torn apart the opposite."""
    rng = np.random.default_rng(3)
    whole, torn = [], []
    for _ in range(30):
        some = crossing(20 * rng.normal(size=(40, 1)) + rng.normal(0, 1, (40, 3)))
        whole.append(reliability.of_people(some, rng, splits=50)["half"])
        torn.append(reliability.of_models([*some.values.T], rng, splits=50)["half"])

    assert abs(np.mean(whole)) < 0.3
    assert np.mean(torn) < -0.9
    assert reliability.of_people(crossing(TABLE[:, :2]), rng) is None


def test_the_reliability_in_the_findings_is_that_of_whole_people():
    answers = answers_of(judged(TABLE), "infinity")

    found = findings(answers)["findings"]["reliability"]

    some = crossing_of(answers, values_by_model(answers), ["m3", "m2", "m1", "m0"])
    assert found == reliability.of_people(some, np.random.default_rng(0))
