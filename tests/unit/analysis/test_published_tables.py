"""What follows from the papers' tables, against scipy, permutations and draws that share no code with it."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from backend.analysis.comparisons.published_tables import (
    Summary,
    recomputed_correlations,
    recomputed_pairs,
    recomputed_tests,
    with_modes_as_inputs,
    without_bessel,
)
from backend.analysis.distributions.bootstrap import exact
from backend.experiment.published import CELEBA, CIFAR, FFHQ, IMAGENET, MODELS, TESTS, TIME_CELEBA

RESULTS = recomputed_tests()
ROWS = [row for table in IMAGENET for row in table.rows]


def f_of(means, stds):
    """F of 30 evaluators a model by its definition, from bootstrap SDs: s^2 = std^2 30^2 / 29."""
    return 30 * np.var(means, ddof=1) / np.mean(np.square(stds) * 900 / 29)


@pytest.mark.parametrize("result", RESULTS, ids=lambda row: f"{row['printed'].table.data} {row['table']}")
def test_f_and_t_are_those_of_scipy(result):
    rows = result["printed"].table.rows
    means, stds = [row.score for row in rows], [row.std for row in rows]
    if result["table"] == "W 6":
        stds = [1.27, 0.87, 1.55, 0.49]

    sds = [std * math.sqrt(900 / 29) for std in stds]
    if len(rows) == 2:
        value, p = stats.ttest_ind_from_stats(means[0], sds[0], 30, means[1], sds[1], 30)
    else:
        half = np.array([-1, 1] * 15) * math.sqrt(29 / 30)  # mean 0, variance 1
        value, p = stats.f_oneway(*(mean + sd * half for mean, sd in zip(means, sds, strict=True)))

    assert (result["value"], result["p"]) == pytest.approx((value, p), rel=1e-9)


@pytest.mark.parametrize("result", RESULTS, ids=lambda row: f"{row['printed'].table.data} {row['table']}")
def test_ranges_contain_all_that_rounds_to_what_is_printed_and_hardly_more(result):
    rows, rng = result["printed"].table.rows, np.random.default_rng(5)
    half_std = 0.005 if result["table"] == "W 6" else 0.05
    means, stds = np.array([row.score for row in rows]), np.array([row.std for row in rows])
    if result["table"] == "W 6":
        stds = np.array([1.27, 0.87, 1.55, 0.49])

    # corners of the box, where the ends are, or close to it
    shifts = rng.choice([-1, -0.5, 0, 0.5, 1], (20_000, 2, len(rows)))
    values = [f_of(means + 0.05 * m, np.maximum(stds + half_std * s, 0)) for m, s in shifts]
    if len(rows) == 2:
        values = np.sqrt(values)

    low, high = result["ends"]
    assert low <= result["value"] <= high
    assert min(values) >= low - 1e-9
    assert max(values) <= high + 1e-9
    assert (min(values), max(values)) == pytest.approx((low, high), rel=0.02)


def test_the_least_f_has_each_mean_as_near_to_the_others_as_it_can_be():
    least, most = Summary(("a", "b", "c"), np.array([1.0, 1.08, 1.2]), np.ones(3)).extremes()

    # a at its upper and c at its lower end; b, between 1.03 and 1.13, in the middle of them
    assert [values.mean() for values in least.values()] == pytest.approx([1.05, 1.10, 1.15])
    assert [values.mean() for values in most.values()] == pytest.approx([0.95, 1.03, 1.25])


def test_a_bootstrap_has_the_variance_with_n_as_its_divisor():
    """What the factor n / (n - 1) rests on, for values of any shape."""
    values = np.random.default_rng(2).binomial(100, 0.3, 30).astype(float)

    std = exact(values, 30).std

    assert math.sqrt(900 / 29) * std == pytest.approx(values.std(ddof=1), rel=1e-9)


def test_f_follows_with_that_factor_and_not_without():
    two, six, without = RESULTS[0], RESULTS[1], without_bessel()

    assert [row["follows"] for row in (two, six, without)] == [True, True, False]
    assert without["value"] == pytest.approx(six["value"] * 30 / 29)
    assert without["ends"] == pytest.approx([410.36, 421.40], abs=0.005)


def test_what_does_not_follow_is_what_the_papers_print_otherwise():
    """From the papers' sections 4 and 5, by hand."""
    tests = [(row["printed"].table.data, row["table"]) for row in RESULTS if row["follows"] is False]
    pairs = [(row["printed"].table.data, *row["pair"]) for row in recomputed_pairs() if not row["follows"]]

    assert tests == [("FFHQ-1024", "N 3"), ("CelebA-64", "W 1"), ("FFHQ-1024", "N 1")]
    assert pairs == [
        ("ImageNet-5 lemon", "BigGAN (truncated)", "SN-GAN"),
        ("ImageNet-5 library", "BigGAN (truncated)", "SN-GAN"),
        ("CelebA-64", "StyleGAN (truncated)", "ProGAN"),
    ]


def test_printed_p_values_are_those_of_the_larger_degrees_of_freedom():
    """F(2, 29) = 4.2, p = 0.017 and F(2, 29) = 4.9, p = 0.009 (N 5.1)."""
    for f, p in ((4.2, 0.017), (4.9, 0.009)):
        assert stats.f.sf(f + 0.05, 2, 87) - 0.0005 <= p <= stats.f.sf(f - 0.05, 2, 87) + 0.0005
        assert stats.f.sf(f + 0.05, 2, 29) > p + 0.0005


@pytest.mark.parametrize("test", [test for test in TESTS if test.inseparable is not None],
                         ids=lambda test: f"{test.table.data} {test.table.where}")  # fmt: skip
def test_pairs_are_those_of_scipy_and_their_ranges_those_of_rounding(test):
    rows, results = test.table.rows, [row for row in recomputed_pairs() if row["printed"] is test]
    means, within = [row.score for row in rows], np.mean([row.std**2 * 30 / 29 for row in rows])
    least, most = (np.mean([max(row.std + half, 0) ** 2 * 30 / 29 for row in rows]) for half in (-0.05, 0.05))
    score = dict(zip((row.model for row in rows), means, strict=True))

    for row in results:
        gap = abs(score[row["pair"][0]] - score[row["pair"][1]])
        q = [gap / within**0.5, (gap + 0.1) / least**0.5, max(gap - 0.1, 0) / most**0.5]
        p = stats.studentized_range.sf(q, len(rows), 29 * len(rows))
        assert [row["p"], *row["p_ends"]] == pytest.approx(p, rel=1e-4, abs=1e-7)
    assert len(results) == len(rows) * (len(rows) - 1) / 2


def test_lemons_differ_by_a_t_test_that_is_not_corrected_and_libraries_do_not():
    p = []
    for table in (IMAGENET[0], IMAGENET[2]):
        truncated, _, other = table.rows
        within = sum(row.std**2 for row in table.rows) / 3 * 30 / 29
        p.append(2 * stats.t.sf((truncated.score - other.score) / math.sqrt(2 * within), 87))

    assert p[0] < 0.05 < p[1]


def test_modes_of_blocks_with_that_correlation_have_the_printed_f():
    """Drawn: 90 modes of a model, with r between an evaluator's three and that SD of their means."""
    found, rng = with_modes_as_inputs(), np.random.default_rng(8)
    r, fs = found["r"], []
    for _ in range(400):
        groups = []
        for row in TIME_CELEBA.rows:
            person, block = rng.normal(size=(30, 1)), rng.normal(size=(30, 3))
            modes = math.sqrt(r) * person + math.sqrt(1 - r) * block
            means = modes.mean(axis=1)
            modes = (modes - means.mean()) / means.std(ddof=1) * row.std * math.sqrt(900 / 29) + row.score
            groups.append(modes.ravel())
        fs.append(stats.f_oneway(*groups).statistic)

    assert found["F"] == pytest.approx(83.5)
    assert np.median(fs) == pytest.approx(83.5, rel=0.03)
    assert found["p"] < 0.05


CASES = recomputed_correlations()


def columns(name):
    if name == "faces":
        rows = [model.infinity for model in MODELS]
    elif name == "CIFAR-10":
        rows = CIFAR.rows
    else:
        rows = [row for row in ROWS if name == "ImageNet-5" or name in row.model]
    return {"time": [model.ms for model in MODELS], "infinity": [row.score for row in rows],
            "KID": [row.kid for row in rows], "FID": [row.fid for row in rows],
            "precision": [row.precision for row in rows]}  # fmt: skip


@pytest.mark.parametrize(
    "row", CASES, ids=lambda row: f"{row['printed'].models} {row['printed'].other} {row['printed'].where}"
)
def test_correlations_are_those_of_scipy_and_of_all_orders(row):
    values = columns(row["printed"].models)
    x, y = values[row["printed"].score], values[row["printed"].other]

    rank = stats.spearmanr(x, y)

    assert (row["rho"], row["p"]) == pytest.approx((rank.statistic, rank.pvalue), abs=1e-9)
    if len(x) <= 6:
        ranks_x, ranks_y = stats.rankdata(x), stats.rankdata(y)
        rhos = [np.corrcoef(ranks_x, order)[0, 1] for order in permutations(ranks_y)]
        assert row["p_exact"] == pytest.approx(np.mean(np.abs(rhos) >= abs(rank.statistic) - 1e-9))
    else:
        assert row["p_exact"] is None


def test_the_printed_rho_of_fifteen_models_cannot_have_the_printed_p():
    """Student's t with 13 degrees of freedom, and 200,000 orders of ranks without ties."""
    rng = np.random.default_rng(3)
    ranks = np.arange(15.0)
    orders = rng.permuted(np.tile(ranks, (200_000, 1)), axis=1)
    rhos = np.abs(1 - 6 * ((orders - ranks) ** 2).sum(axis=1) / (15 * (15**2 - 1)))

    for row in CASES[7:9]:
        rho = float(row["printed"].rho.text)
        t = abs(rho) * math.sqrt(13 / (1 - rho**2))
        assert row["p_of_printed"] == pytest.approx(2 * stats.t.sf(t, 13), rel=1e-9)
        assert row["p_of_printed"] == pytest.approx((rhos >= abs(rho)).mean(), abs=0.01)
        assert row["p_of_printed"] > 10 * float(row["printed"].p.text) / 2


@pytest.mark.parametrize("swapped", [(2, 3), (4, 5)], ids=["BEGAN and WGAN-GP", "FFHQ"])
def test_two_neighbours_in_the_other_order_give_the_correlations_of_w(swapped):
    values = columns("faces")
    infinity = [*values["infinity"]]
    i, j = swapped
    infinity[i], infinity[j] = infinity[j], infinity[i]

    rhos = [stats.spearmanr(infinity, values[other]).statistic for other in ("time", "FID")]

    assert [f"{rho:.4f}" for rho in rhos] == ["0.9429", "-0.0857"]


def test_metrics_of_cifar_are_those_of_celeba():
    assert [(row.kid, row.precision) for row in CIFAR.rows] == [
        (row.kid, row.precision) for row in CELEBA.rows
    ]
    assert [row.fid for row in CIFAR.rows] != [row.fid for row in (*CELEBA.rows, *FFHQ.rows)][:4]
