"""Reasons and comments: counted by hand, read in every form, and recovered."""

import json
from dataclasses import replace

import numpy as np
import pytest

from backend.analysis.reasons import comments, reasons
from backend.analysis.table.response_rows import answers_of

NAMES = ("hands", "odd eyes", "light")
SIDES = {"f": "fake", "r": "real"}


def row(word, given=None, evaluator="a", model="m", **more):
    return {
        "model": model, "evaluator": evaluator, "truth": SIDES[word[0]], "response": SIDES[word[1]],
        "reasons": given, **more,
    }  # fmt: skip


def found_of(some, names=NAMES):
    found = reasons(replace(answers_of(some, "infinity"), reasons=names), 0.95)
    json.dumps(found, allow_nan=False)
    return found


def shares(found, response="fake", model="m"):
    return {
        one["reason"]: (one["answers"], one["of"], one["of_fakes"], one["of_reals"])
        for one in found["rows"]
        if (one["response"], one["model"]) == (response, model)
    }


def test_shares_by_hand():
    found = found_of(
        [row("ff", "1 2"), row("ff", "1"), row("ff", ""), row("rf", "2"), row("rf", ""), row("fr"), row("rr")]
    )

    assert shares(found) == {
        "hands": (2, 5, 2 / 3, 0), "odd eyes": (2, 5, 1 / 3, 1 / 2), "light": (0, 5, 0, 0),
        None: (2, 5, 1 / 3, 1 / 2),
    }  # fmt: skip
    assert shares(found, "real") == {}


def test_reasons_for_calling_a_picture_real_are_counted_apart():
    found = found_of([row("ff", "1"), row("rr", "3"), row("fr", "")])

    assert shares(found, "real")["light"] == (1, 2, 0, 1)


@pytest.mark.parametrize("given", ["1 3", "1.0 3.0", [1, 3], (1.0, 3.0), "3 1 1", " 1  3 "])
def test_numbers_are_read_in_every_form(given):
    found = found_of([row("ff", given), row("rf", "2")])

    named = {name for name, (answers, *_) in shares(found).items() if answers and name}
    assert named == {"hands", "light", "odd eyes"}
    assert [shares(found)[name][0] for name in NAMES] == [1, 1, 1]


def test_words_are_shown_as_they_are_and_numbers_beyond_the_list_too():
    found = found_of([row("ff", "blur 4"), row("rf", "<b>ears</b> 1e400")], NAMES)

    assert found["reasons"] == [*NAMES, "reason 4", "1e400", "<b>ears</b>", "blur"]


def test_reasons_of_several_words_are_separated_by_semicolons():
    found = found_of([row("ff", "wrong hands; blur"), row("rf", "wrong hands")], ())

    assert found["reasons"] == ["blur", "wrong hands"]


def test_without_reasons_there_is_nothing():
    assert found_of([row("ff"), row("rf", "")]) is None


def test_one_evaluator_has_no_interval():
    found = found_of([row("ff", "1"), row("rf", "1"), row("ff")])

    assert {(one["share_ci"], one["difference_ci"], one["p"]) for one in found["rows"]} == {
        (None, None, None)
    }


def simulated(rng, evaluators=30):
    """Return answers `fake`, half to reals: hands for 50% of fakes and 20% of reals, light for 30%."""
    hands, some = {"ff": 0.5, "rf": 0.2}, []
    for model in ("m", "n"):
        for e in range(evaluators):
            for word in ("ff", "rf") * 20:
                given = [name for name, share in (("1", hands[word]), ("3", 0.3)) if rng.random() < share]
                some.append(row(word, " ".join(given), evaluator=f"e{e}", model=model))
    return some


def test_the_reason_that_tells_fakes_from_reals_is_found():
    found = found_of(simulated(np.random.default_rng(1)))

    own = {one["reason"]: one for one in found["rows"] if one["model"] == "m"}
    assert own["hands"]["of_fakes"] == pytest.approx(0.5, abs=0.05)
    assert own["hands"]["difference_ci"][0] < 0.3 < own["hands"]["difference_ci"][1]
    assert own["hands"]["p_holm"] < 0.001 < 0.05 < own["light"]["p_holm"]
    assert own["hands"]["was_fake"] == pytest.approx(5 / 7, abs=0.05)
    assert own[None]["p_holm"] is None
    assert {one["of"] for one in found["rows"] if one["model"] is None} == {2 * 30 * 40}


def test_differences_of_nothing_are_rarely_called_significant():
    rng, wrong = np.random.default_rng(2), 0

    for _ in range(200):
        some = [
            row(word, "1" if rng.random() < 0.3 else "", evaluator=f"e{e}")
            for e in range(10)
            for word in ("ff", "rf") * 6
        ]
        (own,) = [one for one in found_of(some, ("hands",))["rows"] if one["reason"]]
        wrong += own["p"] < 0.05

    assert wrong <= 20  # 5% of 200 with a standard error of 3


def test_comments_are_as_they_were_written_and_once_where_models_share_reals():
    texts = ["=1+1", "<b>x</b>", " two\nlines ", "  ", None]
    some = [row("ff", comment=text, stimulus=f"{i}.png") for i, text in enumerate(texts)]
    some += [row("ff", model="n"), row("rf", model="real", comment="shared")]

    found = comments(answers_of(some, "infinity"))

    assert [one["comment"] for one in found] == ["=1+1", "<b>x</b>", " two\nlines ", "shared"]
    assert found[0] == {
        "model": "m", "evaluator": "a", "stimulus": "0.png", "truth": "fake", "response": "fake",
        "comment": "=1+1",
    }  # fmt: skip


def test_half_of_a_surrogate_pair_in_a_comment_is_replaced():
    (found,) = comments(answers_of([row("ff", comment="a\ud800")], "infinity"))

    assert found["comment"] == "a?"
