"""What can be refused without reading a picture is refused before any is read.

The pictures are text files with a picture's ending: a creation that opened one would name it.
"""

import dataclasses
from datetime import UTC, datetime

import pytest

from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.foundation.errors import Conflict, InvalidInput
from backend.stores.datadir import DataDir
from tests.unit.administration.test_create import fill as draw
from tests.unit.memory import MemoryStore

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SIZES = {"size_px": "16"}


def fill(folder, count=60):
    folder.mkdir(parents=True)
    for i in range(count):
        (folder / f"{i}.png").write_text("no picture")
    return folder


@pytest.fixture
def root(tmp_path):
    for name in ("real", "gan", "vae", "aside/real", "aside/fake", "set/p0", "set/p1", "triplets/ref"):
        fill(tmp_path / name, 3 if "aside" in name else 60)
    for part in ("p0", "p1"):
        fill(tmp_path / "triplets" / part)
        for answer in ("same", "different"):
            fill(tmp_path / "known" / answer / part, 2)
    return tmp_path


def sides(root, method, settings, **folders):
    models = tuple((name, root / name) for name in ("gan", "vae"))
    return StudySpec("faces", "study", method, root / "real", models, {**SIZES, **settings}, **folders)


def items(root, method, folder, settings, **folders):
    return StudySpec("faces", "study", method, None, (), settings, items=(("", root / folder),), **folders)


SIDES = [
    ("infinity", {"images": "200"}, "it has 60 of ", "images"),
    ("infinity", {"images": "122"}, "--set images=120 is the most", "images"),
    ("infinity", {"practice_images": "80", "images": "50"}, "lacks pictures for a HYPE-infinity", "images"),
    ("infinity", {"practice_images": "130", "images": "4"}, "lacks pictures for practice", "practice_images"),
    ("infinity", {"models_per_session": "3"}, "must be at most 2", "models_per_session"),
    ("infinity", {"class_design": "between"}, "class_design=between needs classes", "class_design"),
    ("infinity", {"images": "20", "sampling": "uncertain", "blocks": "2"}, "goes with blocks=1", "sampling"),
    ("time", {"images": "200", "blocks": "1"}, "it has 60 of 100 reals", "images"),
    ("time", {"images": "40", "blocks": "6"}, "it has 60 of 120 reals", "images"),
    ("time", {"models_per_session": "2", "images": "10", "blocks": "3"}, "must be a multiple of 2", "blocks"),
    ("exposures", {"images": "8", "exposures_ms": "100,200,300,400,500"}, "needs 5 fakes", "exposures_ms"),
    ("exposures", {"images": "200"}, "it has 60 of 100 reals", "images"),
    ("pair", {"images": "100"}, "it has 60 of 100 reals", "images"),
    ("tournament", {"images": "500"}, "lacks pictures for a session of 500 pairs", "images"),
]
"""Method, settings, what is said, and the setting that is named where no file was read."""


def refused(spec, root, kind=InvalidInput):
    """Return why a study is not made; no picture was opened."""
    with pytest.raises(kind, match=r".") as caught:
        create(MemoryStore(), DataDir(root / "data"), spec, NOW)
    assert "holds none" not in str(caught.value)
    assert "hold none" not in str(caught.value)
    assert [*(root / "data").glob("images/[!.]*")] == []
    return caught.value


@pytest.mark.parametrize(("method", "settings", "words", "setting"), SIDES)
def test_settings_that_the_number_of_files_cannot_meet_are_refused_before_any_is_read(
    root, method, settings, words, setting
):
    error = refused(sides(root, method, settings), root)

    assert words in str(error), error
    assert ("settings", setting) in (error.keys, *error.also)


@pytest.mark.parametrize(
    ("method", "folder", "settings", "words", "setting"),
    [
        ("2afc", "triplets", {"images": "61"}, "lacks triplets for a session of 61: it has 60", "images"),
        ("jnd", "set", {"images": "61", "picture_checks": "0"}, "lacks pairs for a session of 61", "images"),
    ],
)
def test_sessions_of_more_items_than_there_are_files_for_are_refused_before_any_is_read(
    root, method, folder, settings, words, setting
):
    error = refused(items(root, method, folder, settings), root)

    assert words in str(error), error
    assert ("settings", setting) in (error.keys, *error.also)


def test_folders_of_practice_and_checks_are_counted_before_any_picture_is_read(root):
    for entry, setting in (("practice", "practice_images"), ("checks", "picture_checks")):
        spec = sides(root, "infinity", {"images": "20", setting: "8"}, **{entry: root / "aside"})
        error = refused(spec, root)
        assert "it has 3 of 4 reals, 3 of 4 fakes" in str(error), error
        assert ("settings", setting) in (error.keys, *error.also)
    known = items(root, "jnd", "set", {"images": "30", "picture_checks": "20"}, checks=root / "known")
    assert "lacks sentinels" in str(refused(known, root))


def test_a_form_that_pictures_cannot_have_is_refused_before_any_is_read(root):
    spec = sides(root, "infinity", {"images": "20"})
    large = dataclasses.replace(spec, preprocess=("size:64",))
    unknown = dataclasses.replace(spec, settings={**spec.settings, "image_format": "gif"})

    assert refused(large, root).keys == ("preprocess", 0)
    assert refused(unknown, root).keys == ("settings", "image_format")


@pytest.mark.parametrize("masks", ["none", "empty", "gan"])
def test_masks_of_ones_own_are_read_before_the_pictures(root, masks):
    draw(root / "good", 2)
    (root / "empty").mkdir()
    spec = sides(root, "time", {"images": "10", "blocks": "1"}, masks=root / masks)
    with pytest.raises(InvalidInput, match=rf"masks.*|{masks}") as caught:
        create(MemoryStore(), DataDir(root / "data"), spec, NOW)

    assert caught.value.keys == ("masks",)
    assert "real/0.png" not in str(caught.value)


def test_files_whose_names_tell_that_they_cannot_be_used_are_refused_before_any_is_read(root):
    (root / "gan" / "phone.heic").write_text("no picture")
    (root / "vae" / "dead.png").symlink_to(root / "nowhere")

    error = refused(sides(root, "infinity", {"images": "20"}), root)

    assert "phone.heic has the ending" in str(error)
    assert "dead.png" in str(error)


def test_a_folder_of_another_store_s_study_is_refused_before_any_picture_is_read(root):
    (root / "data" / "images" / "faces").mkdir(parents=True)

    with pytest.raises(Conflict, match="not in this store"):
        create(MemoryStore(), DataDir(root / "data"), sides(root, "infinity", {"images": "20"}), NOW)
