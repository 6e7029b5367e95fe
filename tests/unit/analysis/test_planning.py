"""Plans: what an aim needs, by hand, by statsmodels, and by simulated studies."""

import json
import math
from functools import lru_cache
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import chdtri

import openhype
from backend.analysis import planning
from backend.analysis.costs import Costs
from backend.analysis.power import evaluators_for_power, evaluators_for_width, power, width
from backend.analysis.response_rows import answers_of
from backend.analysis.spreads import Spread, published, spreads_of
from backend.cli import main
from backend.foundation.errors import InvalidInput
from backend.responses.export import export

from .. import sample_studies as studies

SDS = st.floats(0.5, 40)
PUBLISHED = {spread.model.removesuffix(" CelebA-64"): spread for spread in published("infinity")}


def rows_of(errors, images, model="gan", first=0):
    """Return responses of evaluators who are wrong on so many of their images."""
    return [
        {"model": model, "evaluator": f"{model}{first + i}", "truth": "fake" if k % 2 else "real"}
        | {"response": ("real" if k % 2 else "fake") if k < wrong else ("fake" if k % 2 else "real")}
        for i, (wrong, count) in enumerate(zip(errors, images, strict=True))
        for k in range(count)
    ]


def flashes(exposures_ms, model="gan"):
    """Return a block of three flashes for each evaluator, all at the evaluator's exposure."""
    return [
        {"model": model, "evaluator": f"e{i}", "truth": "fake", "response": "fake", "block": 0}
        | {"trial_index": k, "exposure_ms": ms}
        for i, ms in enumerate(exposures_ms)
        for k in range(3)
    ]


# Widths


def test_stylegan_needs_thirty_evaluators_for_an_interval_of_five_points():
    # (2 * 1.959964 * 6.9 / 5)^2 = 29.26
    assert evaluators_for_width(PUBLISHED["StyleGAN"], 5, 100, 0.95) == 30


def test_the_published_sds_give_the_bootstrap_sds_of_the_papers():
    # HYPE, tables 2 and 3: 1.3, 0.9, 1.6, 0.6, 2.4, 1.8 with 30 evaluators
    assert [round(spread.sd / math.sqrt(30), 1) for spread in published("infinity")] == [
        1.3, 0.9, 1.5, 0.5, 2.4, 1.8,
    ]  # fmt: skip


@given(SDS, st.floats(1, 60), st.floats(0.5, 0.999))
def test_the_planned_number_is_the_fewest_whose_interval_is_narrow_enough(sd, wanted, level):
    spread = Spread("gan", 30, sd, 100, 0.7)

    count = evaluators_for_width(spread, wanted, 100, level)

    assert width(spread, count, 100, level) <= wanted * (1 + 1e-9)
    assert count == 2 or width(spread, count - 1, 100, level) > wanted


def test_a_pilots_width_is_that_of_its_exact_bootstrap_with_the_sd_of_n_minus_one():
    rows = rows_of([10, 20, 30, 25, 40, 35], [100] * 6)
    spread = spreads_of(answers_of(rows, "infinity"))[0]

    found = width(spread, 6, 100, 0.95)

    low, high = openhype.score(rows)["models"][0]["ci"]
    assert found == pytest.approx((high - low) * math.sqrt(6 / 5), rel=1e-12)


def test_a_pilots_number_is_near_the_normal_one_and_narrow_enough():
    spread = spreads_of(answers_of(rows_of([2, 12, 30, 5, 40, 1, 22, 9], [100] * 8), "infinity"))[0]

    count = evaluators_for_width(spread, 6, 100, 0.95)

    normal = (2 * 1.959964 * spread.sd / 6) ** 2
    assert count == pytest.approx(normal, rel=0.05)
    assert width(spread, count, 100, 0.95) <= 6


# Power


@pytest.mark.parametrize(
    ("effect", "evaluators", "level", "expected"),
    [
        # statsmodels 0.15.0, TTestIndPower().power(effect, n, alpha)
        (0.5, 30, 0.95, 0.4778965207601643),
        (0.5, 64, 0.95, 0.8014595579222542),
        (0.2, 400, 0.95, 0.8064972788078826),
        (1.2, 6, 0.95, 0.46752301142226294),
        (0.8, 26, 0.99, 0.5842694084390377),
    ],
)
def test_power_is_that_of_statsmodels(effect, evaluators, level, expected):
    assert power(evaluators, effect, level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("effect", "wanted", "level", "solved"),
    [
        # statsmodels 0.15.0, TTestIndPower().solve_power(effect, power, alpha): the next whole number counts
        (0.5, 0.8, 0.95, 63.76561058891169),
        (0.2, 0.9, 0.95, 526.3331885760532),
        (1.0, 0.8, 0.99, 25.06670824000673),
        (2.0, 0.8, 0.95, 5.08999456823225),
    ],
)
def test_evaluators_for_a_power_are_those_of_statsmodels(effect, wanted, level, solved):
    assert evaluators_for_power(effect, wanted, level) == math.ceil(solved)


@given(st.floats(0.1, 3), st.floats(0.3, 0.95), st.floats(0.8, 0.99))
def test_more_power_a_smaller_difference_or_a_higher_level_needs_more_evaluators(effect, wanted, level):
    count = evaluators_for_power(effect, wanted, level)

    assert evaluators_for_power(effect, wanted + 0.04, level) >= count
    assert evaluators_for_power(effect * 0.9, wanted, level) >= count
    assert evaluators_for_power(effect, wanted, level + 0.009) >= count
    assert count == 2 or power(count - 1, effect, level) < wanted <= power(count, effect, level)


def test_tukeys_test_of_two_models_is_the_t_test_and_of_more_asks_more():
    counts = [evaluators_for_power(0.7, 0.8, 0.95, models) for models in (2, 3, 4, 8)]

    assert counts[0] == evaluators_for_power(0.7, 0.8, 0.95)
    assert counts == sorted(set(counts))


def test_simulated_studies_of_the_planned_size_have_the_power():
    sd, difference = 6.9, 5.0
    count = evaluators_for_power(difference / sd, 0.8, 0.95)
    rng = np.random.default_rng(1)
    one, other = (rng.normal(mean, sd, (20_000, count)) for mean in (difference, 0))

    t = (one.mean(1) - other.mean(1)) / np.sqrt((one.var(1, ddof=1) + other.var(1, ddof=1)) / count)

    # 2.00030 is the 97.5% point of Student's t with 60 degrees of freedom; 3 standard errors are 0.0085
    assert count == 31
    assert (np.abs(t) > 2.00030).mean() == pytest.approx(power(31, difference / sd, 0.95), abs=0.0085)


def test_simulated_tukey_tests_of_the_planned_size_have_the_power():
    models, effect = 4, 0.8
    count = evaluators_for_power(effect, 0.8, 0.95, models)
    rng = np.random.default_rng(2)
    values = rng.normal(0, 1, (20_000, models, count))
    values[:, 0] += effect

    pooled = np.sqrt(values.var(2, ddof=1).mean(1) / count)
    ranges = np.abs(values[:, 0].mean(1) - values[:, 1].mean(1)) / pooled

    # scipy.stats.studentized_range.ppf(0.95, 4, 148) = 3.67478; 3 standard errors are 0.0085
    assert (models, count) == (4, 38)
    assert (ranges > 3.67478).mean() == pytest.approx(power(38, effect, 0.95, models), abs=0.0085)


def test_simulated_tukey_tests_of_few_evaluators_have_the_power():
    rng = np.random.default_rng(3)
    values = rng.normal(0, 1, (20_000, 5, 4))
    values[:, 0] += 2.5

    pooled = np.sqrt(values.var(2, ddof=1).mean(1) / 4)
    ranges = np.abs(values[:, 0].mean(1) - values[:, 1].mean(1)) / pooled

    # scipy.stats.studentized_range.ppf(0.95, 5, 15) = 4.36698; 3 standard errors are at most 0.0107
    assert (ranges > 4.36698).mean() == pytest.approx(power(4, 2.5, 0.95, 5), abs=0.0107)


@pytest.mark.parametrize(
    ("effect", "wanted", "level", "models", "expected"),
    [
        # where the far tail vanishes; found by simulation, 10^6 studies a size
        (5 / 9.7, 0.8, 0.99, 6, 135),
        (9 / 2.7, 0.95, 0.95, 5, 5),
        (20 / 0.5, 0.8, 0.95, None, 2),
    ],
)
def test_a_far_tail_that_vanishes_asks_for_no_more_evaluators(effect, wanted, level, models, expected):
    assert evaluators_for_power(effect, wanted, level, models) == expected


@lru_cache
def bar_of(level, models, df):
    """Return scipy's t value beyond which a difference counts."""
    if models is None:
        return float(stats.t.isf((1 - level) / 2, df))
    return float(stats.studentized_range.ppf(level, models, df)) / math.sqrt(2)


def power_by_quadrature(evaluators, effect, level, models):
    """Return the power by adaptive quadrature over the SD, about scipy's bar."""
    df, shift = (models or 2) * (evaluators - 1), effect * math.sqrt(evaluators / 2)
    bar = bar_of(level, models, df)
    log_scale = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)

    def density(s):
        density = math.exp(log_scale + (df - 1) * math.log(s) - df * s * s / 2)
        return density * (math.erfc((bar * s - shift) / 2**0.5) + math.erfc((bar * s + shift) / 2**0.5)) / 2

    low, high = (math.sqrt(float(quantile) / df) for quantile in chdtri(df, [1 - 1e-14, 1e-14]))
    step = min(max(shift / bar, low), high)
    return integrate.quad(density, low, high, points=[1.0, step], limit=400, epsabs=1e-12)[0]


@pytest.mark.parametrize(
    "models",
    [
        None,
        3,
        pytest.param(6, marks=pytest.mark.slow("integrates numerically")),
        pytest.param(20, marks=pytest.mark.slow("integrates numerically")),
    ],
)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99, 0.999])
def test_power_is_that_of_quadrature_for_every_effect_and_size(level, models):
    for evaluators in (2, 3, 12, 135, 1000):
        for effect in (0.01, 0.2, 0.5155, 1.0, 3.333, 12.0):
            expected = power_by_quadrature(evaluators, effect, level, models)
            assert power(evaluators, effect, level, models) == pytest.approx(expected, abs=2e-8)


@given(st.floats(0.02, 60), st.floats(0.05, 0.999), st.floats(0.5, 0.9999), st.sampled_from([None, 3, 6, 40]))
def test_the_planned_number_is_the_fewest_with_the_power(effect, wanted, level, models):
    count = evaluators_for_power(effect, wanted, level, models)

    assert power(count, effect, level, models) >= wanted
    assert count == 2 or power(count - 1, effect, level, models) < wanted


@pytest.mark.parametrize(("level", "models"), [(0.95, None), (0.99, 6), (0.9, 3), (0.99, 20)])
@pytest.mark.parametrize("effect", [0.25, 0.5155, 1.2, 3.3333])
@pytest.mark.slow("simulates studies of each planned size")
def test_simulated_statistics_of_the_planned_sizes_have_the_power(effect, level, models):
    """A million draws of (Z + shift) / S about a bar of scipy's: 4 standard errors are at most 0.002."""
    rng = np.random.default_rng(11)
    for wanted in (0.5, 0.8, 0.95):
        count = evaluators_for_power(effect, wanted, level, models)
        df = (models or 2) * (count - 1)
        t = rng.normal(effect * math.sqrt(count / 2), 1, 10**6) / np.sqrt(rng.chisquare(df, 10**6) / df)

        found = (np.abs(t) > bar_of(level, models, df)).mean()

        assert found == pytest.approx(power(count, effect, level, models), abs=0.002)


# The parts of the spread, and the best number of images


def test_the_variance_of_began_splits_as_by_hand():
    # 8.4^2 = 70.56, of which 10 * 90 / 100 = 9 by images
    began = PUBLISHED["BEGAN"]

    assert (began.between, began.within) == (pytest.approx(61.56), pytest.approx(900))
    assert began.sd_at(100) == 8.4
    assert began.sd_at(25) == pytest.approx(math.sqrt(61.56 + 36))


def test_progans_evaluators_hardly_differ_so_that_all_of_its_spread_is_by_images():
    # 4.8^2 = 23.04 is less than 40.3 * 59.7 / 100 = 24.06
    progan = PUBLISHED["ProGAN"]

    assert (progan.between, progan.is_clipped) == (0, True)
    assert progan.sd_at(100) == 4.8
    assert progan.sd_at(400) == pytest.approx(2.4)


def test_the_best_number_of_images_is_the_one_by_hand():
    # sqrt(100 * 900 / (3.8 * 61.56)) = 19.6: $1.00 to take part, 2 cents a right answer (90%), 2 by the hour
    costs = planning.PANEL_COSTS["infinity"]

    assert planning.best_images(PUBLISHED["BEGAN"], costs, 200) == 20


def test_most_published_models_are_best_judged_on_twenty_to_sixty_images_and_progan_on_more():
    costs = planning.PANEL_COSTS["infinity"]

    best = {model: planning.best_images(spread, costs, 200) for model, spread in PUBLISHED.items()}

    assert best.pop("ProGAN") == 200
    assert all(20 <= images <= 60 for images in best.values())


@given(st.floats(0.1, 200), st.floats(50, 2500), st.floats(1, 500), st.floats(0.5, 10), st.integers(1, 100))
def test_no_other_even_number_of_images_costs_less(between, within, fixed, each, half):
    spread = Spread("gan", 50, 10, 100, 1.0, between, within)
    costs = Costs(base_usd_cents=fixed, right_usd_cents=each)

    found = planning.best_images(spread, costs, 2 * half)

    def price(images):
        return (fixed + each * images) * (between + within / images)

    assert found % 2 == 0
    assert price(found) <= min(price(k) for k in range(2, 2 * half + 1, 2)) * (1 + 1e-12)


@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_the_parts_of_a_pilots_spread_are_unbiased():
    rng = np.random.default_rng(5)
    between, within = [], []
    for _ in range(300):
        shares = rng.beta(3, 7, 30)  # variance 3 * 7 / (100 * 11) = 190.9 squared percentage points
        seen = rng.choice([20, 60], 30)
        spread = spreads_of(answers_of(rows_of(rng.binomial(seen, shares), seen), "infinity"))[0]
        between.append(spread.between)
        within.append(spread.within)

    # mean of p (1 - p): 0.3 * 0.7 - 0.01909; within 3 standard errors of the simulation
    for found, expected in ((between, 190.9), (within, 1909.1)):
        assert np.mean(found) == pytest.approx(expected, abs=3 * np.std(found) / math.sqrt(300))


def test_a_pilots_spread_at_its_own_number_of_images_is_what_was_seen():
    spread = spreads_of(answers_of(rows_of([5, 10, 20], [50, 50, 50]), "infinity"))[0]

    # 10, 20 and 40%: by images (10 * 90 + 20 * 80 + 40 * 60) / 3 / 49 = 33.333
    assert spread.sd_at(50) == spread.sd == pytest.approx(math.sqrt(700 / 3))
    assert spread.between == pytest.approx(700 / 3 - 100 / 3)
    assert spread.within == pytest.approx(5000 / 3)
    assert math.sqrt(spread.between + spread.within / 50) == pytest.approx(spread.sd)


# Whole plans


def test_a_plan_costs_what_it_says_by_hand():
    row = openhype.plan(width=5, fee=50)["rows"][0]

    # $1.00, 100 images of 6 s at $12 an hour = $2.00, 49.3 right answers at 2 cents
    assert row["evaluators"] == 30
    assert row["pay_usd"] == pytest.approx(30 * 3.986)
    assert row["fee_usd"] == pytest.approx(15 * 3.986)
    assert row["usd"] == pytest.approx(45 * 3.986)
    # three waves of ten, 660 s each
    assert row["hours"] == pytest.approx(3 * 660 / 3600)


def test_with_the_pay_of_the_papers_an_evaluator_costs_two_dollars():
    # HYPE 4.3: $60 for 30 evaluators
    row = openhype.plan(width=5, hourly_usd_cents=0)["rows"][0]

    assert row["usd"] == pytest.approx(60, abs=1)


def test_the_best_plan_has_the_same_aim_at_less():
    for row in openhype.plan(width=5)["rows"]:
        best = row["best"]
        spread = next(spread for spread in published("infinity") if spread.model == row["model"])
        assert width(spread, best["evaluators"], best["images"], 0.95) <= 5
        assert best["saving_usd"] == pytest.approx(row["usd"] - best["usd"])
        assert best["saving_share"] > 0


@pytest.mark.slow("plans by Tukey's distribution")
def test_a_plan_for_several_models_is_tukeys_and_is_paid_for_all_of_them():
    two, four = (openhype.plan(difference=5, models=count)["rows"][0] for count in (2, 4))

    assert two["evaluators_for"] == {"difference": 31}
    assert four["evaluators_for"] == {"difference": 31, "tukey": four["evaluators"]}
    assert four["usd"] / two["usd"] == pytest.approx(2 * four["evaluators"] / 31)


def test_both_aims_together_take_the_larger_number():
    row = openhype.plan(width=2, difference=5)["rows"][0]

    assert row["evaluators"] == max(row["evaluators_for"].values()) == row["evaluators_for"]["width"]


def test_a_time_plan_has_no_best_number_of_images_and_says_so():
    plan = openhype.plan(method="time", width=100)

    # 35.7 ms with 30 evaluators is 195.54 between them; (2 * 1.959964 * 195.54 / 100)^2 = 58.8
    assert plan["rows"][0]["evaluators"] == 59
    assert [row["best"] for row in plan["rows"]] == [None] * 6
    assert any("no best number of images" in text for text in plan["assumptions"])


def test_a_time_pilot_is_planned_from_in_milliseconds():
    plan = openhype.plan(flashes([100, 200, 300]), width=100)

    assert (plan["method"], plan["unit"]) == ("time", "ms")
    assert plan["rows"][0]["sd"] == pytest.approx(100)


def test_evaluators_who_all_agree_are_named():
    plan = openhype.plan(rows_of([5, 5], [50, 50]), width=5)

    assert plan["rows"][0]["evaluators"] == 2
    assert any("gan: all evaluators have one value" in text for text in plan["assumptions"])


def test_a_plan_from_few_evaluators_warns_of_their_interval():
    assert any("fewer than 10 evaluators" in text for text in openhype.plan(width=20)["assumptions"])
    assert not any("fewer than 10" in text for text in openhype.plan(width=1)["assumptions"])


# Refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "width must be a number above 0, not 0"),
        ({"width": math.nan}, "width must be a number above 0, not nan"),
        ({"difference": -1}, "difference must be a number above 0, not -1"),
        ({"width": 5, "power": 1}, "power must be between 0 and 1, such as 0.8, not 1"),
        ({"width": 5, "level": 95}, "level must be between 0 and 1"),
        ({"difference": 5, "models": 1}, "models that are to differ must be 2 or more, not 1"),
        ({"width": 5, "images": 33}, "images must be an even number from 2, half of them being real, not 33"),
        ({"width": 5, "method": "time", "images": 30}, "images go with HYPE-infinity"),
        ({"width": 5, "method": "both"}, "method must be 'infinity' or 'time', not 'both'"),
        ({"width": 5, "fee": -0.1}, "a fee must be in percent, such as 42.8, not -0.1"),
        ({"width": 5, "fee": 0.428}, "would be less than one percent; for a share of 0.428 write 42.8"),
        ({"width": 1e-300}, "would need more than 10,000,000 evaluators; widen it"),
        ({"width": 5, "wage": 3}, "costs are base_usd_cents, .*, not wage"),
        ({"width": 1e-9}, "an interval of 1e-09 would need more than 10,000,000 evaluators; widen it"),
        ({"difference": 1e-9}, "would need more than 10,000,000 evaluators; look for a larger one"),
    ],
)
def test_what_makes_no_plan_is_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        openhype.plan(**options)


def test_a_pilot_without_spread_is_refused():
    with pytest.raises(InvalidInput, match="a pilot needs a model with at least two evaluators"):
        openhype.plan(rows_of([5], [50]))
    with pytest.raises(InvalidInput, match="an evaluator of gan judged one image"):
        openhype.plan(rows_of([1, 5], [1, 50]))


# The command


@pytest.fixture
def run(tmp_path):
    def run(*args):
        result = CliRunner().invoke(main, ["plan", *map(str, args), "--data", str(tmp_path / "data")])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def pilot(tmp_path):
    rows = rows_of([10, 20, 30, 25], [100] * 4) + rows_of([40, 60, 50], [100] * 3, "vae")
    path = tmp_path / "pilot.csv"
    path.write_text("\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)]), "utf-8")
    return path


def test_the_command_prints_what_the_notebook_gets(run, pilot):
    options = ["--pilot", pilot, "--difference", 10, "--models", 3, "--bonus-usd", 0.05, "--json"]

    printed = json.loads(run(*options).output)

    assert printed == json.loads(json.dumps(openhype.plan(pilot, difference=10, models=3, right_usd_cents=5)))


@pytest.mark.slow("a study is played, measured and scored whole")
def test_a_study_is_a_pilot_as_its_export_is(world, tmp_path):
    study = world.add(studies.study(images=20, spare_images=0, evaluators=4))
    rng = Random(1)
    for k in range(8):
        world.player().play(right=lambda truth, k=k: rng.random() > k / 10)
    export(world.store, study, tmp_path / "out")

    printed = CliRunner().invoke(
        main, ["plan", "--pilot", "faces", "--width", "8", "--json", "--data", str(tmp_path)]
    )

    plan = json.loads(printed.output)
    assert plan == json.loads(json.dumps(openhype.plan(tmp_path / "out", width=8)))
    assert {row["model"]: row["images"] for row in plan["rows"]} == {"gan": 20, "vae": 20}


def test_the_table_tells_the_plan_in_words(run):
    lines = run("--width", 5, "--fee", 20).output.splitlines()

    assert lines[0] == "HYPE-infinity, a 95% interval 5 percentage points wide; cost and hours for 1 model"
    assert lines[2].split()[2:] == ["50.7", "6.90", "100", "30", "$143.50", "$23.92", "0.6"]
    assert any("the panel takes 20% on top" in line for line in lines)


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_picture_is_written(run, tmp_path, suffix):
    done = run("--method", "time", "-o", tmp_path / f"plan.{suffix}")

    assert done.exit_code == 0
    head = (tmp_path / f"plan.{suffix}").read_bytes()[:4]
    assert head == {"svg": b"<?xm", "png": b"\x89PNG"}[suffix]


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["-o", "plan.gif"], 1, "a picture's name must end in .svg, .png or .pdf, not 'plan.gif'"),
        (["--pilot", "nothing.csv"], 1, "there is no file nothing.csv"),
        (["--pilot", "faces"], 1, "there is no study 'faces'"),
        (["--pilot", "faces", "--method", "time"], 2, "--method goes with the published SDs"),
        (["--width", "wide"], 2, "'wide' is not a valid float"),
        (["--width", "nan"], 2, "nan is not a finite number"),
        (["--fee", "0.428"], 2, "for a share of 0.428 write 42.8"),
        (["--fee", "nan"], 2, "a fee must be in percent, such as 42.8, not 'nan'"),
        (["--power", "1"], 2, "1.0 is not in the range"),
        (["--images", "33"], 1, "images must be an even number"),
    ],
)
def test_the_command_refuses_what_it_cannot_plan(run, options, status, message):
    done = run(*options)

    assert done.exit_code == status
    assert message in done.output


def test_what_is_drawn_has_a_line_for_each_model_and_the_wanted_width():
    from backend.report.figures.plan import draw_plan

    plan = openhype.plan(width=5)
    widths, costs = draw_plan(plan).axes

    lines = {line.get_label(): line for line in widths.get_lines()}
    assert "StyleGAN CelebA-64 (30)" in lines
    point = plan["rows"][0]["curve"][3]
    drawn = lines["StyleGAN CelebA-64 (30)"].get_xydata()[3]
    assert drawn.tolist() == [point["evaluators"], point["width"]]
    stars = [line.get_xdata()[0] for line in costs.get_lines() if line.get_marker() == "*"]
    assert stars == [row["best"]["images"] for row in plan["rows"]]
