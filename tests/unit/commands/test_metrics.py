"""`openhype metrics` in an empty folder with defaults: studies, folders, files, and what reports show."""

import csv
import json
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.analysis.distributions.ranks import spearman
from backend.analysis.judgment_scores import scores_of
from backend.analysis.scores import Options
from backend.cli import main
from backend.metrics.study_metrics import stored_metrics
from backend.report import formatting
from backend.report.metrics import metric_findings, metric_rows
from backend.responses.study_data import study_answers
from backend.scoring import score_answers
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

from ..conftest import World

PICTURES = 12
METRICS = ("Kernel distance", "Precision", "Recall", "Density", "Coverage")
NOISE = {"real": 5, "gan": 8, "vae": 60}


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)])


def done(*arguments):
    found = run(*arguments)
    assert found.exit_code == 0, found.output
    return found


def refused(*arguments):
    found = run(*arguments)
    assert found.exit_code in (1, 2), found.output
    assert found.exit_code == 2 or found.stderr.count("\n") == 1
    return found.stderr


def draw(folder, noise, seed, classes=("",)):
    """Write pictures of stripes with noise, which a model has more or less like the reals."""
    rng, x = np.random.default_rng(seed), np.arange(32) / 32
    for class_ in classes:
        place = Path("images", folder, class_)
        place.mkdir(parents=True)
        for i in range(PICTURES):
            stripes = 128 + 80 * np.sin(2 * np.pi * (rng.integers(1, 5) * x + rng.random()))
            pixels = stripes[None, :, None] + rng.normal(0, noise, (32, 32, 3))
            Image.fromarray(pixels.clip(0, 255).astype("uint8")).save(place / f"{i:03}.png")


@pytest.fixture
def images(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, (folder, noise) in enumerate(NOISE.items()):
        draw(folder, noise, seed)


FOLDERS = ("--real", "images/real", "--model", "gan=images/gan", "--model", "vae=images/vae")


@pytest.fixture
def study(images):
    made(*FOLDERS)
    time.sleep(0.05)  # files that were just written are not taken for known


def made(*folders, name="faces", method="infinity"):
    done("create", name, "--method", method, *folders, "--size", 32, "--set", "images=8")


def runs_of(*arguments):
    return json.loads(done("metrics", *arguments, "--json").stdout)["runs"]


def test_metrics_of_a_study_come_without_options_and_the_second_time_without_extraction(study):
    first, second = done("metrics", "faces"), done("metrics", "faces")

    assert "layout-1: 36 pictures, features of 0 kept from before" in first.stderr
    assert "layout-1: 36 pictures, features of 36 kept from before" in second.stderr
    assert first.stdout == second.stdout
    assert re.search(r"^layout-1 \([0-9a-f]{12}\), 96 features a picture: 12 reals of 32 x 32 px, seen at 64",
                     first.stdout, re.M)  # fmt: skip
    assert "No Frechet distance: there are 12 reals; a Frechet distance of 96 features needs" in first.stdout
    assert "FID" not in first.stdout.replace("this is no FID", "")
    assert "KID" not in first.stdout


def test_a_model_that_looks_like_the_reals_is_closer(study):
    (found,) = runs_of("faces")

    gan, vae = found["models"]
    assert (gan["model"], gan["reals"], gan["fakes"]) == ("gan", PICTURES, PICTURES)
    assert gan["kid"]["value"] < vae["kid"]["value"]
    assert gan["coverage"]["value"] > vae["coverage"]["value"]


def test_a_study_and_its_folders_have_the_same_metrics(study):
    (of_study,), (of_folders,) = runs_of("faces"), runs_of(*FOLDERS)

    # the order of pictures differs, by which sums are rounded otherwise and random halves are others
    for one, other in zip(of_study["models"], of_folders["models"], strict=True):
        for metric in ("kid", "precision", "recall", "density", "coverage"):
            assert one[metric]["value"] == pytest.approx(other[metric]["value"], abs=1e-9)


def metrics_of_score(*arguments):
    found = done("score", "faces", *arguments, "--json", "--simulated").stdout
    return [row["metric"] for row in json.loads(found)["findings"]["metrics"]]


@pytest.mark.slow("a study is played, measured and scored whole")
def test_reports_and_scores_have_them_without_being_asked_and_a_file_adds_to_them(study):
    done("simulate", "faces", "--evaluators", 4, "--seed", 1)
    assert metrics_of_score("--full") == []
    done("metrics", "faces", "-o", "out/metrics.csv")
    Path("mine.csv").write_text("model,Precision (layout-1),LPIPS\ngan,7,1\nvae,8,2\n")

    kept, added = metrics_of_score("--full"), metrics_of_score("--metrics", "mine.csv")
    done("report", "faces", "-o", "report", "--simulated")
    shutil.rmtree("openhype-data/metrics")

    assert kept == [f"{name} (layout-1)" for name in METRICS]
    assert added == [*kept, "LPIPS"]
    assert metrics_of_score("--metrics", "out/metrics.csv") == kept
    page = Path("report/index.html").read_text("utf-8")
    assert "Automatic metrics of the pictures" in page
    assert "low-level statistics of colour" in page
    with Path("report/tables/picture-overlap.csv").open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [(row["model"], row["reals"], row["fakes"]) for row in rows] == [
        ("gan", "12", "12"),
        ("vae", "12", "12"),
    ]
    assert float(rows[0]["coverage"]) > float(rows[1]["coverage"])


def test_agreement_with_people_is_printed_when_people_finished(study):
    assert json.loads(done("metrics", "faces", "--json").stdout)["agreement"] == []
    done("simulate", "faces", "--evaluators", 4, "--seed", 1)
    data = DataDir(Path("openhype-data"))
    store = open_store("sqlite:///openhype.db", data.root)
    faces = store.study("faces")

    people = metric_findings(store, faces, stored_metrics(data, faces), 0.95)
    answers = study_answers(store, faces, simulated=True)
    scores = score_answers(scores_of(answers.method).sampled(answers), level=0.95)
    simulated = metric_rows(answers, scores, stored_metrics(data, faces), Options(level=0.95))

    assert people is None  # simulated sessions are nobody's
    assert [row["metric"] for row in simulated] == [f"{name} (layout-1)" for name in METRICS]
    assert [row["direction"] for row in simulated] == ["lower", *["higher"] * 4]
    assert {row["models"] for row in simulated} == {2}


def test_agreement_with_people_is_of_real_sessions_and_printed_by_the_command(images):
    draw("net", 30, 7)
    made(*FOLDERS, "--model", "net=images/net")
    data = DataDir(Path("openhype-data"))
    world = World(open_store("sqlite:///openhype.db", data.root), data)
    wrong = dict(zip(world.store.study("faces").models, [3, 0, 1], strict=True))
    for _ in range(9):
        player = world.player()
        (model,) = world.store.session(player.state["session"]).models
        fakes = iter([False] * wrong[model] + [True] * 4)
        player.play(lambda truth, fakes=fakes: truth == "real" or next(fakes))
    done("simulate", "faces", "--evaluators", 3, "--seed", 1)  # nobody's, so that nothing changes

    text, found = done("metrics", "faces"), json.loads(done("metrics", "faces", "--json").stdout)

    score = {
        row["model"]: row["score"] for row in json.loads(done("score", "faces", "--json").stdout)["models"]
    }
    precision = next(row for row in found["agreement"] if row["metric"] == "Precision (layout-1)")
    assert precision["rho"] == pytest.approx(
        spearman([*score.values()], [precision["values"][model] for model in score])["rho"]
    )
    assert (precision["models"], precision["resamples"]) == (3, 2000)
    _, agreement = text.stdout.split("\n\nScores beside automatic metrics\n===")
    assert f"Precision (layout-1) ↑: Spearman's {formatting.rho(precision)}, over 3 models." in agreement
    assert agreement.count("No interval over models: 3 models are too few; it takes 4.") == 1


def test_classes_have_metrics_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw("real", 5, 1, ("cats", "dogs"))
    draw("gan", 40, 2, ("cats", "dogs"))
    made("--real", "images/real", "--model", "gan=images/gan")

    (found,) = runs_of("faces")

    assert [each["class"] for each in found["classes"]] == ["cats", "dogs"]
    assert [each["models"][0]["reals"] for each in found["classes"]] == [PICTURES, PICTURES]
    assert found["reals"] == 2 * PICTURES
    text = done("metrics", "--real", "images/real", "--model", "gan=images/gan").stdout
    assert re.search(r"^dogs +gan +12 ", text, re.M)


def test_features_can_be_saved_read_again_and_mixed_with_folders_of_the_same_extractor(images):
    (of_folders,) = runs_of(*FOLDERS, "--save-features", "features")

    (place,) = Path("features").iterdir()
    assert re.fullmatch("layout-1-[0-9a-f]{12}", place.name)
    files = ("--real", f"{place}/real.npz", "--model", f"gan={place}/model-gan.npz")
    (of_files,) = runs_of(*files, "--model", "vae=images/vae")

    assert of_files["models"] == of_folders["models"]
    assert of_files["extractor"] == of_folders["extractor"]


def features_file(path, features, **more):
    np.savez(path, features=features.astype("float32"), **{"extractor": "mine", **more})
    return path


@pytest.mark.parametrize("name", ["..", ".", "../../up", "a/../b", ".hidden"])
def test_saved_features_stay_in_their_folder_whatever_their_extractor_is_called(images, name):
    values = np.random.default_rng(0).normal(size=(9, 3))
    features_file("real.npz", values, extractor=name)
    before = {*Path().rglob("*")}

    done("metrics", "--real", "real.npz", "--model", "m=real.npz", "--save-features", "in/kept")

    made = [path for path in {*Path().rglob("*")} - before if path.is_file()]
    assert sorted(path.name for path in made) == ["model-m.npz", "real.npz"]
    assert all(path.parent.parent == Path("in/kept") for path in made)


def test_features_of_extractors_of_one_name_are_saved_apart(images):
    values = np.random.default_rng(0).normal(size=(9, 3))
    for i, digit in enumerate("ab"):
        features_file(f"{i}.npz", values + i, hash=digit * 64)
        done("metrics", "--real", f"{i}.npz", "--model", f"m={i}.npz", "--save-features", "kept")

    assert len([*Path("kept").rglob("real.npz")]) == 2


def test_a_side_of_one_picture_is_named(images):
    values = np.random.default_rng(0).normal(size=(9, 3))
    features_file("many.npz", values)
    features_file("one.npz", values[:1])

    assert "one.npz has 1 picture" in refused("metrics", "--real", "many.npz", "--model", "m=one.npz")
    assert "one.npz has 1 picture" in refused("metrics", "--real", "one.npz", "--model", "m=many.npz")


def test_classes_too_small_for_metrics_of_their_own_are_noted(images):
    values = np.random.default_rng(0).normal(size=(5, 3))
    features_file("a.npz", values, classes=["big", "big", "big", "one", "two"])

    (run,) = runs_of("--real", "a.npz", "--model", "m=a.npz")

    assert [each["class"] for each in run["classes"]] == ["big"]
    assert run["notes"] == [
        "model m or the reals have fewer than 2 pictures of some classes (one, two); "
        "no metrics are given for these"
    ]


def test_features_of_two_extractors_are_not_mixed(images):
    np.savez("gan.npz", features=np.zeros((9, 96), np.float32))
    np.savez("dino.npz", features=np.zeros((9, 96), np.float32), extractor="dino")

    for models, why in (
        (("gan=gan.npz",), "gan.npz does not say of which extractor"),
        (("gan=gan.npz", "--extractor-name", "other"), "gan.npz has features of other ("),
        (("gan=dino.npz",), "dino.npz has features of dino ("),
    ):
        assert why in refused("metrics", "--real", "images/real", "--model", *models)


def test_only_inceptions_features_with_published_weights_are_called_fid(images):
    rng = np.random.default_rng(0)
    for name, extractor in (("fid", "torch-fidelity:inception-v3-compat"), ("fd", "dinov2")):
        for side in ("real", "gan"):
            features = rng.normal(size=(40, 2048)).astype("float32")
            np.savez(f"{name}-{side}.npz", features=features, extractor=extractor)

    fid, fd = (done("metrics", "--real", f"{name}-real.npz", "--model", f"gan={name}-gan.npz").stdout
               for name in ("fid", "fd"))  # fmt: skip

    assert ("FID" in fid, "KID" in fid, "Frechet distance  " in fid) == (True, True, False)
    assert ("FID" in fd, "KID" in fd, "Frechet distance" in fd, "Kernel distance" in fd) == (
        False,
        False,
        True,
        True,
    )


BAD = {
    ("metrics",): "name a study, or give folders",
    ("metrics", "faces", "--real", "images/real"): "name a study, or give folders",
    ("metrics", "--real", "images/real"): "at least one --model",
    ("metrics", "nobody"): "there is no study 'nobody'",
    ("metrics", "faces", "--extractor", "fid"): "there is no extractor 'fid'",
    ("metrics", "faces", "--weights", "w.pth"): "no extractor is left that takes the weights w.pth",
    ("metrics", "faces", "--extractor", "layout", "--extractor", "layout"): "layout-1 is named twice",
    ("metrics", "--real", "images/none", "--model", "gan=images/gan"): "does not exist",
    ("metrics", "--real", "images/real", "--model", "gan=images/real"): "is the same as",
    ("metrics", "--real", "images/real", "--model", "a=images/gan", "--model", "a=images/vae"): "two models",
    ("metrics", "--real", "images/real", "--model", "a/b=images/gan"): "a model's name must be",
    ("metrics", "--real", "none.npz", "--model", "gan=images/gan"): "there is no file none.npz",
    ("metrics", *FOLDERS, "--extractor-name", "x"): "is for files of features",
    ("metrics", "faces", "--replicates", "1"): "replicates must be",
}


@pytest.mark.parametrize("arguments", BAD, ids=lambda arguments: " ".join(arguments)[:60])
def test_what_cannot_be_done_is_refused_in_one_line(study, arguments):
    assert BAD[arguments] in refused(*arguments)


def test_a_file_that_is_no_picture_is_named_or_left_out(images):
    Path("images/gan/003.png").write_bytes(b"no picture")

    assert "images/gan/003.png" in refused("metrics", *FOLDERS)
    (found,) = runs_of(*FOLDERS, "--skip-bad")

    assert [row["fakes"] for row in found["models"]] == [PICTURES - 1, PICTURES]
    assert any("images/gan/003.png" in note for note in found["notes"])


def test_copies_of_reals_among_fakes_are_noted(images):
    shutil.copy("images/real/000.png", "images/gan/000.png")
    shutil.copy("images/real/001.png", "images/real/002.png")

    (found,) = runs_of(*FOLDERS)

    assert found["notes"] == [
        "1 picture of the reals repeats another one pixel by pixel; each counts",
        "1 picture of model gan equals a real pixel by pixel",
    ]


def test_a_study_whose_pictures_are_elsewhere_says_what_to_do(study):
    shutil.rmtree("openhype-data/images/faces")

    assert "36 of 36 pictures of study faces are not in" in refused("metrics", "faces")


def test_a_tournament_is_compared_with_its_reals_and_says_that_nobody_judged_them(images):
    made(*FOLDERS, method="tournament")

    (found,) = runs_of("faces")

    assert found["reals"] == PICTURES
    assert "the reals took no part in this tournament: nobody judged them" in found["notes"]


def test_a_deleted_study_leaves_no_metrics_and_a_backup_has_them(study):
    done("metrics", "faces")
    done("backup", "backup")
    done("delete", "faces", "--yes", "faces")
    assert not [*Path("openhype-data/metrics").iterdir()]

    done("restore", "backup", "--data", "again")

    assert json.loads(Path("again/metrics/faces.json").read_text())["study"] == "faces"


def test_metrics_that_cannot_be_kept_are_printed_all_the_same(study):
    Path("openhype-data", "metrics").write_text("a file where the folder would be")

    found = run("metrics", "faces", "-o", "metrics.csv")

    assert found.exit_code == 1
    assert "Kernel distance" in found.stdout
    assert Path("metrics.csv").exists()
    assert found.stderr.splitlines()[-1].startswith("openhype: ")
