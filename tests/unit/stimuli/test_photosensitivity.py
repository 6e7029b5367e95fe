"""A HYPE-time study tells at its creation how its pictures and masks flash."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.cli import main

WHITE, BLACK = 255, 0


def fill(folder, *levels):
    folder.mkdir()
    for i, level in enumerate(levels):
        pixels = np.full((16, 16, 3), level, dtype=np.uint8)
        pixels[0, 0] = (i, 128, 64)  # the intake leaves out what comes twice
        Image.fromarray(pixels).save(folder / f"{i}.png")
    return str(folder)


@pytest.fixture
def notes_of(tmp_path):
    real, gan = fill(tmp_path / "real", *[WHITE] * 10), fill(tmp_path / "gan", *[WHITE - 1] * 10)

    def notes_of(*options):
        common = ["--data", str(tmp_path / "data")]
        study = ["create", "s", "--real", real, "--model", f"gan={gan}", "--size", "16", *options]
        made = CliRunner().invoke(main, [*study, *common])
        assert made.exit_code == 0, made.output
        status = CliRunner().invoke(main, ["status", "s", "--json", *common])
        notes = [note for note in json.loads(status.output)["notes"] if note.startswith("photosensitivity")]
        assert all(f"note: {note}" in made.output for note in notes)
        return notes

    return notes_of


TIME = [
    "--method",
    "time",
    "--set",
    "masks=phase",
    "--set",
    "images=8",
    "--set",
    "blocks=1",
    "--set",
    "spare_images=2",
]


def test_a_default_time_study_is_within_the_threshold(notes_of):
    (note,) = notes_of(*TIME)

    assert note.endswith("in 20 sampled trials at 100 ms (WCAG 2.2, 2.3.1 allows 3): within the threshold")


def test_many_masks_of_high_contrast_are_over_it_and_the_study_is_made_all_the_same(notes_of, tmp_path):
    masks = fill(tmp_path / "masks", *[WHITE, BLACK] * 10)

    (note,) = notes_of(*TIME, "--masks", masks, "--set", "mask_count=20")

    # 10 black and 10 white masks in random order change sides 10 times on average
    assert re.search(r"OVER THE THRESHOLD in \d+ of 20 sampled trials", note)


def test_the_shortest_exposure_is_the_one_that_is_looked_at(notes_of):
    (note,) = notes_of(*TIME, "--set", "min_exposure_ms=20")

    assert "sampled trials at 20 ms" in note


def test_a_study_without_a_time_limit_has_no_flashes_to_tell_of(notes_of):
    assert notes_of("--set", "images=8", "--set", "spare_images=2") == []
