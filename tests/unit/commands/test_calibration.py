"""`openhype calibrate` in an empty folder: a tree of triplets with judgments, and what is refused."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.cli import main
from backend.metrics.pairs.lpips_weights import read_linear
from backend.metrics.pairs.nets import ALEX
from backend.responses.reading.bapps import share_bytes
from tests.unit.metrics.pairs.test_lpips_weights import linear_arrays, trunk_arrays, written

SIDE_PX = 32


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def tree(sets, kind="2afc", root="tree"):
    """Write triplets whose `p1` has the weaker noise if their number is odd, and judgments that say so."""
    rng = np.random.default_rng(1)
    for name, count in sets.items():
        for i in range(count):
            base = rng.integers(60, 196, (SIDE_PX, SIDE_PX, 3))
            strength = {"ref": 0, "p0": 12 if i % 2 else 4, "p1": 4 if i % 2 else 12}
            for part in ("ref", "p0", "p1") if kind == "2afc" else ("p0", "p1"):
                noise = strength[part] * rng.standard_normal(base.shape)
                path = Path(root, name, part, f"{i:06}.png")
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.fromarray(np.clip(base + noise, 0, 255).astype("uint8")).save(path)
            judged = Path(root, name, "judge" if kind == "2afc" else "same", f"{i:06}.npy")
            judged.parent.mkdir(parents=True, exist_ok=True)
            judged.write_bytes(share_bytes(float(i % 2)))


def weights(folder="."):
    return written(Path(folder), trunk_arrays(), "trunk.pth")


def calibrate(*arguments):
    return CliRunner().invoke(main, ["calibrate", *map(str, arguments)])


def refused(*arguments):
    found = calibrate(*arguments)
    assert found.exit_code == 1, found.output
    assert not Path("out").exists()
    return found.stderr.strip()


def test_too_few_triplets_are_refused_before_anything_is_computed():
    tree({"cnn": 12})

    assert "needs votes on 100 triplets or more, not 12" in refused("tree", "--trunk", weights(), "-o", "out")


def test_votes_on_pairs_are_refused_with_the_reason():
    tree({"cnn": 12}, "jnd")

    assert "needs votes on triplets (2AFC)" in refused("tree", "--trunk", weights(), "-o", "out")


def test_a_trunk_or_a_start_that_is_none_is_refused():
    tree({"cnn": 2})
    Path("bad.pth").write_bytes(b"\x80\x02cos\nsystem\n.")
    linear = written(Path(), linear_arrays(), "linear.pth")

    assert "bad.pth" in refused("tree", "--trunk", "bad.pth", "-o", "out")
    assert "trunk AlexNet" in refused("tree", "--trunk", linear, "-o", "out")
    assert "linear layers of LPIPS for AlexNet; it has none" in refused(
        "tree", "--trunk", weights(), "--start", "trunk.pth", "-o", "out"
    )
    assert "unifrom" in refused("tree", "--trunk", weights(), "--start", "unifrom", "-o", "out")


def test_the_schedule_of_the_paper_has_no_other_rate():
    assert "leave --steps and --rate out" in refused(
        "tree", "--trunk", weights(), "--schedule", "paper", "--rate", 0.1, "-o", "out"
    )


def test_shares_that_leave_nothing_are_refused():
    assert "together below 1" in refused(
        "tree", "--trunk", weights(), "--held-out", 0.6, "--validation", 0.5, "-o", "out"
    )


@pytest.mark.parametrize("name", ["alex.pth", "calibration.json"])
def test_an_earlier_calibration_is_not_replaced_unless_asked(name):
    tree({"cnn": 2})
    Path("out").mkdir()
    Path("out", name).write_text("mine")

    found = calibrate("tree", "--trunk", weights(), "-o", "out")

    assert (found.exit_code, Path("out", name).read_text()) == (1, "mine")
    assert f"out/{name} exists; name another directory, or replace it with --overwrite" in found.stderr


def test_a_missing_torch_is_named_with_the_command_that_installs_it():
    if find_spec("torch"):
        pytest.skip("torch is installed")
    tree({"cnn": 1})
    Path("trunk.pth").touch()

    found = refused("tree", "--trunk", "trunk.pth", "-o", "out")

    assert re.search(r"a calibration needs torch, which is not installed; run: .* -m pip install ", found)


def test_a_calibration_is_written_whole_and_is_the_same_again():
    pytest.importorskip("torch")
    tree({"cnn": 70, "blur": 50})
    start = written(Path(), linear_arrays(), "linear.pth")
    arguments = ("tree", "--votes", 2, "--trunk", weights(), "--start", start, "--steps", 60, "-o", "out")

    found = calibrate(*arguments, "--json")
    again = calibrate(*arguments, "--overwrite")

    assert found.exit_code == again.exit_code == 0, found.output + again.output
    data = json.loads(found.stdout)
    assert data == json.loads(Path("out/calibration.json").read_text("utf-8"))
    assert {*map(str, Path("out").iterdir())} >= {"out/alex.pth", "out/calibration.json", "out/index.html"}
    assert not [*Path("out").glob(".*")]
    assert (data["start"]["kind"], data["lpips_version"], data["triplets"]) == ("file", "0.1", 120)
    assert [len(layer) for layer in read_linear(Path("out/alex.pth"), "alex")] == [*ALEX.widths]
    (share,) = (row for row in data["shares"] if row["share"] == "held-out")
    assert [row["score"] for row in share["agreement"]["metrics"] if row["metric"] == "before"][-1] > 90
    assert "Metric: LPIPS v0.1, AlexNet\nTriplets: 120\nReferences: 120\n" in again.stdout
    assert json.loads(Path("out/calibration.json").read_text("utf-8"))["weights"] == data["weights"]
