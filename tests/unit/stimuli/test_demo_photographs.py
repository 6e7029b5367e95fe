"""The demo's photographs: cuts and tones."""

import sys

import numpy as np
import pytest

from backend.foundation.errors import NotInstalled
from backend.stimuli.demo_photographs import SUBJECTS, check_installed, cut, toned


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_subject_has_room_for_a_picture(name):
    picture = cut(SUBJECTS[name], 256, np.random.default_rng(1))

    assert picture.shape[:2] == (256, 256)
    assert picture.std() > 2


@pytest.mark.parametrize("name", SUBJECTS)
def test_cuts_differ_and_are_in_colour_once_toned(name):
    subject = SUBJECTS[name]
    one, two = (
        toned(cut(subject, 256, rng), subject, rng) for rng in (np.random.default_rng(s) for s in (1, 2))
    )

    assert one.shape == two.shape == (256, 256, 3)
    assert one.dtype == np.uint8
    assert np.abs(one.astype(int) - two).mean() > 2


def test_a_cut_is_smaller_where_there_is_no_room_for_more():
    assert 256 <= len(cut(SUBJECTS["fur"], 600, np.random.default_rng(1))) < 600


def test_a_black_and_white_photograph_is_tinted_so_that_its_order_of_levels_stays():
    ramp = np.tile(np.arange(256, dtype=np.uint8), (256, 1))

    tinted = toned(ramp, SUBJECTS["grass"], np.random.default_rng(1)).astype(int)

    assert (np.diff(tinted, axis=1) >= 0).all()
    assert tinted[0, 128, 1] > tinted[0, 128, 2]  # grass is greener than blue


def test_without_scikit_image_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage", None)

    wanted = r"the demo needs skimage, which is not installed; run: .* 'scikit-image>="
    with pytest.raises(NotInstalled, match=wanted):
        check_installed()
