"""Fits on made-up triplets: known weights recovered, coins, the same seed, and votes that say little."""

import json
from dataclasses import replace

import numpy as np
import pytest

from backend.analysis.agreement.votes import JND, votes_of_shares
from backend.foundation.errors import InvalidInput
from backend.metrics.calibration.calibrate import Options, calibrate, check_votes
from backend.metrics.calibration.start import FILE, UNIFORM, start_of
from backend.metrics.calibration.weights_file import weights_bytes
from backend.metrics.weights import read_weights
from validate.calibration import (
    LAYERS,
    chance_by,
    held_out,
    known_weights,
    made_up,
    references,
    votes_of_judges,
)

QUICK = Options(steps=400)


def triplets_of_judges(count=400, votes=5, seed=0, chance=None):
    """Return vectors, votes on them, and the weights by which judges vote unless their chance is given."""
    rng = np.random.default_rng(seed)
    vectors, weights = made_up(count, rng), known_weights(rng)
    of = chance_by(weights, vectors) if chance is None else np.full(count, float(chance))
    return vectors, votes_of_judges(of, votes, rng), weights


def calibrated(vectors, votes, options=QUICK, start=None):
    pytest.importorskip("torch")
    start = start or start_of(UNIFORM, LAYERS, options.seed)
    return calibrate(votes, references(len(vectors)), vectors, start, options)


def test_known_weights_are_recovered():
    """The full table is in docs/calibration.md; here, at few steps, closer than equal weights."""
    vectors, votes, weights = triplets_of_judges(2000)

    found = calibrated(vectors, votes, replace(QUICK, steps=1500))

    ours = np.concatenate(found.weights)
    cosine = ours @ weights / np.linalg.norm(ours) / np.linalg.norm(weights)
    equal = weights.sum() / np.sqrt(len(weights)) / np.linalg.norm(weights)
    assert cosine > 0.9 > equal
    scores = held_out(found)
    assert scores["calibrated"] > scores["before"]
    assert ours.min() == 0


def test_a_start_whose_loss_is_no_number_is_refused():
    vectors, votes, _ = triplets_of_judges(200)
    huge = [np.full(channels, 3e38) for channels in LAYERS]

    with pytest.raises(InvalidInput, match="loss is not a finite number after 0 steps; start from smaller"):
        calibrated(vectors, votes, start=start_of(FILE, LAYERS, 0, huge))


def test_a_seed_gives_the_same_weights_to_the_last_bit():
    vectors, votes, _ = triplets_of_judges(200)
    first, again, other = (calibrated(vectors, votes, replace(QUICK, seed=seed)) for seed in (3, 3, 4))

    assert [each.tobytes() for each in first.weights] == [each.tobytes() for each in again.weights]
    assert json.dumps(first.data) == json.dumps(again.data)
    assert [each.tobytes() for each in first.weights] != [each.tobytes() for each in other.weights]


def test_votes_for_held_out_triplets_change_nothing_of_the_fit():
    vectors, votes, _ = triplets_of_judges(200)
    first = calibrated(vectors, votes)
    hidden = {row["item"] for row in first.data["split"] if row["share"] == "held-out"}
    is_hidden = np.array([votes.items[i] in hidden for i in votes.item])

    other = calibrated(vectors, replace(votes, vote=np.where(is_hidden, 1 - votes.vote, votes.vote)))

    assert [each.tobytes() for each in first.weights] == [each.tobytes() for each in other.weights]
    assert held_out(other)["calibrated"] == pytest.approx(100 - held_out(first)["calibrated"])


@pytest.mark.parametrize("chance", [0, 1])
def test_votes_that_all_prefer_one_side_are_fitted(chance):
    vectors, votes, _ = triplets_of_judges(200, votes=1, chance=chance)

    found = calibrated(vectors, votes)

    assert all(np.isfinite(layer).all() and (layer >= 0).all() for layer in found.weights)
    assert held_out(found)["human"] is None
    json.dumps(found.data, allow_nan=False)


def test_equal_pictures_are_ties_and_no_failure():
    vectors, votes, _ = triplets_of_judges(200)
    same = replace(
        vectors, **{name: np.zeros_like(vectors.phi0) for name in ("phi0", "phi1", "psi0", "psi1")}
    )

    found = calibrated(same, votes)

    assert held_out(found)["calibrated"] == held_out(found)["before"] == 50
    assert found.data["layers"][0]["part"] is None
    json.dumps(found.data, allow_nan=False)


def test_a_fit_that_cannot_improve_keeps_the_weights_it_started_from():
    vectors, votes, weights = triplets_of_judges(400, chance=0.5)
    start = start_of(FILE, LAYERS, 0, vectors.by_layer(weights))

    found = calibrated(vectors, votes, replace(QUICK, steps=100, rate=1.0), start)

    assert found.data["fit"]["step"] == 0
    assert np.concatenate(found.weights) == pytest.approx(weights, rel=1e-6)


def test_the_schedule_of_the_paper_takes_ten_epochs():
    vectors, votes, _ = triplets_of_judges(200)

    found = calibrated(vectors, votes, Options(schedule="paper"))

    assert (found.data["fit"]["steps"], found.data["fit"]["step"]) == (30, 30)
    assert len(found.data["fit"]["curve"]) == 11


def test_the_file_of_weights_has_the_names_and_shapes_of_the_reference(tmp_path):
    pytest.importorskip("torch")
    path = tmp_path / "alex.pth"
    path.write_bytes(weights_bytes([np.arange(3, dtype=np.float32), np.ones(2, np.float32)]))

    found = read_weights(path)

    assert {name: each.shape for name, each in found.items()} == {
        "lin0.model.1.weight": (1, 3, 1, 1),
        "lin1.model.1.weight": (1, 2, 1, 1),
    }


def test_votes_on_pairs_are_refused():
    votes = votes_of_shares(JND, {"cnn": {f"cnn/{i}": 0.5 for i in range(200)}})

    with pytest.raises(InvalidInput, match=r"votes on triplets \(2AFC\): .* \(JND\) can test a metric"):
        check_votes(votes)


def test_other_numbers_of_vectors_than_of_votes_are_refused():
    vectors, votes, _ = triplets_of_judges(120)

    with pytest.raises(InvalidInput, match="120 triplets must have as many references and vectors, not 119 "):
        calibrate(votes, references(119), vectors, start_of(UNIFORM, LAYERS, 0))
