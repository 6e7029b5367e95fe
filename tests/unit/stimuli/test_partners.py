"""Files of one source: which are matched by their names, and what is said of those that are not."""

import pytest

from backend.experiment.records import Stimulus
from backend.stimuli import partners

SIDES = (None, "gan", "vae")


def stimulus(source, model=None, name="0" * 32):
    return Stimulus(f"{name}.webp", "fake" if model else "real", model, "", source)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("cats/7.mp4", "cats/7"),
        ("7.clip", "7"),
        ("sample_cfg7.5", "sample_cfg7.5"),
        ("sample_cfg7.5.PNG", "sample_cfg7.5"),
        ("e\u0301.png", "é"),
    ],
)
def test_a_source_is_a_path_without_its_ending(source, named):
    assert partners.source_of(stimulus(source)) == named


def test_sources_that_a_side_lacks_or_has_twice_are_named_with_the_side():
    pool = [stimulus(f"{number}.png", side) for side in SIDES for number in range(3)]
    pool = [each for each in pool if (each.source, each.model) != ("1.png", "vae")]
    pool += [stimulus("2.webp", "gan"), stimulus("3.png")]

    alone = partners.alone(pool, SIDES)

    assert alone == {
        "1": "no usable file of vae",
        "2": "2 files of gan",
        "3": "no usable file of gan",
    }
    assert (
        "3 names cannot be used, of which the reals, gan, vae must each have one file: 1 (no usable file of "
        "vae), 2 (2 files of gan), 3 (no usable file of gan)" in partners.lack(alone, SIDES)
    )


def test_a_side_that_nobody_sees_needs_no_partners():
    pool = [stimulus("1.png"), *(stimulus("2.png", side) for side in SIDES[1:])]

    assert partners.alone(pool, SIDES[1:]) == {}


def test_names_of_partners_begin_alike_and_still_tell_what_is_shown():
    real, fake = stimulus("a.png", None, "1" * 32), stimulus("a.jpg", "gan", "2" * 32)

    renamed = [partners.renamed(each, {"a": "f" * 16}).name for each in (real, fake)]

    assert renamed == ["f" * 16 + "1" * 16 + ".webp", "f" * 16 + "2" * 16 + ".webp"]
    assert {*map(partners.beginning, renamed)} == {"f" * 16}
