"""The layout of BAPPS, written and read: the bytes, the order, and every file that cannot be one."""

import csv
import io
import struct

import numpy as np
import pytest
from PIL import Image

from backend.analysis.agreement.votes import votes_of
from backend.experiment.records import Stimulus
from backend.foundation.errors import InvalidInput, NotFound
from backend.responses.bapps_export import export_bapps
from backend.responses.reading.bapps import is_bapps, read_bapps, read_share, share_bytes

PARTS = {"2afc": ("ref", "p0", "p1"), "jnd": ("p0", "p1")}


def picture(seed, size=(16, 16), kind="WEBP"):
    pixels = np.random.default_rng(seed).integers(0, 256, (*size, 3)).astype("uint8")
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **({"lossless": True} if kind == "WEBP" else {}))
    return file.getvalue()


def rows(kind, votes):
    """Return rows of votes by item: 1 for `p1`, or for `same`."""
    words = {"2afc": ("left", "right"), "jnd": ("different", "same")}[kind]
    return [
        {
            "item": item, "model": item.partition("/")[0], "evaluator": f"e{i}", "response": words[vote],
            "left": "p0", "right": "p1", "trial_kind": "test",
        }
        for item, cast in votes.items()
        for i, vote in enumerate(cast)
    ]  # fmt: skip


@pytest.fixture
def study(tmp_path):
    """Return a function that exports votes on items, with pictures of their own."""

    def run(kind="2afc", votes=None, size_of=lambda item, part: (16, 16), without=(), out="out"):
        votes = votes or {"cnn/2": [1, 0, 1], "cnn/10": [0, 0], "blur/x": [1]}
        pool, files = [], {}
        for n, item in enumerate([*votes, "cnn/unjudged"]):
            names = [f"{n}{part}.webp" for part in PARTS[kind]]
            files |= {
                f"{n}{part}.webp": picture(10 * n + i, size_of(item, part))
                for i, part in enumerate(PARTS[kind])
            }
            pool.append(Stimulus(" ".join(names), "", item.partition("/")[0], "", item))
        pool.append(Stimulus("a b c", "p0", "", "", "check/1", "check"))
        for name in without:
            files[name] = None
        made = export_bapps(votes_of(rows(kind, votes), kind), pool, files.get, tmp_path / out)
        return made, files

    return run


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_the_folders_and_files_are_those_of_the_data_set(study):
    made, _ = study()

    assert files_of(made.folder) == sorted(
        [
            *(f"2afc/val/cnn/{part}/00000{i}.png" for part in PARTS["2afc"] for i in (0, 1)),
            *(f"2afc/val/blur/{part}/000000.png" for part in PARTS["2afc"]),
            "2afc/val/cnn/judge/000000.npy", "2afc/val/cnn/judge/000001.npy",
            "2afc/val/blur/judge/000000.npy", "items.csv",
        ]
    )  # fmt: skip
    assert (made.items, made.unjudged) == (3, ("cnn/unjudged",))


def test_a_judge_file_is_one_32_bit_float_to_the_byte():
    # NPY 1.0: magic, version, length of the header, a dictionary padded with blanks to a multiple of 64
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
    expected = (
        b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.ljust(117) + b"\n" + struct.pack("<f", 0.6)
    )

    assert share_bytes(0.6) == expected


def test_items_are_numbered_in_the_order_of_their_names_and_listed(study):
    made, _ = study()

    with (made.folder / "items.csv").open(newline="") as file:
        listed = [*csv.DictReader(file)]
    assert [(row["set"], row["stem"], row["item"], row["votes"], row["votes_for"]) for row in listed] == [
        ("cnn", "000000", "cnn/10", "2", "0"), ("cnn", "000001", "cnn/2", "3", "2"),
        ("blur", "000000", "blur/x", "1", "1"),
    ]  # fmt: skip
    assert float(listed[1]["share"]) == 2 / 3
    assert {row["simulated"] for row in listed} == {"false"}
    assert np.load(made.folder / "2afc/val/cnn/judge/000001.npy") == np.float32(2 / 3)


def test_pictures_have_the_pixels_of_the_stored_ones(study):
    made, files = study()

    for part in PARTS["2afc"]:
        with Image.open(made.folder / f"2afc/val/cnn/{part}/000001.png") as written:
            assert (written.format, written.mode) == ("PNG", "RGB")
            stored = Image.open(io.BytesIO(files[f"0{part}.webp"])).convert("RGB")
            assert written.tobytes() == stored.tobytes()


@pytest.mark.parametrize("kind", ["2afc", "jnd"])
def test_what_is_written_is_read_again(study, kind):
    made, _ = study(kind)

    for folder in (made.folder, made.folder / kind, made.folder / kind / "val"):
        assert is_bapps(folder)
        found = read_bapps(folder)
        assert (found.kind, found.sets) == (kind, ("cnn", "blur"))
        assert found.items == ("cnn/000000", "cnn/000001", "blur/000000")
        assert found.share == pytest.approx([0, 2 / 3, 1])
    assert read_bapps(made.folder / kind / "val" / "cnn").items == ("cnn/000000", "cnn/000001")


def test_an_earlier_export_is_replaced_and_one_that_fails_leaves_it(study):
    made, _ = study()
    before = files_of(made.folder)

    with pytest.raises(NotFound, match=r"0ref\.webp of item cnn/2 is not in the data directory"):
        study(without=["0ref.webp"])
    assert files_of(made.folder) == before
    study(votes={"cnn/2": [1]})
    assert files_of(made.folder.parent) == [
        *(f"bapps/2afc/val/cnn/{name}" for name in (
            "judge/000000.npy", "p0/000000.png", "p1/000000.png", "ref/000000.png")), "bapps/items.csv",
    ]  # fmt: skip


def test_nothing_is_left_of_an_export_that_fails(study, tmp_path):
    with pytest.raises(
        InvalidInput, match="item cnn/10 must have one size, not ref 16 x 16, p0 16 x 16, p1 17 x 16"
    ):
        study(size_of=lambda item, part: (16, 17 if part == "p1" else 16))

    assert [*tmp_path.rglob("*.*")] == []


def test_a_set_whose_name_leads_elsewhere_is_refused(study, tmp_path):
    votes = {"../x/1": [1]}
    with pytest.raises(InvalidInput, match="cannot be the name of a folder"):
        study(votes=votes)


def test_a_broken_picture_is_named(tmp_path):
    votes = votes_of(rows("jnd", {"cnn/1": [1]}), "jnd")
    pool = [Stimulus("a b", "", "cnn", "", "cnn/1")]

    with pytest.raises(InvalidInput, match="a picture of item cnn/1 cannot be read"):
        export_bapps(votes, pool, lambda name: b"no picture", tmp_path)


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


GOOD = share_bytes(0.4)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            npy(np.float32([0.2, 0.4])),
            r"must hold one 32-bit float, shape \(1,\), not float32 of shape \(2,\)",
        ),
        (npy(np.float32(0.2)), r"not float32 of shape \(\)"),
        (npy(np.float32([[0.2]])), r"not float32 of shape \(1, 1\)"),
        (npy(np.array([0.2])), r"not float64 of shape \(1,\)"),
        (npy(np.array([1])), r"not int64 of shape \(1,\)"),
        (npy(np.array([{}], dtype=object), allow_pickle=True), r"not object of shape \(1,\)"),
        (npy(np.float32([np.nan])), "must hold a share from 0 to 1, not nan"),
        (npy(np.float32([-0.1])), r"from 0 to 1, not -0\.1"),
        (npy(np.float32([1.5])), r"from 0 to 1, not 1\.5"),
        (npy(np.float32([np.inf])), "from 0 to 1, not inf"),
        (GOOD[:-1], "must have 4 bytes after its header, not 3"),
        (GOOD + b"\0", "must have 4 bytes after its header, not 5"),
        (GOOD[:40], r"must be a file of numpy \(\.npy\) with one 32-bit float"),
        (b"", "must be a file of numpy"),
        (b"\x93NUMPY\x09\x00" + GOOD[8:], "must be a file of numpy"),
        (b"\x80\x04K\x01.", "must be a file of numpy"),
        (GOOD.replace(b"(1,)", b"(-1)"), "must be"),
        (GOOD.replace(b"(1,), }", b"(9**9)}"), "must be"),
        (GOOD[:10] + b"[" * 100 + GOOD[110:], "must be a file of numpy"),
        (GOOD.replace(b"'<f4'", b"'|O' "), "must hold one 32-bit float"),
        (b"\0" * 10_000_000, "must be a file of numpy"),
    ],
)
def test_a_judge_file_that_is_none(tmp_path, data, message):
    path = tmp_path / "000000.npy"
    path.write_bytes(data)

    with pytest.raises(InvalidInput, match=rf"000000\.npy must.*{message.removeprefix('must')}"):
        read_share(path)


@pytest.mark.parametrize("share", [0.0, 0.2, 1 / 3, 1.0])
def test_shares_of_other_byte_orders_and_versions_are_read(tmp_path, share):
    for i, data in enumerate((npy(np.array([share], ">f4")), share_bytes(share))):
        path = tmp_path / f"{i}.npy"
        path.write_bytes(data)
        assert read_share(path) == np.float32(share)


def tree(folder, kind="judge", parts=("ref", "p0", "p1"), stems=("000000", "000001")):
    for part in parts:
        (folder / part).mkdir(parents=True)
        for stem in stems:
            (folder / part / f"{stem}.png").write_bytes(b"")
    (folder / kind).mkdir(parents=True)
    for stem in stems:
        (folder / kind / f"{stem}.npy").write_bytes(GOOD)
    return folder


def test_one_missing_p1_is_named(tmp_path):
    cnn = tree(tmp_path / "cnn")
    (cnn / "p1" / "000001.png").unlink()

    with pytest.raises(
        InvalidInput, match=r"judge/000001\.npy has no picture 000001 in .*cnn/p1; .*1 without"
    ):
        read_bapps(tmp_path)


def test_a_picture_without_a_judgment_is_named(tmp_path):
    cnn = tree(tmp_path / "cnn")
    (cnn / "judge" / "000000.npy").unlink()

    with pytest.raises(InvalidInput, match=r"ref/000000\.png has no judgment 000000\.npy in .*cnn/judge"):
        read_bapps(tmp_path)


def test_two_files_of_one_stem_are_named(tmp_path):
    cnn = tree(tmp_path / "cnn")
    (cnn / "p0" / "000001.jpg").write_bytes(b"")

    with pytest.raises(InvalidInput, match=r"000001\.png and .*000001\.jpg have one stem"):
        read_bapps(tmp_path)


def test_judgments_without_pictures_are_enough(tmp_path):
    tree(tmp_path / "cnn", parts=())

    assert read_bapps(tmp_path, votes_per_item=5).count.tolist() == [5, 5]


def test_trees_that_are_ambiguous_or_empty(tmp_path):
    tree(tmp_path / "a" / "2afc" / "val" / "cnn")
    tree(tmp_path / "a" / "2afc" / "train" / "cnn")
    tree(tmp_path / "b" / "2afc" / "val" / "cnn")
    tree(tmp_path / "b" / "jnd" / "val" / "cnn", kind="same", parts=())
    (tmp_path / "c" / "cnn" / "judge").mkdir(parents=True)
    (tmp_path / "d").mkdir()

    with pytest.raises(InvalidInput, match=r"the set cnn is there twice; name one of .*train, .*val"):
        read_bapps(tmp_path / "a")
    with pytest.raises(InvalidInput, match=r"has 2AFC and JND judgments; name .*b/2afc/val or .*b/jnd/val"):
        read_bapps(tmp_path / "b")
    with pytest.raises(InvalidInput, match=r"c/cnn/judge has no \*\.npy file"):
        read_bapps(tmp_path / "c")
    with pytest.raises(NotFound, match=r"d has no judgments in the layout of BAPPS"):
        read_bapps(tmp_path / "d")
    assert not is_bapps(tmp_path / "d")
