"""The demo's pictures: one pipeline for real and fake, and no work done twice."""

from collections import Counter

import numpy as np
import pytest
from PIL import Image

from backend.stimuli.demo_images import MODELS, _dealt, picture_of, write_picture, write_pictures
from backend.stimuli.demo_photographs import SUBJECTS

KINDS = [None, *MODELS]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("subject", ["brick", "tissue"])
@pytest.mark.slow("makes pictures of every kind")
def test_every_kind_makes_pictures_of_one_form_that_its_seed_decides(kind, subject):
    one, same, other = (picture_of(kind, subject, seed) for seed in (1, 1, 2))

    assert one.shape == (256, 256, 3)
    assert one.dtype == np.uint8
    assert (one == same).all()
    assert (one != other).any()


def test_all_kinds_show_the_subjects_in_the_same_shares():
    deck = sum(subject.share for subject in SUBJECTS.values())

    dealt = [Counter(_dealt(2 * deck, np.random.default_rng(seed))) for seed in (1, 2)]

    assert dealt[0] == dealt[1] == {name: 2 * subject.share for name, subject in SUBJECTS.items()}


def test_a_folder_is_written_for_every_kind(tmp_path):
    folders = write_pictures(tmp_path, {None: 3, "random-phase": 2}, seed=1)

    assert {kind: len(list(folder.iterdir())) for kind, folder in folders.items()} == {
        None: 3,
        "random-phase": 2,
    }
    for folder in folders.values():
        for path in folder.iterdir():
            with Image.open(path) as picture:
                assert (picture.size, picture.mode, picture.format) == ((256, 256), "RGB", "PNG")


def test_what_an_earlier_run_made_is_taken_and_the_rest_is_the_same(tmp_path):
    whole, again = tmp_path / "whole", tmp_path / "again"
    write_pictures(whole, {None: 4}, seed=1)
    write_pictures(again, {None: 4}, seed=1)
    (again / "real" / "0002.png").unlink()
    before = (again / "real" / "0001.png").stat().st_mtime_ns

    write_pictures(again, {None: 4}, seed=1)

    assert (again / "real" / "0001.png").stat().st_mtime_ns == before
    for path in (whole / "real").iterdir():
        assert path.read_bytes() == (again / "real" / path.name).read_bytes()


def test_a_picture_that_was_half_written_is_written_again(tmp_path):
    (tmp_path / "0.partial").write_bytes(b"half")

    write_picture(tmp_path / "0.png", None, "coins", 1)

    assert [path.name for path in tmp_path.iterdir()] == ["0.png"]
