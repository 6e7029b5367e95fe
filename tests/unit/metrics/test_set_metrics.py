"""What the comparison of a study's pictures says of its own numbers."""

from backend.metrics.set_metrics import below_zero


def row(model, value, ci):
    return {"model": model, "kid": {"value": value, "ci": ci}}


def test_an_interval_that_begins_at_the_estimate_is_explained_and_no_other():
    rows = [row("gan", -0.01, [-0.01, 0.02]), row("vae", 0.3, [0.1, 0.5]), row("few", None, None)]

    assert [*below_zero(rows, "Kernel distance")] == [
        "Kernel distance of gan: the estimate is below 0 by chance, which no distance is, so that its "
        "interval begins at the estimate; its upper end says how large the distance may be"
    ]
