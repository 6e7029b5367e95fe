"""Confidence: by hand, on every scale, recovered from simulated evaluators, and coverage of its intervals."""

import json

import numpy as np
import pytest
from scipy.stats import norm

from backend.analysis.confidence import confidence
from backend.analysis.error_rates import sides
from backend.analysis.reasons import reasons
from backend.analysis.table.response_rows import answers_of
from backend.analysis.table.response_table import Answers, Coded
from backend.scoring import score_answers
from validate.confidence import Raters

from ..shared_pictures import shared_answers

SIDES = {"f": "fake", "r": "real"}


def rows(text, evaluator="a", model="m", points=5):
    """Return rows of words such as `fr3`: a fake, called real, with confidence 3; `-` for none."""
    return [
        {
            "model": model,
            "evaluator": evaluator,
            "truth": SIDES[word[0]],
            "response": SIDES[word[1]],
            "confidence": None if word[2:] == "-" else float(word[2:]),
            "confidence_points": points,
        }
        for word in text.split()
    ]


def found_of(some, level=0.95):
    found = confidence(answers_of(some, "infinity"), level)
    json.dumps(found, allow_nan=False)
    return found


def only(some, level=0.95):
    (row,) = found_of(some, level)["models"]
    return row


def test_one_evaluator_by_hand():
    # mapped confidence: 1, .75, .5, 1; wrong: the second; ratings: fakes 2, -1.5; reals -1, -2 (surely real)
    row = only(rows("ff5 fr3 rr1 rr5"))

    assert (row["answers"], row["evaluators"]) == (4, 1)
    assert row["score"] == 25
    assert row["weighted_score"] == pytest.approx(100 * 0.75 / 3.25)
    assert row["probability"] == pytest.approx(3.25 / 4)
    assert row["overconfidence"] == pytest.approx(3.25 / 4 - 0.75)
    assert row["brier"] == pytest.approx((0 + 0.75**2 + 0.5**2 + 0) / 4)
    assert row["roc"]["area"] == 0.75  # 2 > -1, 2 > -2, -1.5 < -1, -1.5 > -2
    assert row["type_2"]["area"] == pytest.approx(2 / 3)  # of 1, .5, 1 right, two are above .75
    assert row["roc"]["ci"] is row["weighted_score_ci"] is row["overconfidence_ci"] is None
    # levels 1: 1 of 1 right at .5; 3: 0 of 1 at .75; 5: 2 of 2 at 1
    assert row["calibration_error"] == pytest.approx((0.5 + 0.75 + 0) / 4)
    assert [(one["level"], one["answers"], one["right"]) for one in row["levels"]] == [
        ("1 of 5", 1, 1), ("3 of 5", 1, 0), ("5 of 5", 2, 1),
    ]  # fmt: skip
    assert row["curve"][0] == {"false_alarms": 0, "hits": 0}
    assert row["curve"][1] == {"false_alarms": 0, "hits": 0.5}
    assert row["curve"][-1] == {"false_alarms": 1, "hits": 1}


def test_the_lowest_confidences_of_the_two_answers_are_two_ratings():
    row = only(rows("ff1 rr1"))

    assert row["roc"]["area"] == 1


def test_a_slider_is_read_from_0_to_100_in_tenths():
    row = only(rows("ff100 fr0 rr50 rf9.5", points=101))

    assert [one["level"] for one in row["levels"]] == ["0 to 9", "50 to 59", "90 to 100"]
    assert row["probability"] == pytest.approx((1 + 0.5 + 0.75 + 0.5475) / 4)


def test_several_scales_are_joined_and_said_to_be():
    found = found_of(rows("ff5 rr1") + rows("ff100 rr0", points=101))

    assert found["scales"] == [{"points": 5, "answers": 2}, {"points": 101, "answers": 2}]
    assert any("several scales" in note for note in found["notes"])
    assert [one["level"] for one in found["models"][0]["levels"]] == ["50 to 55%", "95 to 100%"]


@pytest.mark.parametrize(
    ("given", "points", "note"),
    [
        ("ff4 rr1", 4, "a scale of 1 to 4, the largest that was given"),
        ("ff80 rr12.5", 101, "a slider from 0 to 100"),
    ],
)
def test_a_scale_that_is_not_stated_is_inferred_and_said_to_be(given, points, note):
    found = found_of(rows(given, points=None))

    assert found["scales"] == [{"points": points, "answers": 2}]
    assert note in found["notes"][0]


def test_numbers_on_no_known_scale_are_left_out_with_a_note():
    found = found_of(rows("ff-3 rr1e300", points=None))

    assert found["models"] == []
    assert any("neither whole numbers" in note for note in found["notes"])
    assert any("2 confidences left out: outside the scale" in note for note in found["notes"])


def test_answers_without_confidence_or_beyond_their_scale_are_left_out_with_a_note():
    found = found_of(rows("ff5 fr- rr3 rr6 rr0"))

    assert found["models"][0]["answers"] == 2
    assert found["notes"] == [
        "2 confidences left out: outside the scale",
        "1 of 5 answers have no confidence and are left out here",
    ]


def test_without_the_column_there_is_nothing():
    assert found_of([{"model": "m", "evaluator": "a", "truth": "fake", "response": "fake"}]) is None


def test_ratings_that_are_all_equal_have_an_area_but_no_interval_and_say_why():
    row = only(rows("ff3 rf3 ff3 rf3", "a") + rows("ff3 rf3", "b"))

    assert (row["roc"]["area"], row["roc"]["ci"]) == (0.5, None)
    assert row["roc"]["why"] == "all ratings are equal"
    assert row["difference_ci"] is None


def test_an_evaluator_who_saw_one_side_only_has_no_area():
    row = only(rows("ff3 fr2"))

    assert row["roc"]["area"] is None
    assert row["roc"]["why"] == "it needs both fakes and reals"
    assert row["curve"] == []


def test_nobody_wrong_has_no_type_2_area():
    row = only(rows("ff3 rr2"))

    assert row["type_2"]["area"] is None
    assert row["type_2"]["why"] == "it needs both right and wrong answers"


def test_equal_confidence_leaves_the_score_as_it_is():
    some = rows("ff2 fr2 rr2 rf2", "a") + rows("ff2 ff2 rr2 rf2", "b")

    row = only(some)

    assert row["weighted_score"] == pytest.approx(row["score"])


def test_a_balanced_score_is_weighted_within_each_side():
    # 2 fakes, one wrong; 8 reals, none wrong: plain error is 10%, the mean of the sides 25%
    some = [*rows("ff1 fr5"), *rows(" ".join(["rr3"] * 8))]

    row = only(some)

    assert row["score"] == 25
    assert row["weighted_score"] == pytest.approx(100 * (1 / 1.5) / 2)


def test_reals_that_models_share_count_once_over_all_models():
    some = rows("ff5 ff4", model="a") + rows("ff3 fr2", model="b") + rows("rr5 rf1 rr2", model="real")

    found = found_of(some)

    assert [row["answers"] for row in found["models"]] == [5, 5]
    assert found["overall"]["answers"] == 7


def test_parameters_are_recovered_from_many_evaluators():
    # equal-variance normal signals: the area is Phi(d' / sqrt(2)); the rating keeps most of it (10 levels)
    raters = Raters(sensitivity=1.2, sensitivity_sd=0, criterion_sd=0, width_sd=0, points=7, width=0.35)

    (row,) = confidence(raters.study(400, np.random.default_rng(1)), 0.95)["models"]

    assert row["roc"]["area"] == pytest.approx(norm.cdf(1.2 / np.sqrt(2)), abs=0.008)
    assert row["right"] == pytest.approx(norm.cdf(0.6), abs=0.006)
    # right given |signal| in a level: likelihood ratio of the two signs
    edges = 0.35 * np.arange(8)
    edges[-1] = np.inf
    right = np.diff(norm.cdf(edges - 0.6))
    wrong = np.diff(norm.cdf(edges + 0.6))
    assert [one["right"] for one in row["levels"]] == pytest.approx(right / (right + wrong), abs=0.03)


@pytest.mark.slow("simulates many studies")
def test_intervals_cover_what_is_true_of_the_population():
    raters, read = Raters(answers=25), {"roc": 0, "weighted": 0, "over": 0}
    (whole,) = confidence(raters.study(3000, np.random.default_rng(1)), 0.95)["models"]

    for seed in range(300):
        (row,) = confidence(raters.study(12, np.random.default_rng([5, seed])), 0.95)["models"]
        low, high = row["roc"]["ci"]
        read["roc"] += low <= whole["roc"]["area"] <= high
        low, high = row["weighted_score_ci"]
        read["weighted"] += low <= whole["weighted_score"] <= high
        low, high = row["overconfidence_ci"]
        read["over"] += low <= whole["overconfidence"] <= high

    # 300 studies: a standard error of 1.3%
    assert {name: 0.91 <= held / 300 <= 0.985 for name, held in read.items()} == dict.fromkeys(read, True)


@pytest.mark.parametrize(("people", "pictures", "share"), [(30, 40, 0.4), (10, 40, 0.3), (30, 1000, 0.4)])
def test_intervals_cover_where_everybody_saw_the_same_pictures(people, pictures, share):
    """200 studies, pictures of SD .6: 95% (SE 1.5%); over evaluators alone, 80% with 40 a side."""
    rng = np.random.default_rng(people + pictures)

    rows = [confidence(shared_answers(rng, people, pictures, share), 0.95)["models"][0] for _ in range(200)]

    found = {name: [(row[name], row[f"{name}_ci"]) for row in rows] for name in (
        "score", "weighted_score", "difference", "overconfidence", "brier"
    )} | {
        f"{name} {part}": [(row[name][part], row[name][ci]) for row in rows]
        for name in ("roc", "type_2") for part, ci in (("area", "ci"), ("own", "own_ci"))
    }  # fmt: skip
    for name, pairs in found.items():
        middle = np.mean([value for value, _ in pairs])
        covered = np.mean([low <= middle <= high for _, (low, high) in pairs])
        assert (name, 0.9 < covered < 0.995) == (name, True)


def test_a_score_has_one_interval():
    answers = shared_answers(np.random.default_rng(1), 12, 20, 0.3)

    found = confidence(answers, 0.95)["models"][0]

    assert found["score_ci"] == pytest.approx(score_answers(answers)["models"][0]["interval"]["ci"])


@pytest.mark.parametrize("seed", range(20))
def test_shares_of_people_who_are_always_wrong_have_intervals(seed):
    # weights that sum to 1 but for rounding made the interval NaN
    confidences = np.random.default_rng(seed).integers(1, 6, (4, 6)).astype(str)
    words = [" ".join(np.char.add(["fr", "rf"] * 3, own)) for own in confidences]
    some = [row for who, text in zip("abcd", words, strict=True) for row in rows(text, who)]

    found = only(some)

    for name in ("score", "weighted_score"):
        low, high = found[f"{name}_ci"]
        assert 50 < low < high == pytest.approx(100)


def of_two_models(rng, people=15):
    """Return answers of people who judged one model each; fakes of `a` look real, those of `b` do not."""
    studies = [Raters(sensitivity).study(people, rng) for sensitivity in (0.1, 3.2)]
    model = np.repeat(np.arange(2), [len(study) for study in studies]).astype(np.int32)
    given = (rng.random(len(model)) < np.array([0.1, 0.8])[model]).astype(np.int32)
    return Answers(
        "infinity",
        Coded(model, ["a", "b"]),
        Coded(
            np.concatenate([study.evaluator.codes for study in studies]) + model * people,
            [*map(str, range(2 * people))],
        ),
        np.concatenate([study.is_fake for study in studies]),
        np.concatenate([study.said_fake for study in studies]),
        numbers={name: np.concatenate([study.numbers[name] for study in studies])
                 for name in ("confidence", "confidence_points")},
        texts={"reasons": Coded(given, ["", "1"])},
        reasons=("hands",),
    )  # fmt: skip


def widths(row, prefix=""):
    """Yield the names of all intervals of a row, and their widths."""
    for name, value in row.items():
        if isinstance(value, dict):
            yield from widths(value, f"{prefix}{name}.")
        elif (name == "ci" or name.endswith("_ci")) and value:
            yield f"{prefix}{name}", value[1] - value[0]


def test_how_models_differ_is_not_what_evaluators_differ_by():
    """Intervals over all models were up to four times as wide as those of one model."""
    answers = of_two_models(np.random.default_rng(3))
    of_confidence, of_reasons = confidence(answers, 0.95), reasons(answers, 0.95)["rows"]
    of_sides = sides(answers, 0.95)
    compared = {
        "confidence": (of_confidence["overall"], of_confidence["models"]),
        "accuracy": (of_sides["accuracy"], of_sides["fakes"] + of_sides["reals"]),
    }
    for response in ("fake", "real"):
        rows = [row for row in of_reasons if (row["reason"], row["response"]) == ("hands", response)]
        compared[response] = (rows[-1], rows[:-1])
        assert rows[-1]["model"] is None

    for what, (overall, models) in compared.items():
        own = [dict(widths(row)) for row in models]
        found = dict(widths(overall))
        assert found
        for name, width in found.items():
            assert (what, name, width < max(row.get(name, 0) for row in own)) == (what, name, True)
