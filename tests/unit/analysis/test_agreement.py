"""Agreement of metrics with votes: tables by hand, variances by brute force, recovery and coverage."""

import json

import numpy as np
import pytest
from scipy.special import expit, logit, ndtr
from scipy.stats import t

from backend.analysis.agreement import jnd
from backend.analysis.agreement.item_agreement import agreement, columns_of
from backend.analysis.agreement.two_way import two_way, two_way_apart, two_way_of_pairs
from backend.analysis.agreement.votes import JND, TWO_AFC, votes_of, votes_of_shares
from backend.foundation.errors import InvalidInput
from validate.agreement import Judges


def row(item, evaluator, response, left="p0", **more):
    """Return a row of the responses file; 2AFC unless `left` is empty."""
    right = {"p0": "p1", "p1": "p0", "": ""}[left]
    return {
        "item": item, "model": item.partition("/")[0], "evaluator": evaluator, "response": response,
        "left": left, "right": right, "trial_kind": "test", **more,
    }  # fmt: skip


def found_of(rows, metrics=None, kind="2afc", **options):
    data = agreement(
        votes_of(rows, kind), {k: np.array(v, float) for k, v in (metrics or {}).items()}, **options
    )
    json.dumps(data, allow_nan=False)
    return data


TWO = [
    row("cnn/a", "ann", "left"),  # p0
    row("cnn/a", "bob", "right", left="p1"),  # p0
    row("cnn/a", "cat", "right"),  # p1
    row("cnn/b", "ann", "right"),  # p1
    row("cnn/b", "bob", "left", left="p1"),  # p1
]


def test_the_side_of_a_picture_does_not_matter():
    votes = votes_of(TWO, "2afc")

    assert votes.items == ("cnn/a", "cnn/b")
    assert votes.share == pytest.approx([1 / 3, 1])
    assert (votes.evaluators, [*votes.count]) == (3, [3, 2])


def test_scores_and_ceilings_by_hand():
    # a metric that takes p0 of a and p1 of b: (2/3 + 1) / 2; one that ties on a: (1/2 + 1) / 2
    data = found_of(TWO, {"right": [[0, 1], [1, 0]], "tied": [[1, 1], [1, 0]]})

    scores = {found["metric"]: found["score"] for found in data["metrics"]}
    assert scores == pytest.approx({"right": 100 * 5 / 6, "tied": 75})
    assert [found["ties"] for found in data["metrics"]] == [0, 1]
    (human,) = data["human"]
    assert human["as_printed"] == pytest.approx(100 * (5 / 9 + 1) / 2)
    assert human["oracle"] == pytest.approx(100 * (2 / 3 + 1) / 2)
    # of a's three pairs of votes one agrees, b's only one does
    assert human["unbiased"] == pytest.approx(100 * (1 / 3 + 1) / 2)
    (pair,) = data["pairs"]
    assert pair["difference"] == pytest.approx(100 * (2 / 3 - 1 / 2) / 2)


def test_sets_are_averaged_with_equal_weights_in_the_paper_s_order():
    rows = [row(f"{name}/{i}", f"e{i}", "left") for name, n in (("blur", 4), ("cnn", 1)) for i in range(n)]
    distances = [[1, 0]] + [[0, 1]] * 4  # wrong on cnn, which stands first; right on all of blur

    data = found_of(rows, {"m": distances})

    assert [each["column"] for each in data["columns"]] == ["cnn", "blur", "average"]
    assert [found["score"] for found in data["metrics"]] == [0, 100, 50]


def test_the_averages_of_the_paper_stand_after_their_sets():
    six = ("traditional", "cnn", "superres", "deblur", "color", "frameinterp")

    assert [*columns_of(six)] == [
        "traditional", "cnn", "distortions", "superres", "deblur", "color", "frameinterp", "real algorithms",
        "average",
    ]  # fmt: skip
    assert columns_of(("traditional", "cnn")) == {
        "traditional": ("traditional",), "cnn": ("cnn",), "average": ("traditional", "cnn"),
    }  # fmt: skip
    assert [*columns_of(("x",))] == ["x"]
    assert [*columns_of(("average", "x"))] == ["average", "x", "average of sets"]


def test_what_is_not_scored_is_left_out():
    rows = [
        *TWO,
        row("x/sentinel", "ann", "left", trial_kind="check"),
        row("", "ann", "left", trial_kind="practice"),
        row("cnn/c", "dan", "left", excluded=True),
        row("cnn/a", "ann", "right"),  # again
    ]

    votes = votes_of(rows, "2afc")

    assert votes.items == ("cnn/a", "cnn/b")
    assert votes.share == pytest.approx([1 / 3, 1])
    assert votes.repeated == 1


def test_an_item_has_a_name_and_one_set():
    with pytest.raises(InvalidInput, match="must name its item"):
        votes_of([row("", "ann", "left")], "2afc")
    with pytest.raises(InvalidInput, match="item cnn/a is in two sets, cnn and blur"):
        votes_of([row("cnn/a", "ann", "left"), row("cnn/a", "bob", "left", model="blur")], "2afc")
    with pytest.raises(InvalidInput, match="no vote"):
        votes_of([], "2afc")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_distance_that_is_no_number_is_refused(bad):
    with pytest.raises(InvalidInput, match="m must have finite distances; that of cnn/b is not"):
        found_of(TWO, {"m": [[0, 1], [bad, 0]]})
    with pytest.raises(InvalidInput, match="shape"):
        found_of(TWO, {"m": [0, 1]})


def jnd_rows(table):
    """Return rows of a table of answers, 1 for same: item by evaluator."""
    return [
        row(f"cnn/{i}", f"e{j}", "same" if said else "different", left="")
        for i, line in enumerate(table)
        for j, said in enumerate(line)
    ]


def test_a_jnd_area_by_hand():
    # shares 1, 0, 1/2, sorted by distance: item 1 (0), item 0 (1), item 2 (1/2): T = 3/2; precision 0, 1/2,
    # 1/2; envelope 1/2 throughout
    data = found_of(jnd_rows([[1, 1], [0, 0], [1, 0]]), {"m": [2, 1, 3]}, kind="jnd")

    (found,) = data["metrics"]
    assert found["score"] == pytest.approx(50)
    assert data["human"] == []


def test_an_area_has_its_bias_and_an_average_precision_beside_it():
    # same 0, 1/2, 1 by distance: precision 0, 1/4, 1/2, so 1/2 with the envelope, and without
    # 1/3 * 1/4 + 2/3 * 1/2 = 5/12; items 1 and 2 tied: 1/2 at once
    data = found_of(jnd_rows([[0, 0], [1, 0], [1, 1]]), {"m": [1, 2, 3], "t": [1, 2, 2]}, "jnd")

    (free, tied), (pair,) = data["metrics"], data["pairs"]
    assert pair["average_precision"]["difference"] == pytest.approx(500 / 12 - 50)
    assert [row["average_precision"]["score"] for row in (free, tied)] == pytest.approx([500 / 12, 50])
    # without a pair: same 1/2, 1: 3/4; 0, 1: 1/2; 0, 1/2: 1/4; their mean is the area itself
    assert free["bias"] == pytest.approx(0, abs=1e-9)
    # of the average precision: (1/6 + 2/3 * 3/4), 1/2, 1/4; (2/3 + 1/2 + 1/4) / 3 = 17/36, twice the excess
    assert free["average_precision"]["bias"] == pytest.approx(100 * 2 * (17 / 36 - 5 / 12))
    assert found_of(TWO, {"m": [[0, 1], [1, 0]]})["metrics"][0]["average_precision"] is None


def test_an_interval_reaches_from_one_correction_to_the_other():
    rng = np.random.default_rng(5)
    distance, same = rng.random(30), rng.integers(0, 4, 30) / 3
    shares = {"cnn": {f"cnn/{i:02}": share for i, share in enumerate(same)}}

    (row,) = agreement(votes_of_shares("jnd", shares), {"m": distance})["metrics"]

    left_out, by_same = jnd.jackknife(distance, same), jnd.influence(distance, same)
    linear = ((same * by_same[0] + (1 - same) * by_same[1]) ** 2).sum() * 30 / 29
    variance = jnd.jackknife_variance(left_out.without)
    assert variance > linear
    assert left_out.bias(0.5) > left_out.bias(1) > 0
    ends = []
    for bias, sign in ((left_out.bias(0.5), -1), (left_out.bias(1), 1)):
        centre = jnd.area(distance, same) - bias
        half = t.ppf(0.975, 29) * np.sqrt(variance) / (centre * (1 - centre))
        ends.append(100 * expit(logit(centre) + sign * half))
    assert row["ci"] == pytest.approx(ends)
    assert row["bias"] == pytest.approx(100 * left_out.bias(0.5))
    steps = row["average_precision"]
    by_step, slowest = jnd.influence(distance, same, True), jnd.jackknife(distance, same, True).bias(2 / 3)
    assert slowest > 0
    error = np.sqrt(((same * by_step[0] + (1 - same) * by_step[1]) ** 2).sum() * 30 / 29)
    ends = []
    for bias, sign in ((slowest, -1), (0, 1)):
        centre = jnd.average_precision(distance, same) - bias
        ends.append(100 * expit(logit(centre) + sign * t.ppf(0.975, 29) * error / (centre * (1 - centre))))
    assert steps["ci"] == pytest.approx(ends)


def test_a_difference_of_areas_has_the_variance_of_its_jackknife():
    rng = np.random.default_rng(6)
    distance, same = rng.random((2, 30)), rng.integers(0, 4, 30) / 3
    shares = {"cnn": {f"cnn/{i:02}": share for i, share in enumerate(same)}}

    (pair,) = agreement(votes_of_shares("jnd", shares), {"a": distance[0], "b": distance[1]})["pairs"]

    for row, is_stepwise in ((pair, False), (pair["average_precision"], True)):
        first, second = (jnd.jackknife(each, same, is_stepwise) for each in distance)
        apart = first.without - second.without
        half = t.ppf(0.975, 29) * np.sqrt(29 / 30 * ((apart - apart.mean()) ** 2).sum())
        middle = first.whole - second.whole
        assert row["ci"] == pytest.approx([100 * (middle - half), 100 * (middle + half)])


def test_a_set_of_one_pair_has_an_area_and_no_bias():
    rows = [
        *jnd_rows([[0, 1], [1, 1], [1, 0]]),
        *(row("blur/0", who, "same", left="") for who in ("e0", "e1")),
    ]

    cnn, alone, mean = found_of(rows, {"m": [4, 3, 1, 2]}, "jnd")["metrics"]

    assert (alone["column"], alone["score"], alone["bias"]) == ("blur", 100, 0)
    assert mean["bias"] == pytest.approx(cnn["bias"] / 2)


def test_the_biases_of_an_average_are_those_of_its_sets():
    votes, distances = Judges("jnd", mean=-0.4).study(60, 8, 4, np.random.default_rng(9), sets=2)

    first, second, mean = agreement(votes, {"a": distances["a"]})["metrics"]

    for pick in (lambda row: row, lambda row: row["average_precision"]):
        assert pick(mean)["bias"] == pytest.approx((pick(first)["bias"] + pick(second)["bias"]) / 2)
        assert pick(mean)["score"] == pytest.approx((pick(first)["score"] + pick(second)["score"]) / 2)


def test_a_set_in_which_nobody_said_same_has_no_area_and_no_average():
    rows = [*jnd_rows([[1, 0]]), row("blur/0", "e0", "different", left="")]

    data = found_of(rows, {"m": [1, 1]}, kind="jnd")

    assert [found["score"] for found in data["metrics"]] == [50, None, None]
    assert data["pairs"] == []


def test_variances_are_sums_over_pairs_of_related_votes():
    # by definition: sum of r r' over pairs of votes that share an evaluator, an item, or both
    rng = np.random.default_rng(1)
    item = np.repeat(np.arange(6), 3)
    evaluator = np.concatenate([rng.permutation(5)[:3] for _ in range(6)])
    influence = rng.normal(size=18)
    influence -= influence.mean()

    found = two_way(influence, item, evaluator, np.ones(18, bool))

    same_item, same_person = item[:, None] == item, evaluator[:, None] == evaluator
    products = np.outer(influence, influence)
    assert found.by_items.variance == pytest.approx(products[same_item].sum() * 6 / 5)
    own = (influence**2).sum()
    people = max(seen := products[same_person].sum() * 5 / 4, own / 2, own - 2 * seen)
    assert found.by_both.variance == pytest.approx(people + max(0, (products[same_item].sum() - own) * 6 / 5))


def test_single_votes_are_apart_from_what_evaluators_and_items_add():
    # by definition: squares of single votes, and products of two votes of one evaluator, or on one item
    rng = np.random.default_rng(1)
    item = np.repeat(np.arange(6), 3)
    evaluator = np.concatenate([rng.permutation(5)[:3] for _ in range(6)])
    influence = rng.normal(size=18) + np.array([2, 1, 0, -1, -2])[evaluator] + item - 2.5

    found = two_way_apart(influence, item, evaluator, np.ones(18, bool))

    products = np.outer(influence, influence)
    np.fill_diagonal(products, 0)
    same_item, same_person = item[:, None] == item, evaluator[:, None] == evaluator
    of_people, of_items = products[same_person].sum() * 5 / 4, products[same_item].sum() * 6 / 5
    assert min(of_people, of_items) > 0
    assert found.by_both.variance == pytest.approx((influence**2).sum() + of_people + of_items)
    assert two_way(influence, item, evaluator, np.ones(18, bool)).by_items == found.by_items


def test_few_evaluators_who_differ_little_do_not_make_an_interval_of_few_degrees_of_freedom():
    # five evaluators of 60 items each: single votes are nearly all of the variance, of about 299 df
    rng = np.random.default_rng(8)
    influence, item = rng.normal(size=300), np.repeat(np.arange(60), 5)
    evaluator = np.tile(np.arange(5), 60)
    influence -= np.bincount(evaluator, influence)[evaluator] / 60

    apart, together = (
        each(influence, item, evaluator, np.ones(300, bool)) for each in (two_way_apart, two_way)
    )

    assert together.by_both.df < 10
    assert apart.by_both.df > 100


def test_variances_of_agreement_are_sums_over_related_pairs_of_votes():
    rng = np.random.default_rng(2)
    item = np.repeat(np.arange(5), 4)
    evaluator = np.concatenate([rng.permutation(6)[:4] for _ in range(5)])
    vote = rng.integers(0, 2, 20).astype(float)
    weight, centre = rng.random(5), rng.random(5)

    found = two_way_of_pairs(vote, item, evaluator, weight, centre)

    dyads = [
        (item[a], {evaluator[a], evaluator[b]}, weight[item[a]] * ((vote[a] == vote[b]) - centre[item[a]]))
        for a in range(20)
        for b in range(a)
        if item[a] == item[b]
    ]
    people = items = both = 0.0
    squares = {}
    for i, who, r in dyads:
        squares[frozenset(who)] = squares.get(frozenset(who), 0.0) + r
        for j, others, s in dyads:
            people += r * s * bool(who & others)
            items += r * s * (i == j)
            both += r * s * (i == j and bool(who & others))
    of_people = max(people * 6 * 5 / (4 * 3), sum(r**2 for r in squares.values()) * 6 / 4)
    assert found.by_items.variance == pytest.approx(items * 5 / 4)
    assert found.by_evaluators.variance == pytest.approx(of_people)
    assert found.by_both.variance == pytest.approx(
        max(of_people, both / 2, both - 2 * of_people) + max(0, (items - both) * 5 / 4)
    )


@pytest.mark.slow("draws many panels to know the variance between them")
@pytest.mark.parametrize("of_person", [0.0, 1.0])
def test_the_variance_of_agreement_over_evaluators_is_right_on_average_for_five_people(of_person):
    """The mean agreement of 5 people on 60 items, over 4,000 panels, has the variance that is estimated."""
    rng = np.random.default_rng(6)
    item, evaluator = np.repeat(np.arange(60), 5), np.tile(np.arange(5), 60)
    means, variances = [], []
    for _ in range(4000):
        likely = expit(1.5 + of_person * rng.standard_normal(5))
        vote = (rng.random((60, 5)) < likely).astype(float)
        k = vote.sum(axis=1)
        means.append(((k * (k - 1) + (5 - k) * (4 - k)) / 20).mean())
        weight, centre = np.full(60, 1 / 600), np.full(60, means[-1])
        found = two_way_of_pairs(vote.ravel(), item, evaluator, weight, centre).by_evaluators
        variances.append(found.variance if found else 0.0)

    assert np.mean(variances) == pytest.approx(np.var(means), rel=0.1)


def test_evaluators_of_all_items_vary_as_their_means():
    rng = np.random.default_rng(10)
    votes = rng.normal(size=(8, 5)) + np.array([3, 1, 0, -1, -3])  # items by people
    item, evaluator = np.repeat(np.arange(8), 5), np.tile(np.arange(5), 8)

    found = two_way((votes.ravel() - votes.mean()) / 40, item, evaluator, np.ones(40, bool))

    assert found.by_evaluators.variance == pytest.approx(votes.mean(axis=0).var(ddof=1) / 5)
    assert found.by_evaluators.df == pytest.approx(4, rel=0.05)


def test_agreement_has_the_longer_tail_of_the_people_who_disagree_with_most():
    # eight people vote alike, the ninth differs on half of the items: who disagrees more pulls the mean down
    vote = np.ones((40, 9))
    vote[:20, 8] = 0.0
    item, evaluator = np.repeat(np.arange(40), 9), np.tile(np.arange(9), 40)
    mean = (28 + 8 / 2) / 36

    found = two_way_of_pairs(vote.ravel(), item, evaluator, np.full(40, 1 / 36 / 40), np.full(40, mean))

    sums = np.array([8 * (1 - mean) - 0.5] * 8 + [8 * (0.5 - mean)])  # of each person's pairs, times 36
    skewness = (sums**3).sum() / (sums**2).sum() ** 1.5 * (9 / 8) ** -0.5
    people = found.by_evaluators
    assert people.third / people.variance**1.5 == pytest.approx(skewness)
    assert people.lean < 0


def test_a_second_metric_of_the_same_distances_is_no_better():
    rng = np.random.default_rng(4)
    votes, distances = Judges().study(40, 8, 4, rng)

    data = agreement(votes, {"a": distances["a"], "again": 3 * distances["a"]})

    (pair,) = data["pairs"]
    assert (pair["difference"], pair["ci"], pair["p"]) == (0, None, None)


def test_metrics_in_another_order_give_the_same_difference():
    votes, distances = Judges().study(60, 8, 4, np.random.default_rng(5))

    (one,) = agreement(votes, distances)["pairs"]
    (other,) = agreement(votes, dict(reversed(distances.items())))["pairs"]

    assert one["difference"] == -other["difference"]
    assert one["p"] == pytest.approx(other["p"])


def test_one_evaluator_or_one_item_has_no_interval_over_both():
    one_person = found_of([row("cnn/a", "ann", "left"), row("cnn/b", "ann", "left")], {"m": [[0, 1], [1, 0]]})
    one_item = found_of([row("cnn/a", "ann", "left"), row("cnn/a", "bob", "right")], {"m": [[0, 1]]})

    (found,), (other,) = one_person["metrics"], one_item["metrics"]
    assert found["ci"] is other["ci"] is None


def test_shares_without_votes_have_intervals_over_items_and_a_ceiling_only_if_their_number_is_told():
    shares = {"cnn": {"cnn/a": 0.2, "cnn/b": 0.8, "cnn/c": 1.0}}
    metrics = {"m": np.array([[0.0, 1], [1, 0], [1, 0]])}

    blind = agreement(votes_of_shares("2afc", shares), metrics)
    told = agreement(votes_of_shares("2afc", shares, 5), metrics)

    assert blind["metrics"][0]["score"] == told["metrics"][0]["score"] == pytest.approx(100 * 2.6 / 3)
    assert blind["metrics"][0]["ci"] is not None
    assert blind["human"][0]["unbiased"] is None
    assert blind["human"][0]["as_printed"] == pytest.approx(100 * (0.68 + 0.68 + 1) / 3)
    # 1 of 5 and 4 of 5: 12 of 20 ordered pairs agree
    assert told["human"][0]["unbiased"] == pytest.approx(100 * (0.6 + 0.6 + 1) / 3)
    with pytest.raises(InvalidInput, match=r"cnn/a: a share of 0\.2 cannot come from 3 votes"):
        votes_of_shares("2afc", shares, 3)


@pytest.mark.parametrize("kind", ["2afc", pytest.param("jnd", marks=pytest.mark.slow("150 studies more"))])
def test_intervals_over_both_cover(kind):
    # 150 studies a case; `make validate` runs 1,000. The chance that a right interval holds fewer than
    # 133 of 150 times is 0.0004
    from validate.agreement import _true, judges_of

    judges, held = judges_of(kind), 0
    true = _true(judges)["score"]
    for seed in range(150):
        votes, distances = judges.study(120, 15, 4, np.random.default_rng([6, seed]))
        low, high = agreement(votes, {"a": distances["a"]})["metrics"][0]["ci"]
        held += low <= true <= high

    assert held >= 133


def test_a_useless_metric_has_its_bias_estimated_and_is_covered():
    # its precision is the share of `same` at every recall. Without correction the area is 6 points too high,
    # and 89% of intervals cover. The chance that a right one holds fewer than 278 of 300 times is 0.03
    judges, held, errors, biases = Judges("jnd", mean=-0.86, noise=(1e6,)), [], [], []
    true = 100 * float(ndtr(judges.mean / np.sqrt(1 + judges.item_sd**2 + judges.bias_sd**2)))
    for seed in range(300):
        votes, distances = judges.study(100, 30, 1, np.random.default_rng([39, seed]))
        (row,) = agreement(votes, distances)["metrics"]
        steps = row["average_precision"]
        held.append([each["ci"][0] <= true <= each["ci"][1] for each in (row, steps)])
        errors.append([row["score"] - true, steps["score"] - true])
        biases.append([row["bias"], steps["bias"]])

    assert np.mean(errors, axis=0)[0] > 5
    assert np.mean(errors, axis=0) == pytest.approx(np.mean(biases, axis=0), abs=1.5)
    assert min(np.sum(held, axis=0)) >= 278


@pytest.mark.parametrize(("people", "has_any"), [(9, False), (10, True)])
def test_agreement_has_an_interval_of_ten_people_or_more(people, has_any):
    rng = np.random.default_rng(1)
    rows = [
        row(f"cnn/{item}", f"e{who}", rng.choice(["left", "right"]))
        for item in "abcd"
        for who in range(people)
    ]

    (agreed, *_) = found_of(rows)["human"]

    assert 0 < agreed["unbiased"] < 100
    assert (agreed["ci"] is not None) == has_any


def test_two_people_have_an_agreement_without_an_interval():
    answers = [("a", "left", "left"), ("b", "left", "right"), ("c", "right", "right")]
    rows = [
        row(f"cnn/{item}", who, said)
        for item, *both in answers
        for who, said in zip(("ann", "bob"), both, strict=True)
    ]

    (people, *_) = found_of(rows)["human"]

    assert people["unbiased"] == pytest.approx(100 * 2 / 3)
    assert people["ci"] is None


def test_intervals_of_few_people_have_room_for_those_who_agree_less():
    reach = {}
    for people, bias_sd in ((5, 0.1), (5, 1.0), (60, 0.1)):
        rng = np.random.default_rng(7)
        study, distances = Judges(TWO_AFC, bias_sd=bias_sd).study(300, people, 5, rng)
        (row,) = agreement(study, {"a": distances["a"]})["metrics"]
        reach[people, bias_sd] = (row["score"] - row["ci"][0]) / (row["ci"][1] - row["score"])

    # half of the tail where few are alike, which may be by chance
    assert reach[60, 0.1] < 1.2 < 1.3 < reach[5, 0.1] < reach[5, 1.0] - 0.3


def test_intervals_of_areas_have_room_above_where_same_is_rare():
    rng = np.random.default_rng(3)
    reach = {}
    for mean in (-4.0, 0.0):
        study, distances = Judges(JND, mean=mean, item_sd=2.0).study(300, 8, 5, rng)
        (row,) = agreement(study, {"a": distances["a"]})["metrics"]
        found = row["average_precision"]
        low, middle, high = logit(np.array([found["ci"][0], found["score"], found["ci"][1]]) / 100)
        reach[mean] = (high - middle) / (middle - low)

    assert reach[-4.0] > 1.15 > reach[0.0]
