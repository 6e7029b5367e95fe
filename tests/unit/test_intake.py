"""Folders in: a uniform pool, or one clear message and nothing left behind."""

import numpy as np
import pytest
from PIL import Image

from backend.errors import InvalidInput
from backend.intake import take_in

RNG = np.random.default_rng(7)


def fill(folder, count=6, size=24, suffix="png", smooth=False):
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(count):
        pixels = RNG.integers(0, 256, (2 if smooth else size, 2 if smooth else size, 3)).astype("uint8")
        Image.fromarray(pixels).resize((size, size)).save(folder / f"{i:03d}.{suffix}")
    return folder


@pytest.fixture
def real(tmp_path):
    return fill(tmp_path / "real")


@pytest.fixture
def gan(tmp_path):
    return fill(tmp_path / "gan", smooth=True)


def size_of(path):
    with Image.open(path) as picture:
        return picture.size


def take(tmp_path, real, models, **options):
    return take_in(real, models, tmp_path / "out", size_px=32, **options)


def test_the_files_tell_nothing_but_their_pictures(tmp_path, real, gan):
    intake = take(tmp_path, real, {"gan": gan})

    files = list((tmp_path / "out").iterdir())
    assert sorted(file.name for file in files) == [stimulus.name for stimulus in intake.stimuli]
    assert len({(f.stat().st_size, f.stat().st_mtime, f.stat().st_mode, f.suffix) for f in files}) == 1
    assert all(len(file.stem) == 32 for file in files)
    assert {size_of(file) for file in files} == {(32, 32)}


def test_the_pool_knows_what_each_picture_is(tmp_path, real, gan):
    intake = take(tmp_path, real, {"gan": gan})

    assert sum(stimulus.truth == "real" for stimulus in intake.stimuli) == 6
    assert {s.source for s in intake.stimuli if s.model == "gan"} == {f"{i:03d}.png" for i in range(6)}


def test_many_pictures_on_all_cores_give_the_same_pool(tmp_path):
    real, gan = fill(tmp_path / "real", 70), fill(tmp_path / "gan", 70)

    many = take_in(real, {"gan": gan}, tmp_path / "a", size_px=16, workers=2)
    one = take_in(real, {"gan": gan}, tmp_path / "b", size_px=16, workers=1)

    assert {(s.source, s.truth) for s in many.stimuli} == {(s.source, s.truth) for s in one.stimuli}
    assert len(list((tmp_path / "a").iterdir())) == 140


def test_sub_folders_are_classes(tmp_path):
    for side in ("real", "gan"):
        for class_ in ("cat", "dog"):
            fill(tmp_path / side / class_, 3)

    intake = take(tmp_path, tmp_path / "real", {"gan": tmp_path / "gan"})

    assert intake.classes == ("cat", "dog")
    assert {s.class_ for s in intake.stimuli} == {"cat", "dog"}


def test_differences_the_pipeline_cannot_hide_are_said(tmp_path):
    real, gan = fill(tmp_path / "real", suffix="jpg", size=64), fill(tmp_path / "gan", size=8)

    intake = take(tmp_path, real, {"gan": gan})

    assert any("the reals were JPEG and the fakes of gan PNG" in note for note in intake.notes)
    assert any("--equalise jpeg:90" in note for note in intake.notes)
    assert any("enlarged" in note and "--equalise size:8" in note for note in intake.notes)


def test_sides_that_are_alike_give_no_note(tmp_path, real, gan):
    assert take(tmp_path, real, {"gan": gan}).notes == ()


def copied(tmp_path, real, gan):
    (gan / "copy.png").write_bytes((real / "000.png").read_bytes())
    return {"gan": gan}


def unreadable(tmp_path, real, gan):
    (gan / "text.png").write_text("hello")
    return {"gan": gan}


def missing(tmp_path, real, gan):
    return {"gan": tmp_path / "none"}


def empty(tmp_path, real, gan):
    (tmp_path / "empty").mkdir()
    return {"gan": tmp_path / "empty"}


def inside(tmp_path, real, gan):
    return {"gan": fill(real / "gan")}


def same(tmp_path, real, gan):
    return {"gan": real}


def mixed(tmp_path, real, gan):
    fill(gan / "cat", 2)
    return {"gan": gan}


def other_classes(tmp_path, real, gan):
    return {"gan": fill(tmp_path / "classes" / "cat").parent}


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (copied, r"1 file is a duplicate: .*copy\.png shows the same picture as .*000\.png"),
        (unreadable, r"1 file cannot be read: .*text\.png is not an image"),
        (missing, "the folder of model gan, .*none, does not exist"),
        (empty, "the folder of model gan, .*empty, has no files"),
        (inside, "lies inside that of the reals"),
        (same, "is the same as that of"),
        (mixed, r"has both files \(.*000\.png\) and sub-folders with files \(cat/000\.png\)"),
        (other_classes, "model gan in .* has the classes cat, the reals have no classes"),
    ],
)
def test_a_bad_folder_is_told_in_one_message_and_leaves_nothing(tmp_path, real, gan, prepare, message):
    models = prepare(tmp_path, real, gan)

    with pytest.raises(InvalidInput, match=message):
        take(tmp_path, real, models)

    assert not (tmp_path / "out").exists()


def test_bad_files_can_be_left_out_and_are_listed(tmp_path, real, gan):
    (gan / "text.png").write_text("hello")
    (gan / "twice.png").write_bytes((gan / "000.png").read_bytes())
    (gan / "real.png").write_bytes((real / "000.png").read_bytes())

    intake = take(tmp_path, real, {"gan": gan}, skip_bad=True)

    # of the six and six: the one that stands on both sides is neither
    assert len(intake.stimuli) == 11
    assert len(list((tmp_path / "out").iterdir())) == 11
    assert any("files were left out" in note for note in intake.notes)


def test_what_folders_collect_by_themselves_is_ignored(tmp_path, real, gan):
    (real / ".DS_Store").write_text("x")
    (real / "Thumbs.db").write_text("x")

    assert len(take(tmp_path, real, {"gan": gan}).stimuli) == 12


def test_what_is_no_picture_by_its_name_is_told(tmp_path, real, gan):
    (gan / "notes.txt").write_text("samples of March")

    with pytest.raises(InvalidInput, match=r"1 file is not a picture: .*notes\.txt has the ending \.txt"):
        take_in(real, {"gan": gan}, tmp_path / "out", size_px=32)


def test_jpegs_of_different_quality_are_said(tmp_path):
    for folder, quality in (("real", 95), ("fake", 60)):
        (tmp_path / folder).mkdir()
        rng = np.random.default_rng([quality])
        for i in range(6):
            picture = Image.fromarray(rng.integers(0, 256, (40, 40, 3)).astype("uint8"))
            picture.save(tmp_path / folder / f"{i}.jpg", quality=quality)

    taken = take_in(tmp_path / "real", {"gan": tmp_path / "fake"}, tmp_path / "out", size_px=32)

    assert any("JPEG of quality 95 and the fakes of gan of 60" in note for note in taken.notes)
