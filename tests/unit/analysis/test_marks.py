"""Marks: read, mapped, and agreed on; chance agreement is not called agreement."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.analysis.marks import GRID, WHERE, Mark, heat_map, marks, ninths, parsed
from backend.analysis.table.response_rows import answers_of


def row(picture, mark, evaluator="a", model="gan", truth="fake", response="fake"):
    return {
        "model": model, "evaluator": evaluator, "truth": truth, "response": response, "stimulus": picture,
        "mark": mark,
    }  # fmt: skip


def found_of(some, seed=0):
    found = marks(answers_of(some, "infinity"), 0.95, np.random.default_rng(seed))
    json.dumps(found, allow_nan=False)
    return found


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("0 1000", Mark(0, 1000)),
        ("10.5 20", Mark(10.5, 20)),
        ("100 200 300 400", Mark(100, 200, 300, 400)),
        ("0 0 1000 1000", Mark(0, 0, 1000, 1000)),
    ],
)
def test_points_and_boxes_are_read(text, mark):
    assert parsed(text) == mark


@pytest.mark.parametrize(
    "text",
    ["", "5", "1 2 3", "-1 5", "1001 5", "nan 5", "1e400 5", "900 0 101 5", "0 0 5 1001", "x y", "1 2 3 4 5"],
)
def test_what_is_no_mark_within_the_picture_is_none(text):
    assert parsed(text) is None


ANY_MARK = st.builds(
    lambda x, y, w, h: Mark(x, y, w * (1000 - x), h * (1000 - y)),
    st.floats(0, 1000), st.floats(0, 1000), st.floats(0, 1), st.floats(0, 1),
)  # fmt: skip


@given(st.lists(ANY_MARK, min_size=1, max_size=5))
def test_every_mark_counts_as_one(some):
    heat = heat_map(some)

    assert heat.sum() == pytest.approx(len(some))
    assert (heat >= 0).all()
    assert sum(ninths(heat)) == pytest.approx(1)


def test_a_map_is_bright_where_the_mark_is():
    heat = heat_map([Mark(100, 900)])

    row_, column = np.unravel_index(heat.argmax(), heat.shape)
    assert (row_ / GRID, column / GRID) == pytest.approx((0.9, 0.1), abs=0.04)
    assert WHERE[int(np.argmax(ninths(heat)))] == "lower left"


def test_a_box_is_even_within_and_dark_outside():
    heat = heat_map([Mark(0, 0, 500, 1000)])

    assert heat[:, : GRID // 2] == pytest.approx(1 / (GRID * GRID // 2))
    assert heat[:, GRID // 2 :] == pytest.approx(0)


def study(rng, spread, evaluators=20, pictures=10):
    """Return marks about a place of each picture, which differs from picture to picture (thousandths)."""
    places = rng.uniform(150, 850, (pictures, 2))
    some = []
    for e in range(evaluators):
        for picture in range(pictures):
            x, y = np.clip(rng.normal(places[picture] if spread else (500, 500), spread or 150), 0, 1000)
            some.append(row(f"{picture}.png", f"{x:.0f} {y:.0f}", f"e{e}"))
    return some


def test_pictures_on_which_people_agree_are_found():
    (group,) = found_of(study(np.random.default_rng(1), spread=40))["groups"]

    assert len(group["pictures"]) == 10
    assert all(one["is_beyond_chance"] for one in group["pictures"])
    assert min(one["agreement"] for one in group["pictures"]) > 0.4


@pytest.mark.slow("simulates many studies")
def test_everybodys_habit_of_marking_the_middle_is_no_agreement():
    beyond, tested, agreement = 0, 0, []
    for seed in range(30):
        some = study(np.random.default_rng([2, seed]), spread=0, evaluators=8, pictures=3)
        (group,) = found_of(some, seed)["groups"]
        beyond += sum(one["is_beyond_chance"] for one in group["pictures"])
        tested += len(group["pictures"])
        agreement += [one["agreement"] for one in group["pictures"]]

    assert tested == 90
    assert beyond <= 12  # 5% of 90 with a standard error of 2
    assert abs(np.mean(agreement)) < 0.03


def test_the_most_telling_pictures_come_first_and_few_are_shown_without_agreement():
    rng = np.random.default_rng(3)
    some = study(rng, spread=0, evaluators=10, pictures=30)
    some += [row("telling.png", f"{50 + i} 50", f"e{i}") for i in range(6)]

    (group,) = found_of(some)["groups"]

    assert group["pictures"][0]["marks"] >= 6
    assert "telling.png" in [one["picture"] for one in group["pictures"] if one["is_beyond_chance"]]
    assert len(group["pictures"]) <= 12


def test_a_picture_is_counted_with_all_its_answers():
    some = [row("p", "10 10", f"e{i}") for i in range(3)] + [
        row("p", "", "x"),
        row("p", "", "y", response="real"),
    ]
    some += [row("q", "900 900", f"e{i}") for i in range(3)]

    (group,) = found_of(some)["groups"]

    (one,) = [one for one in group["pictures"] if one["picture"] == "p"]
    assert (one["marks"], one["called_fake"], one["guesses"]) == (3, 4, 5)
    assert (group["marks"], group["called_fake"], group["evaluators"]) == (6, 7, 3)
    assert one["agreement"] == pytest.approx(1)
    assert (one["where"], one["share_there"]) == ("upper left", pytest.approx(1))


def test_the_only_picture_has_nothing_to_be_compared_with():
    (group,) = found_of([row("p", "10 10", f"e{i}") for i in range(5)])["groups"]

    (one,) = group["pictures"]
    assert (one["agreement"], one["p"], one["is_beyond_chance"]) == (None, None, False)


def test_pictures_all_marked_at_one_place_have_no_agreement_beyond_it():
    (group,) = found_of([row(p, "10 10", f"e{i}") for i in range(3) for p in "pq"])["groups"]

    assert {one["agreement"] for one in group["pictures"]} == {None}


def test_reals_are_a_group_of_their_own_and_count_once():
    some = [row("f1", "1 1", model="a"), row("f2", "2 2", model="b")]
    some += [row("r", "3 3", model="real", truth="real")]

    found = found_of(some)

    assert [(group["model"], group["marks"]) for group in found["groups"]] == [("a", 1), ("b", 1), (None, 1)]
    assert found["rows"][-1] == {
        "model": None, "truth": "real", "picture": "r", "evaluator": "a", "x": 3, "y": 3, "width": None,
        "height": None,
    }  # fmt: skip


def test_what_cannot_be_used_is_left_out_with_a_note():
    found = found_of([row("p", "10 10"), row("p", "2000 10"), row("p", "5 5", response="real")])

    assert found["groups"][0]["marks"] == 1
    assert found["notes"] == [
        "1 mark left out: no point or box within the picture",
        "1 mark left out: the picture was called real",
    ]


def test_without_marks_there_is_nothing():
    assert found_of([row("p", "")]) is None
    assert found_of([row("p", "no")])["groups"] == []


def test_marks_without_names_of_pictures_have_a_map_of_the_model_alone():
    some = [{**row("", "10 10", f"e{i}"), "stimulus": None} for i in range(4)]

    (group,) = found_of(some)["groups"]

    assert group["pictures"] == []
    assert group["where"]["upper left"] == pytest.approx(1)


def test_the_result_does_not_depend_on_the_order_of_rows():
    some = study(np.random.default_rng(4), spread=60, evaluators=6, pictures=4)

    one, other = found_of(some), found_of(some[::-1])

    def named(found):
        (group,) = found["groups"]
        return {one["picture"]: (one["marks"], round(one["agreement"], 9)) for one in group["pictures"]}

    assert named(one) == named(other)
