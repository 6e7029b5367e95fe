"""`openhype distances`, and distances inside `openhype agree`, in an empty folder."""

import csv
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.cli import main
from backend.metrics.pairs.pixels import l2

from ..metrics.pairs.test_lpips_weights import linear_arrays, trunk_arrays, written

PARTS = {"2afc": ("ref", "p0", "p1"), "jnd": ("p0", "p1")}
SMALL = {
    "2afc": ("images=6", "picture_checks=2", "judgments_per_item=1"),
    "jnd": ("images=6", "picture_checks=2", "practice_images=2", "spare_images=0", "judgments_per_item=1"),
}


def run(*arguments, status=0):
    found = CliRunner().invoke(main, [*map(str, arguments)])
    assert found.exit_code == status, found.output
    return found


def pictures(seed):
    return np.random.default_rng(seed).integers(0, 256, (32, 32, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def alex(tmp_path_factory):
    return written(tmp_path_factory.mktemp("weights"), trunk_arrays())


@pytest.fixture(scope="module", params=["2afc", "jnd"])
def kind(request, tmp_path_factory):
    """A study `sim` of two sets of three items, with simulated sessions; its folders are in `sets`."""
    kind = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp(kind))
        _make(kind)
        yield kind


def _make(kind):
    for s, name in enumerate(("traditional", "cnn")):
        for i in range(3):
            for p, part in enumerate(PARTS[kind]):
                path = Path(f"sets/{name}/{part}/{i:03}.png")
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.fromarray(pictures(100 * s + 10 * i + p)).save(path)
    settings = [each for setting in SMALL[kind] for each in ("--set", setting)]
    run("create", "sim", "--method", kind, "--items", "sets", "--size", 32, *settings)
    run("simulate", "sim", "--evaluators", 2, "--seed", 1)


def rows_of(path):
    with open(path, newline="") as file:
        return [*csv.DictReader(file)]


def test_agree_computes_the_distances_that_the_command_writes(kind, alex):
    weights = ("--weights", alex, "--weights", written(Path(), linear_arrays()))
    run("distances", "sim", "--distance", "lpips-alex", "--distance", "l2", *weights, "-o", "out")
    run("distances", "sets", "--distance", "l2", "-o", "tree.csv")
    run("export", "sim", "-o", "exported", "--bapps", "--simulated")

    found = run(
        "agree", "sim", "--simulated", "--distance", "lpips-alex", "--distance", "l2", *weights,
        "--metric", "file=out/lpips-alex.csv", "--metric", "tree=tree.csv", "--json",
    )  # fmt: skip
    exported = json.loads(run("agree", "exported", "--distance", "l2", "--json").stdout)

    assert Path("tree.csv").read_text() == Path("out/l2.csv").read_text()
    data = json.loads(found.stdout)
    scores = {(row["metric"], row["column"]): row["score"] for row in data["metrics"]}
    columns = [row["column"] for row in data["columns"]]
    for column in columns:
        assert scores["lpips-alex", column] == scores["file", column]
        assert scores["l2", column] == scores["tree", column]
    assert [row["score"] for row in exported["metrics"]] == [scores["l2", column] for column in columns]
    assert data["described"]["lpips-alex"].startswith("LPIPS v0.1; linear layers not published ones (sha256 ")


def test_values_of_the_csv_are_those_of_the_pictures(kind):
    run("distances", "sim", "--distance", "l2", "-o", "l2.csv")

    names = {"2afc": ["d0", "d1"], "jnd": ["d"]}[kind]
    found = {row["item"]: [float(row[name]) for name in names] for row in rows_of("l2.csv")}
    assert [*found] == [f"{name}/{i:03}" for name in ("cnn", "traditional") for i in range(3)]
    first, *others = (pictures(120 + p) for p in range(len(PARTS[kind])))
    assert found["cnn/002"] == [l2(first, other) for other in others]


def test_defaults_need_no_weights_and_print_all_items(kind):
    found = run("distances", "sets")

    lines = found.stdout.splitlines()
    assert lines[0] == {"2afc": "distance,item,d0,d1", "jnd": "distance,item,d"}[kind]
    assert [line.split(",")[0] for line in lines[1:]] == ["l2"] * 6 + ["psnr"] * 6 + ["ssim"] * 6
    assert found.stderr.splitlines()[2] == "ssim: 1 - SSIM, mean over red, green and blue"


def test_a_page_names_the_weights(kind, alex):
    run("agree", "sim", "--simulated", "--distance", "baseline-alex", "--weights", alex, "-o", "page")

    page = Path("page/index.html").read_text("utf-8")
    assert "baseline-alex: without linear layers, input of LPIPS v0.1; trunk AlexNet, not recognised" in page


def test_two_pictures_print_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("a.png", 1), ("b.png", 2)):
        Image.fromarray(pictures(seed)).save(name)

    found = run("distances", "a.png", "b.png", "--distance", "l2", "--distance", "psnr")

    distance = l2(pictures(1), pictures(2))
    assert found.stdout == f"l2 {distance:.6g}\npsnr {20 * np.log10(distance):.6g}\n"


def test_what_cannot_be_done_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Image.fromarray(pictures(1)).save("a.png")
    Path("votes.csv").write_text("item,model,evaluator,left,right,response\nx/1,x,ann,p0,p1,left\n")
    Path("weights.pth").write_bytes(b"\x80\x02cos\nsystem\nX\x05\x00\x00\x00touch\x85R.")

    def why(*arguments, status=1):
        found = run(*arguments, status=status)
        assert found.stdout == ""
        return found.stderr.splitlines()[-1]

    assert why("distances", "a.png") == (
        "openhype: a.png has no pictures; name the study, its export with pictures (openhype export NAME -o "
        "DIR --bapps), or a folder of pairs or triplets"
    )
    assert "'nowhere'" in why("distances", "nowhere")
    assert "one file each" not in why("distances", "a.png", "a.png", "-o", "all.csv")
    assert "must name a folder, not all.csv" in why("distances", "a.png", "a.png", "-o", "all.csv")
    assert "-o a.png is a file" in why("distances", "a.png", "a.png", "-o", "a.png")
    assert "two pictures or two folders" in why("distances", "a", "b", "c", status=2)
    lpips = why("distances", "a.png", "a.png", "--distance", "lpips-alex", "--weights", "weights.pth")
    if find_spec("torch"):
        assert lpips.startswith("openhype: weights.pth cannot be read as weights: expected weights as torch")
    else:
        assert lpips.startswith("openhype: LPIPS needs torch, which is not installed; run: ")
    assert why("agree", "votes.csv", "--distance", "l2").startswith(
        "openhype: votes.csv has no pictures; name"
    )
    assert "not given" in why("agree", "votes.csv", "--weights", "weights.pth")
    assert "the metric l2 is named twice" in why(
        "agree", "votes.csv", "--distance", "l2", "--metric", "l2=a.csv"
    )


def test_studies_of_single_pictures_have_no_pairs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side in ("real", "gan"):
        Path(side).mkdir()
        for i in range(4):
            Image.fromarray(pictures(10 * len(side) + i)).save(f"{side}/{i}.png")
    run("create", "faces", "--real", "real", "--model", "gan=gan", "--set", "images=4")

    found = run("distances", "faces", status=1)

    assert found.stderr == (
        "openhype: study faces is of the method infinity; distances are those of pairs or triplets (2afc and "
        "jnd)\n"
    )


def test_what_cannot_be_written_is_refused_before_anything_is_computed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("folder.csv").mkdir()
    Path("file").touch()
    Image.fromarray(pictures(1)).save("one.png")
    two = ("distances", "one.png", "one.png", "--distance", "l2")

    for out, message in (
        ("folder.csv", "openhype: folder.csv is a folder; -o must name a CSV, or a folder for it"),
        ("file/l2.csv", f"openhype: {tmp_path / 'file'} is a file; -o must name a CSV in a folder"),
    ):
        assert run(*two, "-o", out, status=1).stderr.strip() == message


def test_distances_that_are_not_numbers_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    huge = {name: np.full_like(array, 1e38) for name, array in trunk_arrays().items()}
    trunk = written(tmp_path, huge)
    for i in (1, 2):
        Image.fromarray(pictures(i)).save(f"{i}.png")

    found = run("distances", "1.png", "2.png", "--distance", "baseline-alex", "--weights", trunk, status=1)

    assert "item 2.png: its baseline-alex is not a finite number; the weights are too large" in found.stderr
