"""Caveats stay short, however many models or people they concern."""

from itertools import pairwise

from backend.scoring import score


def longest(found):
    return max(len(text) for text in (*found["warnings"], *found["notes"]))


def rows_of(models, people):
    return [
        {
            "model": model,
            "evaluator": f"{model}-{person}",
            "truth": truth,
            "response": "real",
            "stimulus": f"{i}.png",
        }
        for model in models
        for person in range(people)
        for i, truth in enumerate(["real", "fake"] * 2)
    ]


def test_of_many_models_with_one_evaluator_five_are_named():
    found = score(rows_of([f"model-{i}" for i in range(300)], 1), "infinity")

    (text,) = (text for text in found["warnings"] if "one evaluator" in text)
    assert text.startswith(
        "model-0, model-1, model-10, model-100, model-101 and 295 more have one evaluator and are"
    )


def test_of_many_models_whose_evaluators_are_equal_and_names_that_differ_in_case_five_are_named():
    names = [f"m{i}" for i in range(20)]

    found = score(rows_of([*names, *map(str.upper, names)], 2), "infinity")

    assert "and 35 more have the same value" in " ".join(found["warnings"])
    assert "and 15 more differ in case alone" in " ".join(found["notes"])
    assert longest(found) < 400


def test_of_a_long_ladder_the_first_rungs_are_named():
    names = [f"contestant-{i:02}" for i in range(30)]
    rows = [
        {"model": low, "evaluator": person, "truth": "", "response": "right", "left": low, "right": high}
        for person in "ab"
        for low, high in pairwise(names)
    ]

    found = score(rows, "tournament", iterations=20)

    assert (
        "contestant-29 > contestant-28 > contestant-27 > contestant-26 > contestant-25 > …"
        in found["warnings"][0]
    )
    assert longest(found) < 500
