"""Photographs in: a set of pairs or triplets with its table, or a message and nothing left behind."""

import csv
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from backend.foundation.errors import Conflict, InvalidInput, OpenhypeError
from backend.stimuli.distorted_set import SetOptions, make_set
from backend.stimuli.distortions import TRADITIONAL, Step, apply, named
from tests.unit.stimuli.distortions.pictures import photograph


@pytest.fixture
def photographs(tmp_path):
    return fill(tmp_path / "photographs")


def fill(folder, count=3, size=(48, 40)):
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(count):
        picture = Image.fromarray(np.roll(photograph(), 9 * i, axis=1))
        picture.resize(size).save(folder / f"{i}.png")
    return folder


def options(**changes):
    return SetOptions(**{"count": 7, "size_px": 16, "seed": 3, **changes})


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def pixels(path):
    with Image.open(path) as opened:
        assert opened.info == {}  # no metadata
        return np.asarray(opened)


def table(folder):
    with (folder / "distortions.csv").open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def parsed(row):
    """Return a row of the table as a step, by what docs/distortions.md says of the columns."""
    one = TRADITIONAL[row["distortion"]]
    pairs = (part.split("=") for part in row["parameters"].split(" "))
    whole = {"seed", "direction", "cells", "period_px", "quality"}
    values = {name: int(text) if name in whole else float(text) for name, text in pairs}
    assert set(values) == {one.magnitude.name, *(other.name for other in one.others)}
    return Step(one.name, values)


@pytest.mark.parametrize(("kind", "folders"), [("triplets", ["p0", "p1", "ref"]), ("pairs", ["p0", "p1"])])
def test_a_set_has_the_layout_of_bapps(photographs, tmp_path, kind, folders):
    made = make_set(photographs, tmp_path / "out", options(kind=kind))

    assert made.folder == tmp_path / "out" / "traditional"
    assert sorted(os.listdir(made.folder)) == ["distortions.csv", *folders]
    assert os.listdir(tmp_path / "out") == ["traditional"]
    for folder in folders:
        names = sorted(os.listdir(made.folder / folder))
        assert names == [f"{i:06}.png" for i in range(7)]
        assert {pixels(made.folder / folder / name).shape for name in names} == {(16, 16, 3)}


@pytest.mark.parametrize("kind", ["triplets", "pairs"])
@pytest.mark.slow("makes large sets of distorted pictures")
def test_the_table_is_enough_to_make_every_file_again(photographs, tmp_path, kind):
    made = make_set(photographs, tmp_path / "out", options(kind=kind, count=30, longest=3))

    steps, first = defaultdict(list), {}
    for row in table(made.folder):
        first.setdefault(row["file"], row)
        if row["step"] != "0":
            assert int(row["step"]) == len(steps[row["file"]]) + 1
            steps[row["file"]].append(parsed(row))
    assert set(first) == {name for name in contents(made.folder) if name.endswith(".png")}
    for file, row in first.items():
        left, top = int(row["left_px"]), int(row["top_px"])
        crop = pixels(photographs / row["photograph"])[top : top + 16, left : left + 16]
        assert (pixels(made.folder / file) == apply(crop, steps[file])).all(), file
    undistorted = "ref" if kind == "triplets" else "p0"
    assert {file.split("/")[0] for file in first if not steps[file]} == {undistorted}


@pytest.mark.parametrize("kind", ["triplets", "pairs"])
def test_the_pictures_of_an_item_all_differ(photographs, tmp_path, kind):
    made = make_set(photographs, tmp_path / "out", options(kind=kind, count=50, only=("saturation", "jpeg")))

    for i in range(50):
        files = [*made.folder.glob(f"*/{i:06}.png")]
        assert len({pixels(file).tobytes() for file in files}) == len(files)


def test_the_files_depend_on_neither_cores_nor_the_order_of_the_folder(photographs, tmp_path):
    backwards = tmp_path / "backwards"
    backwards.mkdir()
    for name in sorted(os.listdir(photographs), reverse=True):
        (backwards / name).write_bytes((photographs / name).read_bytes())
    chosen = options(count=40)

    one = make_set(photographs, tmp_path / "one", chosen, workers=1)
    three = make_set(backwards, tmp_path / "three", chosen, workers=3)

    assert contents(one.folder) == contents(three.folder)


def test_a_seed_decides_everything_and_a_larger_set_begins_with_the_smaller_one(photographs, tmp_path):
    first = contents(make_set(photographs, tmp_path / "a", options()).folder)
    other = contents(make_set(photographs, tmp_path / "b", options(seed=4)).folder)
    larger = contents(make_set(photographs, tmp_path / "c", options(count=15)).folder)

    pictures = [name for name in first if name.endswith(".png")]
    assert all(first[name] != other[name] for name in pictures)
    assert all(first[name] == larger[name] for name in pictures)
    assert larger["distortions.csv"].startswith(first["distortions.csv"])


@pytest.mark.slow("makes large sets of distorted pictures")
def test_about_the_share_asked_for_is_subtle(photographs, tmp_path):
    made = make_set(photographs, tmp_path / "out", options(kind="pairs", count=200, subtle=0.4))

    rows = [row for row in table(made.folder) if row["step"] != "0"]
    subtle = [row for row in rows if row["is_subtle"] == "1"]
    assert len(subtle) == made.subtle == pytest.approx(80, abs=28)  # 4 SD of a binomial
    for row in subtle:
        magnitude = TRADITIONAL[row["distortion"]].magnitude
        ends = sorted([magnitude.at(0), magnitude.at(0.25)])
        assert row["step"] == "1"
        assert ends[0] <= parsed(row).values[magnitude.name] <= ends[1]
    assert any(row["step"] == "2" for row in rows)


@pytest.mark.parametrize("share", [0, 1])
def test_none_or_all_pairs_may_be_subtle(photographs, tmp_path, share):
    made = make_set(photographs, tmp_path / "out", options(kind="pairs", subtle=share))

    assert made.subtle == 7 * share


def test_no_triplet_is_subtle(photographs, tmp_path):
    made = make_set(photographs, tmp_path / "out", options(subtle=1))

    assert {row["is_subtle"] for row in table(made.folder)} == {"0"}


def test_only_the_distortions_asked_for_are_drawn(photographs, tmp_path):
    made = make_set(photographs, tmp_path / "out", options(count=40, only=("blur", "jpeg")))

    names = {row["distortion"] for row in table(made.folder)} - {""}
    assert names == {one.name for one in named(["blur", "jpeg"])}


def test_photographs_may_be_in_sub_folders_upright_and_in_any_format(tmp_path):
    folder = tmp_path / "photographs" / "trip"
    folder.mkdir(parents=True)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter
    pixels_there = np.zeros((16, 80, 3), np.uint8)
    pixels_there[:, 40:] = 200
    Image.fromarray(pixels_there).save(folder / "turned.jpg", quality=95, exif=exif)

    made = make_set(folder.parent, tmp_path / "out", options(count=30, kind="pairs"))

    rows = table(made.folder)
    assert {row["photograph"] for row in rows} == {"trip/turned.jpg"}
    assert {row["left_px"] for row in rows} == {"0"}
    assert max(int(row["top_px"]) for row in rows) > 50
    for row in rows:
        if row["step"] == "0":
            dark = pixels(made.folder / row["file"])[0].max() < 20
            assert dark == (int(row["top_px"]) < 40), row  # its left half became the upper one


def test_photographs_are_scaled_down_but_never_up(tmp_path):
    folder = fill(tmp_path / "photographs", 1, size=(120, 96))
    fill(tmp_path / "photographs" / "small", 0)
    fill(tmp_path / "other", 1, size=(20, 18))
    (tmp_path / "other" / "0.png").rename(folder / "small.png")

    made = make_set(folder, tmp_path / "out", options(count=12, short_side_px=24))

    lefts = {name: [] for name in ("0.png", "small.png")}
    for row in table(made.folder):
        lefts[row["photograph"]].append((int(row["left_px"]), int(row["top_px"])))
    assert max(x for x, _ in lefts["0.png"]) <= 30 - 16
    assert max(y for _, y in lefts["0.png"]) <= 24 - 16
    assert max(x for x, _ in lefts["small.png"]) <= 20 - 16


def test_a_name_that_a_spreadsheet_would_compute_is_escaped(tmp_path):
    fill(tmp_path / "photographs", 1)
    (tmp_path / "photographs" / "0.png").rename(tmp_path / "photographs" / "=1+1.png")

    made = make_set(tmp_path / "photographs", tmp_path / "out", options())

    assert {row["photograph"] for row in table(made.folder)} == {"'=1+1.png"}


def refused(photographs, out, chosen=None, error=InvalidInput, **more):
    """Return the message of a set that is not made, after checking that nothing is left."""
    before = {*out.parent.rglob("*")}, contents(out.parent)
    with pytest.raises(error) as raised:
        make_set(photographs, out, chosen or options(), **more)
    assert ({*out.parent.rglob("*")}, contents(out.parent)) == before
    return str(raised.value)


def test_a_folder_that_is_missing_or_has_no_pictures_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "README.txt").touch()

    assert "does not exist" in refused(tmp_path / "nowhere", tmp_path / "out")
    assert "has no files" in refused(tmp_path / "empty", tmp_path / "out")
    assert "README.txt, which are no pictures" in refused(tmp_path / "texts", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_photographs_smaller_than_the_crops_are_named(photographs, tmp_path):
    Image.new("RGB", (100, 15)).save(photographs / "panorama.png")

    message = refused(photographs, tmp_path / "out")

    assert "1 file cannot be used: is too small (" in message
    assert "panorama.png has 100 x 15 pixels, and needs 16 or more on each side" in message
    assert message.endswith("or leave it out with --skip-bad")


@pytest.fixture
def damaged(photographs):
    """Photographs of which one is cut off after its header, and one is no picture."""
    whole = (photographs / "1.png").read_bytes()
    (photographs / "1.png").write_bytes(whole[: len(whole) // 2])
    (photographs / "x.jpg").write_bytes(b"not a picture")
    return photographs


def test_broken_files_are_named_also_those_whose_header_is_whole(damaged, tmp_path):
    (damaged / "x.jpg").unlink()

    message = refused(damaged, tmp_path / "out")

    assert "1 file cannot be used: is cut off or damaged (" in message
    assert "1.png is broken" in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_bad_files_are_left_out_with_a_note_as_if_they_were_not_there(damaged, tmp_path, workers):
    made = make_set(damaged, tmp_path / "out", options(), skip_bad=True, workers=workers)
    (damaged / "1.png").unlink()
    (damaged / "x.jpg").unlink()
    without = make_set(damaged, tmp_path / "without", options())

    assert contents(made.folder) == contents(without.folder)
    assert "1 file was left out that is cut off or damaged" in "\n".join(made.notes)
    assert "x.jpg" in "\n".join(made.notes)
    assert without.notes == ()


def test_if_none_can_be_used_that_is_said(tmp_path):
    fill(tmp_path / "photographs", 2, size=(12, 12))

    message = refused(tmp_path / "photographs", tmp_path / "out", skip_bad=True)

    assert "has no photograph that can be used: 2 files were left out that are too small" in message


def test_a_folder_that_is_not_empty_is_refused_and_one_that_is_empty_is_filled(photographs, tmp_path):
    (tmp_path / "out" / "traditional").mkdir(parents=True)
    (tmp_path / "out" / "more").mkdir()
    (tmp_path / "out" / "more" / "mine.txt").write_text("mine")
    (tmp_path / "out" / "file").write_text("mine")

    assert "more is not empty" in refused(photographs, tmp_path / "out", options(name="more"), Conflict)
    assert "file is a file" in refused(photographs, tmp_path / "out", options(name="file"), Conflict)
    made = make_set(photographs, tmp_path / "out", options())
    assert len(contents(made.folder)) == 22
    assert (tmp_path / "out" / "more" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "inside", ["photographs", "photographs/made", "photographs/../photographs/x", "link"]
)
def test_an_output_inside_the_photographs_is_refused(photographs, tmp_path, inside):
    (tmp_path / "link").symlink_to(photographs)

    assert "lies inside the folder of the photographs" in refused(photographs, tmp_path / inside)


def test_photographs_inside_the_output_folder_are_no_problem(photographs, tmp_path):
    assert make_set(photographs, tmp_path, options()).folder == tmp_path / "traditional"


def test_what_no_distortion_can_change_is_said(tmp_path):
    folder = tmp_path / "photographs"
    folder.mkdir()
    Image.new("RGB", (40, 40), "white").save(folder / "white.png")

    message = refused(folder, tmp_path / "out", options(only=("saturation", "shifting")))

    assert "white.png: none of 20 positions is changed by saturation, shifting; choose other" in message


def test_a_crop_that_no_distortion_changes_is_replaced(tmp_path):
    folder = tmp_path / "photographs"
    folder.mkdir()
    half = np.full((64, 64, 3), 255, np.uint8)
    half[:, :32] = photograph()[:, :32]
    Image.fromarray(half).save(folder / "half.png")

    made = make_set(folder, tmp_path / "out", options(count=60, only=("shifting",), kind="pairs"))

    assert all(np.ptp(pixels(path)) > 0 for path in made.folder.glob("p0/*.png"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "quads"}, "kind must be triplets or pairs, not 'quads'"),
        ({"count": 0}, "count must be a whole number from 1 to 1,000,000, not 0"),
        ({"count": 10**6 + 1}, "count must be a whole number from 1"),
        ({"size_px": 0}, "size must be a whole number from 8 to 2,048, not 0"),
        ({"size_px": 7}, "size must be a whole number from 8"),
        ({"seed": -1}, "seed must be 0 or more, not -1"),
        ({"longest": 0}, "longest must be a whole number from 1 to 4, not 0"),
        ({"longest": 5}, "longest must be a whole number from 1 to 4, not 5"),
        ({"subtle": 1.1}, "subtle must be a share from 0 to 1, not 1.1"),
        ({"subtle": float("nan")}, "subtle must be a share from 0 to 1, not nan"),
        ({"short_side_px": 15}, "photographs with a short side of 15 px have no crops of 16 px"),
        ({"only": ("fog",)}, "there is no distortion 'fog'"),
        *(
            ({"name": name}, "the name of a set must be")
            for name in ("", "..", "a/b", "-x", ".x", "ü", "a" * 64)
        ),
        ({"name": "\udcff"}, "the name of a set must be"),
    ],
)
def test_options_out_of_range_are_refused(changes, message):
    with pytest.raises(InvalidInput, match=message):
        options(**changes)


def test_a_huge_seed_is_as_good_as_any(photographs, tmp_path):
    assert make_set(photographs, tmp_path / "out", options(seed=10**400)).photographs == 3


def test_more_than_there_are_places_are_refused(photographs, tmp_path):
    message = refused(photographs, tmp_path / "out", options(count=3000))

    assert "3,000 crops of 16 px were asked for" in message
    assert "the 3 photographs have only 2,475 positions for one" in message


@pytest.mark.slow("distorts photographs again for each fault")
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_is_left_of_a_set_that_was_not_finished(photographs, tmp_path, error, workers):
    def interrupt(items, total, label):
        for number, item in enumerate(items):
            yield item
            if label == "triplets" and number == 3:
                raise error

    with pytest.raises(error):
        make_set(
            photographs, tmp_path / "new" / "out", options(count=600), progress=interrupt, workers=workers
        )
    assert os.listdir(tmp_path) == ["photographs"]


def test_a_file_that_cannot_be_written_ends_it_and_nothing_is_left(photographs, tmp_path):
    blocker = tmp_path / "out"
    blocker.write_text("a file")

    with pytest.raises((OSError, OpenhypeError)):
        make_set(photographs, blocker, options())
    assert blocker.read_text() == "a file"


def test_progress_counts_photographs_and_items(photographs, tmp_path):
    seen = {}

    def progress(items, total, label):
        for number, item in enumerate(items, start=1):
            seen[label] = (number, total)
            yield item

    make_set(photographs, tmp_path / "out", options(), progress=progress)

    assert seen == {"photographs": (3, 3), "triplets": (7, 7)}


def test_what_was_made_is_counted(photographs, tmp_path):
    made = make_set(photographs, tmp_path / "out", options())

    assert (made.photographs, made.most_of_one) == (3, 3)
    assert Path(made.folder).is_dir()
