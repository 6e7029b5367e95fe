"""Pictures of items by name: trees of one set, of several, of NIGHTS, two folders; what is refused."""

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from backend.analysis.agreement.votes import votes_of_shares
from backend.foundation.errors import InvalidInput, NotFound
from backend.responses.item_pictures import pictures_at, pictures_of_two
from backend.responses.reading.bapps import read_bapps, share_bytes


def save(*paths):
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(path)


@pytest.fixture
def bapps(tmp_path):
    """A tree of two sets of triplets as BAPPS has them, with judgments."""
    for name in ("traditional", "cnn"):
        folder = tmp_path / "dataset/2afc/val" / name
        for stem in ("000000", "000001"):
            save(*(folder / part / f"{stem}.png" for part in ("ref", "p0", "p1")))
            (folder / "judge").mkdir(exist_ok=True)
            (folder / "judge" / f"{stem}.npy").write_bytes(share_bytes(0.4))
    return tmp_path / "dataset/2afc/val"


@pytest.mark.parametrize("levels", range(3))
def test_a_tree_names_its_items_as_the_votes_on_it_do(bapps, levels):
    root = [bapps, *bapps.parents][levels]

    found = pictures_at(root)

    assert found.kind == "2afc"
    assert sorted(found.files) == sorted(read_bapps(root).items)
    parts = [path.relative_to(bapps) for path in found.files["cnn/000001"]]
    assert [str(part) for part in parts] == [f"cnn/{part}/000001.png" for part in ("ref", "p0", "p1")]


def test_one_set_is_called_as_its_folder(bapps, monkeypatch):
    monkeypatch.chdir(bapps / "cnn")

    assert [*pictures_at(Path(".")).files] == ["cnn/000000", "cnn/000001"]


def test_pairs_have_no_reference(tmp_path):
    save(tmp_path / "jnd/cnn/p0/1.png", tmp_path / "jnd/cnn/p1/1.png")

    found = pictures_at(tmp_path / "jnd")

    assert (found.kind, [*found.files]) == ("jnd", ["cnn/1"])


def test_the_folders_of_nights_are_read(tmp_path):
    root = tmp_path / "nights"
    save(root / "ref/000/001.png", root / "distort/000/001_0.png", root / "distort/000/001_1.png")

    found = pictures_at(root)

    assert (found.kind, [*found.files]) == ("2afc", ["nights/000/001"])
    assert [path.name for path in found.files["nights/000/001"]] == ["001.png", "001_0.png", "001_1.png"]


def test_items_come_in_the_order_of_the_votes_and_none_may_be_missing(bapps):
    shares = {"cnn": {"cnn/000001": 0.5, "cnn/000000": 1.0}}
    pictures = pictures_at(bapps)

    assert [*pictures.of(votes_of_shares("2afc", shares)).files] == ["cnn/000000", "cnn/000001"]
    shares["cnn"]["cnn/7"] = 0.2
    with pytest.raises(InvalidInput, match="has no pictures of 1 of 3 items with votes: cnn/7"):
        pictures.of(votes_of_shares("2afc", shares))
    with pytest.raises(InvalidInput, match="has pictures for 2afc, but the votes are jnd"):
        pictures.of(votes_of_shares("jnd", shares))


def test_folders_that_do_not_fit_are_refused(bapps, tmp_path):
    (bapps / "cnn/p1/000001.png").unlink()
    with pytest.raises(InvalidInput, match="cnn/000001 has ref and p0, and no p1"):
        pictures_at(bapps)
    save(bapps.parent / "more/cnn/ref/1.png", bapps.parent / "more/cnn/p0/1.png")
    with pytest.raises(InvalidInput, match=r"the set cnn is there twice: .*more/cnn, .*val/cnn"):
        pictures_at(bapps.parent)
    save(bapps.parent / "jnd/p0/1.png", bapps.parent / "jnd/p1/1.png")
    with pytest.raises(
        InvalidInput, match=r"has triplets and pairs; name .*2afc/more/cnn and .*2afc/jnd by itself"
    ):
        pictures_at(bapps.parent)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="empty has no pairs or triplets: no folders p0 and p1"):
        pictures_at(tmp_path / "empty")
    with pytest.raises(NotFound, match="gone does not exist"):
        pictures_at(tmp_path / "gone")


def test_files_of_responses_and_exports_without_pictures_say_what_to_do(tmp_path):
    (tmp_path / "votes.csv").write_text("item,model")
    (tmp_path / "out/data").mkdir(parents=True)

    with pytest.raises(InvalidInput, match=r"votes\.csv has no pictures; name the study, its export with"):
        pictures_at(tmp_path / "votes.csv")
    with pytest.raises(InvalidInput, match=r"out is an export without pictures; export them with .* --bapps"):
        pictures_at(tmp_path / "out")


def test_the_table_of_an_export_names_its_pictures(bapps, tmp_path):
    (tmp_path / "out/data").mkdir(parents=True)
    (bapps.parent.parent).rename(tmp_path / "out/bapps")
    with (tmp_path / "out/bapps/items.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [("set", "stem", "item"), ("cnn", "000001", "cnn/=7"), ("cnn", "9", "cnn/8")]
        )

    assert [*pictures_at(tmp_path / "out").files] == ["cnn/=7"]
    (tmp_path / "out/bapps/items.csv").write_text("set,name\n1,2\n")
    with pytest.raises(InvalidInput, match=r"items\.csv line 1: the header must name .* set, stem, item"):
        pictures_at(tmp_path / "out")


def test_two_folders_pair_by_name_and_two_files_are_one_pair(tmp_path):
    save(tmp_path / "a/1.png", tmp_path / "a/2.png", tmp_path / "b/2.webp", tmp_path / "b/1.png")
    (tmp_path / "a/notes.txt").write_text("no picture")

    folders = pictures_of_two(tmp_path / "a", tmp_path / "b")
    files = pictures_of_two(tmp_path / "a/1.png", tmp_path / "b/2.webp")

    assert {item: [path.name for path in pair] for item, pair in folders.files.items()} == {
        "1": ["1.png", "1.png"],
        "2": ["2.png", "2.webp"],
    }
    assert [*files.files] == ["2.webp"]
    assert (folders.kind, files.kind) == ("jnd", "jnd")


def test_two_folders_that_do_not_pair_are_refused(tmp_path):
    save(tmp_path / "a/1.png", tmp_path / "a/2.png", tmp_path / "b/1.png")
    (tmp_path / "c").mkdir()
    (tmp_path / "d").mkdir()

    with pytest.raises(InvalidInput, match=r"a/2\.png has no picture 2 in .*b; .* \(1 without\)"):
        pictures_of_two(tmp_path / "a", tmp_path / "b")
    with pytest.raises(InvalidInput, match=r"a/2\.png has no picture 2 in .*b"):
        pictures_of_two(tmp_path / "b", tmp_path / "a")
    with pytest.raises(InvalidInput, match="c has no pictures"):
        pictures_of_two(tmp_path / "c", tmp_path / "d")
    with pytest.raises(InvalidInput, match="must be two pictures or two folders"):
        pictures_of_two(tmp_path / "a", tmp_path / "a/1.png")
    with pytest.raises(NotFound, match="gone does not exist"):
        pictures_of_two(tmp_path / "a", tmp_path / "gone")
    save(tmp_path / "b/1.webp")
    with pytest.raises(InvalidInput, match=r"1\.webp and .*1\.png have one name"):
        pictures_of_two(tmp_path / "b", tmp_path / "a")


def test_files_that_windows_adds_are_no_pictures_of_a_set(bapps):
    before = read_bapps(bapps).items
    for name in ("Thumbs.db", "desktop.ini", "._1.png"):
        (bapps / "cnn/p0" / name).write_bytes(b"x")

    assert read_bapps(bapps).items == before
