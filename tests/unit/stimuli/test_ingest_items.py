"""Folders of items in: a uniform pool, or one message that names what is wrong, and nothing left behind."""

import os
import shutil
from random import Random

import numpy as np
import pytest
from PIL import Image

from backend.experiment.made_items import MadeItems
from backend.stimuli.ingest_items import ingest_items
from backend.stimuli.item_folders import sets_of
from backend.stimuli.medium import Refused

from .items import PAIR, TRIPLET, fill


@pytest.fixture
def set_(tmp_path):
    return fill(tmp_path / "traditional")


def take(tmp_path, *folders, parts=TRIPLET, **options):
    sets = dict(sets_of([("", folder) for folder in folders], parts))
    return ingest_items(sets, tmp_path / "out", parts=parts, **options)


def pixels(path):
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


def test_an_item_has_the_names_of_its_parts_in_order_and_where_it_is_from(tmp_path, set_):
    intake = take(tmp_path, set_)

    assert {item.source for item in intake.stimuli} == {f"traditional/{i:03d}" for i in range(6)}
    for item in intake.stimuli:
        assert (item.model, item.truth, item.class_, item.role) == ("traditional", "", "", "")
        stem = item.source.partition("/")[2]
        for part, name in zip(TRIPLET, item.name.split(" "), strict=True):
            assert (pixels(tmp_path / "out" / name) == pixels(set_ / part / f"{stem}.png")).all()


def test_the_files_tell_nothing_but_their_pictures(tmp_path, set_):
    plain = np.full((24, 24, 3), 200, np.uint8)
    Image.fromarray(plain).save(set_ / "p1" / "002.png")  # packs to fewer bytes than noise

    intake = take(tmp_path, set_)

    files = list((tmp_path / "out").iterdir())
    names = [name for item in intake.stimuli for name in item.name.split(" ")]
    assert sorted(file.name for file in files) == sorted(names)
    assert len({(f.stat().st_size, f.stat().st_mtime, f.stat().st_mode, f.suffix) for f in files}) == 1
    assert [item.name for item in intake.stimuli] == sorted(item.name for item in intake.stimuli)


def test_what_follows_a_dot_in_a_name_is_part_of_it_unless_it_is_an_ending(tmp_path):
    folder = fill(tmp_path / "traditional", parts=PAIR)
    for part in PAIR:
        for i in range(6):
            (folder / part / f"{i:03d}.png").rename(folder / part / f"cfg7.{i}")

    intake = take(tmp_path, folder, parts=PAIR)

    assert {item.source for item in intake.stimuli} == {f"traditional/cfg7.{i}" for i in range(6)}


def test_pictures_that_are_equal_have_names_of_their_own(tmp_path):
    folder = fill(tmp_path / "pairs", 3, PAIR)
    for i in range(3):
        shutil.copy(folder / "p0" / f"{i:03d}.png", folder / "p1" / f"{i:03d}.png")

    intake = take(tmp_path, folder, parts=PAIR)

    names = [name for item in intake.stimuli for name in item.name.split(" ")]
    assert len(set(names)) == 6


def test_names_and_made_items_come_again_from_a_seed_and_else_never(tmp_path, set_):
    made = [MadeItems("check", "p0", ("none", "weak_noise", "heavy_noise"), 3)]

    def names(out, rng=None):
        intake = ingest_items({"a": set_}, tmp_path / out, parts=TRIPLET, made=made, rng=rng)
        return {item.name for item in intake.stimuli}

    assert names("one", Random(3)) == names("two", Random(3))
    assert not names("three") & names("four")


def test_a_tree_has_a_set_in_each_folder(tmp_path):
    for name in ("cnn", "traditional"):
        fill(tmp_path / "val" / name, 3)
        (tmp_path / "val" / name / "judge").mkdir()

    intake = take(tmp_path, tmp_path / "val")

    assert {item.model for item in intake.stimuli} == {"cnn", "traditional"}
    assert len(intake.stimuli) == 6


def nights(folder, rows=None):
    for inner in ("ref/000", "distort/000"):
        (folder / inner).mkdir(parents=True)
    rng = np.random.default_rng(1)
    for i in range(3):
        for name in (f"ref/000/{i:03d}", f"distort/000/{i:03d}_0", f"distort/000/{i:03d}_1"):
            Image.fromarray(rng.integers(0, 256, (24, 24, 3)).astype("uint8")).save(folder / f"{name}.png")
    if rows is not None:
        head = "id,left_vote,right_vote,votes,ref_path,left_path,right_path,prompt,is_imagenet,split"
        (folder / "data.csv").write_text("\n".join([head, *rows]), "utf-8")
    return folder


def test_nights_pairs_by_names_or_as_its_index_says(tmp_path):
    row = '7,1,0,6,ref/000/001.png,distort/000/001_1.png,distort/000/001_0.png,"a dog, wet",False,test'
    plain = ingest_items({"n": nights(tmp_path / "a")}, tmp_path / "1", parts=TRIPLET)
    listed = ingest_items({"n": nights(tmp_path / "b", [row])}, tmp_path / "2", parts=TRIPLET)

    assert [item.source for item in sorted(plain.stimuli, key=lambda item: item.source)] == [
        f"n/000/{i:03d}" for i in range(3)
    ]
    (only,) = listed.stimuli
    assert only.source == "n/000/001"
    assert (
        pixels(tmp_path / "2" / only.name.split(" ")[1])
        == pixels(tmp_path / "b" / "distort" / "000" / "001_1.png")
    ).all()


def test_pictures_keep_their_size_and_pixels_unless_another_size_is_asked_for(tmp_path, set_):
    own = take(tmp_path, set_)
    smaller = ingest_items({"a": set_}, tmp_path / "small", parts=TRIPLET, size_px=16)

    assert (own.size_px, smaller.size_px) == (24, 16)
    assert own.notes == ()
    assert "6 items were brought to 16 px, which changes distortions" in smaller.notes[0]


def test_sentinels_are_a_reference_with_weak_and_heavy_noise(tmp_path, set_):
    made = [MadeItems("check", "p1", ("none", "heavy_noise", "weak_noise"), 8)]

    intake = take(tmp_path, set_, made=made)

    checks = [item for item in intake.stimuli if item.role]
    assert {(item.model, item.truth, item.role) for item in checks} == {("", "p1", "check")}
    assert len(checks) == 8
    for item in checks:
        ref, p0, p1 = (pixels(tmp_path / "out" / name).astype(float) for name in item.name.split(" "))
        assert np.sqrt(np.mean((p0 - ref) ** 2)) > 3 * np.sqrt(np.mean((p1 - ref) ** 2)) > 0


def test_known_answers_of_ones_own_are_in_folders_named_by_them(tmp_path, set_):
    fill(tmp_path / "checks" / "p0", 2)
    fill(tmp_path / "checks" / "p1", 3)

    intake = take(tmp_path, set_, aside={"check": tmp_path / "checks"}, answers=("p0", "p1"))

    checks = sorted(item.truth for item in intake.stimuli if item.role == "check")
    assert checks == ["p0", "p0", "p1", "p1", "p1"]


def missing_part(folder):
    shutil.rmtree(folder / "p1")


def missing_file(folder):
    (folder / "p1" / "003.png").unlink()


def other_stems(folder):
    for i in range(6):
        (folder / "p0" / f"{i:03d}.png").rename(folder / "p0" / f"x{i}.png")


def other_size(folder):
    Image.new("RGB", (32, 24)).save(folder / "p0" / "004.png")


def empty(folder):
    for part in TRIPLET:
        shutil.rmtree(folder / part)
        (folder / part).mkdir()


def dead_part(folder):
    shutil.rmtree(folder / "p0")
    (folder / "p0").symlink_to(folder / "nowhere")


def dead_file(folder):
    (folder / "p0" / "001.png").unlink()
    (folder / "p0" / "001.png").symlink_to(folder / "nowhere.png")


def broken(folder):
    data = (folder / "ref" / "005.png").read_bytes()
    (folder / "ref" / "005.png").write_bytes(data[: len(data) // 2])


def text(folder):
    (folder / "ref" / "005.png").write_text("no picture")


def two_of_a_stem(folder):
    Image.new("RGB", (24, 24)).save(folder / "p1" / "002.jpg")


def several_sizes(folder):
    for part in TRIPLET:
        Image.new("RGB", (32, 32)).save(folder / part / "000.png")


def loop(folder):
    (folder / "p0" / "up").symlink_to(folder)


def other_format(folder):
    (folder / "p0" / "001.png").rename(folder / "p0" / "001.heic")


BAD = [
    (missing_part, "traditional lacks the folder p1"),
    (missing_file, "1 item cannot be used: lacks a part (traditional/003 has ref and p0, and no p1)"),
    (
        other_stems,
        "12 items cannot be used: 12 lack a part (traditional/000, traditional/001, traditional/002",
    ),
    (other_size, "p0/004.png 32 x 24"),
    (empty, "has no items"),
    (dead_part, "p0 is a link that leads nowhere"),
    (dead_file, "traditional/001 ("),
    (broken, "traditional/005 ("),
    (text, "1 item cannot be used: has a picture's ending but holds none (traditional/005"),
    (two_of_a_stem, "traditional/002 has"),
    (several_sizes, "pictures have several sizes (24 px: 5 items, 32 px: 1 items)"),
    (loop, "is a link back to a folder that it is in"),
    (other_format, "has the ending .heic"),
]


@pytest.mark.parametrize(("spoil", "message"), BAD)
def test_bad_folders_are_refused_in_one_message_and_leave_nothing(tmp_path, set_, spoil, message):
    spoil(set_)

    with pytest.raises(Refused) as refused:
        take(tmp_path, set_)

    assert message in str(refused.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("spoil", "stem"),
    [(missing_file, "003"), (other_size, "004"), (dead_file, "001"), (broken, "005"), (two_of_a_stem, "002")],
)
def test_an_item_with_one_bad_picture_is_left_out_as_a_whole_and_named(tmp_path, set_, spoil, stem):
    spoil(set_)

    intake = take(tmp_path, set_, skip_bad=True)

    left = {f"traditional/{i:03d}" for i in range(6)} - {f"traditional/{stem}"}
    assert {item.source for item in intake.stimuli} == left
    assert any(f"traditional/{stem}" in note for note in intake.notes)
    assert len(list((tmp_path / "out").iterdir())) == 15


def copy_item(folder, stem, other, to):
    for part in TRIPLET:
        shutil.copy(folder / part / f"{stem}.png", other / part / f"{to}.png")


def test_an_item_twice_is_left_out_once_or_refused(tmp_path, set_):
    copy_item(set_, "000", set_, "900")

    intake = take(tmp_path, set_)

    assert len(intake.stimuli) == 6
    assert (
        "1 duplicate was left out: traditional/900 shows the same pictures as traditional/000" in intake.notes
    )
    with pytest.raises(Refused, match="1 item cannot be used: is a duplicate"):
        ingest_items({"a": set_}, tmp_path / "strict", parts=TRIPLET, strict=True)


def test_an_item_in_two_sets_is_refused(tmp_path, set_):
    other = fill(tmp_path / "cnn")
    copy_item(set_, "000", other, "000")

    with pytest.raises(Refused, match=r"is in more than one set \(traditional/000 shows the same .* cnn/000"):
        take(tmp_path, set_, other)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["1,1,0,6,../../secret.png,a.png,b.png,,,"], "line 2: ref_path must be a path within the folder"),
        (["1,1,0,6,/etc/passwd,a.png,b.png,,,"], "line 2: ref_path must be a path within the folder"),
        (["1,1,0,6,ref/000/001.png,,b.png,,,"], "line 2: left_path must be a path within the folder, not ''"),
        (2 * ["1,1,0,6,ref/000/001.png,distort/000/001_0.png,distort/000/001_1.png,,,"], "in line 2"),
        (["1,1,0,6,ref/000/009.png,distort/000/001_0.png,distort/000/001_1.png,,,"], "n/000/009 ("),
        (["1,1,0,6"], "line 2: expected 10 cells, got 4"),
        ([], "has no items"),
    ],
)
def test_a_bad_index_is_refused_with_its_line(tmp_path, rows, message):
    folder = nights(tmp_path / "nights", rows)

    with pytest.raises(Refused) as refused:
        ingest_items({"n": folder}, tmp_path / "out", parts=TRIPLET)

    assert message in str(refused.value)


def test_an_index_without_its_columns_is_refused(tmp_path):
    folder = nights(tmp_path / "nights")
    (folder / "data.csv").write_text("id,ref_path\n", "utf-8")

    with pytest.raises(Refused, match="the header must name the columns ref_path, left_path, right_path"):
        ingest_items({"n": folder}, tmp_path / "out", parts=TRIPLET)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.write_text(""), "is no folder"),
        (lambda path: path.symlink_to(path), "is a link that leads nowhere"),
        (lambda path: path.mkdir(), "has neither the folders ref, p0 and p1 nor sub-folders that have them"),
    ],
)
def test_a_folder_that_holds_no_set_is_refused(tmp_path, make, message):
    make(tmp_path / "x")

    with pytest.raises(Refused, match=message):
        sets_of([("", tmp_path / "x")], TRIPLET)


def test_one_name_for_several_sets_is_refused(tmp_path):
    for name in ("a", "b"):
        fill(tmp_path / "val" / name, 1)

    with pytest.raises(Refused, match=r"has several sets \(a, b\), so that mine= cannot name it"):
        sets_of([("mine", tmp_path / "val")], TRIPLET)


def test_triplets_are_no_pairs(tmp_path, set_):
    with pytest.raises(
        Refused, match="has a folder ref, as triplets have; pairs are in the folders p0 and p1"
    ):
        take(tmp_path, set_, parts=PAIR)


def test_file_names_of_any_bytes_are_read(tmp_path):
    folder = fill(tmp_path / "odd", 1)
    for part in TRIPLET:
        os.rename(os.fsencode(folder / part / "000.png"), os.fsencode(folder / part) + b"/a\xff b\n.png")

    intake = take(tmp_path, folder)

    assert [item.source for item in intake.stimuli] == ["odd/a\\xff b\\n"]
