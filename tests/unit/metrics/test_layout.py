"""The extractor without weights: its numbers, on pictures of which they can be worked out by hand."""

import hashlib

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput
from backend.metrics.extractors import extractor_named, families
from backend.metrics.extractors.layout import averaged

LAYOUT = extractor_named("layout")


def features(*pictures):
    return LAYOUT.extract([np.asarray(picture, np.uint8) for picture in pictures])


def test_a_flat_picture_has_its_colour_everywhere_and_nothing_else():
    (found,) = features(np.full((20, 30, 3), (255, 0, 0)))

    red = [0.299, -0.169, 0.5]  # Y, Cb and Cr of red by BT.601, rounded to three digits
    assert found.shape == (96,)
    assert found.dtype == np.float32
    assert found[:48].reshape(16, 3) == pytest.approx(np.tile(red, (16, 1)), abs=1e-6)
    assert found[48:52] == pytest.approx([0, 0, 0, 1], abs=1e-6)
    assert found[52:84] == pytest.approx(np.zeros(32), abs=1e-6)
    assert found[84:] == pytest.approx(np.full(12, -2), abs=1e-6)  # the floor of power: log10(1e-8) / 4


def test_stripes_have_gradients_across_and_power_in_the_ring_of_their_frequency():
    x = np.arange(64)
    stripes = np.repeat((128 + 60 * np.sin(2 * np.pi * 8 * x / 64))[None, :, None], 64, 0).repeat(3, 2)

    (found,) = features(stripes)

    gradients = found[52:84].reshape(4, 8)
    assert (gradients.argmax(axis=1) == 0).all()  # direction 0: levels change from left to right
    assert gradients[:, 2:7] == pytest.approx(0, abs=1e-6)
    edges = np.geomspace(1, 32, 13)
    assert found[84:].argmax() == np.searchsorted(edges, 8, "right") - 1


def test_a_picture_is_averaged_exactly_by_area_whatever_its_size():
    rng = np.random.default_rng(0)
    large, odd = rng.integers(0, 256, (128, 192, 3)), rng.integers(0, 256, (5, 7, 3))

    assert averaged(large, 64) == pytest.approx(large.reshape(64, 2, 64, 3, 3).mean(axis=(1, 3)), abs=1e-12)
    fine = odd.repeat(64, 0).repeat(64, 1)  # every pixel as 64 x 64, of which a part is 5 x 7 times that
    by_hand = fine.reshape(64, 5, 64, 7, 3).mean(axis=(1, 3))
    assert averaged(odd, 64) == pytest.approx(by_hand, abs=1e-12)


def test_numbers_change_only_with_the_version_that_is_in_name_and_hash():
    rng = np.random.default_rng(1)

    (found,) = features(rng.integers(0, 256, (40, 40, 3)))

    assert LAYOUT.identity.name == "layout-1"
    assert LAYOUT.identity.hash == hashlib.sha256(b"openhype layout 1").hexdigest()
    assert found[[0, 49, 51, 60, 83, 84, 95]] == pytest.approx(EXPECTED, abs=1e-5)


EXPECTED = [0.510928, 0.145734, 0.394782, 0.428129, 0.344814, -1.243821, -1.603957]
"""As computed when version 1 was made: a change of any number needs another version."""


def test_extractors_are_found_by_name_and_others_refused():
    assert families() == ("layout", "torch-fidelity")
    for name, why in (
        ("lay", "there is no extractor 'lay'"),
        ("layout:big", "no kind 'big'"),
        ("", "there is no"),
    ):
        with pytest.raises(InvalidInput, match=why):
            extractor_named(name)
