"""Models that are checkpoints: their names, and their scores in the order of training."""

import pytest

from backend.analysis.checkpoints import checkpoint, progress


def row(model, score):
    return {"model": model, "score": score, "ci": [score - 1, score + 1], "evaluators": 30}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("gan@4000", ("gan", 4000)),
        ("gan@4k", ("gan", 4000)),
        ("gan@1.5M", ("gan", 1_500_000)),
        ("a@b@25k", ("a@b", 25_000)),
        ("gan", None),
        ("gan@", None),
        ("@4000", None),
        ("gan@final", None),
        ("gan@4K", None),
    ],
)
def test_a_name_tells_the_step(name, found):
    assert checkpoint(name) == found


def test_scores_stand_in_the_order_of_training():
    """HYPE 4.5: 29.5% at 4k, 45.9% at 9k, 50.3% at 25k."""
    rows = [
        row("gan@25k", 50.3),
        row("gan@4k", 29.5),
        row("gan@9000", 45.9),
        row("other", 1),
        row("vae@1", 2),
    ]

    (line,) = progress(rows)

    assert line["model"] == "gan"
    assert [(point["at"], point["score"]) for point in line["points"]] == [
        (4000, 29.5), (9000, 45.9), (25000, 50.3),
    ]  # fmt: skip
    assert line["points"][0]["ci"] == [28.5, 30.5]
    assert line["trend"]["rho"] == 1


def test_two_checkpoints_are_a_line_without_a_trend():
    (line,) = progress([row("gan@2", 2), row("gan@1", 1)])

    assert line["trend"] is None
